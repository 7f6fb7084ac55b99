//! Where a cache keeps its lines.

use strata_engine::Cycle;

use super::{FrameId, Frames};

/// A use of a frame's array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayUse {
    /// A read by a load or a write-back.
    Read,
    /// A write by a store.
    Write,
    /// A write of the bytes of a reply.
    Fill,
    /// A load that waited in an MSHR, served with the bytes of the fill as they enter the array.
    Forward,
}

/// The frame of a line after its fetch is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// The line stays in the frame that was taken when it missed.
    Here,
    /// The line moves to this frame, which may hold another line (allocation on fill).
    Moves(FrameId),
    /// The line cannot move yet: every frame that could take it waits for a fill.
    Full,
    /// The line takes no place in the cache.
    Leaves,
}

/// Frames, and how a design uses them.
///
/// The design decides how to find a line and what to evict for it. The last three methods are for arrays that an access occupies
/// for longer than its port; by default every array is always free.
pub trait Store {
    /// The frames.
    fn frames(&self) -> &Frames;

    /// The frames, mutable.
    fn frames_mut(&mut self) -> &mut Frames;

    /// Drops all bytes of the frame's line. A pinned frame stays assigned to its line.
    #[inline]
    fn invalidate(&mut self, frame: FrameId) {
        self.frames_mut().invalidate(frame);
    }

    /// Drops all lines. No frame may be pinned or dirty.
    fn invalidate_all(&mut self) {
        self.frames_mut().invalidate_all();
    }

    /// Decides where the frame's line goes when its fetch is done.
    #[inline]
    fn home(&mut self, _frame: FrameId) -> Home {
        Home::Here
    }

    /// Moves a line to its home frame. The line that was there has been written back.
    fn move_home(&mut self, _from: FrameId, _to: FrameId) {
        unreachable!("only a store whose lines have another home moves them");
    }

    /// Drops a line that takes no place. Its dirty bytes have been written back.
    fn leave(&mut self, _frame: FrameId) {
        unreachable!("only a store in which some lines take no place drops them");
    }

    /// Whether the frame's array is free for this use at `now`.
    #[inline]
    fn is_free(&self, frame: FrameId, use_: ArrayUse, now: Cycle) -> bool {
        self.free_at(frame, use_) <= now
    }

    /// The first cycle, as far as known, in which the frame's array is free for this use.
    #[inline]
    fn free_at(&self, _frame: FrameId, _use_: ArrayUse) -> Cycle {
        Cycle::ZERO
    }

    /// Occupies the frame's array from `now` on.
    #[inline]
    fn occupy(&mut self, _frame: FrameId, _use_: ArrayUse, _now: Cycle) {}
}
