//! Neither an L1D, the L2 slice nor a mesh allocates once it has had as much in flight as it ever has: hits and misses,
//! merges and flushes alike.

use std::collections::VecDeque;

use strata_designs::baseline::{L2Config, L2Slice, MeshConfig, MeshNetwork, SramL1d, SramL1dConfig};
use strata_designs::denovo::l1d::{DenovoL1d, DenovoL1dConfig};
use strata_designs::denovo::l2::{DenovoL2, DenovoL2Config};
use strata_designs::fuse::{FuseConfig, FuseL1d};
use strata_engine::seed::Stream;
use strata_engine::{Cycle, Island, Window, link};
use strata_memory::doors::{Access, Action, Direction, DramPort, DramRequest, L1d, Llc, NetworkEnds, Policy};
use strata_memory::{
    Body, ByteMask, Client, Contents, Level, Line, LineAddress, NodeId, Origin, Packet, Packets, SliceMap,
    Tray,
};

/// DRAM that answers after 30 cycles.
struct Dram(VecDeque<(Cycle, DramRequest)>);

impl DramPort for Dram {
    fn offer(&mut self, request: DramRequest, now: Cycle) -> Result<(), DramRequest> {
        if self.0.len() == self.0.capacity() {
            return Err(request);
        }
        self.0.push_back((now + 30, request));
        Ok(())
    }

    fn completed(&mut self, now: Cycle) -> Option<DramRequest> {
        self.0.front().filter(|(ready, _)| *ready <= now)?;
        self.0.pop_front().map(|(_, request)| request)
    }
}

/// One slice at node 1.
fn slices() -> SliceMap {
    SliceMap::new(1, 256, NodeId(1)).expect("one slice")
}

#[test]
fn a_conventional_l1d_and_an_l2_slice_run_without_allocating() {
    let mut config = SramL1dConfig::example();
    config.sets.value = 4;
    config.sector_bytes.value = 32;
    drive(SramL1d::new(&config, NodeId(0), slices(), 1).expect("the L1D can be built"));
}

/// A file in `systems/fuse`, as far as it is read here.
#[derive(serde::Deserialize)]
struct File {
    l1d: Choice,
}

#[derive(serde::Deserialize)]
struct Choice {
    fuse: FuseConfig,
}

/// Takes the ranges of assumed values from a table: they are no part of a configuration.
fn without_ranges(table: &mut toml::Table) {
    table.remove("range");
    table.iter_mut().filter_map(|(_, value)| value.as_table_mut()).for_each(without_ranges);
}

/// All but the Oracle, whose SRAM grows.
#[test]
fn the_l1ds_of_fuse_run_without_allocating() {
    for text in [
        include_str!("../systems/fuse/by-nvm.toml"),
        include_str!("../systems/fuse/victim-buffer.toml"),
        include_str!("../systems/fuse/hybrid.toml"),
        include_str!("../systems/fuse/base-fuse.toml"),
        include_str!("../systems/fuse/dy-fuse.toml"),
    ] {
        let mut table: toml::Table = text.parse().expect("a system's file");
        without_ranges(&mut table);
        let File { l1d: Choice { fuse: mut config } } = table.try_into().expect("a system's file");
        // Small, so that lines move between the banks and leave them.
        if let Some(sram) = &mut config.sram {
            sram.sets.value = 4;
        }
        if let Some(stt) = &mut config.stt {
            (stt.sets.value, stt.ways.value) = if *stt.sets == 1 { (1, 16) } else { (4, *stt.ways) };
        }
        if let Some(approximation) = &mut config.approximation {
            approximation.filters.value = 4;
        }
        if let Some(dead_write) = &mut config.dead_write {
            dead_write.sampled_set_stride.value = 1;
        }
        drive(FuseL1d::new(&config, NodeId(0), slices()).expect("the L1D can be built"));
    }
}

