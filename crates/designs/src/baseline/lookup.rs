//! The first step of an access: what the tags say, and whether there is room for what follows.

use strata_engine::Cycle;
use strata_memory::ByteMask;
use strata_memory::doors::{Access, Action, Completion, Refusal};
use strata_memory::mshr::MshrId;
use strata_memory::tags::FrameId;

use super::config::WriteMissPolicy;
use super::sram::{Fetch, SramL1d};

/// Which accesses started in the current cycle.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Port {
    cycle: Cycle,
    used: u32,
    /// Bit n: bank n was used.
    banks: u64,
}

/// Where an access goes. Finding it changes nothing; taking it cannot fail.
#[derive(Clone, Copy, Debug)]
pub(super) enum Route {
    /// Performed now on a frame.
    Hit(FrameId),
    /// The line is here or about to be, bytes of it must be fetched.
    Partial(FrameId, ByteMask),
    /// Waits in the line's MSHR; these bytes are fetched on its behalf.
    Merge(MshrId, ByteMask),
    /// A new line: bytes to fetch, none for a store that needs none.
    Miss(ByteMask),
    /// A store that goes below without a frame.
    Through,
    /// Past the cache; the frame with a copy.
    Past(Option<FrameId>),
}

impl SramL1d {
    /// Finds the way of an access, or why it cannot start now.
    #[inline]
    pub(super) fn route(&mut self, access: &Access, now: Cycle) -> Result<Route, Refusal> {
        if self.flush.is_some() {
            return Err(Refusal::Flush);
        }
        if self.port.cycle != now {
            self.port = Port { cycle: now, used: 0, banks: 0 };
        }
        if self.port.used == self.parameters.accesses_per_cycle || self.hits.is_full() {
            return Err(Refusal::Port);
        }
        if self.port.banks >> self.bank(access) & 1 == 1 {
            return Err(Refusal::Bank);
        }
        let frame = self.tags.find(access.line);
        if let Some(frame) = frame
            && let Some(mshr) = self.tags.pinned(frame)
        {
            return self.route_merge(access, mshr, frame);
        }
        if self.goes_past(access) {
            return self.past_room(access, frame).map(|()| Route::Past(frame));
        }
        let through = usize::from(!self.parameters.write_back && matches!(access.action, Action::Store(_)));
        let Some(frame) = frame else { return self.route_miss(access, through) };
        let wanted = self.wanted(access, self.tags.valid(frame));
        if wanted.is_empty() {
            return if through == 0 || self.write_room_for_new(1) {
                Ok(Route::Hit(frame))
            } else {
                Err(Refusal::Network)
            };
        }
        if self.mshrs.is_full() {
            return Err(Refusal::Mshr);
        }
        if !self.network_room_for_new(1) {
            return Err(Refusal::Network);
        }
        Ok(Route::Partial(frame, wanted))
    }

    fn route_merge(&self, access: &Access, mshr: MshrId, frame: FrameId) -> Result<Route, Refusal> {
        if !self.mshrs.can_merge(mshr) {
            return Err(Refusal::Merge);
        }
        let fetch = self.mshrs.state(mshr);
        if fetch.barriers > 0 || self.goes_past(access) {
            return Ok(Route::Merge(mshr, ByteMask::NONE));
        }
        let early = self.wanted(access, self.tags.valid(frame) | fetch.requested);
        if !early.is_empty() && !self.network_room_for_new(1) {
            return Err(Refusal::Network);
        }
        Ok(Route::Merge(mshr, early))
    }

    fn route_miss(&mut self, access: &Access, through: usize) -> Result<Route, Refusal> {
        let store = matches!(access.action, Action::Store(_));
        if store && self.parameters.miss_policy == WriteMissPolicy::NoAllocate {
            return if self.write_room_for_new(1) { Ok(Route::Through) } else { Err(Refusal::Network) };
        }
        let wanted = self.wanted(access, ByteMask::NONE);
        let fetches = usize::from(!wanted.is_empty());
        if fetches == 1 && self.mshrs.is_full() {
            return Err(Refusal::Mshr);
        }
        // Room for the victim's bytes is asked for whether it is dirty or not: the victim is not chosen yet.
        let victim = usize::from(self.parameters.write_back);
        if !self.network_room_for_new(fetches + through + victim)
            || !self.write_room_for_new(through + victim)
        {
            return Err(Refusal::Network);
        }
        if !self.tags.has_victim(access.line) {
            return Err(Refusal::Ways);
        }
        Ok(Route::Miss(wanted))
    }

    /// As [`SramL1d::network_room`]; an access that waits longer goes first.
    fn network_room_for_new(&self, packets: usize) -> bool {
        packets == 0 || !self.replay_stalled && self.network_room(packets)
    }

