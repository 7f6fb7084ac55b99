//! Builds the islands of a machine from its configuration and links them.

mod gmmus;

use std::ops::Range;

use strata_cpu::{Core, CoreId, CoreParts, CpuConfig};
use strata_engine::{ClockRatio, Domain, Inlet, LinkClocks, Outlet, link};
use strata_memory::address_map::AddressMap;
use strata_memory::atomic::AtomicBatch;
use strata_memory::doors::{
    Direction, Helpers, L1dSite, LanePathSite, LlcSite, NetworkEnds, NetworkSite, ScratchpadSite,
    network_link_between,
};
use strata_memory::dram::Channel;
use strata_memory::memory_cache::MemoryCache;
use strata_memory::partition::{PartitionIsland, SliceEnds};
use strata_memory::read_only::{ReadOnlyCache, SecondLevel};
use strata_memory::translation::Mmu;
use strata_memory::window;
use strata_memory::{Client, FlitSize, HEADER_BYTES, LINE_BYTES, NodeId, Packet};
use strata_sm::dispatch::{Dispatcher, SmLinks};
use strata_sm::lsu::{Lsu, Surroundings};
use strata_sm::owners::OwnerLinks;
use strata_sm::{Ledger, SmId, SmParts};

use crate::machine::MachineFile;
use crate::makers::{Makers, Way};
use crate::multiprocessor::multiprocessor;
use crate::part::Part;

/// Seed of every random stream of a machine (cache replacement). It is fixed, so runs are reproducible.
const SEED: u64 = 0x5742_a7a0;

/// Where the islands of each kind are: SMs, CPU cores, GMMUs, partitions, the networks of requests, of replies
/// and, where words have owners, of owners, the dispatcher.
#[derive(Clone, Debug)]
pub struct Islands {
    /// SMs.
    pub sms: Range<usize>,
    /// CPU cores.
    pub cores: Range<usize>,
    /// Partitions, by channel.
    pub partitions: Range<usize>,
    /// The dispatcher.
    pub dispatcher: usize,
}

impl Islands {
    /// The islands of a machine with so many of each kind.
    fn new(sms: u16, (cores, gmmus): (u16, u16), channels: u16, networks: usize) -> Islands {
        let [sms, cores, gmmus, channels] = [sms, cores, gmmus, channels].map(usize::from);
        let first = sms + cores + gmmus;
        let partitions = first..first + channels;
        Islands { sms: 0..sms, cores: sms..sms + cores, dispatcher: partitions.end + networks, partitions }
    }
}

/// The islands of a machine.
pub struct Assembly {
    /// The islands, in the order of [`Islands`].
    pub parts: Vec<Part>,
    /// Where they are.
    pub islands: Islands,
    /// Maps device addresses to slices and channels.
    pub map: AddressMap,
}