/// Loads, stores, flushes: the second half of them allocates next to nothing.
fn drive(mut l1d: impl L1d) {
    let mut l2_config = L2Config::example();
    l2_config.sets.value = 4;
    let mut l2 = L2Slice::new(&l2_config, 0, 1).expect("the slice can be built");
    let mut dram = Dram(VecDeque::with_capacity(64));
    let mut trays: Vec<Tray> = (0..64).map(|_| Box::new(Line::ZERO)).collect();
    let (mut access, mut request): (Option<Access>, Option<Packet>) = (None, None);
    let mut stream = Stream::new(1, "no allocation");
    let mut done = 0;

    let mut run = |cycles: std::ops::Range<u64>| {
        for now in cycles.map(Cycle) {
            l2.tick(&mut dram, now);
            if let Some(reply) = l2.outgoing(now) {
                l1d.accept(reply, now);
            }
            l1d.tick(now);
            while let Some(completion) = l1d.completed(now) {
                let (Action::Load(tray) | Action::Store(tray)) = completion.action else {
                    panic!("no atomics were sent")
                };
                trays.push(tray);
                done += 1;
            }
            request =
                request.take().or_else(|| l1d.outgoing(now)).and_then(|request| l2.offer(request, now).err());
            if stream.below(2000) == 0 && l1d.is_flushed() {
                l1d.begin_flush(stream.below(2) == 0, now);
            }
            if access.is_none()
                && let Some(tray) = trays.pop()
            {
                let action = if stream.below(3) == 0 { Action::Store(tray) } else { Action::Load(tray) };
                let policy = if stream.below(10) == 0 { Policy::Bypass } else { Policy::Cached };
                let bytes = ByteMask::range(4 * stream.below(32) as usize, 4);
                let line = LineAddress(stream.below(96));
                access = Some(Access {
                    line,
                    bytes,
                    action,
                    policy,
                    token: 0,
                    pc: stream.below(8) as u32,
                    warp: 0,
                    leads: true,
                });
            }
            access = access.take().and_then(|access| l1d.offer(access, now).err().map(|(access, _)| access));
        }
    };
    run(0..240_000);
    let counted = allocation_counter::measure(|| run(240_000..300_000));
    // A new peak of what is in flight at once takes memory, once; nothing else does.
    assert!(counted.count_total < 8, "{} allocations in the last fifth", counted.count_total);
    assert!(done > 4_000, "{done} accesses were completed");
}

/// Two L1Ds whose words have owners above a registry, all three small: words move between them and are recalled.
#[test]
fn denovo_runs_without_allocating() {
    let (mut config, mut registry) = (DenovoL1dConfig::example(), DenovoL2Config::example());
    (config.sets.value, config.ways.value) = (2, 2);
    (registry.sets.value, registry.ways.value) = (2, 4);
    let slices = SliceMap::new(1, 256, NodeId(2)).expect("one slice");
    let mut l1ds: Vec<DenovoL1d> = (0..2)
        .map(|node| DenovoL1d::new(&config, NodeId(node), slices, 1).expect("the L1D can be built"))
        .collect();
    let mut l2 = DenovoL2::new(&registry, 0, 1).expect("the slice can be built");
    let mut dram = Dram(VecDeque::with_capacity(64));
    let mut trays: Vec<Tray> = (0..64).map(|_| Box::new(Line::ZERO)).collect();
    let mut requests: [Option<Packet>; 2] = [None, None];
    let mut stream = Stream::new(1, "no allocation");
    let mut done = 0;
    let mut run = |cycles: std::ops::Range<u64>| {
        for now in cycles.map(Cycle) {
            l2.tick(&mut dram, now);
            if let Some(reply) = l2.outgoing(now) {
                l1ds[reply.destination.index()].accept(reply, now);
            }
            for node in 0..2 {
                l1ds[node].tick(now);
                while let Some(Action::Load(tray) | Action::Store(tray)) =
                    l1ds[node].completed(now).map(|completion| completion.action)
                {
                    trays.push(tray);
                    done += 1;
                }
                let request = requests[node].take().or_else(|| l1ds[node].outgoing(now));
                requests[node] = request.and_then(|request| l2.offer(request, now).err());
                if let Some(packet) = l1ds[node].answer(now) {
                    match packet.destination.index() {
                        2 => l2.accept(packet, now),
                        other => l1ds[other].accept(packet, now),
                    }
                }
                if stream.below(2000) == 0 && l1ds[node].is_flushed() {
                    l1ds[node].begin_flush(true, now);
                }
                let Some(tray) = trays.pop() else { continue };
                let action = if stream.below(3) == 0 { Action::Store(tray) } else { Action::Load(tray) };
                let policy = if stream.below(20) == 0 { Policy::Bypass } else { Policy::Cached };
                let (word, length) = (4 * stream.below(28) as usize, [2, 4, 16][stream.below(3) as usize]);
                let (bytes, line) = (ByteMask::range(word, length), LineAddress(stream.below(20)));
                let access = Access { line, bytes, action, policy, token: 0, pc: 0, warp: 0, leads: true };
                if let Err((Access { action: Action::Load(tray) | Action::Store(tray), .. }, _)) =
                    l1ds[node].offer(access, now)
                {
                    trays.push(tray);
                }
            }
        }
    };
    run(0..60_000);
    let counted = allocation_counter::measure(|| run(60_000..120_000));
    assert!(counted.count_total < 8, "{} allocations in the second half", counted.count_total);
    assert!(done > 4_000, "{done} accesses were completed");
}

