//! Places in a run at which one executor can take over from another: between two CTAs of a launch.

use std::fmt;

/// A place between two CTAs. Launches before it have ended, and so have the CTAs of its launch before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Number of the launch, counted from 0.
    pub launch: u64,
    /// The first CTA after it, in the order in which CTAs start.
    pub cta: u64,
}

impl Position {
    /// The beginning of a run.
    pub const START: Position = Position { launch: 0, cta: 0 };
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "launch {}, CTA {}", self.launch, self.cta)
    }
}

/// Where the part of a run that is measured begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Began {
    /// The place.
    pub at: Position,
    /// What ran before it on the reference executor, now or when a checkpoint was made.
    pub skipped: Executed,
    /// Whether the machine ran something before it, so that its caches are warm.
    pub is_warm: bool,
    /// CTAs of its launch that the machine ran before it.
    pub warm_ctas: u64,
}

/// Instructions that the reference executor has executed in launches, as compiled for the machine that it ran for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Executed {
    /// Of warps.
    pub warp_instructions: u64,
    /// Of threads.
    pub thread_instructions: u64,
}