/// Builds a machine's islands.
///
/// # Errors
/// A section and field that no machine can have.
pub fn assemble(file: &MachineFile, make: &mut Makers<'_>) -> Result<Assembly, String> {
    let doors = &file.doors;
    let (sms, cores) = (*file.gpu.sms, file.cpu_cores());
    let first_slice = file.first_slice();
    let map = file.address_map()?;
    let slices = *file.gpu.channels * *file.gpu.slices_per_channel;
    let network = |error| format!("network.{}: {error}", doors.network.name);
    let flit_size = doors.network.flit_size().map_err(network)?;

    let (core_clock, network_clock, l2_clock) = (ClockRatio::ONE, file.clocks.network(), file.clocks.l2());
    let (mut to_requests, mut from_sms) = links(file, sms, core_clock, network_clock)?;
    let (mut to_slices, from_requests) = links(file, slices, network_clock, l2_clock)?;
    let (mut to_replies, from_slices) = links(file, slices, l2_clock, network_clock)?;
    let (mut to_sms, from_replies) = links(file, sms, network_clock, core_clock)?;
    for (way, outlets) in [
        (Way::FromSm, &mut to_requests),
        (Way::ToSlice, &mut to_slices),
        (Way::FromSlice, &mut to_replies),
        (Way::ToSm, &mut to_sms),
    ] {
        for (number, outlet) in (0..).zip(outlets) {
            make.credits.get(&(way, number)).into_iter().for_each(|gauge| outlet.watch(gauge.clone()));
        }
    }
    let has_owners = file.has_owners();
    let owning = |nodes: u16| if has_owners { nodes } else { 0 };
    let (sm_owner_links, mut from_owners, mut to_owners) = owner_links(file, owning(sms), core_clock)?;
    let mut sm_owner_links = sm_owner_links.into_iter();
    let (owners_to_slices, said_to_slices) = links(file, owning(slices), network_clock, l2_clock)?;
    let mut said_to_slices: Vec<Option<Inlet<Packet>>> = said_to_slices.into_iter().map(Some).collect();
    let (dispatch_ends, sm_ends): (Vec<_>, Vec<_>) = (0..sms)
        .map(|_| {
            let room = *file.sm.cta_slots + 1;
            let (commands, command_inlet) = link(*file.gpu.dispatch_latency_cycles, room);
            let (notice_outlet, notices) = link(*file.gpu.dispatch_latency_cycles, room);
            (SmLinks { commands, notices }, (command_inlet, notice_outlet))
        })
        .unzip();

    let (mmu_links, of_sms) = gmmus::links(file);
    let mut mmu_links = mmu_links.into_iter();

    let mut parts = Vec::new();
    let helper_sms = file.gpu.helper_sms();
    let ends = to_requests.into_iter().zip(from_replies).zip(sm_ends);
    for (index, ((requests, replies), (commands, notices))) in ends.enumerate() {
        let node = NodeId::from(index);
        let read_only = |config, client| ReadOnlyCache::new(config, client, node, map.slice_map(), SEED);
        let registers = (make.register_file)(&*doors.register_file.design, file.sm.register_file_site(SEED))
            .map_err(|error| format!("sm.register_file.{}: {error}", doors.register_file.name))?;
        let lane_path_site = LanePathSite { accesses: *file.lsu.accesses as usize, seed: SEED };
        let lane_path = (make.lane_path)(&*doors.lane_path.design, lane_path_site)
            .map_err(|error| format!("lane_path.{}: {error}", doors.lane_path.name))?;
        let scratchpad_site = ScratchpadSite {
            node,
            slices: map.slice_map(),
            bytes: *file.sm.shared_bytes,
            ctas: *file.sm.cta_slots,
        };
        let scratchpad = (make.scratchpad)(&*doors.scratchpad.design, scratchpad_site)
            .map_err(|error| format!("scratchpad.{}: {error}", doors.scratchpad.name))?;
        // A warp of the kernel waits for its row and its payload.
        let held_loads = if helper_sms.contains(&index) { 2 * *file.sm.warp_slots as usize } else { 0 };
        let l1d_site = L1dSite { node, slices: map.slice_map(), seed: SEED, held_loads };
        let l1d = (make.l1d)(&*doors.l1d.design, l1d_site)
            .map_err(|error| format!("l1d.{}: {error}", doors.l1d.name))?;
        let instructions = read_only(&file.instruction_cache, Client::Instruction)
            .map(ReadOnlyCache::without_bytes)
            .map_err(|error| format!("instruction_cache: {error}"))?;
        let constants = read_only(&file.constant_cache, Client::Constant)
            .map_err(|error| format!("constant_cache: {error}"))?;
        let second = file.read_only_cache.as_ref().map(|config| {
            let requests = *file.instruction_cache.mshr_entries + *file.constant_cache.mshr_entries;
            read_only(config, Client::ReadOnly).map(|cache| SecondLevel::new(cache, requests))
        });
        let second = second.transpose().map_err(|error| format!("read_only_cache: {error}"))?;
        let translation = file.translation.as_ref().zip(mmu_links.next());
        let mmu = translation.map(|(config, links)| Mmu::new(config, node, links, SEED));
        let lsu = Lsu::new(&file.lsu, surroundings(file, index))
            .map_err(|error| format!("lsu: {error}"))?
            .with_lane_path(lane_path)
            .with_scratchpad(scratchpad);
        let parts_of_sm = SmParts {
            id: SmId::from(index),
            sms: u32::from(sms),
            clock_mhz: *file.clocks.core_mhz,
            flit_bytes: flit_size.bytes(),
            lsu: match ledger(make, index as u16) {
                Some(ledger) if !helper_sms.contains(&index) => lsu.with_ledger(ledger),
                _ => lsu,
            },
            unified: file.unified().cloned(),
            requests,
            replies,
            owners: sm_owner_links.next(),
            mmu,
            commands,
            notices,
        };
        let caches = (instructions, constants, second);
        parts.push(Part::Sm(multiprocessor(&file.sm, (registers, l1d), caches, parts_of_sm)?));
    }

    if let Some(cpu) = &file.cpu {
        let cores = cpu_cores(file, cpu, map, flit_size, make)?;
        parts.extend(cores.parts);
        from_sms.extend(cores.inlets);
        to_sms.extend(cores.outlets);
        from_owners.extend(cores.from_owners);
        to_owners.extend(cores.to_owners);
    }

    let (gmmu_requests, inlets) = links(file, file.gmmus(), core_clock, network_clock)?;
    let (outlets, gmmu_replies) = links(file, file.gmmus(), network_clock, core_clock)?;
    from_sms.extend(inlets);
    to_sms.extend(outlets);
    // A GMMU owns no words: its node is silent on that network, where nodes are numbered as on the others.
    let (_, from_gmmus, to_gmmus) = owner_links(file, owning(file.gmmus()), core_clock)?;
    from_owners.extend(from_gmmus);
    to_owners.extend(to_gmmus);
    let place = (NodeId(sms + cores), map.slice_map(), flit_size.bytes());
    let ends = gmmu_requests.into_iter().zip(gmmu_replies);
    parts.extend(gmmus::gmmus(file, place, ends, of_sms, SEED));

    let mut slice_links: Vec<Option<(Inlet<Packet>, Outlet<Packet>)>> =
        from_requests.into_iter().zip(to_replies).map(Some).collect();
    for channel in 0..*file.gpu.channels {
        let ends = map
            .slices_of(channel)
            .map(|slice| {
                let (requests, replies) =
                    slice_links[usize::from(slice)].take().expect("a slice belongs to one channel");
                let site = LlcSite { slice, seed: SEED, helpers: helpers(file, map, slice) };
                let llc = (make.llc)(&*doors.llc.design, site)
                    .map_err(|error| format!("llc.{}: {error}", doors.llc.name))?;
                let behind = file.memory_cache.as_ref().filter(|_| !doors.llc.never_misses());
                let cache = behind.map(|config| MemoryCache::new(config, SEED));
                let cache = cache.transpose().map_err(|error| format!("memory_cache: {error}"))?;
                let owners = said_to_slices.get_mut(usize::from(slice)).and_then(Option::take);
                Ok(SliceEnds { llc, cache: cache.map(Box::new), requests, replies, owners })
            })
            .collect::<Result<Vec<_>, String>>()?;
        let dram = Channel::new(&file.dram, file.clocks.dram_over_l2(), ends.len(), map.chunk_lines())
            .map_err(|error| format!("dram: {error}"))?;
        let partition = PartitionIsland::new(map, channel, flit_size, dram, ends)
            .map_err(|error| format!("gpu: {error}"))?;
        parts.push(Part::partition(partition, l2_clock));
    }

    let mut directions = vec![
        (Direction::Request, from_sms, NodeId(0), to_slices, first_slice),
        (Direction::Reply, from_slices, first_slice, to_sms, NodeId(0)),
    ];
    if has_owners {
        to_owners.extend(owners_to_slices);
        directions.push((Direction::Owner, from_owners, NodeId(0), to_owners, NodeId(0)));
    }
    let (coherence, networks) = (doors.l1d.coherence(), directions.len());
    for (direction, inlets, first_input, outlets, first_output) in directions {
        let ends = NetworkEnds { first_input, inlets, first_output, outlets };
        let island = (make.network)(&*doors.network.design, NetworkSite { direction, coherence, ends })
            .map_err(network)?;
        parts.push(Part::network(island, network_clock));
    }
    let mut dispatcher = Dispatcher::new(dispatch_ends).with_programs_on(file.gpu.compute_sms().len());
    if let Some(dispatch) = &file.gpu.dispatch {
        dispatcher = dispatcher.with_policy(dispatch.policy().clone());
    }
    parts.push(Part::Dispatcher(Box::new(dispatcher)));
    Ok(Assembly {
        parts,
        islands: Islands::new(sms, (cores, file.gmmus()), *file.gpu.channels, networks),
        map,
    })
}

