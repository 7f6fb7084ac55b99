//! Latencies, arbitration and credits to the cycle, on a bench of senders and receivers. What must hold of every
//! network is checked by [its contract](crate::contract::network).

use std::path::Path;

use strata_engine::{Cited, Cycle, Inlet, Island, Outlet, Window, config, link};
use strata_memory::address::LineAddress;
use strata_memory::doors::{Design, Direction, Network, NetworkEnds, network_link};
use strata_memory::line::{ByteMask, Line};
use strata_memory::{Body, Client, Contents, Level, NodeId, Origin, Packet};

use super::placement::Places;
use super::*;

/// Cycles of everything: routing 1, allocation 2, switch 3, link 5, interfaces 4: a router takes 6.
fn config(columns: usize, rows: usize) -> MeshConfig {
    fn cited<T>(value: T) -> Cited<T> {
        Cited::new(value, "test")
    }
    MeshConfig {
        columns: cited(columns),
        rows: cited(rows),
        placement: cited(Placement::Together),
        flit_bytes: cited(40),
        switching: cited(Switching::Wormhole),
        virtual_channels: cited(2),
        buffer_flits: cited(16),
        routing_cycles: cited(1),
        vc_allocation_cycles: cited(2),
        switch_cycles: cited(3),
        link_cycles: cited(5),
        credit_cycles: cited(2),
        interface_cycles: cited(4),
        interface_flits: cited(32),
    }
}

/// A pipeline of one cycle for each stage that must have one, and no other.
fn fastest(columns: usize, rows: usize) -> MeshConfig {
    let mut config = config(columns, rows);
    (config.routing_cycles.value, config.vc_allocation_cycles.value) = (0, 0);
    (config.switch_cycles.value, config.link_cycles.value, config.credit_cycles.value) = (1, 1, 1);
    config.interface_cycles.value = 1;
    config
}

/// A mesh with a sender and a receiver at each router, one window per cycle.
struct Bench {
    network: MeshNetwork,
    senders: Vec<Outlet<Packet>>,
    receivers: Vec<Inlet<Packet>>,
    /// Receivers that take nothing.
    asleep: Vec<usize>,
    now: Cycle,
    ticks: u64,
    /// Arrivals: cycle, receiver, tag.
    log: Vec<(u64, usize, u32)>,
}

impl Bench {
    fn new(config: &MeshConfig) -> Bench {
        Bench::with(config, MeshNetwork::new)
    }

    fn with(
        config: &MeshConfig,
        make: impl Fn(Direction, &MeshConfig, NetworkEnds) -> Result<MeshNetwork, strata_memory::ParameterError>,
    ) -> Bench {
        let nodes = config.routers();
        let links = || (0..nodes).map(|_| link(*config.interface_cycles, *config.interface_flits)).unzip();
        let ((senders, inlets), (outlets, receivers)) = (links(), links());
        let ends = NetworkEnds { first_input: NodeId(0), inlets, first_output: NodeId::from(nodes), outlets };
        let network = make(Direction::Request, config, ends).unwrap();
        Bench { network, senders, receivers, asleep: Vec::new(), now: Cycle::ZERO, ticks: 0, log: Vec::new() }
    }

    /// A packet of some flits of 40 bytes.
    fn packet(&self, from: usize, to: usize, flits: u32, tag: u32) -> Packet {
        Packet::new(Contents {
            line: LineAddress(0),
            bytes: ByteMask::range(0, (40 * flits as usize - 8).min(128)),
            source: NodeId::from(from),
            destination: NodeId::from(self.senders.len() + to),
            client: Client::L1d,
            tag,
            origin: Origin::default(),
            level: Level::default(),
            body: Body::Write(Box::new(Line::ZERO)),
        })
    }

    fn send(&mut self, from: usize, to: usize, flits: u32, tag: u32) -> bool {
        let packet = self.packet(from, to, flits, tag);
        assert_eq!(packet.wire_bytes().div_ceil(40), flits);
        self.senders[from].send(packet, flits, self.now).is_ok()
    }

