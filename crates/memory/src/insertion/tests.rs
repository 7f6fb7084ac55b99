//! What policies let pass, on strings of requests by hand.

use strata_engine::seed::Stream;

use super::{Insertion, InsertionPolicy};
use crate::address::LineAddress;
use crate::policy::{Chosen, PolicyKind, Shape};
use crate::touch::{Origin, Touch};

fn state(policy: &str, sets: usize) -> Box<dyn Insertion> {
    let policy = serde_json::from_str::<Chosen<dyn InsertionPolicy>>(policy).expect("it is built in");
    policy.build(&Shape { sets, ways: 4, stream: Stream::new(1, "insertion") }).expect("some lines pass")
}

fn touch(line: u64, pc: u32) -> Touch {
    Touch { line: LineAddress(line), origin: Origin { pc, warp: 0 }, ..Touch::default() }
}

#[test]
fn the_instructions_that_are_listed_pass() {
    let state = state(r#"{ "by-pc": { "pass": [7, 9] } }"#, 1);
    assert_eq!([6, 7, 8, 9].map(|pc| state.keeps(&touch(1, pc))), [true, false, true, false]);
    assert!(!super::tests::state("\"none\"", 1).keeps(&touch(1, 6)));
}

#[test]
fn a_predictor_needs_three_lines_that_left_untouched() {
    let mut state = state("\"dead-block\"", 1);
    // The sampler keeps 12 lines. The thirteenth is the first to push one out: each such adds 1 to three counters, which hold 3 at most;
    // 2 lines make 6 votes, 3 make 9, and 8 are needed.
    for line in 0..14 {
        state.filled(0, 0, &touch(line, 5));
    }
    assert!(state.keeps(&touch(99, 5)), "6 votes");
    state.filled(0, 0, &touch(14, 5));
    assert!(!state.keeps(&touch(99, 5)), "9 votes");
    assert!(state.keeps(&touch(99, 6)), "another instruction");
    // A line that is touched again takes three votes from the instruction that touched it before, not from the one that does now.
    state.used(0, 0, &touch(14, 6));
    assert!(state.keeps(&touch(99, 5)), "6 votes");
    assert!(state.keeps(&touch(99, 6)));
}

#[test]
fn lines_that_pass_teach_as_lines_that_stay() {
    let mut state = state("\"dead-block\"", 1);
    (0..15).for_each(|line| state.passed(0, &touch(line, 5)));
    assert!(!state.keeps(&touch(99, 5)));
    // All 12 lines in the sampler are touched again, most recent first: a line far down the stack was not dead.
    (3..15).rev().for_each(|line| state.passed(0, &touch(line, 5)));
    assert!(state.keeps(&touch(99, 5)), "no vote");
}

#[test]
fn of_many_sets_32_are_sampled() {
    let mut state = state("\"dead-block\"", 128);
    (0..40).for_each(|line| state.filled(3, 0, &touch(line, 5)));
    assert!(state.keeps(&touch(99, 5)), "set 3 is not among them");
    (0..40).for_each(|line| state.filled(4, 0, &touch(line, 5)));
    assert!(!state.keeps(&touch(99, 5)));
}

#[test]
fn a_list_of_instructions_is_needed_where_the_policy_has_one() {
    assert_eq!(<dyn InsertionPolicy>::family().names(), ["all", "none", "by-pc", "dead-block"]);
    let error = serde_json::from_str::<Chosen<dyn InsertionPolicy>>("\"by-pc\"").unwrap_err().to_string();
    assert!(error.contains("`by-pc`: missing field `pass`"), "{error}");
}
