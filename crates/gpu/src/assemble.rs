//! Builds the islands of a machine from its configuration and links them.

use strata_engine::{ClockRatio, Inlet, LinkClocks, Outlet, link};
use strata_memory::address_map::AddressMap;
use strata_memory::atomic::AtomicBatch;
use strata_memory::doors::{
    Direction, L1dSite, LanePathSite, LlcSite, NetworkEnds, NetworkSite, network_link_between,
};
use strata_memory::dram::Channel;
use strata_memory::memory_cache::MemoryCache;
use strata_memory::partition::{PartitionIsland, SliceEnds};
use strata_memory::read_only::ReadOnlyCache;
use strata_memory::{Client, HEADER_BYTES, LINE_BYTES, NodeId, Packet};
use strata_sm::dispatch::{Dispatcher, SmLinks};
use strata_sm::lsu::{Lsu, Surroundings};
use strata_sm::sm::{Sm, SmId, SmParts};

use crate::machine::MachineFile;
use crate::makers::Makers;
use crate::part::Part;

/// Seed of every random stream of a machine (cache replacement). It is fixed, so runs are reproducible.
const SEED: u64 = 0x5742_a7a0;

/// The islands of a machine, in order: SMs, partitions, both directions of the network, the dispatcher.
pub struct Assembly {
    /// The islands, in the order given above.
    pub parts: Vec<Part>,
    /// Maps device addresses to slices and channels.
    pub map: AddressMap,
}

/// Builds a machine's islands.
///
/// # Errors
/// A section and field that no machine can have.
pub fn assemble(file: &MachineFile, make: &mut Makers<'_>) -> Result<Assembly, String> {
    let doors = &file.doors;
    let sms = *file.gpu.sms;
    let map = AddressMap::new(
        *file.gpu.channels,
        *file.gpu.slices_per_channel,
        *file.gpu.interleave_bytes,
        NodeId(sms),
    )
    .map_err(|error| format!("gpu: {error}"))?;
    let slices = *file.gpu.channels * *file.gpu.slices_per_channel;
    let network = |error| format!("network.{}: {error}", doors.network.name);
    let flit_size = doors.network.flit_size().map_err(network)?;

    let (core_clock, network_clock, l2_clock) = (ClockRatio::ONE, file.clocks.network(), file.clocks.l2());
    let (to_requests, from_sms) = links(file, sms, core_clock, network_clock)?;
    let (to_slices, from_requests) = links(file, slices, network_clock, l2_clock)?;
    let (to_replies, from_slices) = links(file, slices, l2_clock, network_clock)?;
    let (to_sms, from_replies) = links(file, sms, network_clock, core_clock)?;
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
        let registers = (make.register_file)(&*doors.register_file.design, file.sm.register_file_site(SEED));
        let lane_path_site = LanePathSite { accesses: *file.lsu.accesses as usize, seed: SEED };
        let lane_path = (make.lane_path)(&*doors.lane_path.design, lane_path_site)
            .map_err(|error| format!("lane_path.{}: {error}", doors.lane_path.name))?;
        let l1d_site = L1dSite { node, slices: map.slice_map(), seed: SEED };
        let parts_of_sm = SmParts {
            id: SmId::from(index),
            sms: u32::from(sms),
            clock_mhz: *file.clocks.core_mhz,
            flit_bytes: flit_size.bytes(),
            registers: registers
                .map_err(|error| format!("sm.register_file.{}: {error}", doors.register_file.name))?,
            lsu: Lsu::new(&file.lsu, surroundings(file, index))
                .map_err(|error| format!("lsu: {error}"))?
                .with_lane_path(lane_path),
            unified: file.unified().cloned(),
            l1d: (make.l1d)(&*doors.l1d.design, l1d_site)
                .map_err(|error| format!("l1d.{}: {error}", doors.l1d.name))?,
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
    for channel in 0..*file.gpu.channels {
        let ends = map
            .slices_of(channel)
            .map(|slice| {
                let (requests, replies) =
                    slice_links[usize::from(slice)].take().expect("a slice belongs to one channel");
                let llc = (make.llc)(&*doors.llc.design, LlcSite { slice, seed: SEED })
                    .map_err(|error| format!("llc.{}: {error}", doors.llc.name))?;
                let cache = file.memory_cache.as_ref().map(|config| MemoryCache::new(config, SEED));
                let cache = cache.transpose().map_err(|error| format!("memory_cache: {error}"))?;
                Ok(SliceEnds { llc, cache: cache.map(Box::new), requests, replies })
            })
            .collect::<Result<Vec<_>, String>>()?;
        let dram = Channel::new(&file.dram, file.clocks.dram_over_l2(), ends.len(), map.chunk_lines())
            .map_err(|error| format!("dram: {error}"))?;
        let partition = PartitionIsland::new(map, channel, flit_size, dram, ends)
            .map_err(|error| format!("gpu: {error}"))?;
        parts.push(Part::partition(partition, l2_clock));
    }

    let directions = [
        (Direction::Request, from_sms, NodeId(0), to_slices, NodeId(sms)),
        (Direction::Reply, from_slices, NodeId(sms), to_sms, NodeId(0)),
    ];
    for (direction, inlets, first_input, outlets, first_output) in directions {
        let ends = NetworkEnds { first_input, inlets, first_output, outlets };
        let island =
            (make.network)(&*doors.network.design, NetworkSite { direction, ends }).map_err(network)?;
        parts.push(Part::network(island, network_clock));
    }
    parts.push(Part::Dispatcher(Box::new(Dispatcher::new(dispatch_ends))));
    Ok(Assembly { parts, map })
}

type Ends = (Vec<Outlet<Packet>>, Vec<Inlet<Packet>>);

/// Creates `count` links between nodes and the network, from one clock to another.
fn links(file: &MachineFile, count: u16, sender: ClockRatio, receiver: ClockRatio) -> Result<Ends, String> {
    let clocks = LinkClocks { sender, receiver, latency: file.clocks.network() };
    // The largest packets carry a full line, or a warp of 64-bit compare-and-swaps.
    let line = HEADER_BYTES + LINE_BYTES as u32;
    let largest = line.max(AtomicBatch::LARGEST_WIRE_BYTES + HEADER_BYTES);
    (0..count)
        .map(|_| {
            network_link_between(&*file.doors.network.design, largest, clocks)
                .map_err(|error| format!("network.{}: {error}", file.doors.network.name))
        })
        .collect::<Result<Vec<_>, _>>()
        .map(|links| links.into_iter().unzip())
}

fn surroundings(file: &MachineFile, sm: usize) -> Surroundings {
    let warp_slots = *file.sm.warp_slots as usize;
    Surroundings { warp_slots, first_warp: (sm * warp_slots) as u64, shared_bytes: *file.sm.shared_bytes }
}
