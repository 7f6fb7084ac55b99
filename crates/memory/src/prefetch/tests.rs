//! What policies wish for, on strings of requests by hand.

use std::collections::BTreeSet;

use super::{PrefetchPolicy, Prefetching, Wishes};
use crate::address::LineAddress;
use crate::cache::FrameId;
use crate::policy::{Chosen, PolicyKind};
use crate::touch::{Origin, Touch};

/// What a policy wishes for after requests, each a line, its instruction and whether it hits.
fn wishes(policy: &str, requests: &[(u64, u32, bool)]) -> Vec<u64> {
    let policy = Chosen::<dyn PrefetchPolicy>::named(policy).expect("it is built in");
    let mut state = policy.build().expect("it wishes for something");
    let mut wishes = Wishes::default();
    for (line, pc, hit) in requests {
        let origin = Origin { pc: *pc, warp: 0 };
        wishes.ask_for(LineAddress(*line));
        state.seen(&Touch { line: LineAddress(*line), origin, ..Touch::default() }, *hit, &mut wishes);
    }
    wishes.lines().map(|line| line.0).collect()
}

#[test]
fn next_lines_follow_misses_only() {
    assert_eq!(wishes("next-line", &[(7, 0, false), (9, 0, true), (8, 0, false)]), [8, 9]);
    assert_eq!(wishes("next-line", &[(u64::MAX, 0, false)]), [0_u64; 0], "there is no line behind the last");
}

/// The lines that miss of those that are asked for one after the other, in a cache without bounds whose fetches take no time.
fn missed(policy: &str, lines: std::ops::Range<u64>) -> Vec<u64> {
    let policy = Chosen::<dyn PrefetchPolicy>::named(policy).expect("it is built in");
    let mut account = Prefetching::new(&*policy, 1 + lines.end as usize).expect("it wishes for something");
    let (mut here, mut misses) = (BTreeSet::new(), Vec::new());
    let frame = |line: u64| FrameId::from(line as usize);
    for line in lines {
        let touch = Touch { line: LineAddress(line), ..Touch::default() };
        if here.insert(line) {
            misses.push(line);
            account.miss(&touch, 0..0);
        } else {
            account.hit(&touch, frame(line));
        }
        while let Some(wish) = account.wish() {
            match here.insert(wish.0) {
                true => account.issue(frame(wish.0), None),
                false => account.skip(),
            }
        }
    }
    misses
}