    fn step(&mut self) {
        let window = Window(self.now.0);
        self.senders.iter_mut().for_each(|sender| sender.collect(window));
        self.receivers.iter_mut().for_each(|receiver| receiver.collect(window));
        self.network.collect(window);
        for (node, receiver) in self.receivers.iter_mut().enumerate() {
            while !self.asleep.contains(&node)
                && let Some(packet) = receiver.receive(self.now)
            {
                receiver.release(packet.wire_bytes().div_ceil(40), self.now);
                self.log.push((self.now.0, node, packet.tag));
            }
        }
        if self.network.next_event(self.now) <= self.now {
            self.network.tick(self.now);
            self.ticks += 1;
        }
        self.senders.iter_mut().for_each(|sender| {
            sender.flush(window);
        });
        self.receivers.iter_mut().for_each(|receiver| {
            receiver.flush(window);
        });
        self.network.flush(window);
        self.now = self.now.next();
    }

    fn run(&mut self, cycles: u64) {
        (0..cycles).for_each(|_| self.step());
    }

    fn counter(&self, name: &str) -> u64 {
        self.network.statistics()[0].get(name).expect("the mesh counts it")
    }
}

#[test]
fn uncontended_latency_is_what_the_parameters_say() {
    for switching in [Switching::Wormhole, Switching::VirtualCutThrough] {
        for flits in 1..=4 {
            for (from, to, routers) in [(0, 0, 1), (0, 3, 4), (3, 8, 6), (11, 0, 6), (5, 9, 2)] {
                let mut config = config(4, 3);
                config.switching.value = switching;
                let mut bench = Bench::new(&config);
                bench.run(7);
                assert!(bench.send(from, to, flits, 1));
                bench.run(120);
                let latency = 2 * 4 + routers * 6 + (routers - 1) * 5 + u64::from(flits) - 1;
                assert_eq!(bench.log, [(7 + latency, to, 1)], "{flits} flits from {from} to {to}");
                let f = u64::from(flits);
                assert_eq!(bench.counter("latency_cycles"), latency - 4);
                assert_eq!(
                    (bench.counter("wait_channel_cycles"), bench.counter("wait_switch_cycles")),
                    (0, 0)
                );
                assert_eq!(
                    (bench.counter("packet_hops"), bench.counter("flit_hops")),
                    (routers, routers * f)
                );
                assert_eq!(bench.counter("link_flits"), (routers - 1) * f);
                // A flit stays in a buffer for routing and allocation.
                assert_eq!(bench.counter("buffered_flit_cycles"), routers * 3 * f);
            }
        }
    }
}

#[test]
fn idle_cycles_are_not_ticked() {
    let mut bench = Bench::new(&config(4, 1));
    assert!(bench.send(0, 3, 1, 1));
    bench.run(200);
    // In each router: arrival, route, channel, switch, and a look at what is left.
    assert!(bench.ticks <= 20, "{} ticks for a flit through 4 routers", bench.ticks);
    assert_eq!(bench.network.next_event(bench.now), Cycle::NEVER);
}

#[test]
fn flits_of_each_link_are_counted() {
    let mut bench = Bench::new(&fastest(3, 2));
    // East, east, south.
    assert!(bench.send(0, 5, 4, 1));
    // West.
    assert!(bench.send(4, 3, 2, 2));
    // North.
    assert!(bench.send(3, 0, 1, 3));
    bench.run(40);
    let links = &bench.network.statistics()[1];
    assert_eq!(links.name, "network.request.links");
    let busy: Vec<_> = links.definitions.iter().zip(&links.values).filter(|(_, flits)| **flits > 0).collect();
    let busy: Vec<_> = busy.iter().map(|(definition, flits)| (definition.name, **flits)).collect();
    assert_eq!(busy, [("east_00", 4), ("east_01", 4), ("west_04", 2), ("south_02", 4), ("north_03", 1)]);
}

