//! Lines that a slice fetches before they are asked for.

use strata_engine::Cycle;
use strata_memory::cache::FrameId;
use strata_memory::prefetch::Prefetching;
use strata_memory::{ByteMask, Touch, TouchKind};

use super::{Protocol, Slice, Stall};

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

    /// Looks up the next request, a line that the program wishes for, and fetches what is not here of its bytes. With no MSHR or way
    /// for it the hint is dropped; it waits for room towards DRAM. The answer says nothing of that, and does not wait for the bytes.
    pub(super) fn look_up_hint(&mut self, now: Cycle) -> Result<(), Stall> {
        if !self.reply_room(1) {
            return Err(Stall::Reply);
        }
        let request = self.requests.front(now).expect("a request is due");
        let (line, touch) = (request.line, request.touch());
        let here = self.find(line);
        let is_coming = here.is_some_and(|frame| self.cache.frames().pinned(frame).is_some());
        let missing = match here {
            Some(frame) => request.bytes & !self.cache.frames().valid(frame),
            None => request.bytes,
        };
        let bytes = missing.to_sectors(self.parameters.sector_bytes);
        let is_redundant = is_coming || missing.is_empty();
        let may_fetch = P::PREFETCHES && !is_redundant && !self.cache.mshrs.is_full();
        if may_fetch && !self.miss_room(1) {
            return Err(Stall::Dram);
        }
        let request = self.requests.pop(now).expect("the next request was looked at");
        self.hints -= 1;
        self.statistics.tag_reads += 1;
        P::acknowledge(self, request.into_reply(), now + self.parameters.hit_latency);
        let frames = self.cache.frames().count();
        if is_redundant || !may_fetch {
            let account = self.prefetching.get_or_insert_with(|| Box::new(Prefetching::of_program(frames)));
            if is_redundant {
                account.skip_hint()
            } else {
                account.drop_hint()
            };
            return Ok(());
        }
        let frame = match here {
            Some(frame) => Some(frame),
            None => self.cache.store.victim(line),
        };
        let displaced =
            frame.and_then(|frame| self.cache.frames().line(frame)).filter(|other| *other != line);
        let account = self.prefetching.get_or_insert_with(|| Box::new(Prefetching::of_program(frames)));
        let Some(frame) = frame else {
            account.drop_hint();
            return Ok(());
        };
        account.take_hint(frame, displaced);
        if here.is_none() {
            self.evict(frame);
            self.cache.store.install(frame, &touch);
            self.statistics.tag_writes += 1;
        }
        let mshr = self.cache.allocate(line, frame);
        self.fetch(mshr, bytes);
        Ok(())
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
