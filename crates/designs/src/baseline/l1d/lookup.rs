//! The first step of an access: looks up the tags and checks for room for everything that follows.

use strata_engine::Cycle;
use strata_memory::cache::FrameId;
use strata_memory::doors::{Access, Action, Completion, LineNews, Refusal};
use strata_memory::mshr::MshrId;
use strata_memory::{ByteMask, LineAddress, Origin, Touch, TouchKind};

use super::store::SramStore;
use crate::chassis::{Chassis, Found, WriteMissPolicy};

/// What an access will do. Finding a route changes nothing; taking it cannot fail.
#[derive(Clone, Copy, Debug)]
pub(super) enum Route {
    /// Performs the access on a frame now.
    Hit(FrameId),
    /// The line has a frame, but these bytes must be fetched.
    Partial(FrameId, ByteMask),
    /// Waits in the line's MSHR, and fetches these bytes for itself.
    Merge(MshrId, ByteMask),
    /// Assigns this frame, or if there is none one outside the sets, to a new line and fetches these bytes: none for a
    /// store that needs none.
    Miss(Option<FrameId>, ByteMask),
    /// Sends a store below without taking a frame.
    Through,
    /// Goes past the cache; the frame holds a copy of the line.
    Past(Option<FrameId>),
}

impl Chassis<SramStore> {
    /// Finds the route of an access, or the reason why it cannot start now.
    #[inline]
    pub(super) fn route(&mut self, access: &Access, now: Cycle) -> Result<Route, Refusal> {
        self.port_is_free(access, now)?;
        let frame = self.cache.store.sets.look_for(access.line).or_else(|| self.buffered(access.line));
        if let Some(frame) = frame
            && let Some(mshr) = self.cache.frames().pinned(frame)
        {
            return self.route_merge(access, mshr, frame).map(|(mshr, early)| Route::Merge(mshr, early));
        }
        if self.goes_past(access) {
            return self.past_room(access, frame).map(|()| Route::Past(frame));
        }
        let Some(frame) = frame else { return self.route_miss(access) };
        let wanted = self.wanted(access, self.cache.frames().valid(frame));
        if wanted.is_empty() {
            return if self.write_room_for_new(self.writes_through(access)) {
                Ok(Route::Hit(frame))
            } else {
                Err(Refusal::Network)
            };
        }
        if self.cache.mshrs.is_full() {
            return Err(Refusal::Mshr);
        }
        if !self.network_room_for_new(1) {
            return Err(Refusal::Network);
        }
        Ok(Route::Partial(frame, wanted))
    }

    /// The frame outside the sets of a line that is being fetched.
    #[inline]
    pub(super) fn buffered(&self, line: LineAddress) -> Option<FrameId> {
        if !self.cache.store.sets.has_buffers() {
            return None;
        }
        self.cache.mshrs.find(line).map(|mshr| self.cache.mshrs.state(mshr).frame)
    }

    /// Writes that an access sends below when it is performed.
    #[inline]
    fn writes_through(&self, access: &Access) -> usize {
        usize::from(!self.parameters.write_back && matches!(access.action, Action::Store(_)))
    }

    fn route_miss(&mut self, access: &Access) -> Result<Route, Refusal> {
        let store = matches!(access.action, Action::Store(_));
        // A load fetches in any case: most accesses that are refused end here.
        if !store && self.cache.mshrs.is_full() {
            return Err(Refusal::Mshr);
        }
        let through = self.writes_through(access);
        if store && self.parameters.miss_policy == WriteMissPolicy::NoAllocate {
            return if self.write_room_for_new(1) { Ok(Route::Through) } else { Err(Refusal::Network) };
        }
        let wanted = self.wanted(access, ByteMask::NONE);
        let fetches = usize::from(!wanted.is_empty());
        if fetches == 1 && self.cache.mshrs.is_full() {
            return Err(Refusal::Mshr);
        }
        if fetches == 1 && self.cache.store.is_fetched_outside(|| access.touch(self.node)) {
            // A victim is chosen, and needs its room, only when the fetch is done.
            let room = self.network_room_for_new(fetches + through);
            return if room { Ok(Route::Miss(None, wanted)) } else { Err(Refusal::Network) };
        }
        // Room for a dirty victim is required in any case: a victim that is chosen is taken.
        let victim = usize::from(self.parameters.write_back);
        if !self.network_room_for_new(fetches + through + victim)
            || !self.write_room_for_new(through + victim)
        {
            return Err(Refusal::Network);
        }
        let victim = self.cache.store.sets.victim(access.line);
        victim.map_or(Err(Refusal::Ways), |frame| Ok(Route::Miss(Some(frame), wanted)))
    }