#[test]
fn flits_of_two_packets_share_a_link() {
    // Routers 0, 1, 2 in a row; packets of 4 flits from 0 and from 1 to 2, through the link from 1 to 2.
    let mut bench = Bench::new(&fastest(3, 1));
    assert!(bench.send(0, 2, 4, 10));
    bench.run(2);
    assert!(bench.send(1, 2, 4, 11));
    bench.run(30);
    // Both heads are in router 1 at cycle 3 (1 + 2, and 2 + 1). The input from the west is granted first, then
    // they alternate: flits leave at 3, 5, 7, 9 and at 4, 6, 8, 10. Through switch and link they are in router 2
    // two cycles later, leave for the node a cycle after and are there another after: 9 + 4. The other packet's
    // last flit is there at 10 + 4, but its receiver's link has moved only one flit since.
    assert_eq!(bench.log, [(13, 2, 10), (17, 2, 11)]);
    // The loser's head waits for a cycle; later flits are not heads. Its packet is whole at 14 and delivered at 17.
    assert_eq!((bench.counter("wait_switch_cycles"), bench.counter("wait_interface_cycles")), (1, 3));
}

#[test]
fn one_virtual_channel_serves_packet_after_packet() {
    let mut config = fastest(3, 1);
    config.virtual_channels.value = 1;
    let mut bench = Bench::new(&config);
    assert!(bench.send(0, 2, 4, 10));
    bench.run(2);
    assert!(bench.send(1, 2, 4, 11));
    bench.run(30);
    // The first packet has the channel from 3 to 6; the other one gets it at 7.
    assert_eq!(bench.log, [(10, 2, 10), (14, 2, 11)]);
    assert_eq!((bench.counter("wait_channel_cycles"), bench.counter("wait_switch_cycles")), (4, 0));
}

#[test]
fn without_credit_a_flit_waits_exactly_until_it_is_back() {
    // Buffers of one flit: each moves on, its credit comes back, the next follows.
    let mut config = fastest(2, 1);
    (config.buffer_flits.value, config.credit_cycles.value) = (1, 4);
    let mut bench = Bench::new(&config);
    assert!(bench.send(0, 1, 3, 1));
    bench.run(60);
    // In router 0 at 1, leaves at 1; in router 1 at 3, leaves at 3, credit at 7: the next leaves router 0 at 7,
    // router 1 at 9, the last at 13 and 15. A cycle for the switch, one for the interface.
    assert_eq!(bench.log, [(17, 1, 1)]);
}

#[test]
fn cut_through_waits_for_room_for_the_whole_packet_and_wormhole_does_not() {
    // Node 2's receiver sleeps, with room for one packet of 4 flits; the next two packets fill router 2 and then 1.
    let stuck = |switching| {
        let mut config = fastest(3, 1);
        config.switching.value = switching;
        (config.virtual_channels.value, config.buffer_flits.value) = (1, 14);
        (config.interface_flits.value, config.flit_bytes.value) = (14, 40);
        let mut bench = Bench::new(&config);
        bench.asleep.push(2);
        for tag in 0..12 {
            bench.send(0, 2, 4, tag);
            bench.run(8);
        }
        bench.run(60);
        bench
    };
    // The receiver has 3 packets. A buffer of 14 flits holds 3 whole packets, and half of one more if packets may
    // be spread.
    let (whole, spread) = (stuck(Switching::VirtualCutThrough), stuck(Switching::Wormhole));
    assert_eq!(whole.counter("link_flits"), 4 * (2 * (3 + 3) + 3));
    assert_eq!(spread.counter("link_flits"), (12 + 14) + (12 + 14 + 14));
}

#[test]
fn all_senders_of_a_hot_spot_get_through() {
    for virtual_channels in [1, 3] {
        let mut config = fastest(3, 3);
        config.virtual_channels.value = virtual_channels;
        let mut bench = Bench::new(&config);
        let mut sent = [0u32; 9];
        for _ in 0..3000 {
            for (from, sent) in sent.iter_mut().enumerate() {
                *sent += u32::from(bench.send(from, 4, 1, from as u32));
            }
            bench.step();
        }
        let served = |from: u32| bench.log.iter().filter(|(_, _, tag)| *tag == from).count();
        let all: Vec<_> = (0..9).map(served).collect();
        // A port of the hot spot moves a flit a cycle and never rests once packets have come.
        assert!(all.iter().sum::<usize>() > 2980, "{all:?}");
        // Its own node and four neighbours share it; a row's neighbour serves nobody else, a column's three.
        assert!(all.iter().all(|count| *count > 3000 / 5 / 4), "{all:?}");
    }
}

