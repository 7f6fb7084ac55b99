//! Lines in one set-associative SRAM array.

use strata_memory::mshr::MshrId;
use strata_memory::tags::{FrameId, TagArray};
use strata_memory::{ByteMask, Line, LineAddress};

use crate::chassis::Store;

/// Tags and data.
pub(super) struct SramStore {
    pub tags: TagArray,
    pub data: Vec<Line>,
}

impl Store for SramStore {
    #[inline]
    fn line(&self, frame: FrameId) -> Option<LineAddress> {
        self.tags.line(frame)
    }

    #[inline]
    fn valid(&self, frame: FrameId) -> ByteMask {
        self.tags.valid(frame)
    }

    #[inline]
    fn dirty(&self, frame: FrameId) -> ByteMask {
        self.tags.dirty(frame)
    }

    #[inline]
    fn add_valid(&mut self, frame: FrameId, bytes: ByteMask) {
        self.tags.add_valid(frame, bytes);
    }

    #[inline]
    fn add_dirty(&mut self, frame: FrameId, bytes: ByteMask) {
        self.tags.add_dirty(frame, bytes);
    }

    #[inline]
    fn clean(&mut self, frame: FrameId) {
        self.tags.clean(frame);
    }

    #[inline]
    fn invalidate(&mut self, frame: FrameId) {
        self.tags.invalidate(frame);
    }

    fn invalidate_all(&mut self) {
        self.tags.invalidate_all();
    }

    #[inline]
    fn pinned(&self, frame: FrameId) -> Option<MshrId> {
        self.tags.pinned(frame)
    }

    #[inline]
    fn pin(&mut self, frame: FrameId, mshr: MshrId) {
        self.tags.pin(frame, mshr);
    }

    #[inline]
    fn unpin(&mut self, frame: FrameId) {
        self.tags.unpin(frame);
    }

    fn next_dirty(&self, from: FrameId) -> Option<FrameId> {
        self.tags.next_dirty(from)
    }

    #[inline]
    fn data(&self, frame: FrameId) -> &Line {
        &self.data[frame.index()]
    }

    #[inline]
    fn data_mut(&mut self, frame: FrameId) -> &mut Line {
        &mut self.data[frame.index()]
    }
}
