//! Why a request waits, and what may end its wait.

use std::ops::{BitOr, BitOrAssign};

use strata_engine::Cycle;
use strata_memory::LineAddress;

/// The reason why the next request waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stall {
    /// No MSHR is free.
    Mshr,
    /// The line's MSHR can merge no more.
    Merge,
    /// Every way of the set waits for a fill.
    Ways,
    /// There is no room towards DRAM.
    Dram,
    /// There is no room in the queue of replies.
    Reply,
    /// A reason of the design, which counts it ([`Protocol::count_own`](super::Protocol::count_own)).
    Own,
}

/// What has happened in a slice, as a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Changes(u8);

impl Changes {
    pub const NONE: Changes = Changes(0);
    /// A request was served that had waited for its line, and perhaps its MSHR and way were freed.
    pub const SERVED: Changes = Changes(1);
    /// There is more room towards DRAM.
    pub const DRAM: Changes = Changes(2);
    /// A reply has left.
    pub const REPLY: Changes = Changes(4);
    /// The design has heard what a reason of its own depends on.
    pub const OWN: Changes = Changes(8);
    /// Anything else that a look-up depends on.
    pub const ANY: Changes = Changes(u8::MAX);

    /// Whether the sets have a member in common.
    #[inline]
    pub fn meets(self, other: Changes) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for Changes {
    type Output = Changes;
    #[inline]
    fn bitor(self, other: Changes) -> Changes {
        Changes(self.0 | other.0)
    }
}

impl BitOrAssign for Changes {
    #[inline]
    fn bitor_assign(&mut self, other: Changes) {
        *self = *self | other;
    }
}

impl Stall {
    /// What may end the wait, or give it another reason. Only look-ups take MSHRs and ways, and only look-ups and what is served
    /// take room. What is served may also write bytes that the next request needs.
    #[inline]
    pub(super) fn depends_on(self) -> Changes {
        match self {
            Stall::Mshr | Stall::Merge | Stall::Ways => Changes::SERVED,
            Stall::Dram => Changes::SERVED | Changes::DRAM,
            Stall::Reply => Changes::REPLY,
            Stall::Own => Changes::OWN,
        }
    }
}

/// The wait of the next request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    /// Its reason.
    pub stall: Stall,
    /// The request's line.
    pub line: LineAddress,
    /// The first cycle of it that is not counted.
    pub from: Cycle,
}
