//! Lines that pass: what they cost, and what they leave alone.

use strata_engine::Cited;
use strata_memory::LineAddress;
use strata_memory::doors::L1d;
use strata_memory::insertion::InsertionPolicy;
use strata_memory::policy::Chosen;
use strata_memory::tags::SetIndex;

use super::super::*;
use super::golden::{Bench, WORD};
use super::small;

/// One set of two ways in which no line takes a way.
fn passing(allocate: Allocate) -> SramL1dConfig {
    let mut config = small();
    (config.sets.value, config.ways.value, config.set_index.value) = (1, 2, SetIndex::Modulo);
    config.allocate.value = allocate;
    let policy: Chosen<dyn InsertionPolicy> = Chosen::named("none").expect("it is built in");
    SramL1dConfig { insertion: Some(Cited::new(policy, "test")), ..config }
}

fn counts(bench: &Bench, group: &str, names: [&str; 2]) -> [u64; 2] {
    let groups = bench.l1d.statistics();
    let group = groups.iter().find(|found| found.name == group).expect("it has a policy");
    names.map(|name| group.get(name).expect("a counter"))
}

#[test]
fn a_line_that_passes_serves_those_that_wait_for_it_and_no_other() {
    for allocate in [Allocate::OnMiss, Allocate::OnFill] {
        let mut bench = Bench::new(&passing(allocate));
        bench.load(1, 8, WORD).unwrap();
        bench.step();
        bench.load(2, 8, WORD).unwrap();
        bench.run(5);
        assert_eq!(bench.sent.len(), 1, "one fetch for both");
        bench.answer(7);
        bench.run(5);
        assert_eq!(
            bench.done.iter().map(|(_, token, byte)| (*token, *byte)).collect::<Vec<_>>(),
            [(1, 7), (2, 7)]
        );
        bench.load(3, 8, WORD).unwrap();
        bench.run(5);
        assert_eq!(bench.sent.len(), 1, "it is fetched again");
        bench.answer(9);
        bench.run(5);
        assert_eq!(bench.done.last().map(|(_, token, byte)| (*token, *byte)), Some((3, 9)));
        assert_eq!(counts(&bench, "l1d_insertion", ["inserted", "passed"]), [0, 2]);
        assert_eq!(counts(&bench, "l1d", ["evictions", "tag_writes"]), [0, 0]);
    }
}

#[test]
fn a_store_into_a_line_that_passes_is_written_back() {
    let mut bench = Bench::new(&passing(Allocate::OnMiss));
    bench.load(1, 8, WORD).unwrap();
    bench.step();
    bench.store(2, 8, WORD, 5).unwrap();
    bench.run(5);
    bench.answer(7);
    bench.run(6);
    assert_eq!(bench.kinds(), [('W', 8, WORD)]);
    assert_eq!(counts(&bench, "l1d", ["write_backs", "evictions"]), [1, 0]);
}

#[test]
fn a_stored_line_stays_while_others_pass() {
    let mut bench = Bench::new(&passing(Allocate::OnMiss));
    bench.store(1, 4, WORD, 5).unwrap();
    bench.run(5);
    for line in 10..14 {
        bench.load(line as u32, line, WORD).unwrap();
        bench.run(5);
        bench.answer(1);
        bench.run(5);
    }
    assert!(bench.l1d.chassis.cache.store.sets.find(LineAddress(4)).is_some());
    assert_eq!(counts(&bench, "l1d_insertion", ["inserted", "passed"]), [1, 4]);
}
