//! Golden cycles and worked cases. What holds in general is in the contract of slices, beside the designs.

use std::collections::VecDeque;

use strata_engine::statistics::Group;
use strata_engine::{Cited, Cycle};
use strata_memory::policy::Chosen;

use super::{L2Config, L2Slice};
use strata_memory::address::LineAddress;
use strata_memory::atomic::{AtomicBatch, AtomicOp, AtomicType};
use strata_memory::doors::{Design, DramPort, DramRequest, Llc};
use strata_memory::line::{ByteMask, Line};
use strata_memory::{Body, Client, Contents, Level, NodeId, Origin, Packet};

/// Answers reads with line number + 1 in every byte, 20 cycles after they were offered.
#[derive(Default)]
struct Dram {
    seen: Vec<(u64, u64, bool, ByteMask)>,
    under_way: VecDeque<(Cycle, DramRequest)>,
    full: bool,
}

impl DramPort for Dram {
    fn offer(&mut self, mut request: DramRequest, now: Cycle) -> Result<(), DramRequest> {
        if self.full {
            return Err(request);
        }
        self.seen.push((now.0, request.line.0, request.write, request.bytes));
        if !request.write {
            request.tray.0.fill(request.line.0 as u8 + 1);
        }
        self.under_way.push_back((now + 20, request));
        Ok(())
    }

    fn completed(&mut self, now: Cycle) -> Option<DramRequest> {
        self.under_way.front().filter(|(ready, _)| *ready <= now)?;
        self.under_way.pop_front().map(|(_, request)| request)
    }
}

struct Bench {
    slice: L2Slice,
    dram: Dram,
    replies: Vec<(u64, Packet)>,
    now: Cycle,
}

impl Bench {
    /// 2 sets of 1 way, ROP latency 10, hit latency 4.
    fn new() -> Bench {
        let mut config = L2Config::example();
        config.sets.value = 2;
        config.ways.value = 1;
        config.rop_latency_cycles.value = 10;
        config.hit_latency_cycles.value = 4;
        let slice = L2Slice::new(&config, 0, 1).unwrap();
        Bench { slice, dram: Dram::default(), replies: Vec::new(), now: Cycle::ZERO }
    }

    fn send(&mut self, line: u64, bytes: ByteMask, body: Body) {
        let packet = Packet::new(Contents {
            line: LineAddress(line),
            bytes,
            source: NodeId(0),
            destination: NodeId(1),
            client: Client::L1d,
            tag: 7,
            origin: Origin::default(),
            level: Level::default(),
            body,
        });
        self.slice.offer(packet, self.now).unwrap();
    }

    fn read(&mut self, line: u64, bytes: ByteMask) {
        self.send(line, bytes, Body::Read(Box::new(Line::ZERO)));
    }

    fn write(&mut self, line: u64, bytes: ByteMask, value: u8) {
        self.send(line, bytes, Body::Write(Box::new(Line([value; 128]))));
    }

    /// Runs until cycle `end`; answers are in [`Bench::replies`] with their cycle.
    fn run(&mut self, end: u64) {
        while self.now.0 < end {
            self.slice.tick(&mut self.dram, self.now);
            while let Some(reply) = self.slice.outgoing(self.now) {
                self.replies.push((self.now.0, reply));
            }
            self.now = self.now.next();
        }
    }

    fn cycles(&self) -> Vec<u64> {
        self.replies.iter().map(|(cycle, _)| *cycle).collect()
    }

    fn statistics(&self) -> Group {
        self.slice.statistics().remove(0)
    }
}

#[test]
fn a_miss_costs_rop_dram_and_hit_latency_and_a_hit_no_dram() {
    let mut bench = Bench::new();
    let sector = ByteMask::range(32, 32);
    bench.read(4, ByteMask::range(40, 4));
    bench.run(50);
    // Looked up at 10 and offered to DRAM then; filled at 30, served at 30, and on its way at 34.
    assert_eq!(bench.dram.seen, [(10, 4, false, sector)]);
    assert_eq!(bench.cycles(), [34]);
    bench.read(4, ByteMask::range(32, 32));
    bench.run(100);
    assert_eq!(bench.cycles(), [34, 64]);
    let Body::ReadReply(tray) = &bench.replies[1].1.body else { panic!("a read's reply") };
    assert_eq!(tray.0[32..64], [5; 32]);
    let statistics = bench.statistics();
    let counts =
        ["read_misses", "read_hits", "fetches", "fetch_bytes"].map(|name| statistics.get(name).unwrap());
    assert_eq!((counts, statistics.broken), ([1, 1, 1, 32], None));
}

#[test]
fn a_write_fetches_nothing_and_its_bytes_survive_the_fetch_of_the_rest() {
    let mut bench = Bench::new();
    bench.write(4, ByteMask::range(0, 4), 9);
    bench.run(20);
    assert_eq!((bench.cycles(), bench.dram.seen.len()), (vec![14], 0));
    bench.read(4, ByteMask::range(0, 8));
    bench.run(60);
    let Body::ReadReply(tray) = &bench.replies[1].1.body else { panic!("a read's reply") };
    assert_eq!(tray.0[..8], [9, 9, 9, 9, 5, 5, 5, 5]);
}