/// What an SM counts and records beside its totals, if anything.
fn ledger(make: &Makers<'_>, sm: u16) -> Option<Ledger> {
    let (log, path, queue) = (make.records.get(&sm), make.paths.get(&sm), make.queues.get(&sm));
    let is_asked_for = !make.accounts.is_empty() || log.is_some() || path.is_some() || queue.is_some();
    let mut ledger = is_asked_for.then(|| Ledger::new(&make.accounts))?;
    if let Some((log, warps)) = log {
        ledger = ledger.with_record(log.clone(), *warps);
    }
    if let Some((log, most)) = path {
        ledger = ledger.with_path(log.clone(), *most);
    }
    if let Some(queue) = queue {
        ledger = ledger.with_queue(queue.clone());
    }
    Some(ledger)
}

/// CPU cores, and the networks' ends of their links.
struct Cores {
    parts: Vec<Part>,
    inlets: Vec<Inlet<Packet>>,
    outlets: Vec<Outlet<Packet>>,
    from_owners: Vec<Inlet<Packet>>,
    to_owners: Vec<Outlet<Packet>>,
}

fn cpu_cores(
    file: &MachineFile,
    config: &CpuConfig,
    map: AddressMap,
    flit_size: FlitSize,
    make: &mut Makers<'_>,
) -> Result<Cores, String> {
    let (clock, network_clock) = (file.clocks.of(&config.clock_mhz), file.clocks.network());
    let (to_requests, inlets) = links(file, *config.cores, clock, network_clock)?;
    let (outlets, from_replies) = links(file, *config.cores, network_clock, clock)?;
    let owning = if file.has_owners() { *config.cores } else { 0 };
    let (owner_links, from_owners, to_owners) = owner_links(file, owning, clock)?;
    let mut owner_links = owner_links.into_iter();
    let l1d = file.doors.cpu_l1d();
    let mut parts = Vec::new();
    for (index, (requests, replies)) in to_requests.into_iter().zip(from_replies).enumerate() {
        let node = NodeId::from(usize::from(*file.gpu.sms) + index);
        let site = L1dSite { node, slices: map.slice_map(), seed: SEED, held_loads: 0 };
        let l1d = (make.l1d)(&*l1d.design, site).map_err(|error| format!("cpu.l1d.{}: {error}", l1d.name))?;
        let id = CoreId::from(index);
        let (flit_bytes, owners) = (flit_size.bytes(), owner_links.next());
        let core = CoreParts { id, flit_bytes, l1d, requests, replies, owners };
        let core = Core::new(config, core).map_err(|error| format!("cpu.{error}"))?;
        parts.push(Part::Cpu(Box::new(Domain::new(clock, core))));
    }
    Ok(Cores { parts, inlets, outlets, from_owners, to_owners })
}

