//! From a machine's numbers to its islands, linked.

use strata_designs::baseline::SramL1d;
use strata_designs::fuse::FuseL1d;
use strata_engine::{ClockRatio, Inlet, Outlet, link};
use strata_memory::address_map::AddressMap;
use strata_memory::atomic::AtomicBatch;
use strata_memory::doors::{L1d, Llc};
use strata_memory::dram::Channel;
use strata_memory::l2::L2Slice;
use strata_memory::network::{Direction, NetworkEnds, NetworkIsland};
use strata_memory::partition::{PartitionIsland, SliceEnds};
use strata_memory::read_only::ReadOnlyCache;
use strata_memory::{Client, HEADER_BYTES, LINE_BYTES, NodeId, Packet, SliceMap};
use strata_sm::dispatch::{Dispatcher, SmLinks};
use strata_sm::lsu::{Lsu, Surroundings};
use strata_sm::register_file::SramRegisterFile;
use strata_sm::sm::{Sm, SmId, SmParts};

use crate::machine::{L1dChoice, LlcChoice, MachineFile};
use crate::part::Part;

/// Seed of every random stream of a machine (replacement); a run does not depend on anything else.
const SEED: u64 = 0x5742_a7a0;

/// The islands of a machine: SMs first, then partitions, both directions of the network, and the dispatcher last.
pub struct Assembly {
    /// The islands.
    pub parts: Vec<Part>,
    /// Where device addresses live.
    pub map: AddressMap,
}

/// Where an L1D stands: what one needs to be built.
#[derive(Clone, Copy, Debug)]
pub struct L1dSite {
    /// Its SM's node of the network: the source of its requests.
    pub node: NodeId,
    /// Which node each line's requests go to.
    pub slices: SliceMap,
    /// Seed of its random streams.
    pub seed: u64,
}

/// Gives each SM its L1D: takes the one that the machine file asks for, returns it, a wrapper around it or another.
pub type L1dMaker<'a> = &'a mut dyn FnMut(L1dSite, Box<dyn L1d>) -> Box<dyn L1d>;

/// Builds a machine. The error names section and field.
pub fn assemble(file: &MachineFile, make_l1d: L1dMaker<'_>) -> Result<Assembly, String> {
    let sms = *file.gpu.sms;
    let map = AddressMap::new(
        *file.gpu.channels,
        *file.gpu.slices_per_channel,
        *file.gpu.interleave_bytes,
        NodeId(sms),
    )
    .map_err(|error| format!("gpu: {error}"))?;
    let slices = *file.gpu.channels * *file.gpu.slices_per_channel;
    let network = |error| format!("network: {error}");

    let (to_requests, from_sms) = links(file, sms)?;
    let (to_slices, from_requests) = links(file, slices)?;
    let (to_replies, from_slices) = links(file, slices)?;
    let (to_sms, from_replies) = links(file, sms)?;
    let (dispatch_ends, sm_ends): (Vec<_>, Vec<_>) = (0..sms)
        .map(|_| {
            let room = *file.sm.cta_slots + 1;
            let (commands, command_inlet) = link(*file.gpu.dispatch_latency_cycles, room);
            let (notice_outlet, notices) = link(*file.gpu.dispatch_latency_cycles, room);
            (SmLinks { commands, notices }, (command_inlet, notice_outlet))
        })
        .unzip();

    let mut parts = Vec::new();
    let ends = to_requests.into_iter().zip(from_replies).zip(sm_ends);
    for (index, ((requests, replies), (commands, notices))) in ends.enumerate() {
        let node = NodeId::from(index);
        let read_only = |config, client| ReadOnlyCache::new(config, client, node, map.slice_map(), SEED);
        let parts_of_sm = SmParts {
            id: SmId::from(index),
            sms: u32::from(sms),
            clock_mhz: *file.clocks.core_mhz,
            flit_bytes: *file.network.flit_bytes,
            registers: Box::new(registers(file)),
            lsu: Lsu::new(&file.lsu, surroundings(file, index)).map_err(|error| format!("lsu: {error}"))?,
            l1d: l1d(file, L1dSite { node, slices: map.slice_map(), seed: SEED }, make_l1d)?,
            instructions: Box::new(
                read_only(&file.instruction_cache, Client::Instruction)
                    .map(ReadOnlyCache::without_bytes)
                    .map_err(|error| format!("instruction_cache: {error}"))?,
            ),
            constants: Box::new(
                read_only(&file.constant_cache, Client::Constant)
                    .map_err(|error| format!("constant_cache: {error}"))?,
            ),
            requests,
            replies,
            commands,
            notices,
        };
        parts.push(Part::Sm(Box::new(Sm::new(&file.sm, parts_of_sm)?)));
    }

    let mut slice_links: Vec<Option<(Inlet<Packet>, Outlet<Packet>)>> =
        from_requests.into_iter().zip(to_replies).map(Some).collect();
    let clock = ClockRatio::of(u64::from(*file.clocks.dram_mhz), u64::from(*file.clocks.core_mhz))
        .expect("frequencies were checked to be positive");
    for channel in 0..*file.gpu.channels {
        let ends = map
            .slices_of(channel)
            .map(|slice| {
                let (requests, replies) =
                    slice_links[usize::from(slice)].take().expect("a slice belongs to one channel");
                Ok(SliceEnds { llc: llc(file, slice)?, requests, replies })
            })
            .collect::<Result<Vec<_>, String>>()?;
        let dram = Channel::new(&file.dram, clock, ends.len(), map.chunk_lines())
            .map_err(|error| format!("dram: {error}"))?;
        let flit_size = file.network.flit_size().map_err(network)?;
        let partition = PartitionIsland::new(map, channel, flit_size, dram, ends)
            .map_err(|error| format!("gpu: {error}"))?;
        parts.push(Part::Partition(Box::new(partition)));
    }

    let directions = [
        (Direction::Request, from_sms, NodeId(0), to_slices, NodeId(sms)),
        (Direction::Reply, from_slices, NodeId(sms), to_sms, NodeId(0)),
    ];
    for (direction, inlets, first_input, outlets, first_output) in directions {
        let ends = NetworkEnds { first_input, inlets, first_output, outlets };
        let island = NetworkIsland::new(direction, &file.network, ends).map_err(network)?;
        parts.push(Part::Network(Box::new(island)));
    }
    parts.push(Part::Dispatcher(Box::new(Dispatcher::new(dispatch_ends))));
    Ok(Assembly { parts, map })
}

