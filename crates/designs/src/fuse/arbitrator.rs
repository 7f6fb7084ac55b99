//! The arbitrator: which route an access takes (Fig. 9), and whether it can take it now (Fig. 8).
//!
//! Finding a route changes nothing; taking it (`datapath.rs`) cannot fail.

use strata_engine::Cycle;
use strata_memory::ByteMask;
use strata_memory::LineAddress;
use strata_memory::cache::FrameId;
use strata_memory::doors::{Access, Action, Refusal};

use super::config::{SttHit, WoroMiss};
use super::l1d::FuseL1d;
use super::lines::Bank;
use super::predictor::ReadLevel;
use super::route::{Destination, Eviction, Route, Turn, Wait};

impl FuseL1d {
    /// Finds the route of an access whose tags have been searched.
    #[inline]
    pub(super) fn resolve(&self, access: &Access, at: Turn) -> Result<Route, Wait> {
        let store = &self.chassis.cache.store;
        let frame = store.find(access.line);
        if let Some(frame) = frame
            && let Some(mshr) = store.frames.pinned(frame)
        {
            let (mshr, early) = self.chassis.route_merge(access, mshr, frame)?;
            return Ok(Route::Merge(mshr, early));
        }
        if self.chassis.goes_past(access) {
            return self.go_past_with(access, frame, at.now).map(|()| Route::Past(frame));
        }
        let Some(frame) = frame else { return self.resolve_miss(access, at) };
        let wanted = self.chassis.wanted(access, store.frames.valid(frame));
        match store.bank(frame) {
            Bank::Stt => self.resolve_stt(access, frame, wanted, at),
            // Only loads wait in the tag queue, and only they meet their line in the swap buffer.
            Bank::Swap if wanted.is_empty() => self.bus_is_free(at.now).map(|()| Route::Hit(frame)),
            Bank::Swap => Err(Wait::Behind),
            Bank::Sram if wanted.is_empty() => self.bus_is_free(at.now).map(|()| Route::Hit(frame)),
            Bank::Sram => self.room(1, 0, true).map(|()| Route::Partial(frame, wanted)),
        }
    }

    fn resolve_stt(
        &self,
        access: &Access,
        frame: FrameId,
        wanted: ByteMask,
        at: Turn,
    ) -> Result<Route, Wait> {
        let store = matches!(access.action, Action::Store(_));
        if store && self.policy.closing_writes && self.is_dead(access.pc) {
            return self.go_past_with(access, Some(frame), at.now).map(|()| Route::Close(frame));
        }
        // IV-A: a hit on STT-MRAM that is predicted WM, or a write to it, moves the line to SRAM first.
        let hit = if store { self.policy.write_hit } else { self.policy.read_hit };
        let moves = hit == SttHit::Migrates || self.predict(access.pc) == Some(ReadLevel::WriteMultiple);
        let fetches = usize::from(!wanted.is_empty());
        if moves {
            let way = self
                .stt_is_free(at.now)
                .and_then(|()| self.bus_is_free(at.now))
                .and_then(|()| self.sram_room(access.line, fetches, at));
            match way {
                Ok(()) => return Ok(Route::Migrate(frame, wanted)),
                // A load can also be served here.
                Err(_) if !store && self.queue.is_some() => {}
                Err(wait) => return Err(wait),
            }
        }
        if fetches == 1 {
            return self.room(1, 0, true).map(|()| Route::Partial(frame, wanted));
        }
        self.stt_is_free(at.now)?;
        self.bus_is_free(at.now).map(|()| Route::Hit(frame))
    }

    fn resolve_miss(&self, access: &Access, at: Turn) -> Result<Route, Wait> {
        let level = self.predict(access.pc);
        let woro = level == Some(ReadLevel::WriteOnceReadOnce) && self.policy.woro_miss == WoroMiss::Bypasses;
        if woro || self.is_dead(access.pc) {
            self.chassis.past_room(access, None)?;
            return Ok(Route::Around);
        }
        let wanted = self.chassis.wanted(access, ByteMask::NONE);
        let fetches = usize::from(!wanted.is_empty());
        if fetches == 0 {
            self.bus_is_free(at.now)?;
        }
        // Placement on a miss: WORM to STT-MRAM, the others to SRAM (III-A, IV-A).
        let to_stt =
            level == Some(ReadLevel::WriteOnceReadMultiple) || self.chassis.cache.store.sram.is_none();
        let destination = if !to_stt {
            self.sram_room(access.line, fetches, at)?;
            Destination::Sram
        } else if fetches == 0 && self.queue.is_some() {
            self.swap_room(at)?;
            Destination::Swap
        } else {
            self.stt_room(access.line, fetches, at.now)?;
            Destination::Stt
        };
        Ok(Route::Miss(destination, wanted))
    }

