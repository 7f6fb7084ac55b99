//! Properties of random cases. All cases derive from one seed, so runs are reproducible. `STRATA_RANDOM_SEED`
//! sets another seed, `STRATA_RANDOM_CASES` the number of cases.

use std::fmt::Display;
use std::str::FromStr;

use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};

/// Checks `cases` cases, unless the environment sets another number. A failing case is shrunk in at most
/// `shrink` steps and reported with its seed.
pub fn check<S: Strategy>(
    cases: u32,
    shrink: u32,
    strategy: &S,
    property: impl Fn(S::Value) -> Result<(), String>,
) {
    let seed = setting("STRATA_RANDOM_SEED", 1);
    let config = ProptestConfig {
        cases: setting("STRATA_RANDOM_CASES", cases),
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        max_shrink_iters: shrink,
        ..ProptestConfig::default()
    };
    let outcome = TestRunner::new(config).run(strategy, |case| property(case).map_err(TestCaseError::fail));
    if let Err(error) = outcome {
        panic!("STRATA_RANDOM_SEED={seed}: {error}");
    }
}

/// A number from the environment.
fn setting<T: FromStr<Err: Display>>(name: &str, otherwise: T) -> T {
    match std::env::var(name) {
        Ok(value) => value.parse().unwrap_or_else(|error| panic!("{name}={value}: {error}")),
        Err(_) => otherwise,
    }
}
