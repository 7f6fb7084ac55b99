//! What a launch has come to: on its way, at its end, or when it was stopped.

use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_sm::occupancy::Occupancy;
use strata_sm::print::Print;
use strata_workloads::Failure;

use crate::results::Before;

/// The result of a launch that succeeded.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Core cycles from the launch, or from the end of the one before it, to its last completion.
    pub cycles: u64,
    /// Cycles of its latency that had passed when the one before it ended.
    pub overlapped_cycles: u64,
    /// Cycles from the launch, or from the end of the one before it, until its first CTA could begin.
    pub latency: u64,
    /// How the kernel fills an SM.
    pub occupancy: Occupancy,
    /// What the kernel printed, ordered by CTA and warp.
    pub prints: Vec<Print>,
    /// The first CTA that did not run: their number, unless the launch ended early.
    pub end_cta: u64,
    /// The counters before the CTAs that count, where others ran before them.
    pub(crate) before: Option<Box<Before>>,
}

/// What a launch that goes on has come to.
#[derive(Clone, Debug)]
pub struct Observed {
    /// The present cycle.
    pub cycle: Cycle,
    /// CTAs that have ended.
    pub ctas_done: u64,
    /// Every [`Gpu::sample_every`](super::Gpu::sample_every) cycles of the launch: those cycles, and all counters since the machine was built.
    pub counted: Option<(u64, Vec<Group>)>,
}

/// Why a launch failed.
#[derive(Clone, Debug)]
pub struct Stopped {
    /// What kind of failure it was.
    pub failure: Failure,
    /// Description of the failure, with its location where known.
    pub reason: String,
    /// What had happened until then; `None` if nothing ran.
    pub so_far: Option<Box<Finished>>,
    /// Address and bytes of an access to device memory that no buffer holds.
    pub outside: Option<(u64, u64)>,
}