#[test]
fn a_victim_goes_out_with_its_dirty_bytes_only_and_before_the_fetch() {
    let mut bench = Bench::new();
    let dirty = ByteMask::range(5, 3);
    bench.write(4, dirty, 9);
    bench.run(20);
    bench.read(6, ByteMask::ALL);
    bench.run(60);
    assert_eq!(bench.dram.seen, [(30, 4, true, dirty), (31, 6, false, ByteMask::ALL)]);
    let mut seen = Line::ZERO;
    bench.slice.peek(LineAddress(6), &mut seen);
    assert_eq!(seen.0, [7; 128]);
}

#[test]
fn a_host_sees_and_changes_bytes_on_their_way_to_dram() {
    let mut bench = Bench::new();
    bench.dram.full = true;
    for (line, value) in [(4, 9), (6, 8)] {
        bench.write(line, ByteMask::range(0, 4), value);
        bench.run(bench.now.0 + 20);
    }
    let mut seen = Line::ZERO;
    bench.slice.peek(LineAddress(4), &mut seen);
    assert_eq!(seen.0[..5], [9, 9, 9, 9, 0], "the victim waits for the channel");
    for line in [4, 6] {
        bench.slice.poke(LineAddress(line), ByteMask::range(1, 1), &Line([5; 128]));
    }
    let mut seen = Line::ZERO;
    bench.slice.peek(LineAddress(6), &mut seen);
    assert_eq!(seen.0[..5], [8, 5, 8, 8, 0]);
    bench.dram.full = false;
    bench.run(bench.now.0 + 2);
    let (_, write) = &bench.dram.under_way[0];
    assert_eq!(
        (write.line.0, write.bytes, &write.tray.0[..4]),
        (4, ByteMask::range(0, 4), &[9, 5, 9, 9][..])
    );
}

#[test]
fn atomics_on_one_address_take_a_cycle_each_and_different_addresses_none() {
    for (same, expected) in [(false, vec![14, 15]), (true, vec![17, 18])] {
        let mut bench = Bench::new();
        bench.write(4, ByteMask::ALL, 0);
        bench.run(20);
        bench.replies.clear();
        let mut bench = Bench { now: Cycle(100), ..bench };
        let mut batch = AtomicBatch::empty(AtomicOp::Add, AtomicType::U32);
        batch.count = 4;
        batch.returns = true;
        for entry in 0..4 {
            batch.offset[entry] = if same { 8 } else { 4 * entry as u8 };
            batch.a[entry] = 1;
        }
        bench.send(4, ByteMask::range(0, 16), Body::Atomic(Box::new(batch)));
        bench.read(4, ByteMask::range(8, 4));
        bench.run(130);
        let cycles: Vec<_> = bench.cycles().iter().map(|cycle| cycle - 100).collect();
        assert_eq!(cycles, expected);
        let Body::AtomicReply(batch) = &bench.replies[0].1.body else { panic!("an atomic's reply") };
        assert_eq!(batch.a[..4], if same { [0, 1, 2, 3] } else { [0; 4] });
        let Body::ReadReply(tray) = &bench.replies[1].1.body else { panic!("a read's reply") };
        assert_eq!(tray.0[8], if same { 4 } else { 1 });
    }
}

#[test]
fn the_next_line_is_fetched_in_a_cycle_without_a_request() {
    let mut config = L2Config::example();
    (config.sets.value, config.ways.value) = (2, 1);
    (config.rop_latency_cycles.value, config.hit_latency_cycles.value) = (10, 4);
    config.prefetch = Some(Cited::new(Chosen::named("next-line").unwrap(), "test"));
    let slice = L2Slice::new(&config, 0, 1).unwrap();
    let mut bench = Bench { slice, dram: Dram::default(), replies: Vec::new(), now: Cycle::ZERO };
    bench.read(4, ByteMask::range(0, 4));
    bench.run(12);
    // Looked up at 10; nothing is at 11, so line 5 is.
    let sector = ByteMask::range(0, 32);
    assert_eq!(bench.dram.seen, [(10, 4, false, sector), (11, 5, false, ByteMask::ALL)]);
    bench.run(50);
    bench.read(5, ByteMask::range(40, 4));
    bench.run(90);
    assert_eq!(bench.cycles(), [34, 64], "what was prefetched is a hit");
    let groups = bench.slice.statistics();
    let count = |name: &str| groups[1].get(name).unwrap();
    assert_eq!((groups[1].name, ["issued", "useful", "unused"].map(count)), ("l2_prefetch", [2, 1, 0]));
}