#[test]
fn small_packets_of_two_nodes_follow_each_other_closely() {
    let mut bench = Bench::new(&MeshConfig { vc_allocation_cycles: Cited::new(1, "test"), ..fastest(3, 1) });
    for tag in 0..8 {
        assert!(bench.send(0, 2, 1, tag));
    }
    bench.run(40);
    // 2 + 3 routers of 2 cycles + 2 links; then one each cycle, over two channels by turns.
    assert_eq!(bench.log, std::array::from_fn::<_, 8, _>(|tag| (10 + tag as u64, 2, tag as u32)));
}

#[test]
fn packets_of_two_nodes_stay_in_order_over_many_channels() {
    let mut config = config(4, 4);
    config.virtual_channels.value = 4;
    let mut bench = Bench::new(&config);
    let mut next = [0u32; 16];
    for cycle in 0..4000u32 {
        for (from, next) in next.iter_mut().enumerate() {
            // Long and short packets by turns, most to the node's partner.
            let flits = if next.is_multiple_of(2) { 4 } else { 1 };
            let to = if cycle % 7 == 0 { (from + 5) % 16 } else { 15 - from };
            *next += u32::from(bench.send(from, to, flits, (from as u32) << 16 | *next));
        }
        bench.step();
    }
    bench.run(3000);
    let mut last = std::collections::HashMap::new();
    for (_, to, tag) in &bench.log {
        let before = last.insert((tag >> 16, *to), tag & 0xffff);
        assert!(before.is_none_or(|before| before < tag & 0xffff), "{tag:x} at {to}");
    }
    assert_eq!(bench.log.len(), next.iter().sum::<u32>() as usize);
    assert!(bench.counter("wait_channel_cycles") > 0);
}

#[test]
fn replies_pass_requests_that_wait() {
    let mut config = fastest(2, 1);
    config.interface_flits.value = 4;
    let mut bench = Bench::with(&config, MeshNetwork::for_both_classes);
    bench.asleep.push(1);
    // The receiver has room for one packet; the next ones stop on the way.
    for tag in 0..20 {
        bench.send(0, 1, 4, tag);
        bench.run(6);
    }
    let stuck = bench.counter("link_flits");
    let mut reply = bench.packet(0, 1, 1, 77);
    reply.body = Body::WriteAck(Box::new(Line::ZERO));
    // The sender's own queue is full of requests: a reply comes from the other node.
    (reply.source, reply.destination) = (NodeId(1), NodeId(2));
    let now = bench.now;
    bench.senders[1].send(reply, 1, now).unwrap();
    bench.run(20);
    assert_eq!(bench.log, [(now.0 + 5, 0, 77)]);
    assert_eq!(bench.counter("link_flits"), stuck + 1);
}

