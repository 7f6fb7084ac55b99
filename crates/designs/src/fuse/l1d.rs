//! The FUSE L1D: its parts, and its implementation of the L1D door.

use strata_engine::Cycle;
use strata_engine::statistics::{Group, Statistics};
use strata_memory::doors::{
    Access, Action, Completion, Design, Hint, HintLevel, Hinted, L1d, LineNews, Refusal,
};
use strata_memory::{ByteMask, LineAddress, NodeId, Packet, ParameterError, SliceMap};

use super::approximation::Search;
use super::config::{FuseConfig, SttHit, WoroMiss};
use super::dead_write::{DeadWrite, Learned};
use super::lines::{Bank, Lines};
use super::predictor::{Predictor, Sampled};
use super::route::{Turn, Wait};
use super::seen::{Seen, Touch};
use super::tag_queue::{Command, TagQueue};
use crate::chassis::Chassis;

/// An L1D of SRAM, STT-MRAM or both.
pub struct FuseL1d {
    pub(super) chassis: Chassis<Lines>,
    pub(super) policy: Policy,
    pub(super) queue: Option<TagQueue>,
    /// The cycle at whose end the front of the tag queue can be served; never while it is empty.
    pub(super) queue_next: Cycle,
    pub(super) latch: Option<Latched>,
    /// When the access in the register can proceed; never while there is none.
    pub(super) latch_next: Cycle,
    /// When the polling logic has finished all requested searches.
    pub(super) polled: Cycle,
    pub(super) predictor: Option<Predictor>,
    pub(super) dead_write: Option<DeadWrite>,
    /// Accesses that have left the tag queue or the register, after which a refused access might succeed.
    pub(super) steps: u64,
    /// The last load that a full tag queue refused, and the number of steps at that time. Until the next step
    /// it is refused again without a search.
    refused: Option<(LineAddress, u64)>,
}

/// An access in the controller's register: a write, or an access past the cache, that must wait for the
/// search of its tags or for the tag queue (IV-A: the queue holds no data). Nothing is accepted behind it.
#[derive(Clone, Debug)]
pub(super) struct Latched {
    pub access: Access,
    /// The first cycle in which its tags have been searched.
    pub searched: Cycle,
    /// Whether the queue's flush on its behalf has been counted.
    pub flushing: bool,
}

/// What happens to lines in STT-MRAM that are used, and to lines that are not worth keeping.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policy {
    pub read_hit: SttHit,
    pub write_hit: SttHit,
    pub closing_writes: bool,
    pub woro_miss: WoroMiss,
}

impl FuseL1d {
    /// Makes an empty cache at network node `node`.
    ///
    /// # Errors
    /// Names the first parameter that cannot be built.
    pub fn new(config: &FuseConfig, node: NodeId, slices: SliceMap) -> Result<FuseL1d, ParameterError> {
        config.check()?;
        let lines = super::build::lines(config);
        Ok(FuseL1d {
            chassis: Chassis::new(config.parameters(), config.rooms(), node, slices, lines),
            policy: Policy {
                read_hit: config.stt.as_ref().map_or(SttHit::Stays, |stt| *stt.read_hit),
                write_hit: config.stt.as_ref().map_or(SttHit::Stays, |stt| *stt.write_hit),
                closing_writes: config.dead_write.as_ref().is_some_and(|config| *config.closing_writes),
                woro_miss: config.predictor.as_ref().map_or(WoroMiss::Sram, |config| *config.woro_miss),
            },
            queue: config.queues.as_ref().map(|queues| TagQueue::new(*queues.tag_queue_entries)),
            queue_next: Cycle::NEVER,
            latch: None,
            latch_next: Cycle::NEVER,
            polled: Cycle::ZERO,
            predictor: config.predictor.as_ref().map(super::build::predictor),
            dead_write: config.dead_write.as_ref().map(|dead| super::build::dead_write(dead, config)),
            steps: 0,
            refused: None,
        })
    }

