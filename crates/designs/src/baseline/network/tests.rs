//! Latencies, arbitration and credits to the cycle, on a bench of senders and receivers. What must hold of every
//! network is checked by [its contract](crate::contract::network).

use std::path::Path;

use strata_engine::{Cited, Cycle, config, link};
use strata_memory::NodeId;
use strata_memory::doors::{Direction, NetworkEnds, network_link};

use super::bench::{BUFFER, HOP, last_of_three_for_a_late_receiver, packet, receive_all};
use super::*;

type Bench = super::bench::Bench<MultistageNetwork>;

const TOPOLOGIES: [Topology; 5] = [
    Topology::Crossbar,
    Topology::Butterfly { radix: 27, stages: 1 },
    Topology::Butterfly { radix: 3, stages: 3 },
    Topology::Butterfly { radix: 6, stages: 2 },
    Topology::Butterfly { radix: 2, stages: 5 },
];

fn bench(topology: Topology) -> Bench {
    bench_with(parameters(topology, Arbitration::RoundRobin))
}

fn bench_with(parameters: MultistageConfig) -> Bench {
    Bench::of(|ends| MultistageNetwork::new(Direction::Request, &parameters, ends).unwrap())
}

fn parameters(topology: Topology, arbitration: Arbitration) -> MultistageConfig {
    MultistageConfig {
        topology: Cited::new(topology, "test"),
        flit_bytes: Cited::new(40, "test"),
        hop_latency_cycles: Cited::new(HOP, "test"),
        buffer_flits: Cited::new(BUFFER, "test"),
        arbitration: Cited::new(arbitration, "test"),
    }
}

#[test]
fn uncontended_latency_is_what_the_parameters_say() {
    for (topology, stages) in TOPOLOGIES.into_iter().zip([1, 1, 3, 2, 5]) {
        for (payload, flits) in [(1, 1), (32, 1), (33, 2), (72, 2), (73, 3), (128, 4)] {
            for (from, to) in [(0, 0), (14, 11), (7, 3)] {
                let mut bench = bench(topology);
                let mut log = Vec::new();
                for _ in 0..60 {
                    bench.step(|senders, receivers, now| {
                        if now == Cycle(5) {
                            senders[from].send(packet(from, to, payload, 1), flits, now).unwrap();
                        }
                        receive_all(receivers, now, &mut log);
                    });
                }
                let delivered = log[0].0;
                let latency = HOP + stages * HOP + u64::from(flits) - 1;
                assert_eq!(delivered, Cycle(5) + latency, "{topology:?}, {payload} bytes");
                let statistics = bench.network.statistics;
                assert_eq!(statistics.latency_cycles, delivered - Cycle(5 + HOP));
                assert_eq!((statistics.wait_output_cycles, statistics.wait_credit_cycles), (0, 0));
                assert!(bench.ticks <= stages, "{} ticks for {stages} stages", bench.ticks);
            }
        }
    }
}

#[test]
fn a_hot_spot_serves_its_senders_alike_and_is_always_busy() {
    for arbitration in [Arbitration::RoundRobin, Arbitration::OldestFirst] {
        let mut bench = bench_with(parameters(Topology::Crossbar, arbitration));
        let mut served = [0u32; Bench::SENDERS];
        let mut last = None;
        for _ in 0..3000 {
            bench.step(|senders, receivers, now| {
                for (from, sender) in senders.iter_mut().enumerate() {
                    let _ = sender.send(packet(from, 5, 32, 0), 1, now);
                }
                let mut log = Vec::new();
                receive_all(receivers, now, &mut log);
                assert!(log.len() <= 1, "an output moves one flit per cycle");
                if let Some((at, packet)) = log.pop() {
                    assert!(last.is_none_or(|last: Cycle| at == last.next()), "no bubble at {at}");
                    last = Some(at);
                    served[packet.source.index()] += 1;
                }
            });
        }
        let (least, most) = (served.iter().min().unwrap(), served.iter().max().unwrap());
        assert!(most - least <= 1, "{served:?}");
    }
}

#[test]
fn a_packet_holds_its_output_for_its_flits() {
    let mut bench = bench(Topology::Crossbar);
    let mut log = Vec::new();
    for _ in 0..40 {
        bench.step(|senders, receivers, now| {
            if now == Cycle(0) {
                senders[0].send(packet(0, 2, 128, 1), 4, now).unwrap();
                senders[1].send(packet(1, 2, 32, 2), 1, now).unwrap();
                // Behind the long packet in the same buffer, though its output is free.
                senders[0].send(packet(0, 6, 32, 3), 1, now).unwrap();
            }
            receive_all(receivers, now, &mut log);
        });
    }
    let times: Vec<_> = log.iter().map(|(at, packet)| (packet.tag, at.0)).collect();
    // Granted at 4: four flits until 7, there at 8 + 3. The others are granted at 8.
    assert_eq!(times, [(1, 11), (2, 12), (3, 12)]);
}

#[test]
fn without_credit_a_packet_waits_exactly_until_it_is_back() {
    let mut bench = bench(Topology::Crossbar);
    assert_eq!(last_of_three_for_a_late_receiver(&mut bench), (Cycle(38), 12));
    assert_eq!(bench.network.statistics.wait_credit_cycles, 34 - 16);
}

#[test]
fn parameters_are_read_from_a_machine_file() {
    let text = "
        topology = { value = { butterfly = { radix = 27, stages = 1 } }, source = \"peers\" }
        flit_bytes = { value = 40, source = \"peers\" }
        hop_latency_cycles = { value = 4, source = \"ASSUMED: a test\" }
        buffer_flits = { value = 64, source = \"peers\" }
        arbitration = { value = \"round-robin\", source = \"ASSUMED: a test\" }
    ";
    let parameters: MultistageConfig = config::parse(Path::new("machine.toml"), text).unwrap();
    assert_eq!(*parameters.topology, Topology::Butterfly { radix: 27, stages: 1 });
    assert!(network_link(&parameters, 136).is_ok());
}

#[test]
fn what_cannot_be_built_is_refused() {
    let build = |topology| {
        let ends = NetworkEnds {
            first_input: NodeId(0),
            inlets: (0..15).map(|_| link(1, 1).1).collect(),
            first_output: NodeId(15),
            outlets: (0..12).map(|_| link(1, 1).0).collect(),
        };
        MultistageNetwork::new(Direction::Reply, &parameters(topology, Arbitration::RoundRobin), ends).err()
    };
    for topology in [
        Topology::Butterfly { radix: 26, stages: 1 },
        Topology::Butterfly { radix: 257, stages: 1 },
        Topology::Butterfly { radix: 2, stages: 4 },
        Topology::Butterfly { radix: 2, stages: 40 },
        Topology::Butterfly { radix: 27, stages: 0 },
    ] {
        assert_eq!(build(topology).map(|error| error.field), Some("topology"), "{topology:?}");
    }
    assert_eq!(
        network_link(&parameters(Topology::Crossbar, Arbitration::RoundRobin), 400).unwrap_err().field,
        "buffer_flits"
    );
}
