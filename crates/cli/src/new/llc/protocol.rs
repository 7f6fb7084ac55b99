//! What a request finds. The chassis has the rest: queues, MSHRs, the side that faces DRAM, atomics, host copies, counters.

use strata_designs::chassis::llc::{Found, Protocol, Slice, Stall};
use strata_engine::Cycle;
use strata_engine::statistics::{Group, Statistics};
use strata_memory::cache::FrameId;
use strata_memory::mshr::MshrId;
use strata_memory::{Body, ByteMask, Packet};

strata_engine::statistics! {
    /// What the protocol counts, beside what every LLC on the chassis does.
    pub struct ReuseStatistics: "my_idea" {
        /// Lines of which the rest was fetched, since they were asked for again.
        completed: "lines",
    }
    laws {}
}

/// Fetches the sectors that a request misses; all that a line lacks, if some of it is here already.
#[derive(Default)]
pub struct RestOnReuse {
    statistics: ReuseStatistics,
}

/// What a request will do. Finding it changes nothing; doing it cannot fail.
pub enum Route {
    /// Performs the request on a frame now.
    Hit(FrameId),
    /// Waits for these bytes of a line that is here in part.
    Partial(FrameId, ByteMask),
    /// Waits in the MSHR of a line that is fetched already, and fetches these bytes for itself.
    Merge(MshrId, ByteMask),
    /// Takes a frame for a new line and fetches these bytes: none for a write.
    Miss(ByteMask),
}

impl Protocol for RestOnReuse {
    type Rest = ();
    type Route = Route;

    fn route(slice: &mut Slice<Self>, now: Cycle) -> Result<Route, Stall> {
        let request = slice.requests.front(now).expect("a request is due");
        let (cache, line) = (&slice.cache, request.line);
        let Some(frame) = cache.store.find(line) else {
            let wanted = missing(slice, request, ByteMask::NONE);
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
            return if cache.store.has_victim(line) { Ok(Route::Miss(wanted)) } else { Err(Stall::Ways) };
        };
        let valid = cache.frames().valid(frame);
        if let Some(mshr) = cache.frames().pinned(frame) {
            if !cache.mshrs.can_merge(mshr) {
                return Err(Stall::Merge);
            }
            let early = missing(slice, request, valid | cache.mshrs.state(mshr).requested);
            let has_room = early.is_empty() || slice.dram_room(1);
            return if has_room { Ok(Route::Merge(mshr, early)) } else { Err(Stall::Dram) };
        }
        if missing(slice, request, valid).is_empty() {
            return if slice.reply_room(1) { Ok(Route::Hit(frame)) } else { Err(Stall::Reply) };
        }
        if cache.mshrs.is_full() {
            return Err(Stall::Mshr);
        }
        // The line was asked for before: the rest of it may be, too.
        if slice.dram_room(1) { Ok(Route::Partial(frame, !valid)) } else { Err(Stall::Dram) }
    }

    fn take(slice: &mut Slice<Self>, mut request: Packet, route: Route, now: Cycle) {
        let touch = request.touch();
        match route {
            Route::Hit(frame) => {
                slice.count(&mut request, Found::Hit);
                slice.cache.store.used(frame, &touch);
                serve(slice, request, frame, now);
            }
            Route::Partial(frame, wanted) => {
                slice.count(&mut request, Found::Partial);
                slice.protocol.statistics.completed += 1;
                slice.cache.store.used(frame, &touch);
                wait_for(slice, request, frame, wanted);
            }
            Route::Merge(mshr, early) => {
                slice.count(&mut request, Found::Merge);
                if !early.is_empty() {
                    slice.fetch(mshr, early);
                }
                slice.cache.join(mshr, request);
            }
            Route::Miss(wanted) => {
                slice.count(&mut request, Found::Miss);
                let frame = slice.cache.store.victim(request.line).expect("a free way was checked");
                slice.evict(frame);
                slice.cache.store.install(frame, &touch);
                slice.statistics.tag_writes += 1;
                if wanted.is_empty() {
                    serve(slice, request, frame, now);
                } else {
                    wait_for(slice, request, frame, wanted);
                }
            }
        }
    }

    /// Serves one request of the first MSHR whose bytes are here.
    fn replay(slice: &mut Slice<Self>, now: Cycle) {
        let Some(mshr) = slice.cache.first_ready() else { return };
        if !slice.reply_room(1) {
            return;
        }
        let (frame, in_flight) = {
            let fetch = slice.cache.mshrs.state(mshr);
            (fetch.frame, fetch.in_flight)
        };
        let valid = slice.cache.frames().valid(frame);
        let front = slice.cache.mshrs.front(mshr);
        if front.is_some_and(|request| missing(slice, request, valid).is_empty()) {
            let request = slice.cache.mshrs.pop(mshr).expect("the oldest request was looked at");
            serve(slice, request, frame, now);
            if slice.cache.mshrs.waiting(mshr) > 0 {
                return;
            }
        }
        slice.cache.settle_first();
        if slice.cache.mshrs.waiting(mshr) == 0 && in_flight == 0 {
            slice.cache.release(mshr);
        }
    }

    fn statistics(&self) -> Vec<Group> {
        vec![self.statistics.report()]
    }
}

/// The sectors that must come from DRAM before a request can be performed.
fn missing(slice: &Slice<RestOnReuse>, request: &Packet, valid: ByteMask) -> ByteMask {
    if matches!(request.body, Body::Write(_)) || valid.covers(request.bytes) {
        return ByteMask::NONE;
    }
    (request.bytes & !valid).to_sectors(slice.parameters.sector_bytes)
}

fn wait_for(slice: &mut Slice<RestOnReuse>, request: Packet, frame: FrameId, wanted: ByteMask) {
    let mshr = slice.cache.allocate(request.line, frame);
    slice.fetch(mshr, wanted);
    slice.cache.wait(mshr, request);
}

/// Performs a request on a frame that has the bytes it wants. There must be room for a reply.
fn serve(slice: &mut Slice<RestOnReuse>, request: Packet, frame: FrameId, now: Cycle) {
    let (reply, at) = slice.perform(request, frame, now);
    slice.send(reply, at);
}
