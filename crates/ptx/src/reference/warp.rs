//! The state of a warp of the reference executor.

use crate::exec::WarpContext;
use crate::exec::print::Argument;
use crate::simt::SimtStack;

/// Where a warp is in the barrier of its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum AtCluster {
    /// It has not arrived.
    #[default]
    Away,
    /// It has arrived; others have not.
    Arrived,
    /// It has arrived and waits for others.
    Waits,
    /// All have arrived; it has not waited yet.
    Passed,
}

/// One warp.
#[derive(Clone, Debug)]
pub(super) struct Warp {
    pub stack: SimtStack,
    pub context: WarpContext,
    /// Whether it waits at a barrier.
    pub waiting: bool,
    /// Where it is in the cluster's barrier.
    pub at_cluster: AtCluster,
    /// Arguments collected so far, by lane, for a printf with many arguments; empty until the first print.
    pub printing: Vec<Vec<Argument>>,
}

impl Warp {
    /// Whether it could execute an instruction.
    #[inline]
    pub fn is_ready(&self) -> bool {
        !self.waiting && !self.stack.is_done()
    }
}
