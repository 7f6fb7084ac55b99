//! Prefetches: which lines they name at the L1D's door, and in which cycles.

use strata_ptx::isa::{BulkPrefetch, Prefetch, PrefetchTo};

use super::*;

fn prefetch(space: Space, to: PrefetchTo) -> Op {
    Op::Prefetch(Prefetch { space, to })
}

const TO_L1: Op = Op::Prefetch(Prefetch { space: Space::Global, to: PrefetchTo::L1 });

fn block() -> Op {
    Op::BulkPrefetch(BulkPrefetch { dimensions: 0 })
}

/// The counters of hints: all, taken, ignored, dropped, and lanes without a line.
fn hints(bench: &Bench) -> [u64; 5] {
    let s = bench.lsu.statistics();
    [s.hints, s.hints_taken, s.hints_ignored, s.hints_dropped, s.hints_nowhere]
}

#[test]
fn lanes_of_a_line_make_one_hint_and_nobody_waits() {
    let mut bench = Bench::new(&config());
    bench.issue(0, TO_L1, &Sources::at(|lane| BASE + 40 + 8 * lane));
    bench.drain();
    assert_eq!(
        bench.l1d.log,
        ["3: wish L1d 0x0 128 bytes", "4: wish L1d 0x80 128 bytes", "5: wish L1d 0x100 128 bytes"]
    );
    // Address generation 3, three lines, write-back 2: no answer of the L1D is in it.
    assert_eq!(bench.finished, ["7: warp 0 pc 40"]);
    assert_eq!((hints(&bench), bench.rows.len()), ([3, 3, 0, 0, 0], 0));
    assert_eq!((bench.lsu.statistics().accesses, bench.lsu.statistics().lane_addresses), (0, 32));
}

#[test]
fn hints_take_their_turn_among_accesses() {
    let mut bench = Bench::new(&config());
    bench.l1d.width = 1;
    let load = Op::Load(mode(Space::Global, Ty::U32, 1));
    bench.issue(0, load, &Sources::at(|lane| BASE + 8 * lane));
    bench.cycle();
    bench.issue(1, prefetch(Space::Global, PrefetchTo::L2), &Sources::at(|_| BASE + 0x400));
    bench.cycle();
    bench.issue(2, load, &Sources::at(|_| BASE + 0x800));
    bench.drain();
    let order = [
        "3: load 0x0 64 bytes",
        "4: load 0x80 64 bytes",
        "5: wish Llc 0x400 128 bytes",
        "6: load 0x800 4 bytes",
    ];
    assert_eq!(bench.l1d.log, order);
}

#[test]
fn a_refused_hint_is_held_and_counted() {
    let mut bench = Bench::new(&config());
    bench.l1d.refuse = vec![3, 4, 5];
    bench.issue(0, TO_L1, &Sources::at(|_| BASE));
    bench.drain();
    assert_eq!(bench.l1d.log, ["6: wish L1d 0x0 128 bytes"]);
    assert_eq!((hints(&bench), bench.lsu.statistics().refused_network), ([1, 1, 0, 0, 0], 3));
}

#[test]
fn what_becomes_of_hints_is_counted() {
    use strata_memory::doors::Hinted;
    for (outcome, counts) in [(Hinted::Ignored, [32, 0, 32, 0, 0]), (Hinted::Dropped, [32, 0, 0, 32, 0])] {
        let mut bench = Bench::new(&config());
        bench.l1d.hinted = outcome;
        bench.issue(0, TO_L1, &Sources::at(|lane| BASE + 128 * lane));
        bench.drain();
        assert_eq!(hints(&bench), counts);
    }
}

