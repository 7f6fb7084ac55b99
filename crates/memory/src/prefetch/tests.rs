//! What policies wish for, on strings of requests by hand.

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
    let group = account.report("l1d_prefetch");
    let count = |name: &str| group.get(name).expect("a counter");
    assert_eq!(["issued", "useful", "late", "unused", "harmful"].map(count), [3, 1, 1, 1, 1]);
    assert_eq!(["wishes", "redundant", "dropped"].map(count), [5, 1, 1]);
    assert_eq!(group.broken, None);
}

#[test]
fn wishes_are_bounded_and_each_stands_once() {
    let mut wishes = Wishes::default();
    (0..32).chain(20..40).for_each(|line| wishes.add(LineAddress(line)));
    assert_eq!(wishes.lines().map(|line| line.0).collect::<Vec<_>>(), (16..32).collect::<Vec<_>>());
    assert_eq!((wishes.added, wishes.dropped), (32, 16), "32 and beyond are of another page");
    assert_eq!(<dyn PrefetchPolicy>::family().names().len(), 4);
}
