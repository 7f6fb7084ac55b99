//! Latencies, queues and credits to the cycle. What must hold of every network is checked by
//! [its contract](crate::contract::network).

use strata_engine::seed::Stream;
use strata_engine::{Cited, Cycle};
use strata_memory::doors::Direction;

use super::super::bench::{BUFFER, Bench, HOP, last_of_three_for_a_late_receiver, packet, receive_all};
use super::super::{Arbitration, MultistageConfig, MultistageNetwork, Topology};
use super::*;

fn config() -> CrossbarConfig {
    CrossbarConfig {
        flit_bytes: Cited::new(40, "test"),
        hop_latency_cycles: Cited::new(HOP, "test"),
        buffer_flits: Cited::new(BUFFER, "test"),
    }
}

fn bench() -> Bench<CrossbarNetwork> {
    Bench::of(|ends| CrossbarNetwork::new(Direction::Request, &config(), ends).unwrap())
}

/// What is sent: cycle, sender, receiver, payload, flits.
type Sent = (u64, usize, usize, usize, u32);

/// When packets, numbered from 0, were delivered, by cycle and receiver.
fn delivered(bench: &mut Bench<CrossbarNetwork>, sent: &[Sent]) -> Vec<(u32, u64)> {
    let mut log = Vec::new();
    for _ in 0..80 {
        bench.step(|senders, receivers, now| {
            for (tag, &(at, from, to, payload, flits)) in (0..).zip(sent) {
                if Cycle(at) == now {
                    senders[from].send(packet(from, to, payload, tag), flits, now).unwrap();
                }
            }
            receive_all(receivers, now, &mut log);
        });
    }
    log.iter().map(|(at, packet)| (packet.tag, at.0)).collect()
}

#[test]
fn uncontended_latency_is_what_the_parameters_say() {
    for (payload, flits) in [(1, 1), (32, 1), (33, 2), (72, 2), (73, 3), (128, 4)] {
        for (from, to) in [(0, 0), (14, 11), (7, 3)] {
            let mut bench = bench();
            let found = delivered(&mut bench, &[(5, from, to, payload, flits)]);
            assert_eq!(found, [(0, 5 + HOP + HOP + u64::from(flits) - 1)]);
            let statistics = bench.network.statistics;
            assert_eq!(statistics.latency_cycles, HOP + u64::from(flits) - 1);
            assert_eq!((statistics.wait_output_cycles, statistics.wait_credit_cycles), (0, 0));
            assert_eq!(bench.ticks, 1);
        }
    }
}

#[test]
fn a_packet_passes_one_that_waits_for_another_output() {
    let sent = [(0, 1, 2, 128, 4), (1, 0, 2, 32, 1), (1, 0, 6, 32, 1)];
    // The first holds output 2 from 4 to 7 and is there at 11. The second arrives at 5 and leaves at 8; the third, behind it in the same
    // buffer, leaves at 5.
    assert_eq!(delivered(&mut bench(), &sent), [(2, 9), (0, 11), (1, 12)]);
}

#[test]
fn an_input_moves_one_packet_at_a_time() {
    let sent = [(0, 0, 2, 128, 4), (0, 0, 6, 32, 1), (0, 1, 6, 32, 1)];
    // Input 0 moves four flits from 4 to 7. Output 6 takes the packet of input 1 at 4, and that of input 0 at 8.
    assert_eq!(delivered(&mut bench(), &sent), [(2, 8), (0, 11), (1, 12)]);
}

#[test]
fn packets_to_one_output_keep_their_order_and_inputs_take_turns() {
    let sent = [(0, 3, 5, 32, 1), (0, 3, 5, 32, 1), (0, 8, 5, 32, 1), (0, 8, 5, 32, 1)];
    assert_eq!(delivered(&mut bench(), &sent), [(0, 8), (2, 9), (1, 10), (3, 11)]);
}

#[test]
fn without_credit_a_packet_waits_exactly_until_it_is_back() {
    let mut bench = bench();
    assert_eq!(last_of_three_for_a_late_receiver(&mut bench), (Cycle(38), 12));
    assert_eq!(bench.network.statistics.wait_credit_cycles, 34 - 16);
}

/// Flits of 4,000 cycles in which every sender sends to random receivers whenever there is room, a receiver and cycle.
fn throughput<N: strata_engine::Island>(mut bench: Bench<N>) -> f64 {
    let mut stream = Stream::new(7, "destinations");
    let mut next: Vec<usize> = Vec::new();
    let (mut log, mut count) = (Vec::new(), 0);
    for _ in 0..4000 {
        bench.step(|senders, receivers, now| {
            next.resize_with(senders.len(), || stream.below(12) as usize);
            for (from, sender) in senders.iter_mut().enumerate() {
                if sender.send(packet(from, next[from], 32, 0), 1, now).is_ok() {
                    next[from] = stream.below(12) as usize;
                }
            }
            receive_all(receivers, now, &mut log);
            count += log.len();
            log.clear();
        });
    }
    count as f64 / 4000.0 / 12.0
}

#[test]
fn random_traffic_is_not_held_up_behind_heads() {
    let multistage = MultistageConfig {
        topology: Cited::new(Topology::Crossbar, "test"),
        flit_bytes: Cited::new(40, "test"),
        hop_latency_cycles: Cited::new(HOP, "test"),
        buffer_flits: Cited::new(BUFFER, "test"),
        arbitration: Cited::new(Arbitration::RoundRobin, "test"),
    };
    let plain = Bench::of(|ends| MultistageNetwork::new(Direction::Request, &multistage, ends).unwrap());
    let (plain, queued) = (throughput(plain), throughput(bench()));
    assert!(plain < 0.75, "{plain}");
    assert!(queued > 0.85, "{queued}");
}