    /// Accepts an access, or returns the reason why not.
    fn try_offer(&mut self, access: Access, now: Cycle) -> Result<(), (Access, Wait)> {
        if let Err(cause) = self.chassis.port_is_free(&access, now) {
            return Err((access, cause.into()));
        }
        if self.latch.is_some() {
            // The access waits for the register. What the register waits for decides the counter, not when to
            // retry.
            return Err((access, Wait::Register));
        }
        if self.queue.is_none()
            && let Err(wait) = self.stt_is_free(now)
        {
            return Err((access, wait));
        }
        let line = access.line;
        if self.refused == Some((line, self.steps)) && self.is_queued(&access) {
            return Err((access, Wait::TagQueue));
        }
        let named = self.queue.as_ref().is_some_and(|queue| queue.names(line));
        let search = self.search(&access);
        let waits = search.polls > 0
            || named
            || self.queue.as_ref().is_some_and(|queue| !queue.is_empty())
                && self.chassis.cache.store.is_beside_sram(line);
        if !waits {
            match self.resolve(&access, Turn { now, from_queue: false }) {
                Ok(route) => {
                    let seen = self.seen(&access);
                    self.chassis.use_port(&access);
                    self.take(access, route, now);
                    // Only now: its own route was found with what was known before.
                    self.note(seen, search);
                    return Ok(());
                }
                // A load of a line in STT-MRAM waits in the queue, not at the door.
                Err(Wait::SttWrite | Wait::SttRead) if self.queue.is_some() && self.is_queued(&access) => {}
                Err(wait) => return Err((access, wait)),
            }
        }
        let searched = self.polled.max(now.next()) + search.polls;
        if self.is_queued(&access) {
            if self.queue.as_ref().is_some_and(TagQueue::is_full) {
                self.refused = Some((line, self.steps));
                return Err((access, Wait::TagQueue));
            }
            let seen = self.seen(&access);
            self.chassis.use_port(&access);
            self.push(Command::Read(access), searched);
            self.note(seen, search);
        } else {
            let seen = self.seen(&access);
            self.note(seen, search);
            self.chassis.use_port(&access);
            self.latch_next = searched;
            self.latch = Some(Latched { access, searched, flushing: false });
        }
        if search.polls > 0 {
            self.polled = searched;
        }
        Ok(())
    }

    /// Whether the access is one that the tag queue can hold: the queue has no room for data.
    fn is_queued(&self, access: &Access) -> bool {
        matches!(access.action, Action::Load(_)) && !self.chassis.goes_past(access)
    }

    /// The cost of searching the tags of STT-MRAM. SRAM is looked up in the same cycle; a hit there, or a
    /// fetch in flight, ends the search.
    fn search(&self, access: &Access) -> Search {
        let store = &self.chassis.cache.store;
        let Some(stt) = &store.stt else { return Search::default() };
        let Some(approximation) = &stt.approximation else { return Search::default() };
        let place = match store.find(access.line) {
            Some(frame) if store.frames.pinned(frame).is_some() || store.bank(frame) == Bank::Sram => {
                return Search::default();
            }
            Some(frame) if store.bank(frame) == Bank::Stt => Some(stt.places.place(frame)),
            _ => None,
        };
        approximation.search(access.line, place)
    }

    /// Counts a search, and shows an accepted access to the predictors.
    fn note(&mut self, seen: Option<Seen>, search: Search) {
        let store = &mut self.chassis.cache.store;
        if search.tested {
            let statistics = &mut store.statistics;
            statistics.cbf_tests += 1;
            statistics.cbf_filters_tested += store
                .stt
                .as_ref()
                .and_then(|stt| stt.approximation.as_ref())
                .map_or(0, |approximation| approximation.filters.count() as u64);
            statistics.cbf_positives += search.positives;
            statistics.cbf_false_positives += search.false_positives;
            statistics.tag_search_cycles += search.polls;
            statistics.polled_searches += u64::from(search.polls > 0);
        }
        let Some(seen) = seen else { return };
        if let Some(predictor) = &mut self.predictor {
            let sampled = predictor.observe(&seen);
            let statistics = &mut self.chassis.cache.store.statistics;
            statistics.history_reads += 1;
            statistics.sampler_searches += u64::from(sampled.is_some());
            statistics.history_updates +=
                u64::from(sampled.is_some_and(|sampled| sampled != Sampled::Missed));
        }
        if let (Some(predictor), Some(stt)) = (&mut self.dead_write, &self.chassis.cache.store.stt) {
            let learned = predictor.observe(&seen, stt.places.set_of(seen.line));
            let statistics = &mut self.chassis.cache.store.statistics;
            statistics.history_reads += 1;
            statistics.sampler_searches += u64::from(learned.is_some());
            statistics.history_updates +=
                u64::from(learned.is_some_and(|learned| learned != Learned::Nothing));
            match learned {
                None | Some(Learned::Nothing) => {}
                Some(Learned::Live) => statistics.sampled_live_writes += 1,
                Some(Learned::DeadOnArrival) => statistics.sampled_dead_on_arrival_fills += 1,
                Some(Learned::DeadValue) => statistics.sampled_dead_value_fills += 1,
                Some(Learned::DeadStore) => statistics.sampled_dead_stores += 1,
                Some(Learned::Closing) => statistics.sampled_closing_writes += 1,
            }
        }
    }

