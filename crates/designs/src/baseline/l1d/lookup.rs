//! The first step of an access: looks up the tags and checks for room for everything that follows.

use strata_engine::Cycle;
use strata_memory::doors::{Access, Action, Completion, Refusal};
use strata_memory::mshr::MshrId;
use strata_memory::tags::FrameId;
use strata_memory::{ByteMask, LineAddress};

use super::store::SramStore;
use crate::chassis::{Chassis, Found, Store, WriteMissPolicy};

/// What an access will do. Finding a route changes nothing; taking it cannot fail.
#[derive(Clone, Copy, Debug)]
pub(super) enum Route {
    /// Performs the access on a frame now.
    Hit(FrameId),
    /// The line has a frame, but these bytes must be fetched.
    Partial(FrameId, ByteMask),
    /// Waits in the line's MSHR, and fetches these bytes for itself.
    Merge(MshrId, ByteMask),
    /// Takes a frame for a new line and fetches these bytes: none for a store that needs none.
    Miss(ByteMask),
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
        let frame = self.store.tags.find(access.line).or_else(|| self.buffered(access.line));
        if let Some(frame) = frame
            && let Some(mshr) = self.store.pinned(frame)
        {
            return self.route_merge(access, mshr, frame).map(|(mshr, early)| Route::Merge(mshr, early));
        }
        if self.goes_past(access) {
            return self.past_room(access, frame).map(|()| Route::Past(frame));
        }
        let through = usize::from(!self.parameters.write_back && matches!(access.action, Action::Store(_)));
        let Some(frame) = frame else { return self.route_miss(access, through) };
        let wanted = self.wanted(access, self.store.valid(frame));
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

    /// Allocation on fill: the frame of a line that is being fetched.
    #[inline]
    fn buffered(&self, line: LineAddress) -> Option<FrameId> {
        self.store.buffers.as_ref()?;
        self.mshrs.find(line).map(|mshr| self.mshrs.state(mshr).frame)
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
        if fetches == 1 && self.store.buffers.is_some() {
            // The victim is chosen, and needs its room, only when the fetch is done.
            let room = self.network_room_for_new(fetches + through);
            return if room { Ok(Route::Miss(wanted)) } else { Err(Refusal::Network) };
        }
        // Room for a dirty victim is required in any case: the victim has not been chosen yet.
        let victim = usize::from(self.parameters.write_back);
        if !self.network_room_for_new(fetches + through + victim)
            || !self.write_room_for_new(through + victim)
        {
            return Err(Refusal::Network);
        }
        if !self.store.tags.has_victim(access.line) {
            return Err(Refusal::Ways);
        }
        Ok(Route::Miss(wanted))
    }

    /// Sends an access along its route.
    #[inline]
    pub(super) fn take(&mut self, access: Access, route: Route, now: Cycle) {
        self.use_port(&access);
        self.count(&access, found(route));
        let done = now + self.parameters.hit_latency;
        match route {
            Route::Hit(frame) => {
                self.store.tags.used(frame);
                let completion = self.perform(access, frame, now);
                self.complete_hit(completion, done);
            }
            Route::Partial(frame, wanted) => {
                self.store.tags.used(frame);
                self.wait_for(access, frame, wanted, now);
            }
            Route::Merge(mshr, early) => self.merge(access, mshr, early, now),
            Route::Miss(wanted) if wanted.is_empty() => {
                let frame = self.make_room(&access, now);
                let completion = self.perform(access, frame, now);
                self.complete_hit(completion, done);
            }
            Route::Miss(wanted) => {
                let buffer = self.store.buffer(access.line);
                let frame = buffer.unwrap_or_else(|| self.make_room(&access, now));
                self.wait_for(access, frame, wanted, now);
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

    /// Assigns a frame to the access's line, after writing back the victim's dirty bytes.
    fn make_room(&mut self, access: &Access, now: Cycle) -> FrameId {
        let frame = self.store.tags.victim(access.line).expect("a free way was checked");
        if self.store.line(frame).is_some() {
            self.statistics.evictions += 1;
            self.write_back(frame, now);
        }
        self.store.tags.install(frame, access.line);
        self.statistics.tag_writes += 1;
        frame
    }
}

fn found(route: Route) -> Found {
    match route {
        Route::Hit(_) => Found::Hit,
        Route::Partial(..) => Found::Partial,
        Route::Merge(..) => Found::Merge,
        Route::Miss(_) | Route::Through => Found::Miss,
        Route::Past(_) => Found::Past,
    }
}