#[test]
fn of_lines_one_after_the_other_only_the_first_misses() {
    // Tagged prefetch (Smith, ACM Computing Surveys 1982): a line that was prefetched brings the next when it is first used.
    // Prefetch on misses alone would miss every other line. Each page of 32 lines begins anew.
    assert_eq!(missed("next-line", 0..96), [0, 32, 64]);
    // The third miss confirms a stream, which fetches four lines ahead: lines 3 to 5 are asked for before anything fetches them.
    assert_eq!(missed("stream", 0..32), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn a_product_of_matrices_has_a_stride_in_one_of_its_references() {
    // The inner loop of a product of 100 x 100 words, of which a row of the second is 400 bytes away from the next, by the rules of
    // Chen and Baer's table: the first iteration makes an entry, the second gives it a stride, the third confirms it.
    let lines = |k: u64| [(50_000 + 4 * k, 500), (90_000 + 400 * k, 504), (10_000, 512)];
    let iterations =
        |count| (0..count).flat_map(lines).map(|(at, pc)| (at / 128, pc, true)).collect::<Vec<_>>();
    assert_eq!(wishes("stride", &iterations(2)), [0_u64; 0]);
    assert_eq!(wishes("stride", &iterations(3)), [(90_000 + 3 * 400) / 128]);
}

#[test]
fn a_stride_is_believed_the_second_time() {
    assert_eq!(wishes("stride", &[(10, 4, false), (13, 4, false)]), [0_u64; 0]);
    assert_eq!(wishes("stride", &[(10, 4, false), (13, 4, false), (16, 4, false)]), [19]);
    // Hits move an instruction as misses do, and others do not disturb it.
    assert_eq!(
        wishes("stride", &[(10, 4, false), (50, 8, false), (7, 4, true), (70, 8, false), (4, 4, true)]),
        [1]
    );
    // A stride that changes is believed no more, and below line 0 there is none.
    assert_eq!(wishes("stride", &[(10, 4, false), (13, 4, false), (17, 4, false)]), [0_u64; 0]);
    assert_eq!(wishes("stride", &[(9, 4, false), (5, 4, false), (1, 4, false)]), [0_u64; 0]);
    // Another warp's is another.
    let policy = Chosen::<dyn PrefetchPolicy>::named("stride").unwrap();
    let (mut state, mut seen) = (policy.build().unwrap(), Wishes::default());
    for (line, warp) in [(10, 0), (13, 1), (16, 0)] {
        let touch = Touch { line: LineAddress(line), origin: Origin { pc: 4, warp }, ..Touch::default() };
        seen.ask_for(touch.line);
        state.seen(&touch, false, &mut seen);
    }
    assert_eq!(seen.lines().count(), 0);
}

#[test]
fn streams_run_either_way_and_side_by_side() {
    assert_eq!(wishes("stream", &[(100, 0, false), (101, 1, false)]), [0_u64; 0]);
    assert_eq!(wishes("stream", &[(100, 0, false), (101, 1, false), (102, 2, false)]), [106, 107]);
    assert_eq!(wishes("stream", &[(110, 0, false), (108, 0, false), (107, 0, false)]), [103, 102]);
    assert_eq!(
        wishes("stream", &[(100, 0, false), (101, 0, false), (100, 0, false)]),
        [0_u64; 0],
        "it turned"
    );
    let two = [
        (100, 0, false),
        (900, 0, false),
        (101, 0, false),
        (901, 0, false),
        (102, 0, false),
        (902, 0, false),
    ];
    assert_eq!(wishes("stream", &two), [106, 107, 906, 907]);
}

#[test]
fn the_account_tells_useful_late_unused_and_harmful() {
    let policy = Chosen::<dyn PrefetchPolicy>::named("next-line").unwrap();
    let mut account = Prefetching::new(&*policy, 4).expect("it wishes for something");
    let touch = |line| Touch { line: LineAddress(line), ..Touch::default() };
    let frame = |n: usize| FrameId::from(n);
    account.miss(&touch(10), 0..2);
    assert_eq!(account.wish(), Some(LineAddress(11)));
    account.issue(frame(1), Some(LineAddress(5)));
    account.miss(&touch(5), 0..2);
    account.skip();
    account.merge(&touch(11), frame(1));
    account.issue(frame(2), None);
    account.hit(&touch(12), frame(2));
    account.hit(&touch(12), frame(2));
    account.issue(frame(3), None);
    account.leave(frame(3));
    account.miss(&touch(40), 0..2);
    account.drop_wish();
    account.clear();
    let group = account.report("l1d_prefetch").expect("it has a policy");
    let count = |name: &str| group.get(name).expect("a counter");
    assert_eq!(["issued", "useful", "late", "unused", "harmful"].map(count), [3, 1, 1, 1, 1]);
    assert_eq!(["wishes", "redundant", "dropped"].map(count), [5, 1, 1]);
    assert_eq!(group.broken, None);
}

#[test]
fn what_the_program_wishes_for_has_an_account_of_its_own() {
    let policy = PrefetchPolicy::named("next-line").unwrap();
    let mut account = Prefetching::new(policy, 4).expect("it wishes for something");
    let touch = |line| Touch { line: LineAddress(line), ..Touch::default() };
    let frame = |n: usize| FrameId::from(n);
    account.take_hint(frame(0), None);
    account.hit(&touch(20), frame(0));
    assert_eq!(account.wish(), Some(LineAddress(21)), "the first use of either's line counts as a miss");
    account.issue(frame(1), Some(LineAddress(5)));
    account.take_hint(frame(2), Some(LineAddress(6)));
    account.merge(&touch(22), frame(2));
    account.miss(&touch(5), 0..4);
    account.miss(&touch(6), 0..4);
    account.take_hint(frame(1), None);
    account.skip_hint();
    account.drop_hint();
    account.leave(frame(1));
    let names = ["wishes", "redundant", "dropped", "issued", "useful", "late", "unused", "harmful"];
    let counts =
        |group: strata_engine::statistics::Group| names.map(|name| group.get(name).expect("a counter"));
    assert_eq!(counts(Prefetching::report_hints(Some(&account), "l1d_hints")), [5, 1, 1, 3, 1, 1, 1, 1]);
    let of_policy = counts(account.report("l1d_prefetch").expect("it has a policy"));
    assert_eq!(of_policy[3..], [1, 0, 0, 1, 1]);
    assert!(Prefetching::of_program(4).report("l1d_prefetch").is_none());
    assert_eq!(counts(Prefetching::report_hints(None, "l1d_hints")), [0; 8]);
}

#[test]
fn wishes_are_bounded_and_each_stands_once() {
    let mut wishes = Wishes::default();
    (0..32).chain(20..40).for_each(|line| wishes.add(LineAddress(line)));
    assert_eq!(wishes.lines().map(|line| line.0).collect::<Vec<_>>(), (16..32).collect::<Vec<_>>());
    assert_eq!((wishes.added, wishes.dropped), (32, 16), "32 and beyond are of another page");
    assert_eq!(<dyn PrefetchPolicy>::family().names().len(), 4);
}
