//! The look-up of requests, and the replay of those that waited.

use strata_engine::Cycle;

use super::slice::{Fetch, L2Slice};
use strata_memory::address::LineAddress;
use strata_memory::atomic::AtomicBatch;
use strata_memory::line::ByteMask;
use strata_memory::mshr::MshrId;
use strata_memory::packet::{Body, Packet};
use strata_memory::tags::FrameId;

/// What a request will do. Finding a route changes nothing; taking it cannot fail.
#[derive(Clone, Copy, Debug)]
enum Route {
    /// Performs the request on a frame now.
    Hit(FrameId),
    /// The line is here, but these bytes must be fetched.
    Partial(FrameId, ByteMask),
    /// Waits in the line's MSHR, and fetches these bytes for itself.
    Merge(MshrId, ByteMask),
    /// Takes a frame for a new line and fetches these bytes: none for a write.
    Miss(ByteMask),
}

/// The reason why the next request waits.
#[derive(Clone, Copy, Debug)]
enum Stall {
    Mshr,
    Merge,
    Ways,
    Dram,
    Reply,
}

impl L2Slice {
    /// Accepts the next request if there is room for everything that follows from it.
    pub(super) fn look_up(&mut self, now: Cycle) {
        let Some(request) = self.requests.front(now) else { return };
        if self.awaits_reply && self.replies.is_full() {
            self.statistics.stalled_reply += 1;
            return;
        }
        let line = request.line;
        let route = self.route(request, line);
        self.awaits_reply = matches!(route, Err(Stall::Reply));
        match route {
            Ok(route) => {
                let request = self.requests.pop(now).expect("the next request was looked at");
                self.take(request, line, route, now);
            }
            Err(stall) => {
                *match stall {
                    Stall::Mshr => &mut self.statistics.stalled_mshr,
                    Stall::Merge => &mut self.statistics.stalled_merge,
                    Stall::Ways => &mut self.statistics.stalled_ways,
                    Stall::Dram => &mut self.statistics.stalled_dram,
                    Stall::Reply => &mut self.statistics.stalled_reply,
                } += 1;
            }
        }
    }

    fn route(&self, request: &Packet, line: LineAddress) -> Result<Route, Stall> {
        let Some(frame) = self.tags.find(line) else {
            let wanted = self.wanted(request, ByteMask::NONE);
            let fetches = usize::from(!wanted.is_empty());
            if fetches == 0 && self.replies.is_full() {
                return Err(Stall::Reply);
            }
            if fetches == 1 && self.mshrs.is_full() {
                return Err(Stall::Mshr);
            }
            // Room for a dirty victim is required in any case: the victim has not been chosen yet.
            if !self.dram_room(fetches + 1) || self.write_trays.left() == 0 {
                return Err(Stall::Dram);
            }
            return if self.tags.has_victim(line) { Ok(Route::Miss(wanted)) } else { Err(Stall::Ways) };
        };
        let valid = self.tags.valid(frame);
        if let Some(mshr) = self.tags.pinned(frame) {
            if !self.mshrs.can_merge(mshr) {
                return Err(Stall::Merge);
            }
            let early = self.wanted(request, valid | self.mshrs.state(mshr).requested);
            let room = early.is_empty() || self.dram_room(1);
            return if room { Ok(Route::Merge(mshr, early)) } else { Err(Stall::Dram) };
        }
        let wanted = self.wanted(request, valid);
        if wanted.is_empty() {
            return if self.replies.is_full() { Err(Stall::Reply) } else { Ok(Route::Hit(frame)) };
        }
        if self.mshrs.is_full() {
            return Err(Stall::Mshr);
        }
        if self.dram_room(1) { Ok(Route::Partial(frame, wanted)) } else { Err(Stall::Dram) }
    }

    /// Bytes that must come from DRAM before a request can be performed: whole sectors.
    fn wanted(&self, request: &Packet, valid: ByteMask) -> ByteMask {
        if matches!(request.body, Body::Write(_)) || valid.covers(request.bytes) {
            return ByteMask::NONE;
        }
        (request.bytes & !valid).to_sectors(self.parameters.sector_bytes)
    }

    fn take(&mut self, request: Packet, line: LineAddress, route: Route, now: Cycle) {
        self.count(&request, route);
        match route {
            Route::Hit(frame) => {
                self.tags.used(frame);
                self.perform(request, frame, now);
            }
            Route::Partial(frame, wanted) => {
                self.tags.used(frame);
                self.wait_for(request, line, frame, wanted);
            }
            Route::Merge(mshr, early) => {
                if !early.is_empty() {
                    self.fetch(mshr, early);
                }
                self.mshrs.push(mshr, request).expect("room in the MSHR was checked");
                if self.mshrs.waiting(mshr) == 1 {
                    self.make_ready(mshr);
                }
            }
            Route::Miss(wanted) => {
                let frame = self.tags.victim(line).expect("a free way was checked");
                if self.tags.line(frame).is_some() {
                    self.statistics.evictions += 1;
                    self.write_back(frame);
                }
                self.tags.install(frame, line);
                self.statistics.tag_writes += 1;
                if wanted.is_empty() {
                    self.perform(request, frame, now);
                } else {
                    self.wait_for(request, line, frame, wanted);
                }
            }
        }
    }