/// Links of so many nodes that may own words, and the ends that the network of owners has of them: from and to the nodes.
fn owner_links(file: &MachineFile, nodes: u16, clock: ClockRatio) -> Result<OwnerEnds, String> {
    let network_clock = file.clocks.network();
    let (answers, from_nodes) = links(file, nodes, clock, network_clock)?;
    let (to_nodes, arrivals) = links(file, nodes, network_clock, clock)?;
    let flit_size = file
        .doors
        .network
        .flit_size()
        .map_err(|error| format!("network.{}: {error}", file.doors.network.name))?;
    let flit_bytes = flit_size.bytes();
    let ends = answers.into_iter().zip(arrivals);
    let ends = ends.map(|(answers, arrivals)| OwnerLinks { answers, arrivals, flit_bytes });
    Ok((ends.collect(), from_nodes, to_nodes))
}

type OwnerEnds = (Vec<OwnerLinks>, Vec<Inlet<Packet>>, Vec<Outlet<Packet>>);

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

/// The SMs in cache mode as a slice sees them; `None` if the machine has none.
fn helpers(file: &MachineFile, map: AddressMap, slice: u16) -> Option<Helpers> {
    let sms = file.gpu.helper_sms();
    let kernel = file.doors.llc.helper_kernel().filter(|_| !sms.is_empty())?;
    let slices = *file.gpu.channels * *file.gpu.slices_per_channel;
    let rows = window::rows_of_slice(sms.len() as u32 * kernel.warps, slice, slices);
    Some(Helpers { first: NodeId::from(sms.start), sms: sms.len() as u16, rows, map })
}

fn surroundings(file: &MachineFile, sm: usize) -> Surroundings {
    let warp_slots = *file.sm.warp_slots as usize;
    Surroundings { warp_slots, first_warp: (sm * warp_slots) as u64, shared_bytes: *file.sm.shared_bytes }
}