#[test]
fn any_node_may_send_to_any_node() {
    // Four nodes on two routers, each on both sides: requests and replies between all of them.
    let mut config = fastest(2, 1);
    config.placement.value = Placement::List(vec![0, 0, 1, 1]);
    let links = || (0..4).map(|_| link(1, 32)).unzip::<_, _, Vec<_>, Vec<_>>();
    let ((mut senders, inlets), (outlets, mut receivers)) = (links(), links());
    let ends = NetworkEnds { first_input: NodeId(0), inlets, first_output: NodeId(0), outlets };
    let mut network = MeshNetwork::for_both_classes(Direction::Request, &config, ends).unwrap();
    let mut arrived = Vec::new();
    for now in 0..60 {
        let (now, window) = (Cycle(now), Window(now));
        network.collect(window);
        for (to, receiver) in receivers.iter_mut().enumerate() {
            receiver.collect(window);
            while let Some(packet) = receiver.receive(now) {
                receiver.release(1, now);
                arrived.push((packet.source.index(), to, packet.tag));
            }
            receiver.flush(window);
        }
        for (from, sender) in senders.iter_mut().enumerate() {
            sender.collect(window);
            if let tag @ 0..8 = now.0 as u32 {
                let tray = Box::new(Line::ZERO);
                let packet = Packet::new(Contents {
                    line: LineAddress(0),
                    bytes: ByteMask::range(0, 8),
                    source: NodeId::from(from),
                    destination: NodeId::from(tag as usize % 4),
                    client: Client::L1d,
                    tag,
                    origin: Origin::default(),
                    level: Level::default(),
                    body: if tag < 4 { Body::Write(tray) } else { Body::ReadReply(tray) },
                });
                sender.send(packet, 1, now).unwrap();
            }
            sender.flush(window);
        }
        network.tick(now);
        network.flush(window);
    }
    arrived.sort_unstable();
    let all = (0..4).flat_map(|from| (0..8).map(move |tag| (from, tag % 4, tag as u32)));
    let mut expected: Vec<_> = all.collect();
    expected.sort_unstable();
    assert_eq!(arrived, expected);
}

#[test]
fn who_waits_is_reported_by_router_and_channel() {
    let mut config = fastest(3, 1);
    (config.virtual_channels.value, config.buffer_flits.value, config.interface_flits.value) = (1, 2, 4);
    let mut bench = Bench::new(&config);
    bench.asleep.push(2);
    for tag in 0..6 {
        bench.send(0, 2, 4, tag);
        bench.run(20);
    }
    let mut report = Vec::new();
    bench.network.waits(&mut report);
    // The receiver has the first packet. The second one is in routers 2 and 1, two flits each; the third has the
    // channel behind router 0, since all of the second have left, but no room in it.
    let place = |router| format!("network.request: router {router} (column {router}, row 0)");
    let packet = "virtual channel 0: the packet of node 0 to node 5 has waited since cycle";
    assert_eq!(
        report,
        [
            format!(
                "{}: input of node port 0, {packet} 41 for a credit of output east, virtual channel 0",
                place(0)
            ),
            format!("{}: input west, {packet} 23 for a credit of output east, virtual channel 0", place(1)),
            format!(
                "{}: input west, {packet} 25 for a virtual channel of output of node port 0: node 5 has no room for its 4 flits",
                place(2)
            ),
        ]
    );
    // With packets of one flit, all have left the channel before; the one that holds it is named.
    let mut bench = Bench::new(&MeshConfig { buffer_flits: Cited::new(1, "test"), ..config });
    bench.asleep.push(2);
    for from in [0, 0, 1, 1, 0] {
        bench.send(from, 2, 4, 0);
        bench.run(20);
    }
    let mut report = Vec::new();
    bench.network.waits(&mut report);
    let held = "for a virtual channel of output east: 0 held by input west, virtual channel 0";
    let port =
        "input of node port 0, virtual channel 0: the packet of node 1 to node 5 has waited since cycle 41";
    assert!(report.contains(&format!("{}: {port} {held}", place(1))), "{report:#?}");
}

