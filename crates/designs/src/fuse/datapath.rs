//! The data path: what an access does to the banks on the route that the arbitrator has found.

use strata_engine::Cycle;
use strata_memory::cache::FrameId;
use strata_memory::doors::{Access, LineNews};
use strata_memory::{ByteMask, LineAddress};

use super::l1d::FuseL1d;
use super::lines::Bank;
use super::placement::Placement;
use super::predictor::ReadLevel;
use super::route::{Destination, Eviction, Route};
use super::tag_queue::Command;
use crate::chassis::{ArrayUse, Found, Store};

impl FuseL1d {
    /// Sends an access along its route.
    pub(super) fn take(&mut self, access: Access, route: Route, now: Cycle) {
        self.chassis.count(&access, found(route));
        match route {
            Route::Hit(frame) => {
                self.count_hit(frame);
                self.perform(access, frame, now);
            }
            Route::Migrate(frame, wanted) => {
                let frame = self.migrate_to_sram(frame, now);
                if wanted.is_empty() {
                    self.chassis.cache.store.statistics.stt_hits += 1;
                    self.perform(access, frame, now);
                } else {
                    self.chassis.wait_for(access, frame, wanted, now);
                }
            }
            Route::Partial(frame, wanted) => {
                self.chassis.cache.store.used(frame);
                self.chassis.wait_for(access, frame, wanted, now);
            }
            Route::Merge(mshr, early) => self.chassis.merge(access, mshr, early, now),
            Route::Miss(destination, wanted) => {
                self.chassis.tell(LineNews::Missed { line: access.line, warp: access.warp });
                let frame = self.place(&access, destination, now);
                if !wanted.is_empty() {
                    self.chassis.wait_for(access, frame, wanted, now);
                    return;
                }
                let line = access.line;
                self.perform(access, frame, now);
                if destination == Destination::Swap {
                    self.push(Command::Migrate(frame, line), now.next());
                }
            }
            Route::Around => {
                self.count_prediction(access.pc);
                self.chassis.cache.store.statistics.bypasses += 1;
                self.go_past(access, None, now);
            }
            Route::Close(frame) => {
                self.chassis.cache.store.statistics.closing_writes += 1;
                self.chassis.statistics.past_writes += 1;
                self.go_past(access, Some(frame), now);
            }
            Route::Past(frame) => self.go_past(access, frame, now),
        }
    }

    fn go_past(&mut self, access: Access, frame: Option<FrameId>, now: Cycle) {
        if let Some(completion) = self.chassis.go_past(access, frame, now) {
            self.chassis.complete_hit(completion, now + self.chassis.parameters.hit_latency);
        }
    }

    fn perform(&mut self, access: Access, frame: FrameId, now: Cycle) {
        let use_ = match access.action {
            strata_memory::doors::Action::Load(_) => ArrayUse::Read,
            _ => ArrayUse::Write,
        };
        self.chassis.cache.store.used(frame);
        self.chassis.cache.store.occupy(frame, use_, now);
        let completion = self.chassis.perform(access, frame, now);
        self.chassis.complete_hit(completion, now + self.chassis.parameters.hit_latency);
    }

    /// Assigns a frame to the line of an access that missed.
    fn place(&mut self, access: &Access, destination: Destination, now: Cycle) -> FrameId {
        self.count_prediction(access.pc);
        let placement = self.placement(access.pc);
        let frame = match destination {
            Destination::Sram => {
                self.chassis.cache.store.statistics.fills_to_sram += 1;
                self.make_room_in_sram(access.line, now)
            }
            Destination::Stt => {
                self.chassis.cache.store.statistics.fills_to_stt += 1;
                self.make_room_in_stt(access.line, now)
            }
            Destination::Swap => {
                self.chassis.cache.store.statistics.fills_to_stt += 1;
                self.take_register()
            }
        };
        self.chassis.statistics.tag_writes += 1;
        self.chassis.cache.store.install(frame, access.line, placement);
        frame
    }

    fn placement(&self, pc: u32) -> Placement {
        match &self.predictor {
            None => Placement::default(),
            Some(predictor) => Placement::new(predictor.history.signature(pc), Some(predictor.predict(pc))),
        }
    }