    /// Sends an access along its route.
    #[inline]
    pub(super) fn take(&mut self, access: Access, route: Route, now: Cycle) {
        self.use_port(&access);
        let done = now + self.parameters.hit_latency;
        let touch = access.touch(self.node);
        match route {
            Route::Hit(frame) => {
                self.count(&access, Found::Hit);
                self.note(&touch, Some(frame));
                self.cache.store.sets.used(frame, &touch);
                let completion = self.perform(access, frame, now);
                self.complete_hit(completion, done);
            }
            Route::Partial(frame, wanted) => {
                self.count(&access, Found::Partial);
                self.note(&touch, Some(frame));
                self.cache.store.sets.used(frame, &touch);
                self.wait_for(access, frame, wanted, now);
            }
            Route::Merge(mshr, early) => {
                self.count(&access, Found::Merge);
                if let Some(prefetching) = &mut self.prefetching {
                    prefetching.merge(&touch, self.cache.mshrs.state(mshr).frame);
                }
                self.merge(access, mshr, early, now);
            }
            Route::Miss(frame, wanted) => {
                self.count(&access, Found::Miss);
                self.note(&touch, None);
                self.tell(LineNews::Missed { line: access.line, warp: access.warp });
                let frame = self.make_room(&touch, frame, now);
                if wanted.is_empty() {
                    let completion = self.perform(access, frame, now);
                    self.complete_hit(completion, done);
                } else {
                    self.wait_for(access, frame, wanted, now);
                }
            }
            Route::Through => {
                self.count(&access, Found::Miss);
                let Action::Store(tray) = access.action else {
                    unreachable!("only stores are written through")
                };
                let action =
                    Action::Store(self.send_through(access.line, access.bytes, tray, touch.origin, now));
                self.complete_hit(Completion { token: access.token, action }, done);
            }
            Route::Past(frame) => {
                self.count(&access, Found::Past);
                if let Some(completion) = self.go_past(access, frame, now) {
                    self.complete_hit(completion, done);
                }
            }
        }
    }

    /// Tells the prefetcher what an access found.
    #[inline]
    fn note(&mut self, touch: &Touch, found: Option<FrameId>) {
        let Some(prefetching) = &mut self.prefetching else { return };
        match found {
            Some(frame) => prefetching.hit(touch, frame),
            None => prefetching.miss(touch, self.cache.store.sets.frames_for(touch.line)),
        }
    }

    /// Looks up the next line that is wished for, by a port that was free, and fetches it if there is room. With no MSHR or way
    /// for it the wish is dropped; it waits for the network.
    pub(super) fn prefetch(&mut self, now: Cycle) {
        let Some(line) = self.prefetching.as_ref().and_then(|prefetching| prefetching.wish()) else { return };
        let has_room = self.network_room_for_new(2) && self.write_room_for_new(1);
        if self.is_flushing() || !self.port_was_free(now) || !has_room {
            return;
        }
        self.statistics.tag_reads += 1;
        let is_here = self.cache.store.sets.find(line).or_else(|| self.buffered(line)).is_some();
        let may_fetch = !is_here && self.has_mshr();
        let touch = Touch { line, node: self.node, kind: TouchKind::Prefetch, ..Touch::default() };
        let in_buffer = self.cache.store.is_fetched_outside(|| touch);
        let victim = if may_fetch && !in_buffer { self.cache.store.sets.victim(line) } else { None };
        let Some(prefetching) = &mut self.prefetching else { return };
        if is_here {
            return prefetching.skip();
        }
        if !may_fetch || victim.is_none() && !in_buffer {
            return prefetching.drop_wish();
        }
        let displaced = victim.and_then(|frame| self.cache.frames().line(frame));
        let frame = self.make_room(&touch, victim, now);
        let mshr = self.cache.allocate(line, frame);
        self.send_fetch(mshr, ByteMask::ALL, Origin::default(), now);
        if let Some(prefetching) = &mut self.prefetching {
            prefetching.issue(frame, displaced);
        }
    }

    /// Assigns a frame to the access's line: the victim, after writing back its dirty bytes, or one outside the sets.
    pub(super) fn make_room(&mut self, touch: &Touch, victim: Option<FrameId>, now: Cycle) -> FrameId {
        let Some(frame) = victim else { return self.cache.store.sets.buffer(touch) };
        if let Some(line) = self.cache.frames().line(frame) {
            self.tell(LineNews::Evicted { line });
            self.statistics.evictions += 1;
            self.write_back(frame, now);
        }
        self.cache.store.sets.install(frame, touch);
        self.statistics.tag_writes += 1;
        if let Some(prefetching) = &mut self.prefetching {
            prefetching.leave(frame);
        }
        frame
    }
}
