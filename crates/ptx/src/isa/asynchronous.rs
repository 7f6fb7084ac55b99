//! Copies that run beside their warp, and the barriers in shared memory that count them.

use super::types::{CacheOp, Space};

/// How many bytes of an asynchronous copy come from the source; zeros fill the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CopySource {
    /// All.
    Whole,
    /// As many as src2 says.
    Sized,
    /// None where the predicate src2 holds (`ignore-src`), else all.
    Unless,
}

/// `cp.async`: bytes at global address src0 + the instruction's offset go to shared address src1 + `shared_offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AsyncCopy {
    /// Bytes a lane: 4, 8 or 16.
    pub bytes: u8,
    /// [`CacheOp::All`] or [`CacheOp::Global`].
    pub cache: CacheOp,
    /// Added to the shared address.
    pub shared_offset: i32,
    /// What the source gives.
    pub source: CopySource,
}

/// What is done to a barrier in shared memory, 8 bytes at src0 + offset (PTX ISA, "mbarrier").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MbarrierOp {
    /// Expects src1 arrivals in every phase.
    Init,
    /// The object may be used for something else.
    Invalidate,
    /// src1 arrivals; dst0 = the state before them.
    Arrive {
        /// Later phases expect so many fewer (`arrive_drop`).
        drop: bool,
        /// Whether the phase may complete (`.noComplete` says no).
        completes: bool,
    },
    /// src1 more bytes are expected, then one arrival; dst0 = the state before.
    ArriveExpect {
        /// As of [`MbarrierOp::Arrive`].
        drop: bool,
    },
    /// src1 more bytes are expected.
    Expect,
    /// src1 bytes of those expected have come.
    Complete,
    /// dst0 predicate = the phase of state src1 has completed.
    TestState,
    /// dst0 predicate = the phase of parity src1 has completed.
    TestParity,
    /// One arrival more is to come in this phase: of a copy under way.
    Track,
}

impl MbarrierOp {
    /// Whether it only looks.
    pub const fn is_test(self) -> bool {
        matches!(self, MbarrierOp::TestState | MbarrierOp::TestParity)
    }

    /// Whether it returns the state.
    pub const fn returns_state(self) -> bool {
        matches!(self, MbarrierOp::Arrive { .. } | MbarrierOp::ArriveExpect { .. })
    }
}

/// An operation on a barrier in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mbarrier {
    /// What.
    pub op: MbarrierOp,
    /// Shared or generic; a generic address must lie in shared memory.
    pub space: Space,
}