    /// As [`SramL1d::write_room`]; an access that waits longer goes first.
    pub(super) fn write_room_for_new(&self, writes: usize) -> bool {
        writes == 0 || !self.replay_stalled && self.write_room(writes)
    }

    #[inline]
    fn bank(&self, access: &Access) -> u64 {
        access.line.0 % self.parameters.banks
    }

    /// Takes an access on its way.
    #[inline]
    pub(super) fn take(&mut self, access: Access, route: Route, now: Cycle) {
        self.port.used += 1;
        self.port.banks |= 1 << self.bank(&access);
        self.count(&access, route);
        let done = now + self.parameters.hit_latency;
        match route {
            Route::Hit(frame) => {
                self.tags.used(frame);
                let completion = self.perform(access, frame, now);
                self.complete_hit(completion, done);
            }
            Route::Partial(frame, wanted) => {
                self.tags.used(frame);
                self.wait_for(access, frame, wanted, now);
            }
            Route::Merge(mshr, early) => self.merge(access, mshr, early, now),
            Route::Miss(wanted) => {
                let frame = self.make_room(&access, now);
                if wanted.is_empty() {
                    let completion = self.perform(access, frame, now);
                    self.complete_hit(completion, done);
                } else {
                    self.wait_for(access, frame, wanted, now);
                }
            }
            Route::Through => {
                let Action::Store(tray) = access.action else {
                    unreachable!("only stores are written through")
                };
                let action = Action::Store(self.send_through(access.line, access.bytes, tray, now));
                self.complete_hit(Completion { token: access.token, action }, done);
            }
            Route::Past(frame) => {
                if let Some(completion) = self.go_past(access, frame, now) {
                    self.complete_hit(completion, done);
                }
            }
        }
    }

    fn complete_hit(&mut self, completion: Completion, done: Cycle) {
        self.hits.push(done, completion).expect("room in the pipeline was checked");
    }

    /// Gives a frame to the access's line; a victim's dirty bytes go below first.
    fn make_room(&mut self, access: &Access, now: Cycle) -> FrameId {
        let frame = self.tags.victim(access.line).expect("a free way was checked");
        if self.tags.line(frame).is_some() {
            self.statistics.evictions += 1;
            self.write_back(frame, now);
        }
        self.tags.install(frame, access.line);
        self.statistics.tag_writes += 1;
        frame
    }

    /// Takes an MSHR for the access and fetches what it wants.
    fn wait_for(&mut self, access: Access, frame: FrameId, wanted: ByteMask, now: Cycle) {
        let mshr = self.mshrs.allocate(access.line).expect("a free MSHR was checked");
        *self.mshrs.state_mut(mshr) = Fetch { frame, ..Fetch::default() };
        self.tags.pin(frame, mshr);
        self.send_fetch(mshr, wanted, now);
        self.mshrs.push(mshr, access).expect("an MSHR holds its first access");
    }

    fn merge(&mut self, access: Access, mshr: MshrId, early: ByteMask, now: Cycle) {
        if self.goes_past(&access) {
            self.mshrs.state_mut(mshr).barriers += 1;
        }
        if !early.is_empty() {
            self.send_fetch(mshr, early, now);
        }
        self.mshrs.push(mshr, access).expect("room in the MSHR was checked");
        if self.mshrs.waiting(mshr) == 1 {
            self.make_ready(mshr);
        }
    }

    fn count(&mut self, access: &Access, route: Route) {
        let past = self.goes_past(access);
        let statistics = &mut self.statistics;
        statistics.accesses += 1;
        statistics.tag_reads += 1;
        let (total, [hits, misses, partial, merges]) = match access.action {
            Action::Atomic(_) => {
                statistics.atomics += 1;
                statistics.bypass_merges += u64::from(matches!(route, Route::Merge(..)));
                return;
            }
            Action::Load(_) | Action::Store(_) if past => {
                statistics.bypass_merges += u64::from(matches!(route, Route::Merge(..)));
                match access.action {
                    Action::Load(_) => statistics.bypass_loads += 1,
                    _ => statistics.bypass_stores += 1,
                }
                return;
            }
            Action::Load(_) => (
                &mut statistics.loads,
                [
                    &mut statistics.load_hits,
                    &mut statistics.load_misses,
                    &mut statistics.load_partial_hits,
                    &mut statistics.load_merges,
                ],
            ),
            Action::Store(_) => (
                &mut statistics.stores,
                [
                    &mut statistics.store_hits,
                    &mut statistics.store_misses,
                    &mut statistics.store_partial_hits,
                    &mut statistics.store_merges,
                ],
            ),
        };
        *total += 1;
        *match route {
            Route::Hit(_) => hits,
            Route::Miss(_) | Route::Through => misses,
            Route::Partial(..) => partial,
            Route::Merge(..) => merges,
            Route::Past(_) => unreachable!("cached accesses do not go past the cache"),
        } += 1;
    }
}