/// A file in `systems/networks`, as far as it is read here.
#[derive(serde::Deserialize)]
struct NetworkFile {
    network: NetworkChoice,
}

#[derive(serde::Deserialize)]
struct NetworkChoice {
    mesh: MeshConfig,
}

/// More packets than the mesh can carry, in trays that come back.
#[test]
fn a_mesh_runs_without_allocating() {
    let text = include_str!("../systems/networks/mesh.toml");
    let NetworkFile { network: NetworkChoice { mesh: config } } =
        toml::from_str(text).expect("a system's file");
    let (mut senders, inlets): (Vec<_>, _) = (0..15).map(|_| link(4, 64)).unzip();
    let (outlets, mut receivers): (_, Vec<_>) = (0..12).map(|_| link(4, 64)).unzip();
    let ends = NetworkEnds { first_input: NodeId(0), inlets, first_output: NodeId(15), outlets };
    let mut mesh = MeshNetwork::new(Direction::Request, &config, ends).expect("the mesh can be built");
    let mut trays: Vec<Tray> = (0..400).map(|_| Box::new(Line::ZERO)).collect();
    let mut packets = Packets::default();
    let mut stream = Stream::new(1, "no allocation");
    let mut received = 0;
    let mut run = |cycles: std::ops::Range<u64>| {
        for now in cycles {
            let (now, window) = (Cycle(now), Window(now));
            mesh.collect(window);
            for (node, sender) in senders.iter_mut().enumerate() {
                sender.collect(window);
                let Some(tray) = trays.pop() else { continue };
                let packet = packets.write(Contents {
                    line: LineAddress(0),
                    bytes: ByteMask::range(0, 1 + stream.below(128) as usize),
                    source: NodeId::from(node),
                    destination: NodeId::from(15 + stream.below(12) as usize),
                    client: Client::L1d,
                    tag: 0,
                    origin: Origin::default(),
                    level: Level::default(),
                    body: Body::Write(tray),
                });
                let flits = packet.wire_bytes().div_ceil(40);
                if let Err(packet) = sender.send(packet, flits, now)
                    && let Body::Write(tray) = packets.open(packet)
                {
                    trays.push(tray);
                }
            }
            for receiver in &mut receivers {
                receiver.collect(window);
                while let Some(packet) = receiver.receive(now) {
                    receiver.release(packet.wire_bytes().div_ceil(40), now);
                    let Body::Write(tray) = packets.open(packet) else { panic!("only writes were sent") };
                    trays.push(tray);
                    received += 1;
                }
                receiver.flush(window);
            }
            mesh.tick(now);
            senders.iter_mut().for_each(|sender| {
                sender.flush(window);
            });
            mesh.flush(window);
        }
    };
    run(0..20_000);
    let counted = allocation_counter::measure(|| run(20_000..40_000));
    assert!(counted.count_total < 8, "{} allocations in the second half", counted.count_total);
    assert!(received > 40_000, "{received} packets were received");
}
