//! Lines that a slice fetches before they are asked for.

use strata_memory::cache::FrameId;
use strata_memory::{ByteMask, Touch, TouchKind};

use super::{Protocol, Slice};

impl<P: Protocol> Slice<P> {
    /// Tells the prefetcher of a request that found its line in a frame, or did not find it.
    #[inline]
    pub fn note(&mut self, touch: &Touch, found: Option<FrameId>) {
        let Some(prefetching) = &mut self.prefetching else { return };
        match found {
            Some(frame) => prefetching.hit(touch, frame),
            None => prefetching.miss(touch, self.cache.store.frames_for(touch.line)),
        }
    }

    /// Looks up the next line that is wished for, in a cycle without another look-up, and fetches it if there is room. With no
    /// MSHR or way for it the wish is dropped; it waits for room towards DRAM.
    pub(super) fn prefetch(&mut self) {
        let Some(line) = self.prefetching.as_ref().and_then(|prefetching| prefetching.wish()) else { return };
        if !self.miss_room(1) {
            return;
        }
        self.statistics.tag_reads += 1;
        let is_here = self.find(line).is_some();
        let may_fetch = !is_here && !self.cache.mshrs.is_full();
        let victim = if may_fetch { self.cache.store.victim(line) } else { None };
        let Some(prefetching) = &mut self.prefetching else { return };
        let Some(frame) = victim else {
            return if is_here { prefetching.skip() } else { prefetching.drop_wish() };
        };
        prefetching.issue(frame, self.cache.frames().line(frame));
        self.evict(frame);
        let touch = Touch { line, kind: TouchKind::Prefetch, ..Touch::default() };
        self.cache.store.install(frame, &touch);
        self.statistics.tag_writes += 1;
        let mshr = self.cache.allocate(line, frame);
        self.fetch(mshr, ByteMask::ALL);
    }
}