type Ends = (Vec<Outlet<Packet>>, Vec<Inlet<Packet>>);

/// `count` links between nodes and network.
fn links(file: &MachineFile, count: u16) -> Result<Ends, String> {
    // The largest packets are a full line and a warp's worth of 64-bit compare-and-swaps.
    let line = HEADER_BYTES + LINE_BYTES as u32;
    let largest = line.max(AtomicBatch::LARGEST_WIRE_BYTES + HEADER_BYTES);
    (0..count)
        .map(|_| file.network.link(largest).map_err(|error| format!("network: {error}")))
        .collect::<Result<Vec<_>, _>>()
        .map(|links| links.into_iter().unzip())
}

fn registers(file: &MachineFile) -> SramRegisterFile {
    let collectors = file.sm.collectors.iter().map(|pool| *pool.count as usize).sum();
    SramRegisterFile::new(&file.sm.register_file, *file.sm.registers, collectors)
}

fn surroundings(file: &MachineFile, sm: usize) -> Surroundings {
    let warp_slots = *file.sm.warp_slots as usize;
    Surroundings { warp_slots, first_warp: (sm * warp_slots) as u64, shared_bytes: *file.sm.shared_bytes }
}

fn l1d(file: &MachineFile, site: L1dSite, make: L1dMaker<'_>) -> Result<Box<dyn L1d>, String> {
    let l1d = match &file.l1d {
        L1dChoice::Sram(config) => SramL1d::new(config, site.node, site.slices, site.seed)
            .map(|l1d| Box::new(l1d) as Box<dyn L1d>)
            .map_err(|error| format!("l1d.sram: {error}"))?,
        L1dChoice::Fuse(config) => FuseL1d::new(config, site.node, site.slices)
            .map(|l1d| Box::new(l1d) as Box<dyn L1d>)
            .map_err(|error| format!("l1d.fuse: {error}"))?,
    };
    Ok(make(site, l1d))
}

fn llc(file: &MachineFile, slice: u16) -> Result<Box<dyn Llc>, String> {
    match &file.llc {
        LlcChoice::Conventional(config) => L2Slice::new(config, slice, SEED)
            .map(|llc| Box::new(llc) as Box<dyn Llc>)
            .map_err(|error| format!("llc.conventional: {error}")),
    }
}
