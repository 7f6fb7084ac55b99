//! Timed machines against the reference executor on random programs: all of memory is equal after every launch.

pub mod compare;
pub mod program;
pub mod text;

use crate::support::random;
use crate::support::variation;
use compare::compare;
use proptest::prelude::*;

/// Number of cases that fits an ordinary test run.
const CASES: u32 = 160;

#[test]
fn random_programs_do_what_the_reference_executor_does() {
    let strategy = (program::program(), variation::variation(), any::<u64>());
    random::check(CASES, 3000, &strategy, |(program, variation, data)| {
        let text = text::text(&program);
        compare(&program, &variation, data, &text, &mut |_, l1d| l1d)
            .map_err(|error| format!("{error}\n{text}"))
    });
}