impl Bench {
    fn hints(&self) -> [u64; 8] {
        let groups = self.slice.statistics();
        let group = groups.iter().find(|group| group.name == "l2_hints").expect("every slice has it");
        assert_eq!(group.broken, None);
        ["wishes", "redundant", "dropped", "issued", "useful", "late", "unused", "harmful"]
            .map(|name| group.get(name).unwrap())
    }
}

#[test]
fn what_the_program_wishes_for_is_fetched_and_answered_at_once() {
    let mut bench = Bench::new();
    bench.send(4, ByteMask::ALL, Body::Prefetch);
    bench.run(13);
    // Looked up at 10 and offered to DRAM then; the answer takes the hit latency, and no bytes.
    assert_eq!(bench.dram.seen, [(10, 4, false, ByteMask::ALL)]);
    bench.run(40);
    assert_eq!(bench.cycles(), [14]);
    assert_eq!((&bench.replies[0].1.body, bench.replies[0].1.tag), (&Body::PrefetchAck, 7));
    bench.read(4, ByteMask::range(64, 4));
    bench.run(80);
    assert_eq!(bench.cycles(), [14, 54], "10 and 4 cycles: a hit");
    bench.send(4, ByteMask::range(0, 16), Body::Prefetch);
    bench.run(100);
    assert_eq!((bench.hints(), bench.dram.seen.len()), ([2, 1, 0, 1, 1, 0, 0, 0], 1));
    let statistics = bench.statistics();
    assert_eq!(["requests", "read_hits", "fetches"].map(|name| statistics.get(name).unwrap()), [1, 1, 1]);
}

#[test]
fn a_read_behind_a_prefetch_waits_for_its_bytes_only() {
    let mut bench = Bench::new();
    bench.send(4, ByteMask::range(40, 8), Body::Prefetch);
    bench.read(4, ByteMask::range(44, 4));
    bench.run(80);
    // Fetched in sectors at 10, here at 30 and served then; the read was looked up at 11.
    assert_eq!(bench.dram.seen, [(10, 4, false, ByteMask::range(32, 32))]);
    assert_eq!((bench.cycles(), bench.hints()), (vec![14, 34], [1, 0, 0, 1, 0, 1, 0, 0]));
}

#[test]
fn wishes_for_which_nothing_is_free_are_dropped_and_unused_lines_do_harm() {
    let mut bench = Bench::new();
    bench.read(4, ByteMask::ALL);
    // Its set has one way, which waits for line 4.
    bench.send(6, ByteMask::ALL, Body::Prefetch);
    bench.run(50);
    assert_eq!((bench.hints(), bench.cycles()), ([1, 0, 1, 0, 0, 0, 0, 0], vec![15, 34]));
    bench.send(6, ByteMask::ALL, Body::Prefetch);
    bench.run(100);
    bench.read(4, ByteMask::ALL);
    bench.run(150);
    assert_eq!(bench.hints(), [2, 0, 1, 1, 0, 0, 1, 1]);
}

#[test]
fn a_line_that_passes_leaves_the_set_alone_and_its_writes_go_to_dram() {
    let mut config = L2Config::example();
    (config.sets.value, config.ways.value) = (2, 1);
    (config.rop_latency_cycles.value, config.hit_latency_cycles.value) = (10, 4);
    config.insertion = Some(Cited::new(Chosen::named("none").unwrap(), "test"));
    let slice = L2Slice::new(&config, 0, 1).unwrap();
    let mut bench = Bench { slice, dram: Dram::default(), replies: Vec::new(), now: Cycle::ZERO };
    bench.write(4, ByteMask::ALL, 9);
    bench.run(20);
    // Line 6 is of the same set. It is fetched as in any slice, and a write that comes meanwhile waits for it.
    bench.read(6, ByteMask::range(0, 4));
    bench.run(35);
    bench.write(6, ByteMask::range(0, 2), 3);
    bench.run(60);
    let (sector, written) = (ByteMask::range(0, 32), ByteMask::range(0, 2));
    assert_eq!(bench.dram.seen, [(30, 6, false, sector), (51, 6, true, written)]);
    assert_eq!(bench.cycles(), [14, 54, 55]);
    bench.read(4, ByteMask::range(0, 4));
    bench.read(6, ByteMask::range(0, 4));
    bench.run(110);
    assert_eq!(bench.cycles()[3..], [74, 95], "line 4 has stayed, line 6 is fetched again");
    let group = &bench.slice.statistics()[1];
    assert_eq!(
        (group.name, ["inserted", "passed"].map(|name| group.get(name).unwrap())),
        ("l2_insertion", [1, 2])
    );
}

#[test]
fn faults_of_a_configuration_name_their_field() {
    let mut config = L2Config::example();
    assert_eq!(config.check(), Ok(()));
    config.dram_queue.value = 1;
    assert_eq!(config.check().unwrap_err().field, "dram_queue");
    config.sector_bytes.value = 48;
    config.dram_queue.value = 2;
    assert_eq!(config.check().unwrap_err().field, "sector_bytes");
    config.sets.value = 3;
    assert_eq!(config.check().unwrap_err().field, "sets");
}
