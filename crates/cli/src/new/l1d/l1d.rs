//! What an access does. The chassis has the rest: MSHRs, the accesses that wait in them, the network, flushes, counters.

use strata_designs::chassis::{Chassis, Found, Rooms, WriteMissPolicy};
use strata_engine::Cycle;
use strata_engine::statistics::{Group, Statistics};
use strata_memory::cache::FrameId;
use strata_memory::doors::{Access, Action, Completion, Hint, HintLevel, Hinted, L1d, L1dSite, Refusal};
use strata_memory::mshr::MshrId;
use strata_memory::{ByteMask, Packet};

use crate::config::Config;
use crate::store::Skewed;

/// The L1D of one SM.
pub struct SkewedL1d {
    chassis: Chassis<Skewed>,
}

/// What an access will do. Finding it changes nothing; doing it cannot fail.
enum Route {
    /// Performs the access on a frame now.
    Hit(FrameId),
    /// Waits for these bytes of a line that is here in part.
    Partial(FrameId, ByteMask),
    /// Waits in the MSHR of a line that is fetched already, and fetches these bytes for itself.
    Merge(MshrId, ByteMask),
    /// Takes a frame for a new line and fetches these bytes: none for a store.
    Miss(FrameId, ByteMask),
    /// Sends a store to the level below.
    Through,
    /// Goes past the cache; the frame has a copy of the line.
    Past(Option<FrameId>),
}

impl SkewedL1d {
    /// An empty cache. Its numbers have been checked.
    pub fn new(config: &Config, rooms: Rooms, site: L1dSite) -> SkewedL1d {
        let store = Skewed::new(*config.sets, *config.ways);
        SkewedL1d { chassis: Chassis::new(config.chassis_parameters(), rooms, site.node, site.slices, store) }
    }

    /// The route of an access, or why it cannot start now.
    fn route(&mut self, access: &Access, now: Cycle) -> Result<Route, Refusal> {
        let l1d = &mut self.chassis;
        l1d.port_is_free(access, now)?;
        let found = l1d.cache.store.find(access.line);
        if let Some(frame) = found
            && let Some(mshr) = l1d.cache.frames().pinned(frame)
        {
            return l1d.route_merge(access, mshr, frame).map(|(mshr, bytes)| Route::Merge(mshr, bytes));
        }
        if l1d.goes_past(access) {
            return l1d.past_room(access, found).map(|()| Route::Past(found));
        }
        let is_store = matches!(access.action, Action::Store(_));
        if found.is_none() && is_store && l1d.parameters.miss_policy == WriteMissPolicy::NoAllocate {
            return if l1d.write_room_for_new(1) { Ok(Route::Through) } else { Err(Refusal::Network) };
        }
        let valid = found.map_or(ByteMask::NONE, |frame| l1d.cache.frames().valid(frame));
        let wanted = l1d.wanted(access, valid);
        if !wanted.is_empty() && !l1d.has_mshr() {
            return Err(Refusal::Mshr);
        }
        let fetches = usize::from(!wanted.is_empty());
        let Some(frame) = found else {
            // A victim's dirty bytes need room in any case: whether it has some is known when it is chosen.
            if !l1d.network_room_for_new(fetches + 1) || !l1d.write_room_for_new(1) {
                return Err(Refusal::Network);
            }
            let victim = l1d.cache.store.victim(access.line).ok_or(Refusal::Ways)?;
            return Ok(Route::Miss(victim, wanted));
        };
        match fetches {
            0 => Ok(Route::Hit(frame)),
            _ if l1d.network_room_for_new(1) => Ok(Route::Partial(frame, wanted)),
            _ => Err(Refusal::Network),
        }
    }

    /// Sends an access along its route.
    fn take(&mut self, access: Access, route: Route, now: Cycle) {
        let l1d = &mut self.chassis;
        let done = now + l1d.parameters.hit_latency;
        l1d.use_port(&access);
        match route {
            Route::Hit(frame) => {
                l1d.count(&access, Found::Hit);
                l1d.cache.store.touch(frame);
                let completion = l1d.perform(access, frame, now);
                l1d.complete_hit(completion, done);
            }
            Route::Partial(frame, wanted) => {
                l1d.count(&access, Found::Partial);
                l1d.cache.store.touch(frame);
                l1d.wait_for(access, frame, wanted, now);
            }
            Route::Merge(mshr, wanted) => {
                l1d.count(&access, Found::Merge);
                l1d.merge(access, mshr, wanted, now);
            }
            Route::Miss(frame, wanted) => {
                l1d.count(&access, Found::Miss);
                if l1d.cache.frames().line(frame).is_some() {
                    l1d.statistics.evictions += 1;
                    l1d.write_back(frame, now);
                }
                l1d.cache.frames_mut().assign(frame, access.line);
                l1d.cache.store.touch(frame);
                l1d.statistics.tag_writes += 1;
                if wanted.is_empty() {
                    let completion = l1d.perform(access, frame, now);
                    l1d.complete_hit(completion, done);
                } else {
                    l1d.wait_for(access, frame, wanted, now);
                }
            }
            Route::Through => {
                l1d.count(&access, Found::Miss);
                let origin = access.origin();
                let Action::Store(tray) = access.action else { unreachable!("only stores go below") };
                let tray = l1d.send_through(access.line, access.bytes, tray, origin, now);
                l1d.complete_hit(Completion { token: access.token, action: Action::Store(tray) }, done);
            }
            Route::Past(frame) => {
                l1d.count(&access, Found::Past);
                if let Some(completion) = l1d.go_past(access, frame, now) {
                    l1d.complete_hit(completion, done);
                }
            }
        }
    }
}

impl L1d for SkewedL1d {
    fn offer(&mut self, access: Access, now: Cycle) -> Result<(), (Access, Refusal)> {
        match self.route(&access, now) {
            Ok(route) => {
                self.take(access, route, now);
                Ok(())
            }
            Err(cause) => {
                self.chassis.statistics.refuse(cause);
                Err((access, cause))
            }
        }
    }

    fn hint(&mut self, hint: &Hint, now: Cycle) -> Result<Hinted, Refusal> {
        match hint.level {
            // It fetches nothing ahead.
            HintLevel::L1d => Ok(Hinted::Ignored),
            HintLevel::Llc => self.chassis.hint_below(hint, now),
        }
    }

    // The rest is the chassis's.

    fn changes(&self, cause: Refusal, now: Cycle) -> u64 {
        self.chassis.changes(cause, now)
    }

    fn accept(&mut self, reply: Packet, _now: Cycle) {
        self.chassis.accept(reply);
    }

    fn tick(&mut self, now: Cycle) {
        self.chassis.step(now);
    }

    fn completed(&mut self, now: Cycle) -> Option<Completion> {
        self.chassis.completed(now)
    }

    fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        self.chassis.take_outgoing(now)
    }

    fn outgoing_bytes(&self, now: Cycle) -> Option<u32> {
        self.chassis.outgoing_bytes(now)
    }

    fn begin_flush(&mut self, invalidate: bool, _now: Cycle) {
        self.chassis.start_flush(invalidate);
    }

    fn is_flushed(&self) -> bool {
        self.chassis.is_flushed()
    }

    fn outstanding(&self) -> usize {
        self.chassis.outstanding()
    }

    fn mshrs(&self) -> Option<usize> {
        Some(self.chassis.cache.mshrs.len())
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        self.chassis.next_event(now)
    }

    fn waits(&self, report: &mut Vec<String>) {
        self.chassis.waits(report);
    }

    fn statistics(&self) -> Vec<Group> {
        vec![self.chassis.statistics.report()]
    }
}
