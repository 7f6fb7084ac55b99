//! Lines that the program wishes for: what is asked of the network for them, and what becomes of them.

use strata_engine::Cited;
use strata_memory::doors::{Hint, HintLevel, Hinted, L1d, Refusal};
use strata_memory::tags::SetIndex;
use strata_memory::{Body, ByteMask, HEADER_BYTES, LineAddress, Origin};

use super::super::*;
use super::golden::{Bench, WORD};
use super::small;

const ORIGIN: Origin = Origin { pc: 12, warp: 3 };

impl Bench {
    fn hint(&mut self, line: u64, bytes: ByteMask, level: HintLevel) -> Result<Hinted, Refusal> {
        let hint = Hint { line: LineAddress(line), bytes, level, origin: ORIGIN };
        self.l1d.hint(&hint, self.now())
    }

    fn wish(&mut self, line: u64) -> Result<Hinted, Refusal> {
        self.hint(line, ByteMask::ALL, HintLevel::L1d)
    }

    fn hints(&self) -> [u64; 8] {
        let groups = self.l1d.statistics();
        let group = groups.iter().find(|group| group.name == "l1d_hints").expect("every SRAM L1D has it");
        assert_eq!(group.broken, None);
        ["wishes", "redundant", "dropped", "issued", "useful", "late", "unused", "harmful"]
            .map(|name| group.get(name).expect("a counter"))
    }

    /// Cycle, line and bytes of the requests that have left.
    fn left(&self) -> Vec<(u64, u64, ByteMask)> {
        self.sent.iter().map(|(cycle, packet)| (*cycle, packet.line.0, packet.bytes)).collect()
    }
}

#[test]
fn a_load_of_a_line_that_came_is_a_hit() {
    let mut bench = Bench::new(&small());
    assert_eq!(bench.hints(), [0; 8]);
    assert_eq!(bench.wish(8), Ok(Hinted::Taken));
    assert_eq!(bench.load(1, 9, WORD), Err(Refusal::Port), "a hint is one of the accesses of its cycle");
    bench.run(5);
    assert_eq!(bench.left(), [(1, 8, ByteMask::ALL)], "a cycle for the tags");
    assert_eq!(bench.sent[0].1.origin, ORIGIN);
    bench.answer(7);
    bench.run(5);
    bench.load(2, 8, WORD).unwrap();
    bench.run(6);
    // Offered in cycle 10, and 4 cycles for a hit.
    assert_eq!(bench.done, [(14, 2, 7)]);
    assert_eq!(bench.wish(8), Ok(Hinted::Taken));
    bench.run(6);
    assert_eq!((bench.left(), bench.hints()), (vec![], [2, 1, 0, 1, 1, 0, 0, 0]));
    assert_eq!(bench.l1d.outstanding(), 0);
}

#[test]
fn a_load_that_comes_too_early_waits_for_the_line_on_its_way() {
    let mut bench = Bench::new(&small());
    bench.wish(8).unwrap();
    bench.step();
    bench.load(1, 8, WORD).unwrap();
    bench.step();
    bench.wish(8).unwrap();
    bench.run(4);
    assert_eq!(bench.left(), [(1, 8, ByteMask::ALL)], "it is asked for once");
    bench.answer(7);
    bench.run(4);
    // The reply of cycle 6 is filled in cycle 7, the load served in 8 and complete a cycle later.
    assert_eq!((bench.done.clone(), bench.hints()), (vec![(9, 1, 7)], [2, 1, 0, 1, 0, 1, 0, 0]));
}

#[test]
fn what_nothing_is_free_for_is_dropped() {
    let mut bench = Bench::new(&SramL1dConfig { mshr_entries: Cited::new(1, "test"), ..small() });
    bench.load(1, 8, WORD).unwrap();
    bench.step();
    assert_eq!(bench.wish(9), Ok(Hinted::Dropped), "no MSHR");
    bench.run(5);
    assert_eq!((bench.left().len(), bench.hints()), (1, [1, 0, 1, 0, 0, 0, 0, 0]));
    let mut config = small();
    (config.sets.value, config.ways.value) = (1, 1);
    let mut bench = Bench::new(&config);
    bench.load(1, 8, WORD).unwrap();
    bench.step();
    assert_eq!(bench.wish(9), Ok(Hinted::Dropped), "the only way waits for line 8");
}

