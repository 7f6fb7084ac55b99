//! The store of lines, as the chassis sees it.

use strata_engine::Cycle;
use strata_memory::mshr::MshrId;
use strata_memory::tags::FrameId;
use strata_memory::{ByteMask, Line, LineAddress};

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
}

/// Frames that hold lines, with their valid and dirty bytes and the MSHRs that wait for more.
///
/// A frame that waits for a fill is *pinned*: it records its MSHR and stays assigned to its line.
///
/// Frames are numbered from 0. The design decides how to find a line and what to evict for it. The last three
/// methods are for arrays that an access occupies for longer than its port; by default every array is always
/// free.
pub trait Store {
    /// The line in a frame; `None` if the frame is empty.
    fn line(&self, frame: FrameId) -> Option<LineAddress>;
    /// The valid bytes of the frame's line.
    fn valid(&self, frame: FrameId) -> ByteMask;
    /// The dirty bytes of the frame's line: those newer than in the level below.
    fn dirty(&self, frame: FrameId) -> ByteMask;
    /// Marks bytes valid that arrived from the level below.
    fn add_valid(&mut self, frame: FrameId, bytes: ByteMask);
    /// Marks bytes valid and dirty that were written here.
    fn add_dirty(&mut self, frame: FrameId, bytes: ByteMask);
    /// Marks all bytes of the frame clean after a write-back.
    fn clean(&mut self, frame: FrameId);
    /// Drops all bytes of the frame's line. A pinned frame stays assigned to its line.
    fn invalidate(&mut self, frame: FrameId);
    /// Drops all lines. No frame may be pinned or dirty.
    fn invalidate_all(&mut self);
    /// The MSHR whose fill the frame waits for.
    fn pinned(&self, frame: FrameId) -> Option<MshrId>;
    /// Pins the frame until the fill of an MSHR.
    fn pin(&mut self, frame: FrameId, mshr: MshrId);
    /// Unpins the frame when its MSHR is done.
    fn unpin(&mut self, frame: FrameId);
    /// The first frame with dirty bytes at or after `from`.
    fn next_dirty(&self, from: FrameId) -> Option<FrameId>;
    /// The data bytes of a frame.
    fn data(&self, frame: FrameId) -> &Line;
    /// The data bytes of a frame, mutable.
    fn data_mut(&mut self, frame: FrameId) -> &mut Line;

    /// Decides where the frame's line goes when its fetch is done.
    #[inline]
    fn home(&mut self, _frame: FrameId) -> Home {
        Home::Here
    }

    /// Moves a line to its home frame. The line that was there has been written back.
    fn move_home(&mut self, _from: FrameId, _to: FrameId) {
        unreachable!("only a store whose lines have another home moves them");
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
