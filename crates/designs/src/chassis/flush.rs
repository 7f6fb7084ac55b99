//! Flushes: write all dirty bytes back, one line per cycle, and drop all copies at the end on request.

use strata_engine::Cycle;
use strata_memory::cache::FrameId;
use strata_memory::doors::LineNews;

use super::{ArrayUse, Chassis, Store};

/// The state of a flush in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flush {
    invalidate: bool,
    /// Frames before this one have been examined.
    cursor: FrameId,
}

impl<S: Store> Chassis<S> {
    /// Begins to write all dirty bytes back and, with `invalidate`, to drop every copy at the end. A flush in
    /// progress starts again. Accesses are refused until the flush is done.
    pub fn start_flush(&mut self, invalidate: bool) {
        self.statistics.flushes += 1;
        if let Some(prefetching) = &mut self.prefetching {
            prefetching.clear();
        }
        let invalidate = invalidate || self.flush.is_some_and(|flush| flush.invalidate);
        self.flush = Some(Flush { invalidate, cursor: FrameId(0) });
    }

    /// Writes back the next dirty line. Accesses accepted before the flush are served first: a line with an
    /// MSHR is written back when that is done, and dropped with the others, however late its fill arrives.
    #[inline(never)]
    pub fn flush_step(&mut self, now: Cycle) {
        let Some(flush) = self.flush else { return };
        let mut cursor = flush.cursor;
        let dirty = loop {
            match self.cache.frames().next_dirty(cursor) {
                Some(frame) if self.cache.frames().pinned(frame).is_some() => cursor = FrameId(frame.0 + 1),
                found => break found,
            }
        };
        if let Some(frame) = dirty {
            if self.write_room_for_new(1) && self.cache.store.is_free(frame, ArrayUse::Read, now) {
                self.write_back(frame, now);
            }
            self.flush = Some(Flush { cursor: frame, ..flush });
        } else if !self.flush_is_done() {
            self.flush = Some(Flush { cursor: FrameId(0), ..flush });
        } else {
            if flush.invalidate {
                self.tell(LineNews::Emptied);
                self.cache.store.invalidate_all();
            }
            self.flush = None;
        }
    }

    fn flush_is_done(&self) -> bool {
        self.cache.mshrs.is_empty()
            && self.writes_in_flight == 0
            && self.cache.frames().next_dirty(FrameId(0)).is_none()
    }

    /// Whether a flush is in progress and has more to do than wait for replies.
    pub(super) fn flush_can_go_on(&self) -> bool {
        self.flush.is_some() && (self.cache.frames().next_dirty(FrameId(0)).is_some() || self.flush_is_done())
    }
}
