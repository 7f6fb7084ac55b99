//! Timed machines against the reference executor on random programs: all of memory is equal after every launch.
//!
//! The programs come from one seed, so that a run says the same tomorrow. `STRATA_RANDOM_SEED` chooses another,
//! `STRATA_RANDOM_CASES` how many there are.

pub mod compare;
pub mod program;
pub mod text;

use crate::support::setting;
use crate::support::variation;
use compare::compare;
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};

/// As many as an ordinary test run has time for.
const CASES: u32 = 160;
#[test]
fn random_programs_do_what_the_reference_executor_does() {
    let seed = setting("STRATA_RANDOM_SEED", 1);
    let config = ProptestConfig {
        cases: setting("STRATA_RANDOM_CASES", CASES),
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        max_shrink_iters: 3000,
        ..ProptestConfig::default()
    };
    let strategy = (program::program(), variation::variation(), any::<u64>());
    let outcome = TestRunner::new(config).run(&strategy, |(program, variation, data)| {
        let text = text::text(&program);
        compare(&program, &variation, data, &text, &mut |_, l1d| l1d)
            .map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))
    });
    if let Err(error) = outcome {
        panic!("STRATA_RANDOM_SEED={seed}: {error}");
    }
}
