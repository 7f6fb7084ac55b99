//! Lines that are fetched before they are asked for: when, and what becomes of them.

use strata_engine::Cited;
use strata_memory::doors::L1d;
use strata_memory::policy::Chosen;
use strata_memory::tags::SetIndex;
use strata_memory::{ByteMask, LineAddress};

use super::super::*;
use super::golden::{Bench, WORD};
use super::small;

fn next_line() -> SramL1dConfig {
    let policy = Chosen::named("next-line").expect("it is built in");
    SramL1dConfig { prefetch: Some(Cited::new(policy, "test")), ..small() }
}

impl Bench {
    /// The cycles in which requests left, and for which lines.
    fn requests(&self) -> Vec<(u64, u64)> {
        self.sent.iter().map(|(cycle, packet)| (*cycle, packet.line.0)).collect()
    }

    fn account(&self) -> [u64; 7] {
        let groups = self.l1d.statistics();
        let group = groups.iter().find(|group| group.name == "l1d_prefetch").expect("it has a policy");
        assert_eq!(group.broken, None);
        ["wishes", "issued", "useful", "late", "unused", "harmful", "dropped"]
            .map(|name| group.get(name).expect("a counter"))
    }
}

#[test]
fn the_next_line_is_looked_up_when_the_port_was_free() {
    let mut bench = Bench::new(&next_line());
    bench.load(1, 8, WORD).unwrap();
    bench.step();
    // Cycle 1: the port was used in cycle 0. Cycle 2: it was not in cycle 1, and the request leaves a cycle later.
    bench.run(5);
    assert_eq!(bench.requests(), [(1, 8), (3, 9)]);
    assert_eq!(bench.sent[1].1.bytes, ByteMask::ALL);
    bench.answer(7);
    bench.answer(9);
    bench.run(5);
    bench.load(2, 9, WORD).unwrap();
    bench.run(6);
    assert_eq!(bench.done.last().map(|(_, token, byte)| (*token, *byte)), Some((2, 9)));
    // The first use of a line that was prefetched wishes for the next, a second one does not.
    assert_eq!(bench.requests().iter().map(|(_, line)| *line).collect::<Vec<_>>(), [10]);
    bench.load(3, 9, WORD).unwrap();
    bench.run(6);
    assert_eq!(bench.account(), [2, 2, 1, 0, 0, 0, 0]);
}

#[test]
fn a_load_waits_for_a_prefetch_under_way() {
    let mut bench = Bench::new(&next_line());
    bench.load(1, 8, WORD).unwrap();
    bench.run(4);
    bench.load(2, 9, WORD).unwrap();
    bench.run(6);
    assert_eq!(bench.requests(), [(1, 8), (3, 9), (7, 10)], "line 9 is asked for once");
    bench.answer(7);
    bench.answer(9);
    bench.run(5);
    assert_eq!(
        bench.done.iter().map(|(_, token, byte)| (*token, *byte)).collect::<Vec<_>>(),
        [(1, 7), (2, 9)]
    );
    assert_eq!(bench.account(), [2, 2, 0, 1, 0, 0, 0]);
}

#[test]
fn without_an_mshr_a_wish_is_dropped() {
    let mut bench = Bench::new(&SramL1dConfig { mshr_entries: Cited::new(1, "test"), ..next_line() });
    bench.load(1, 8, WORD).unwrap();
    bench.run(6);
    assert_eq!((bench.requests(), bench.account()), (vec![(1, 8)], [1, 0, 0, 0, 0, 0, 1]));
}

#[test]
fn a_prefetch_that_evicts_what_is_needed_is_harmful() {
    let mut config = next_line();
    (config.sets.value, config.ways.value, config.set_index.value) = (1, 2, SetIndex::Modulo);
    let mut bench = Bench::new(&config);
    let mut load = |token, line, requests: &[u64]| {
        bench.load(token, line, WORD).unwrap();
        bench.run(8);
        assert_eq!(bench.requests().iter().map(|(_, line)| *line).collect::<Vec<_>>(), requests);
        requests.iter().for_each(|_| bench.answer(1));
        bench.run(8);
    };
    load(1, 0, &[0, 1]);
    load(2, 0, &[]);
    // Line 20 takes the place of 1, which nobody asked for, and 21 that of 0.
    load(3, 20, &[20, 21]);
    load(4, 0, &[0, 1]);
    let [_, issued, useful, late, unused, harmful, _] = bench.account();
    assert_eq!([issued, useful, late, unused, harmful], [3, 0, 0, 2, 1]);
    assert_eq!(bench.l1d.statistics()[0].get("evictions"), Some(4));
    let here = [0, 1].map(|line| bench.l1d.chassis.cache.store.sets.find(LineAddress(line)).is_some());
    assert_eq!(here, [true, true]);
}
