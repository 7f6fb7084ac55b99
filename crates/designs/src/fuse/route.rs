//! What the arbitrator decides: routes of accesses and of evicted lines, and what an access waits for.

use strata_engine::Cycle;
use strata_memory::ByteMask;
use strata_memory::cache::FrameId;
use strata_memory::doors::Refusal;
use strata_memory::mshr::MshrId;

/// The route of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// Performs the access in its bank.
    Hit(FrameId),
    /// Moves the line from STT-MRAM to SRAM, then performs the access, or waits there for these bytes.
    Migrate(FrameId, ByteMask),
    /// Waits in a new MSHR for these bytes of a line that has a frame.
    Partial(FrameId, ByteMask),
    /// Waits in the line's MSHR, and fetches these bytes for itself.
    Merge(MshrId, ByteMask),
    /// Takes a frame for a new line, and fetches these bytes: none for a store that needs none.
    Miss(Destination, ByteMask),
    /// A miss whose line is not worth keeping goes past the cache.
    Around,
    /// A store whose line is no longer worth keeping goes past the cache together with the line.
    Close(FrameId),
    /// Goes past the cache as requested; the frame holds a copy of the line.
    Past(Option<FrameId>),
}

/// The destination bits of Fig. 8a: where a line that misses is placed. The MSHR records the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    Sram,
    Stt,
    /// STT-MRAM by way of the swap buffer: a store's bytes, which need no fetch.
    Swap,
}

/// When and from where an access asks for its route.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub now: Cycle,
    /// Whether it leaves the tag queue, which frees its place there.
    pub from_queue: bool,
}

/// Why an access cannot go on in this cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// A write occupies STT-MRAM.
    SttWrite,
    /// A read occupies STT-MRAM.
    SttRead,
    /// The bus carries another line.
    Bus,
    /// The swap buffer is full: its lines wait for writes to STT-MRAM.
    SwapBuffer,
    /// The tag queue is full.
    TagQueue,
    /// The controller's register holds an access.
    Register,
    /// The tags are being searched.
    Search,
    /// Accesses accepted earlier wait for their turn.
    Other,
    /// It is ahead of a command that it must follow.
    Behind,
    /// A cause that the door has a name for.
    Room(Refusal),
}

impl From<Refusal> for Wait {
    fn from(cause: Refusal) -> Wait {
        Wait::Room(cause)
    }
}

/// Where a line that SRAM evicts goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Eviction {
    /// It goes to the last-level cache.
    Below,
    /// It goes to the swap buffer, with a command for STT-MRAM.
    Swap,
    /// It goes directly into STT-MRAM.
    Stt,
}
