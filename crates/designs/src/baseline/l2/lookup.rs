//! The look-up of requests, and the replay of those that waited.

use strata_engine::Cycle;
use strata_memory::cache::FrameId;
use strata_memory::mshr::MshrId;
use strata_memory::{Body, ByteMask, Packet};

use super::L2Slice;
use crate::chassis::llc::{Found, Protocol, Slice, Stall};

/// A conventional slice: a line is in DRAM and perhaps here, and a request takes what it needs of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Conventional;

/// What a request will do.
#[derive(Clone, Copy, Debug)]
pub enum Route {
    /// Performs the request on a frame now.
    Hit(FrameId),
    /// The line is here, but these bytes must be fetched.
    Partial(FrameId, ByteMask),
    /// Waits in the line's MSHR, and fetches these bytes for itself.
    Merge(MshrId, ByteMask),
    /// Takes this frame for a new line and fetches these bytes: none for a write.
    Miss(FrameId, ByteMask),
    /// Fetches these bytes of a line that takes no way.
    Pass(ByteMask),
}

impl Protocol for Conventional {
    type Rest = ();
    type Route = Route;
    const PREFETCHES: bool = true;

    fn route(slice: &mut L2Slice, now: Cycle) -> Result<Route, Stall> {
        let Slice { ref mut cache, ref requests, .. } = *slice;
        let request = requests.front(now).expect("a request is due");
        let line = request.line;
        let found = cache.look_for(line);
        let cache = &slice.cache;
        let Some(frame) = found else {
            let wanted = slice.wanted(request, ByteMask::NONE);
            let fetches = usize::from(!wanted.is_empty());
            if fetches == 0 && !slice.reply_room(1) {
                return Err(Stall::Reply);
            }
            if fetches == 1 && cache.mshrs.is_full() {
                return Err(Stall::Mshr);
            }
            // Room for a dirty victim is required in any case: the victim has not been chosen yet.
            if !slice.miss_room(fetches) {
                return Err(Stall::Dram);
            }
            if fetches == 1 && cache.store.has_buffers() && !cache.store.keeps(&request.touch()) {
                return Ok(Route::Pass(wanted));
            }
            let victim = slice.cache.store.victim(line);
            return victim.map_or(Err(Stall::Ways), |frame| Ok(Route::Miss(frame, wanted)));
        };
        let valid = cache.frames().valid(frame);
        if let Some(mshr) = cache.frames().pinned(frame) {
            if !cache.mshrs.can_merge(mshr) {
                return Err(Stall::Merge);
            }
            let early = slice.wanted(request, valid | cache.mshrs.state(mshr).requested);
            let room = early.is_empty() || slice.dram_room(1);
            return if room { Ok(Route::Merge(mshr, early)) } else { Err(Stall::Dram) };
        }
        let wanted = slice.wanted(request, valid);
        if wanted.is_empty() {
            return if slice.reply_room(1) { Ok(Route::Hit(frame)) } else { Err(Stall::Reply) };
        }
        if cache.mshrs.is_full() {
            return Err(Stall::Mshr);
        }
        if slice.dram_room(1) { Ok(Route::Partial(frame, wanted)) } else { Err(Stall::Dram) }
    }

    fn take(slice: &mut L2Slice, mut request: Packet, route: Route, now: Cycle) {
        let touch = request.touch();
        match route {
            Route::Hit(frame) => {
                slice.count(&mut request, Found::Hit);
                slice.note(&touch, Some(frame));
                slice.cache.store.used(frame, &touch);
                slice.serve(request, frame, now);
            }
            Route::Partial(frame, wanted) => {
                slice.count(&mut request, Found::Partial);
                slice.note(&touch, Some(frame));
                slice.cache.store.used(frame, &touch);
                slice.wait_for(request, frame, wanted);
            }
            Route::Merge(mshr, early) => {
                slice.count(&mut request, Found::Merge);
                if let Some(prefetching) = &mut slice.prefetching {
                    prefetching.merge(&touch, slice.cache.mshrs.state(mshr).frame);
                }
                if !early.is_empty() {
                    slice.fetch(mshr, early);
                }
                slice.cache.join(mshr, request);
            }
            Route::Pass(wanted) => {
                slice.count(&mut request, Found::Miss);
                slice.note(&touch, None);
                let frame = slice.cache.store.buffer(&touch);
                slice.wait_for(request, frame, wanted);
            }
            Route::Miss(frame, wanted) => {
                slice.count(&mut request, Found::Miss);
                slice.note(&touch, None);
                slice.evict(frame);
                slice.cache.store.install(frame, &touch);
                slice.statistics.tag_writes += 1;
                if let Some(prefetching) = &mut slice.prefetching {
                    prefetching.leave(frame);
                }
                if wanted.is_empty() {
                    slice.serve(request, frame, now);
                } else {
                    slice.wait_for(request, frame, wanted);
                }
            }
        }
    }

    /// Serves one request of the first ready MSHR.
    fn replay(slice: &mut L2Slice, now: Cycle) {
        let Some(mshr) = slice.cache.first_ready() else { return };
        let (frame, in_flight) = {
            let fetch = slice.cache.mshrs.state(mshr);
            (fetch.frame, fetch.in_flight)
        };
        let valid = slice.cache.frames().valid(frame);
        let front = slice.cache.mshrs.front(mshr);
        if front.is_some_and(|request| slice.wanted(request, valid).is_empty()) {
            let request = slice.cache.mshrs.pop(mshr).expect("the oldest request was looked at");
            slice.serve(request, frame, now);
            if slice.cache.mshrs.waiting(mshr) > 0 {
                return;
            }
        }
        let is_done = slice.cache.mshrs.waiting(mshr) == 0 && in_flight == 0;
        let leaves = is_done && slice.cache.store.is_buffer(frame);
        if leaves && !slice.miss_room(0) {
            return slice.cache.postpone_first();
        }
        slice.cache.settle_first();
        if is_done {
            slice.cache.release(mshr);
            if leaves {
                if !slice.cache.frames().dirty(frame).is_empty() {
                    slice.evict(frame);
                }
                slice.cache.store.pass(frame);
            }
        } else {
            assert!(in_flight > 0, "a request that waits has its bytes on the way");
        }
    }
}

impl Slice<Conventional> {
    /// Bytes that must come from DRAM before a request can be performed: whole sectors.
    fn wanted(&self, request: &Packet, valid: ByteMask) -> ByteMask {
        if matches!(request.body, Body::Write(_)) || valid.covers(request.bytes) {
            return ByteMask::NONE;
        }
        (request.bytes & !valid).to_sectors(self.parameters.sector_bytes)
    }

    /// Performs a request on a frame that has the bytes it wants. There must be room for a reply.
    #[inline]
    fn serve(&mut self, request: Packet, frame: FrameId, now: Cycle) {
        let (reply, at) = self.perform(request, frame, now);
        self.send(reply, at);
    }
}