#[test]
fn it_waits_for_room_towards_the_network() {
    let mut bench = Bench::new(&small());
    // Room for four packets: with that of a dirty victim, for three lines.
    for line in [8, 9, 10] {
        bench.wish(line).unwrap();
        bench.tick_without_network();
    }
    assert_eq!(bench.wish(11), Err(Refusal::Network));
    assert_eq!(bench.hint(11, ByteMask::ALL, HintLevel::Llc), Ok(Hinted::Taken));
    bench.tick_without_network();
    assert_eq!(bench.hint(12, ByteMask::ALL, HintLevel::Llc), Err(Refusal::Network));
    let before = bench.l1d.changes(Refusal::Network, bench.now());
    bench.step();
    assert_ne!(bench.l1d.changes(Refusal::Network, bench.now()), before);
    assert_eq!(bench.hint(12, ByteMask::ALL, HintLevel::Llc), Ok(Hinted::Taken));
}

#[test]
fn what_is_evicted_for_lines_that_nobody_asks_for_is_missed() {
    let mut config = small();
    (config.sets.value, config.ways.value, config.set_index.value) = (1, 2, SetIndex::Modulo);
    let mut bench = Bench::new(&config);
    let bring = |bench: &mut Bench, load: Option<u32>, line: u64| {
        match load {
            Some(token) => bench.load(token, line, WORD).unwrap(),
            None => assert_eq!(bench.wish(line), Ok(Hinted::Taken)),
        }
        bench.run(6);
        while !bench.sent.is_empty() {
            bench.answer(1);
        }
        bench.run(6);
    };
    bring(&mut bench, Some(1), 0);
    bring(&mut bench, Some(2), 1);
    // Each takes the place of the line that has been used least recently.
    bring(&mut bench, None, 20);
    bring(&mut bench, None, 21);
    bring(&mut bench, Some(3), 0);
    bring(&mut bench, Some(4), 1);
    assert_eq!(bench.hints(), [2, 0, 0, 2, 0, 0, 2, 2]);
}

#[test]
fn only_sectors_that_are_not_here_are_asked_for() {
    let mut bench = Bench::new(&SramL1dConfig { sector_bytes: Cited::new(32, "test"), ..small() });
    bench.load(1, 8, WORD).unwrap();
    bench.run(4);
    bench.answer(1);
    bench.run(4);
    bench.wish(8).unwrap();
    bench.run(4);
    assert_eq!(
        bench.left().iter().map(|(_, _, bytes)| *bytes).collect::<Vec<_>>(),
        [ByteMask::range(32, 96)]
    );
    bench.answer(2);
    bench.run(4);
    bench.hint(12, ByteMask::range(40, 16), HintLevel::L1d).unwrap();
    bench.run(4);
    assert_eq!(
        bench.left().iter().map(|(_, _, bytes)| *bytes).collect::<Vec<_>>(),
        [ByteMask::range(32, 32)]
    );
    bench.answer(3);
    bench.run(4);
    for (token, line, at) in [(2, 8, 100), (3, 12, 36)] {
        bench.load(token, line, ByteMask::range(at, 4)).unwrap();
        bench.run(6);
        assert_eq!(bench.done.last().map(|(_, token, _)| *token), Some(token));
        assert!(bench.sent.is_empty(), "line {line} is here");
    }
}

#[test]
fn a_hint_for_the_llc_is_sent_on_without_a_look_here() {
    let mut bench = Bench::new(&small());
    assert_eq!(bench.hint(8, ByteMask::range(16, 16), HintLevel::Llc), Ok(Hinted::Taken));
    bench.run(3);
    let (cycle, packet) = &bench.sent[0];
    assert_eq!((*cycle, packet.line.0, packet.bytes, packet.origin), (1, 8, ByteMask::range(16, 16), ORIGIN));
    assert_eq!((&packet.body, packet.wire_bytes()), (&Body::Prefetch, HEADER_BYTES));
    assert_eq!((bench.l1d.outstanding(), bench.l1d.is_flushed()), (1, true), "no flush waits for it");
    bench.answer(0);
    assert_eq!((bench.l1d.outstanding(), bench.hints()), (0, [0; 8]));
    bench.load(1, 8, WORD).unwrap();
    bench.run(3);
    assert_eq!(bench.left(), [(4, 8, ByteMask::ALL)], "the line is not here");
}