    /// Whether the line's dirty bytes and the access can go past the cache.
    fn go_past_with(&self, access: &Access, frame: Option<FrameId>, now: Cycle) -> Result<(), Wait> {
        self.chassis.past_room(access, frame)?;
        match frame {
            Some(frame) if self.is_dirty(frame) && self.chassis.cache.store.bank(frame) == Bank::Stt => {
                self.stt_is_free(now)
            }
            _ => Ok(()),
        }
    }

    fn is_dirty(&self, frame: FrameId) -> bool {
        !self.chassis.cache.frames().dirty(frame).is_empty()
    }

    pub(super) fn stt_is_free(&self, now: Cycle) -> Result<(), Wait> {
        match &self.chassis.cache.store.stt {
            Some(stt) if stt.is_free(now) => Ok(()),
            Some(stt) if stt.is_writing(now) => Err(Wait::SttWrite),
            Some(_) => Err(Wait::SttRead),
            None => Ok(()),
        }
    }

    /// Whether the bus can carry the line of an access. A line that leaves to make room for another follows as soon as
    /// it can.
    fn bus_is_free(&self, now: Cycle) -> Result<(), Wait> {
        match &self.chassis.cache.store.bus {
            Some(bus) if bus.free_at() > now => Err(Wait::Bus),
            _ => Ok(()),
        }
    }

    /// Checks for room for fetches and write-backs and, with `mshr`, for a free MSHR.
    fn room(&self, fetches: usize, writes: usize, mshr: bool) -> Result<(), Wait> {
        if mshr && self.chassis.cache.mshrs.is_full() {
            return Err(Wait::Room(Refusal::Mshr));
        }
        if !self.chassis.network_room_for_new(fetches + writes) || !self.chassis.write_room_for_new(writes) {
            return Err(Wait::Room(Refusal::Network));
        }
        Ok(())
    }

    /// Room in the swap buffer and for the command that empties it.
    fn swap_room(&self, at: Turn) -> Result<(), Wait> {
        let queue = self.queue.as_ref().expect("a swap buffer comes with a tag queue");
        if !self.chassis.cache.store.swap.has_room() {
            return Err(Wait::SwapBuffer);
        }
        if queue.is_full() && !at.from_queue { Err(Wait::TagQueue) } else { Ok(()) }
    }

    /// Whether SRAM can take a line: what its victim needs on its way (Fig. 9, eviction).
    fn sram_room(&self, line: LineAddress, fetches: usize, at: Turn) -> Result<(), Wait> {
        let store = &self.chassis.cache.store;
        if fetches == 1 && self.chassis.cache.mshrs.is_full() {
            return Err(Wait::Room(Refusal::Mshr));
        }
        let Some(victim) = store.sram_victim(line) else { return self.grown(fetches) };
        let Some(leaves) = store.frames.line(victim) else { return self.room(fetches, 0, false) };
        if store.sram.as_ref().is_some_and(|sram| sram.grows) {
            return self.grown(fetches);
        }
        match self.eviction(victim) {
            Eviction::Below => self.room(fetches, usize::from(self.is_dirty(victim)), false),
            Eviction::Swap => self.swap_room(at).and_then(|()| self.room(fetches, 0, false)),
            Eviction::Stt => self.stt_room(leaves, fetches, at.now),
        }
    }

    fn grown(&self, fetches: usize) -> Result<(), Wait> {
        match &self.chassis.cache.store.sram {
            Some(sram) if sram.grows => self.room(fetches, 0, false),
            _ => Err(Wait::Room(Refusal::Ways)),
        }
    }

    /// Whether STT-MRAM can take a line now: what its victim needs on its way.
    fn stt_room(&self, line: LineAddress, fetches: usize, now: Cycle) -> Result<(), Wait> {
        if fetches == 1 && self.chassis.cache.mshrs.is_full() {
            return Err(Wait::Room(Refusal::Mshr));
        }
        let Some(victim) = self.chassis.cache.store.stt_victim(line) else {
            return Err(Wait::Room(Refusal::Ways));
        };
        let dirty = self.is_dirty(victim);
        if dirty || fetches == 0 {
            self.stt_is_free(now)?;
        }
        self.room(fetches, usize::from(dirty), false)
    }

    /// Where a line that SRAM evicts goes.
    pub(super) fn eviction(&self, victim: FrameId) -> Eviction {
        let store = &self.chassis.cache.store;
        let level = self
            .predictor
            .as_ref()
            .map(|predictor| predictor.history.predict(store.placement(victim).signature));
        match (&store.stt, level, &self.queue) {
            (None, _, _) | (_, Some(ReadLevel::WriteOnceReadOnce), _) => Eviction::Below,
            (Some(_), _, Some(_)) => Eviction::Swap,
            (Some(_), _, None) => Eviction::Stt,
        }
    }

    /// The read level predicted for blocks that an instruction brings.
    #[inline]
    pub(super) fn predict(&self, pc: u32) -> Option<ReadLevel> {
        self.predictor.as_ref().map(|predictor| predictor.predict(pc))
    }

    #[inline]
    fn is_dead(&self, pc: u32) -> bool {
        self.dead_write.as_ref().is_some_and(|predictor| predictor.is_dead(pc))
    }
}
