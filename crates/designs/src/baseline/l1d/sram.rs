//! The SRAM L1D behind the door of L1Ds.

use std::iter;

use strata_engine::Cycle;
use strata_engine::statistics::{Group, Statistics};
use strata_memory::doors::{Access, Completion, Design, Hint, HintLevel, Hinted, L1d, LineNews, Refusal};
use strata_memory::prefetch::Prefetching;
use strata_memory::{ByteMask, Line, LineAddress, NodeId, Packet, ParameterError, SliceMap};

use super::config::SramL1dConfig;
use super::store::SramStore;
use crate::chassis::Chassis;

/// A set-associative L1D in SRAM.
pub struct SramL1d {
    pub(super) chassis: Chassis<SramStore>,
}

impl SramL1d {
    /// Makes an empty cache at network node `node`. `seed` starts the stream of random replacement.
    ///
    /// # Errors
    /// Names the first parameter that cannot be built.
    pub fn new(
        config: &SramL1dConfig,
        node: NodeId,
        slices: SliceMap,
        seed: u64,
    ) -> Result<SramL1d, ParameterError> {
        config.check()?;
        let stream = Chassis::<SramStore>::stream(node, seed);
        let store = SramStore::new(config.shape(), stream);
        let mut chassis = Chassis::new(config.parameters(), config.rooms(), node, slices, store);
        chassis.prefetching = config.prefetching(chassis.cache.frames().count());
        Ok(SramL1d { chassis })
    }
}

impl L1d for SramL1d {
    fn accesses_per_cycle(&self) -> u32 {
        self.chassis.accesses_per_cycle()
    }

    fn offer(&mut self, access: Access, now: Cycle) -> Result<(), (Access, Refusal)> {
        match self.chassis.route(&access, now) {
            Ok(route) => {
                self.chassis.take(access, route, now);
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
            HintLevel::L1d => self.chassis.hint(hint, now),
            HintLevel::Llc => self.chassis.hint_below(hint, now),
        }
    }

    #[inline]
    fn changes(&self, cause: Refusal, now: Cycle) -> u64 {
        self.chassis.changes(cause, now)
    }

    fn accept(&mut self, reply: Packet, _now: Cycle) {
        self.chassis.accept(reply);
    }

    #[inline]
    fn tick(&mut self, now: Cycle) {
        self.chassis.step(now);
        if self.chassis.prefetching.is_some() {
            self.chassis.prefetch(now);
        }
    }

    #[inline]
    fn completed(&mut self, now: Cycle) -> Option<Completion> {
        self.chassis.completed(now)
    }

    #[inline]
    fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        self.chassis.take_outgoing(now)
    }

    #[inline]
    fn outgoing_bytes(&self, now: Cycle) -> Option<u32> {
        self.chassis.outgoing_bytes(now)
    }

    fn begin_flush(&mut self, invalidate: bool, _now: Cycle) {
        self.chassis.start_flush(invalidate);
    }

    fn is_flushed(&self) -> bool {
        self.chassis.is_flushed()
    }

    fn resize(&mut self, bytes: u64) {
        debug_assert!(self.is_flushed() && self.outstanding() == 0, "an L1D is resized between launches");
        self.chassis.cache.store.resize(bytes);
        let frames = self.chassis.cache.frames().count();
        if let Some(prefetching) = &mut self.chassis.prefetching {
            prefetching.resize(frames);
        }
    }

    fn peek(&self, line: LineAddress, below: &mut Line) {
        if let Some(frame) = self.chassis.cache.store.sets.find(line) {
            let frames = self.chassis.cache.frames();
            below.merge(frames.dirty(frame), frames.data(frame));
        }
    }

    fn poke(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        if let Some(frame) = self.chassis.cache.store.sets.find(line) {
            let frames = self.chassis.cache.frames_mut();
            let held = frames.valid(frame) & bytes;
            frames.data_mut(frame).merge(held, data);
        }
    }

    fn tell_news(&mut self) {
        self.chassis.tell_news();
    }

    fn news(&mut self) -> Option<LineNews> {
        self.chassis.take_news()
    }

    fn outstanding(&self) -> usize {
        self.chassis.outstanding()
    }

    fn mshrs(&self) -> Option<usize> {
        Some(self.chassis.cache.mshrs.len())
    }

    #[inline]
    fn next_event(&self, now: Cycle) -> Cycle {
        self.chassis.next_event(now)
    }

    fn waits(&self, report: &mut Vec<String>) {
        self.chassis.waits(report);
    }

    fn statistics(&self) -> Vec<Group> {
        let prefetching = self.chassis.prefetching.as_deref();
        let account = prefetching.and_then(|prefetching| prefetching.report("l1d_prefetch"));
        let insertion = self.chassis.cache.store.sets.insertion("l1d_insertion");
        let hints = Prefetching::report_hints(prefetching, "l1d_hints");
        iter::once(self.chassis.statistics.report()).chain(account).chain(insertion).chain([hints]).collect()
    }
}