#[test]
fn addresses_without_a_line_are_passed_over() {
    use strata_ptx::ir::window;
    let generic = |to, at: u64| {
        let mut bench = Bench::new(&config());
        bench.issue(0, prefetch(Space::Generic, to), &Sources::at(|_| at));
        bench.drain();
        (hints(&bench), bench.l1d.log)
    };
    let nothing = || ([0, 0, 0, 0, 32], Vec::<String>::new());
    for to in [PrefetchTo::L1, PrefetchTo::L2, PrefetchTo::Uniform] {
        for at in [0, BASE - 1, BASE + HEAP_BYTES, u64::MAX, window::SHARED, window::PARAM] {
            assert_eq!(generic(to, at), nothing(), "{to:?} of {at:#x}");
        }
        assert_eq!(generic(to, window::LOCAL + u64::from(LOCAL_BYTES)), nothing());
    }
    assert_eq!(generic(PrefetchTo::TensorMap, window::PARAM), nothing());
    // Each lane's word of local memory lies in the line of that word; the uniform cache has none of it.
    let (counts, log) = generic(PrefetchTo::L1, window::LOCAL + 8);
    assert_eq!((counts, log.len()), ([1, 1, 0, 0, 0], 1));
    assert_eq!(log, [format!("3: wish L1d {:#x} 128 bytes", LOCAL_AT + 2 * 128 - BASE)]);
    assert_eq!(generic(PrefetchTo::Uniform, window::LOCAL + 8), nothing());
    // No address is misaligned: it names a line.
    assert_eq!(generic(PrefetchTo::L1, BASE + 129).1, ["3: wish L1d 0x80 128 bytes"]);
}

#[test]
fn lanes_that_do_not_execute_wish_for_nothing() {
    let mut bench = Bench::new(&config());
    bench.try_issue(0, 0, TO_L1, &Sources::at(|_| BASE)).unwrap();
    bench.try_issue(1, 0, block(), &Sources::at(|_| BASE).with(1, |_| 128)).unwrap();
    bench.drain();
    assert_eq!((hints(&bench), bench.finished.len()), ([0; 5], 2));
}

#[test]
fn a_block_goes_at_the_pace_of_a_copy() {
    let mut bench = Bench::new(&config());
    // 16 bytes of the first line, nine whole ones, 32 bytes of the last.
    let sources = Sources::at(|_| BASE + 112).with(1, |_| 16 + 9 * 128 + 32);
    bench.try_issue(0, 1, block(), &sources).unwrap();
    bench.drain();
    // 32 pieces of 16 bytes a step: 16 + 3 * 128 + 112 bytes, then 16 of the same line and so on, a line a cycle at the door.
    let bytes: Vec<(u64, u32)> = bench
        .l1d
        .log
        .iter()
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            (u64::from_str_radix(&words[3][2..], 16).unwrap() / 128, words[4].parse().unwrap())
        })
        .collect();
    let expected = [
        [(0, 16), (1, 128), (2, 128), (3, 128), (4, 112)].as_slice(),
        &[(4, 16), (5, 128), (6, 128), (7, 128), (8, 112)],
        &[(8, 16), (9, 128), (10, 32)],
    ];
    assert_eq!(bytes, expected.concat());
    assert!(bench.l1d.log.iter().all(|line| line.contains("wish Llc")));
    assert_eq!((hints(&bench), bench.lsu.statistics().prefetches), ([13, 13, 0, 0, 0], 1));
}

#[test]
fn a_block_is_wished_for_as_far_as_it_is_allocated() {
    let mut bench = Bench::new(&config());
    // From 64 bytes before the memory to far beyond it: 2^32 bytes are no more work than what there is.
    let sources = Sources::at(|_| BASE - 64).with(1, |_| 0xffff_fff0);
    bench.try_issue(0, 1, block(), &sources).unwrap();
    bench.drain();
    assert_eq!(hints(&bench), [HEAP_BYTES / 128, HEAP_BYTES / 128, 0, 0, 0]);
    bench.try_issue(0, 0b11, block(), &Sources::at(|_| 64).with(1, |_| 4096)).unwrap();
    bench.try_issue(1, 1, block(), &Sources::at(|_| BASE).with(1, |_| 0)).unwrap();
    bench.drain();
    assert_eq!(hints(&bench), [HEAP_BYTES / 128, HEAP_BYTES / 128, 0, 0, 3]);
}