    fn wait_for(&mut self, request: Packet, line: LineAddress, frame: FrameId, wanted: ByteMask) {
        let mshr = self.mshrs.allocate(line).expect("a free MSHR was checked");
        *self.mshrs.state_mut(mshr) = Fetch { frame, ..Fetch::default() };
        self.tags.pin(frame, mshr);
        self.fetch(mshr, wanted);
        self.mshrs.push(mshr, request).expect("an MSHR holds its first request");
    }

    /// Serves one request of the first ready MSHR.
    pub(super) fn replay(&mut self, now: Cycle) {
        let Some(&mshr) = self.ready.front() else { return };
        if self.replies.is_full() {
            return;
        }
        let Fetch { frame, in_flight, .. } = *self.mshrs.state(mshr);
        let valid = self.tags.valid(frame);
        let servable = self.mshrs.front(mshr).is_some_and(|request| self.wanted(request, valid).is_empty());
        if servable {
            let request = self.mshrs.pop(mshr).expect("the oldest request was looked at");
            self.perform(request, frame, now);
            if self.mshrs.waiting(mshr) > 0 {
                return;
            }
        }
        self.ready.pop();
        self.mshrs.state_mut(mshr).ready = false;
        if self.mshrs.waiting(mshr) == 0 && in_flight == 0 {
            self.mshrs.release(mshr);
            self.tags.unpin(frame);
        } else {
            assert!(in_flight > 0, "a request that waits has its bytes on the way");
        }
    }

    /// Notes that the oldest request of an MSHR may be able to proceed.
    pub(super) fn make_ready(&mut self, mshr: MshrId) {
        let fetch = self.mshrs.state_mut(mshr);
        if !fetch.ready {
            fetch.ready = true;
            self.ready.push(mshr).expect("each MSHR is ready once");
        }
    }

    /// Performs a request on a frame that has the bytes it wants. There must be room for a reply.
    fn perform(&mut self, mut request: Packet, frame: FrameId, now: Cycle) {
        let data = &mut self.data[frame.index()];
        let mut at = now;
        match &mut request.body {
            Body::Read(tray) => {
                tray.0 = data.0;
                self.statistics.data_reads += 1;
            }
            Body::Write(tray) => {
                data.merge(request.bytes, tray);
                self.tags.add_dirty(frame, request.bytes);
                self.statistics.data_writes += 1;
            }
            Body::Atomic(batch) => {
                let cycles = self.parameters.atomic_cycles * conflicts(batch);
                self.busy_until = now + cycles;
                at = now + (cycles - 1);
                batch.perform(data);
                self.tags.add_dirty(frame, request.bytes);
                self.statistics.atomic_operations += u64::from(batch.count);
                self.statistics.data_reads += 1;
                self.statistics.data_writes += 1;
            }
            body => unreachable!("a slice gets requests only, not {body:?}"),
        }
        let full = self.replies.push(at + self.parameters.hit_latency, request.into_reply());
        full.expect("room for a reply was checked");
    }

    fn count(&mut self, request: &Packet, route: Route) {
        let s = &mut self.statistics;
        s.requests += 1;
        s.tag_reads += 1;
        let (total, hits, partial, misses, merges) = match request.body {
            Body::Read(_) => (
                &mut s.reads,
                &mut s.read_hits,
                &mut s.read_partial_hits,
                &mut s.read_misses,
                &mut s.read_merges,
            ),
            Body::Atomic(_) => (
                &mut s.atomics,
                &mut s.atomic_hits,
                &mut s.atomic_partial_hits,
                &mut s.atomic_misses,
                &mut s.atomic_merges,
            ),
            _ => {
                s.writes += 1;
                match route {
                    Route::Hit(_) => s.write_hits += 1,
                    Route::Miss(_) => s.write_misses += 1,
                    Route::Merge(..) => s.write_merges += 1,
                    Route::Partial(..) => unreachable!("a write fetches nothing"),
                }
                return;
            }
        };
        *total += 1;
        *match route {
            Route::Hit(_) => hits,
            Route::Partial(..) => partial,
            Route::Merge(..) => merges,
            Route::Miss(_) => misses,
        } += 1;
    }
}

/// Number of operations on the address with most of them, at least 1.
fn conflicts(batch: &AtomicBatch) -> u64 {
    let mut counts = [0_u8; 128];
    let mut most = 1;
    for offset in &batch.offset[..usize::from(batch.count)] {
        let count = &mut counts[usize::from(*offset)];
        *count += 1;
        most = most.max(*count);
    }
    u64::from(most)
}