#[test]
fn nodes_are_placed_by_rule_or_list() {
    let places = |placement, columns, rows| {
        let mut config = config(columns, rows);
        config.placement.value = placement;
        Places::new(&config, 0..5, 5..8).map(|places| (places.inputs, places.outputs))
    };
    assert_eq!(places(Placement::InOrder, 3, 2), Ok((vec![0, 1, 2, 3, 4], vec![5, 0, 1])));
    assert_eq!(places(Placement::Together, 2, 2), Ok((vec![0, 1, 2, 3, 0], vec![0, 1, 2])));
    // Two routers above, two below, two between.
    assert_eq!(places(Placement::TopAndBottom, 2, 3), Ok((vec![2, 3, 2, 3, 2], vec![0, 4, 1])));
    let list = vec![5, 4, 3, 2, 1, 0, 0, 5];
    assert_eq!(places(Placement::List(list), 3, 2), Ok((vec![5, 4, 3, 2, 1], vec![0, 0, 5])));
    // In the other direction the same nodes are at the same places.
    let other = Places::new(&config(2, 2), 5..8, 0..5).unwrap();
    assert_eq!((other.inputs, other.outputs), (vec![0, 1, 2], vec![0, 1, 2, 3, 0]));
    for (placement, message) in [
        (
            Placement::TopAndBottom,
            "placement: found 2 rows, expected at least 3, so that SMs have some between the first and the last",
        ),
        (
            Placement::List(vec![0; 7]),
            "placement: found a list of 7 routers, expected one for each of 8 nodes",
        ),
        (
            Placement::List(vec![0, 1, 2, 3, 4, 5, 6, 0]),
            "placement: found router 6 for node 6, expected 0 to 5",
        ),
    ] {
        assert_eq!(places(placement, 3, 2).unwrap_err().to_string(), message);
    }
}

#[test]
fn parameters_are_read_from_a_machine_file() {
    let text = "
        columns = { value = 2, source = \"test\" }
        rows = { value = 1, source = \"test\" }
        placement = { value = { list = [0, 1, 1] }, source = \"test\" }
        flit_bytes = { value = 40, source = \"test\" }
        switching = { value = \"virtual-cut-through\", source = \"test\" }
        virtual_channels = { value = 2, source = \"test\" }
        buffer_flits = { value = 14, source = \"test\" }
        routing_cycles = { value = 0, source = \"test\" }
        vc_allocation_cycles = { value = 1, source = \"test\" }
        switch_cycles = { value = 2, source = \"test\" }
        link_cycles = { value = 1, source = \"test\" }
        credit_cycles = { value = 2, source = \"test\" }
        interface_cycles = { value = 1, source = \"test\" }
        interface_flits = { value = 32, source = \"test\" }
    ";
    let config: MeshConfig = config::parse(Path::new("machine.toml"), text).unwrap();
    assert_eq!(*config.placement, Placement::List(vec![0, 1, 1]));
    assert_eq!(config.check(), Ok(()));
    assert!(network_link(&config, 136).is_ok());
}

#[test]
fn what_cannot_be_built_is_refused() {
    let refused = |change: fn(&mut MeshConfig)| {
        let mut config = config(4, 3);
        change(&mut config);
        let (inlets, outlets) = ((0..24).map(|_| link(1, 1).1), (0..12).map(|_| link(1, 1).0));
        let ends = NetworkEnds {
            first_input: NodeId(0),
            inlets: inlets.collect(),
            first_output: NodeId(24),
            outlets: outlets.collect(),
        };
        MeshNetwork::new(Direction::Reply, &config, ends).unwrap_err().to_string()
    };
    for (change, message) in [
        ((|config| config.columns.value = 0) as fn(&mut MeshConfig), "columns: found 0, expected 1 to 64"),
        (|config| config.rows.value = 65, "rows: found 65, expected 1 to 64"),
        (|config| config.virtual_channels.value = 26, "virtual_channels: found 26, expected 1 to 25"),
        (
            |config| config.virtual_channels.value = 25,
            "virtual_channels: found 25 for each of the 6 ports of router 0, expected at most 128 together",
        ),
        (|config| config.switch_cycles.value = 0, "switch_cycles: found 0, expected 1 to 10000"),
        (|config| config.flit_bytes.value = 0, "flit_bytes: found 0, expected 1 to 4096"),
        (
            |config| {
                config.switching.value = Switching::VirtualCutThrough;
                config.buffer_flits.value = 13;
            },
            "buffer_flits: found 13, expected at least the 14 flits of the largest packet with virtual-cut-through",
        ),
    ] {
        assert_eq!(refused(change), message);
    }
    let error = network_link(&config(4, 3), 40 * 32 + 1).unwrap_err().to_string();
    assert_eq!(error, "interface_flits: found 32, expected at least the 33 flits of the largest packet");
}