    /// Empties a frame of SRAM for a line. The arbitrator decides where the previous line goes.
    fn make_room_in_sram(&mut self, line: LineAddress, now: Cycle) -> FrameId {
        let grows = self.chassis.cache.store.sram.as_ref().is_some_and(|sram| sram.grows);
        let full = |frame: &FrameId| self.chassis.cache.frames().line(*frame).is_some();
        let victim = self.chassis.cache.store.sram_victim(line);
        if grows && victim.as_ref().is_none_or(full) {
            self.chassis.cache.store.grow();
            return self.chassis.cache.store.sram_victim(line).expect("a bank that grew has room");
        }
        let frame = victim.expect("a way of SRAM was checked");
        if self.chassis.cache.frames().line(frame).is_none() {
            return frame;
        }
        self.chassis.cache.store.statistics.history_reads += u64::from(self.predictor.is_some());
        match self.eviction(frame) {
            Eviction::Below => {
                self.chassis.cache.store.statistics.sram_evictions += 1;
                self.evict(frame, now);
            }
            Eviction::Swap => {
                self.chassis.cache.store.statistics.migrations_to_stt += 1;
                let moving = self.chassis.cache.store.take(frame, now);
                let register = self.take_register();
                self.chassis.cache.store.put(register, &moving, now);
                self.push(Command::Migrate(register, moving.line), now.next());
            }
            Eviction::Stt => {
                self.chassis.cache.store.statistics.migrations_to_stt += 1;
                let moving = self.chassis.cache.store.take(frame, now);
                self.put_in_stt(&moving, now);
            }
        }
        frame
    }

    fn take_register(&mut self) -> FrameId {
        let store = &mut self.chassis.cache.store;
        let register = store.swap.take();
        store.statistics.swap_buffer_occupancy += store.swap.len() as u64;
        register
    }

    /// Writes a line into STT-MRAM. The caller has checked for a frame, and for room for the line in it.
    pub(super) fn put_in_stt(&mut self, moving: &super::lines::Moving, now: Cycle) {
        let frame = self.make_room_in_stt(moving.line, now);
        self.chassis.statistics.tag_writes += 1;
        self.chassis.cache.store.put(frame, moving, now);
    }

    /// Empties a frame of STT-MRAM for a line.
    fn make_room_in_stt(&mut self, line: LineAddress, now: Cycle) -> FrameId {
        let frame = self.chassis.cache.store.stt_victim(line).expect("a way of STT-MRAM was checked");
        if self.chassis.cache.frames().line(frame).is_some() {
            self.chassis.cache.store.statistics.stt_evictions += 1;
            self.evict(frame, now);
        }
        frame
    }

    /// Evicts a line from the cache, after writing its dirty bytes back.
    fn evict(&mut self, frame: FrameId, now: Cycle) {
        if let Some(line) = self.chassis.cache.frames().line(frame) {
            self.chassis.tell(LineNews::Evicted { line });
        }
        self.chassis.statistics.evictions += 1;
        self.chassis.write_back(frame, now);
        self.chassis.cache.store.evict(frame);
    }

    /// III-A: the line moves to SRAM and is invalidated in STT-MRAM before SRAM serves the request.
    fn migrate_to_sram(&mut self, frame: FrameId, now: Cycle) -> FrameId {
        let store = &mut self.chassis.cache.store;
        store.statistics.migrations_to_sram += 1;
        let moving = store.take(frame, now);
        let frame = self.make_room_in_sram(moving.line, now);
        self.chassis.statistics.tag_writes += 1;
        self.chassis.cache.store.put(frame, &moving, now);
        frame
    }

    fn count_hit(&mut self, frame: FrameId) {
        let bank = self.chassis.cache.store.bank(frame);
        let statistics = &mut self.chassis.cache.store.statistics;
        *match bank {
            Bank::Sram => &mut statistics.sram_hits,
            Bank::Stt => &mut statistics.stt_hits,
            Bank::Swap => &mut statistics.swap_hits,
        } += 1;
    }

    fn count_prediction(&mut self, pc: u32) {
        let Some(level) = self.predict(pc) else { return };
        let statistics = &mut self.chassis.cache.store.statistics;
        *match level {
            ReadLevel::WriteMultiple => &mut statistics.predicted_wm,
            ReadLevel::WriteOnceReadMultiple => &mut statistics.predicted_worm,
            ReadLevel::WriteOnceReadOnce => &mut statistics.predicted_woro,
            ReadLevel::Neutral => &mut statistics.predicted_neutral,
        } += 1;
    }
}

fn found(route: Route) -> Found {
    let hit = |wanted: ByteMask| if wanted.is_empty() { Found::Hit } else { Found::Partial };
    match route {
        Route::Hit(_) | Route::Close(_) => Found::Hit,
        Route::Migrate(_, wanted) => hit(wanted),
        Route::Partial(..) => Found::Partial,
        Route::Merge(..) => Found::Merge,
        Route::Miss(..) => Found::Miss,
        Route::Around | Route::Past(_) => Found::Past,
    }
}
