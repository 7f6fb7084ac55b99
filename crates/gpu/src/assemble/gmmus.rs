//! Builds the memory management units that SMs share.

use strata_engine::{Inlet, Outlet, link};
use strata_memory::translation::{Gmmu, GmmuSite, MmuLinks, SmLinks};
use strata_memory::{NodeId, Packet, SliceMap};

use crate::machine::MachineFile;
use crate::part::Part;

/// The ends of a GMMU's links to and from the network.
pub type Ends = (Outlet<Packet>, Inlet<Packet>);

/// Creates the links between SMs and their GMMUs: the ends of all SMs, and the other ends in the same order. There are none in a
/// machine that translates no addresses.
pub fn links(file: &MachineFile) -> (Vec<MmuLinks>, Vec<SmLinks>) {
    let Some(config) = &file.translation else { return Default::default() };
    let (latency, room) = (*config.gmmu.link_latency_cycles, *config.l1_tlb.mshr_entries as u32);
    let link_of_sm = |_| {
        let (requests, arrivals) = link(latency, room);
        let (answers, replies) = link(latency, room);
        (MmuLinks { requests, replies }, SmLinks { requests: arrivals, replies: answers })
    };
    (0..*file.gpu.sms).map(link_of_sm).unzip()
}

/// Builds the GMMUs, of which `first` is the first one's node, each with `ends` of its links to the network.
pub fn gmmus(
    file: &MachineFile,
    (first, slices, flit_bytes): (NodeId, SliceMap, u32),
    ends: impl IntoIterator<Item = Ends>,
    links: Vec<SmLinks>,
    seed: u64,
) -> Vec<Part> {
    let (Some(config), Some(table)) = (&file.translation, file.page_table()) else { return Vec::new() };
    let (units, sms) = (usize::from(config.gmmu.units()), links.len());
    let mut links = links.into_iter();
    let unit = |(number, (requests, replies)): (usize, Ends)| {
        // Consecutive SMs, as many as others have or one fewer.
        let served = sms * (number + 1) / units - sms * number / units;
        let node = NodeId::from(usize::from(first.0) + number);
        let site = GmmuSite { node, slices, flit_bytes, table: table.clone(), seed, requests, replies };
        Part::Gmmu(Box::new(Gmmu::new(config, site, links.by_ref().take(served).collect())))
    };
    ends.into_iter().enumerate().map(unit).collect()
}
