//! Replay: serves the accesses of an MSHR, oldest first, one per cycle.

use strata_engine::Cycle;
use strata_memory::doors::{Access, Action, LineNews};
use strata_memory::mshr::MshrId;

use super::{ArrayUse, Chassis, Home, Store};

/// The outcome of trying the oldest access of an MSHR.
enum Step {
    /// It is served, or there was none.
    Served,
    /// It waits for a reply.
    Waits,
    /// It waits for room in a queue.
    Stalled,
    /// It waits for its frame's array.
    Busy,
}

/// How an access that waited uses its frame's array.
fn served_use(access: &Access) -> ArrayUse {
    match access.action {
        Action::Store(_) => ArrayUse::Write,
        Action::Load(_) | Action::Atomic(_) => ArrayUse::Forward,
    }
}

impl<S: Store> Chassis<S> {
    /// Serves the oldest access of the first MSHR that may be able to proceed, and frees the MSHR after its
    /// last access.
    #[inline(never)]
    pub fn replay(&mut self, now: Cycle) {
        let Some(mshr) = self.cache.first_ready() else { return };
        if self.served.is_full() {
            return;
        }
        let step = self.serve_front(mshr, now);
        self.served_count += 1;
        self.replay_stalled = matches!(step, Step::Stalled);
        let more = match step {
            Step::Served => self.cache.mshrs.waiting(mshr) > 0,
            Step::Waits => false,
            Step::Stalled | Step::Busy => true,
        };
        if more {
            return;
        }
        if self.retire(mshr, now) {
            self.cache.settle_first();
        } else {
            // It waits for a way or for room below, which other MSHRs may have to free.
            self.cache.postpone_first();
        }
    }

    fn serve_front(&mut self, mshr: MshrId, now: Cycle) -> Step {
        let Some(access) = self.cache.mshrs.front(mshr) else { return Step::Served };
        let fetch = *self.cache.mshrs.state(mshr);
        let past = self.goes_past(access);
        if past {
            // Earlier fetches must have arrived: their bytes would be stale afterwards.
            if fetch.in_flight > 0 {
                return Step::Waits;
            }
            if self.past_room_for_old(access, Some(fetch.frame)).is_err() {
                return Step::Stalled;
            }
            let dirty = !self.cache.frames().dirty(fetch.frame).is_empty();
            if dirty && !self.cache.store.is_free(fetch.frame, ArrayUse::Read, now) {
                return Step::Busy;
            }
        } else {
            let wanted = self.wanted(access, self.cache.frames().valid(fetch.frame));
            if !wanted.is_empty() {
                let missing = wanted & !fetch.requested;
                if missing.is_empty() {
                    return Step::Waits;
                }
                if !self.network_room(1) {
                    return Step::Stalled;
                }
                let origin = access.origin();
                self.send_fetch(mshr, missing, origin, now);
                return Step::Waits;
            }
            let through = !self.parameters.write_back && matches!(access.action, Action::Store(_));
            if through && !self.write_room(1) {
                return Step::Stalled;
            }
            if !self.cache.store.is_free(fetch.frame, served_use(access), now) {
                return Step::Busy;
            }
        }
        let access = self.cache.mshrs.pop(mshr).expect("the oldest access was looked at");
        let completion = if past {
            self.cache.mshrs.state_mut(mshr).rest -= 1;
            self.go_past(access, Some(fetch.frame), now)
        } else {
            self.cache.store.occupy(fetch.frame, served_use(&access), now);
            Some(self.perform(access, fetch.frame, now))
        };
        if let Some(completion) = completion {
            let full = self.served.push(now + self.parameters.fill_latency, completion);
            full.expect("room for a served access was checked");
        }
        Step::Served
    }

    /// Frees the MSHR if no access waits in it and no fetch is in flight, unless its line cannot move home
    /// yet.
    fn retire(&mut self, mshr: MshrId, now: Cycle) -> bool {
        let fetch = *self.cache.mshrs.state(mshr);
        if self.cache.mshrs.waiting(mshr) > 0 || fetch.in_flight > 0 {
            return true;
        }
        let empty = self.cache.frames().valid(fetch.frame).is_empty();
        let home = if empty { Home::Here } else { self.cache.store.home(fetch.frame) };
        match home {
            Home::Here => {}
            Home::Full => return false,
            Home::Leaves => {
                if !self.cache.frames().dirty(fetch.frame).is_empty() && !self.write_room(1) {
                    return false;
                }
                self.write_back(fetch.frame, now);
                if let Some(prefetching) = &mut self.prefetching {
                    prefetching.leave(fetch.frame);
                }
            }
            Home::Moves(frame) => {
                if !self.cache.frames().dirty(frame).is_empty() && !self.write_room(1) {
                    return false;
                }
                let displaced = self.cache.frames().line(frame);
                if let Some(line) = displaced {
                    self.tell(LineNews::Evicted { line });
                    self.statistics.evictions += 1;
                    self.write_back(frame, now);
                }
                if let Some(prefetching) = &mut self.prefetching {
                    prefetching.shift(fetch.frame, frame, displaced);
                }
                self.statistics.tag_writes += 1;
            }
        }
        self.freed += 1;
        self.cache.release(mshr);
        match home {
            Home::Moves(frame) => self.cache.store.move_home(fetch.frame, frame),
            Home::Leaves => self.cache.store.leave(fetch.frame),
            Home::Here | Home::Full => {}
        }
        if empty {
            self.cache.store.invalidate(fetch.frame);
        }
        true
    }
}