    /// The part of an access that the predictors see; `None` for an access that goes past the cache.
    fn seen(&self, access: &Access) -> Option<Seen> {
        let touch = match access.action {
            Action::Store(_) if access.bytes == ByteMask::ALL => Touch::Overwrite,
            Action::Store(_) => Touch::Write,
            Action::Load(_) | Action::Atomic(_) => Touch::Read,
        };
        let Access { line, pc, warp, leads, .. } = *access;
        let seen = Seen { line, pc, warp, leads, touch };
        (!self.chassis.goes_past(access)).then_some(seen)
    }

    /// Charges the polling logic for the rows of filters recomputed in this cycle, which it reads before it
    /// searches again.
    #[inline]
    pub(super) fn recount(&mut self, now: Cycle) {
        let Some(stt) = &mut self.chassis.cache.store.stt else { return };
        let Some(approximation) = &mut stt.approximation else { return };
        let rows = std::mem::take(&mut approximation.rows_recounted);
        if rows > 0 {
            self.polled = self.polled.max(now.next()) + rows;
        }
    }

    /// Whether accepted commands or an access wait to be resolved.
    #[inline]
    pub(super) fn has_work_inside(&self) -> bool {
        self.latch.is_some() || self.queue.as_ref().is_some_and(|queue| !queue.is_empty())
    }
}

impl L1d for FuseL1d {
    fn offer(&mut self, access: Access, now: Cycle) -> Result<(), (Access, Refusal)> {
        let taken = self.try_offer(access, now);
        self.recount(now);
        taken.map_err(|(access, wait)| (access, self.refuse(wait, now)))
    }

    /// Hints for the L1D are ignored: the access that misses decides the bank of its line, and a hint is none.
    fn hint(&mut self, hint: &Hint, now: Cycle) -> Result<Hinted, Refusal> {
        match hint.level {
            HintLevel::L1d => Ok(Hinted::Ignored),
            HintLevel::Llc => self.chassis.hint_below(hint, now),
        }
    }

    #[inline]
    fn changes(&self, cause: Refusal, now: Cycle) -> u64 {
        self.chassis.changes(cause, now) + self.steps
    }

    fn accept(&mut self, reply: Packet, _now: Cycle) {
        self.chassis.accept(reply);
    }

    #[inline]
    fn tick(&mut self, now: Cycle) {
        let inside = self.has_work_inside();
        if !inside && self.chassis.is_quiet() {
            return;
        }
        if inside {
            self.end_cycle_before(now);
        }
        self.chassis.replay(now);
        self.chassis.fill(now);
        if inside {
            self.latch_step(now);
        }
        self.flush_step(now);
        self.recount(now);
    }

    #[inline]
    fn completed(&mut self, now: Cycle) -> Option<Completion> {
        self.chassis.completed(now)
    }

    #[inline]
    fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        let packet = self.chassis.take_outgoing(now);
        self.chassis.cache.store.statistics.outgoing_packets += u64::from(packet.is_some());
        packet
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

    fn next_event(&self, now: Cycle) -> Cycle {
        let outside = if self.chassis.is_flushing() && self.has_work_inside() {
            self.chassis.next_event_without_flush(now)
        } else {
            self.chassis.next_event(now)
        };
        outside.min(self.queue_due()).min(self.latch_next).max(now)
    }

    fn waits(&self, report: &mut Vec<String>) {
        self.chassis.waits(report);
        let node = self.chassis.node.0;
        if let Some(queue) = &self.queue
            && !queue.is_empty()
        {
            let lines = self.chassis.cache.store.swap.len();
            report.push(format!(
                "L1D {node}: {} commands in the tag queue, {lines} lines in the swap buffer",
                queue.len()
            ));
        }
        if let Some(latched) = &self.latch {
            report
                .push(format!("L1D {node}: an access to line {} waits for its search", latched.access.line));
        }
    }

    fn statistics(&self) -> Vec<Group> {
        let mut own = self.chassis.cache.store.statistics;
        own.stt_hottest_line_writes = self.chassis.cache.store.stt.as_ref().map_or(0, |stt| stt.hottest());
        vec![self.chassis.statistics.report(), own.report()]
    }
}
