//! The look-up of the next request, and its wait.
//!
//! A request that waits is looked up again when something has changed that it waits for. The cycles of its wait are counted at its
//! end, and when the counters are read.

use strata_engine::Cycle;
use strata_memory::{Body, LineAddress};

use super::wait::{Changes, Stall, Wait};
use super::{Protocol, Slice};

impl<P: Protocol> Slice<P> {
    /// Looks up the next request, unless it waits and nothing has changed for it, and accepts it if there is room for everything that
    /// follows from it.
    #[inline]
    pub(super) fn look_up(&mut self, now: Cycle) {
        if self.wait.is_some() {
            if !self.may_go_on() || self.waits_for_the_same_ways() {
                return;
            }
            self.count_wait(now);
        }
        self.changed = Changes::NONE;
        if self.hints > 0
            && self.requests.front(now).is_some_and(|request| matches!(request.body, Body::Prefetch))
        {
            let stall = self.look_up_hint(now).err();
            return self.wait_for_any(stall, now);
        }
        match P::route(self, now) {
            Ok(route) => {
                self.wait = None;
                let request = self.requests.pop(now).expect("the next request was looked at");
                P::take(self, request, route, now);
            }
            Err(stall) => self.wait_for_any(Some(stall), now),
        }
    }

    #[inline]
    fn wait_for_any(&mut self, stall: Option<Stall>, now: Cycle) {
        let line = || self.requests.front(now).map_or(LineAddress(0), |request| request.line);
        self.wait = stall.map(|stall| Wait { stall, line: line(), from: now });
    }

    /// Has the next request, which is found to wait for a reason of the design, looked up again in the next cycle.
    pub fn look_again(&mut self) {
        self.changed |= Changes::OWN;
    }

    /// Has the next request looked up again, whatever it waits for: a line has come or gone by itself.
    pub fn look_at_everything_again(&mut self) {
        self.changed = Changes::ANY;
    }

    /// Whether the next request, which waits, has to be looked up again.
    #[inline]
    pub(super) fn may_go_on(&self) -> bool {
        self.wait.is_some_and(|wait| self.changed.meets(wait.stall.depends_on()))
    }

    /// Whether the next request waits for a way and would find none, nor anything else: a shorter question than the look-up.
    #[inline]
    fn waits_for_the_same_ways(&mut self) -> bool {
        let Some(Wait { stall: Stall::Ways, line, .. }) = self.wait else { return false };
        let store = &self.cache.store;
        let has_room = self.reply_room(1) && self.miss_room(1);
        if store.has_buffers() || store.has_victim(line) || !has_room {
            return false;
        }
        self.changed = Changes::NONE;
        true
    }

    /// Counts the cycles before `end` in which the next request has waited.
    #[inline]
    pub(super) fn count_wait(&mut self, end: Cycle) {
        let Some(wait) = &mut self.wait else { return };
        let cycles = end.since(wait.from);
        wait.from = wait.from.max(end);
        *match wait.stall {
            Stall::Mshr => &mut self.statistics.stalled_mshr,
            Stall::Merge => &mut self.statistics.stalled_merge,
            Stall::Ways => &mut self.statistics.stalled_ways,
            Stall::Dram => &mut self.statistics.stalled_dram,
            Stall::Reply => &mut self.statistics.stalled_reply,
            Stall::Own => return self.protocol.count_own(cycles),
        } += cycles;
    }

    /// Occupies the slice from `now` until a cycle: before that there is no look-up, and no wait for one is counted.
    pub(super) fn occupy(&mut self, now: Cycle, until: Cycle) {
        self.busy_until = until;
        self.count_wait(now);
        if let Some(wait) = &mut self.wait {
            wait.from = until;
        }
    }
}
