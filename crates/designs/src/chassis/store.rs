//! Where lines live, as the chassis sees it.

use strata_engine::Cycle;
use strata_memory::mshr::MshrId;
use strata_memory::tags::FrameId;
use strata_memory::{ByteMask, Line, LineAddress};

/// What a frame's array is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayUse {
    /// A load's or a write-back's read.
    Read,
    /// A store's write.
    Write,
    /// A reply's bytes go in.
    Fill,
    /// A load that waited in an MSHR is served on the fill's way into the array.
    Forward,
}

/// Where a line goes when its fetch is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// It stays in the frame that was taken when it missed.
    Here,
    /// To this frame, which may hold another line: allocation on fill.
    Moves(FrameId),
    /// Nowhere yet: every frame that it could go to waits for a fill.
    Full,
}

/// Frames that hold lines: which bytes are valid, which are dirty, and who waits for more of them.
///
/// A frame that waits for a fill is *pinned*: it carries the name of its MSHR and stays its line's.
///
/// Frames have numbers from 0 on. How a line is found and what makes room for it is the design's own business. The
/// last three methods are for arrays that are busy for longer than an access takes a port; left as they are,
/// every array is always free.
pub trait Store {
    /// The line in a frame.
    fn line(&self, frame: FrameId) -> Option<LineAddress>;
    /// The bytes of the frame's line that are here.
    fn valid(&self, frame: FrameId) -> ByteMask;
    /// The bytes of the frame's line that are newer than below.
    fn dirty(&self, frame: FrameId) -> ByteMask;
    /// Bytes arrived from below.
    fn add_valid(&mut self, frame: FrameId, bytes: ByteMask);
    /// Bytes were written here and not yet below.
    fn add_dirty(&mut self, frame: FrameId, bytes: ByteMask);
    /// The dirty bytes have gone below.
    fn clean(&mut self, frame: FrameId);
    /// Drops all bytes of the frame's line; the frame stays the line's when it is pinned.
    fn invalidate(&mut self, frame: FrameId);
    /// Drops everything; nothing may be pinned or dirty.
    fn invalidate_all(&mut self);
    /// The MSHR that the frame waits for.
    fn pinned(&self, frame: FrameId) -> Option<MshrId>;
    /// Pins the frame for a fill.
    fn pin(&mut self, frame: FrameId, mshr: MshrId);
    /// Its MSHR is done.
    fn unpin(&mut self, frame: FrameId);
    /// The first frame at or after `from` that has dirty bytes.
    fn next_dirty(&self, from: FrameId) -> Option<FrameId>;
    /// The bytes of a frame.
    fn data(&self, frame: FrameId) -> &Line;
    /// The bytes of a frame, to change them.
    fn data_mut(&mut self, frame: FrameId) -> &mut Line;

    /// Where the frame's line goes now that its fetch is done.
    #[inline]
    fn home(&mut self, _frame: FrameId) -> Home {
        Home::Here
    }

    /// Moves a line home. The line that was there has been written back.
    fn move_home(&mut self, _from: FrameId, _to: FrameId) {
        unreachable!("only a store whose lines have another home moves them");
    }

    /// Whether the frame's array can be used so in this cycle.
    #[inline]
    fn is_free(&self, frame: FrameId, use_: ArrayUse, now: Cycle) -> bool {
        self.free_at(frame, use_) <= now
    }

    /// The first cycle in which the frame's array can be used so, as far as is known.
    #[inline]
    fn free_at(&self, _frame: FrameId, _use_: ArrayUse) -> Cycle {
        Cycle::ZERO
    }

    /// The frame's array is used from this cycle on.
    #[inline]
    fn occupy(&mut self, _frame: FrameId, _use_: ArrayUse, _now: Cycle) {}
}
