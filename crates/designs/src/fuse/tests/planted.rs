//! Bugs planted into the design: each must be caught, by the contract or by an invariant that stops the run.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::super::FuseL1d;
use super::super::l1d::Bug;
use super::small;
use crate::contract::l1d::{Contract, check_with_skips};

/// Whether the contract, or an invariant, stops a run of the system with the bug.
fn is_caught(system: &str, bug: Option<Bug>) -> bool {
    let config = small(system);
    (0..4).any(|seed| {
        let run = || {
            check_with_skips(&Contract::alone(seed), &mut |node, slices| {
                let mut l1d = FuseL1d::new(&config, node, slices).unwrap();
                l1d.bug = bug;
                Box::new(l1d)
            })
        };
        !matches!(catch_unwind(AssertUnwindSafe(run)), Ok(Ok(_)))
    })
}

#[test]
fn every_planted_bug_is_caught() {
    for system in ["base-fuse", "fa-fuse", "dy-fuse"] {
        assert!(!is_caught(system, None), "{system} is right without a bug");
        for bug in [
            Bug::SwapBufferNotLookedUp,
            Bug::StaleCopyLeft,
            Bug::TagQueueNotFlushed,
            Bug::QueuesNotEmptied,
            Bug::DirtyMaskLost,
        ] {
            assert!(is_caught(system, Some(bug)), "{bug:?} in {system} was not caught");
        }
    }
}
