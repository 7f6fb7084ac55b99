//! An issue stage that need not be looked at again.

use crate::statistics::Stall;

/// Largest number of schedulers per SM.
pub const SCHEDULERS: usize = 8;

/// Everything the issue stage reads when it issues nothing. While these inputs are unchanged, so is the outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inputs {
    pub have: u64,
    /// Warp state masks from [`Warps`](crate::warps::Warps): residency, exit, and waits other than for registers.
    pub resident: u64,
    pub exited: u64,
    pub at_barrier: u64,
    pub at_fence: u64,
    pub at_copies: u64,
    pub asleep: u64,
    pub resolving: u64,
    pub blocked: u64,
    pub blocked_by_memory: u64,
    /// Parts of pools without a free collector: how many others have free does not matter,
    pub full_pools: u64,
    /// nor, while none is full, whether the load/store unit takes instructions; then this is true.
    pub lsu_accepts: bool,
}

/// An issue stage that issued nothing and will issue nothing until its inputs change. Its cycles are counted when
/// they do.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Quiet {
    pub inputs: Inputs,
    /// By scheduler.
    pub causes: [Stall; SCHEDULERS],
}
