//! The path to the L1D: generates accesses, offers them, and collects completions.

use std::collections::VecDeque;

use strata_engine::{Cycle, DelayLine};
use strata_memory::atomic::AtomicBatch;
use strata_memory::doors::{
    Access, Action, Completion, Hint, HintLevel, Hinted, L1d, LaneAccess, LaneCause, Policy, Refusal,
};
use strata_memory::{Tray, Trays};

use super::atomics;
use super::banks::Banks;
use super::behind::BEHIND;
use super::coalesce::Group;
use super::entry::{Entry, OWN, Operation, Place, Table};
use super::pending::{Part, Pending, PendingAccesses};
use super::statistics::LsuStatistics;
use super::texture::TextureUnit;
use super::words;
use crate::ledger::Offered;

/// What the L1D refused.
#[derive(Clone, Debug)]
enum Refused {
    Access(Access),
    Hint(Hint),
}

/// An access or hint that the L1D refused, to be retried.
#[derive(Clone, Debug)]
struct Held {
    refused: Refused,
    /// What it is once the L1D takes it.
    accepted: Accepted,
    why: Refusal,
    /// Cycle of the refusal, or the last that counts as one.
    since: Cycle,
    /// Value of [`L1d::changes`] at the refusal.
    changes: u64,
}

impl Held {
    /// Whether retrying may succeed.
    #[inline]
    fn may_pass(&self, l1d: &(impl L1d + ?Sized), now: Cycle) -> bool {
        matches!(self.why, Refusal::Port | Refusal::Bank) || l1d.changes(self.why, now) != self.changes
    }

    /// Counts the refusals in the cycles before `end` in which nothing was offered, if the L1D counts them.
    #[inline]
    fn settle(&mut self, l1d: &mut (impl L1d + ?Sized), end: Cycle, statistics: &mut LsuStatistics) {
        let cycles = end.since(self.since.next());
        if cycles > 0 && l1d.count_refusals(self.why, cycles) {
            count_refusal(self.why, cycles, statistics);
            self.since += cycles;
        }
    }
}

/// An access that the L1D accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The instruction's place in the table.
    pub entry: Place,
    /// The instruction does not wait for this access (`red`); it completes as [`Completed::Detached`].
    pub detached: bool,
    /// Whether this was the instruction's last access.
    pub last: bool,
    /// Whether the instruction waits in the texture unit's queue.
    is_texture: bool,
    /// The access; `None` of a hint, and of a fetch that reads nothing.
    pub offered: Option<Offered>,
}

/// A performed access, by who was waiting for it.
#[derive(Debug)]
pub enum Completed {
    /// The lane path was waiting for its tray, under its own token.
    Own(u32, Tray),
    /// The instruction at this place was waiting for the access.
    Of(Place),
    /// Only this warp's fences were waiting for the access.
    Detached(u8),
}

/// Instructions waiting to make accesses, and accesses in flight at the L1D.
#[derive(Debug)]
pub struct DevicePath {
    /// Instructions with accesses yet to be generated, oldest first.
    queue: DelayLine<Place>,
    /// Accesses of the lane path's own ([`OWN`]) in the queue.
    own: VecDeque<LaneAccess>,
    /// The access that the L1D refused last.
    held: Option<Held>,
    pending: PendingAccesses,
    /// First cycle in which a ready access could not be generated because `pending` was full.
    full_since: Option<Cycle>,
    trays: Trays,
    /// Boxed because an access carries its batch through the memory system and back.
    #[allow(clippy::vec_box)]
    batches: Vec<Box<AtomicBatch>>,
    segment_bytes: usize,
    /// Lanes whose atomics on the same address are combined, a power of two.
    combining_lanes: u32,
    /// Accesses by atomics that have changed memory and returned what was there.
    changed: u64,
    /// The banks that words of global memory pass, if they do.
    banks: Option<Banks>,
    /// Whether the oldest instruction has made its first access.
    begun: bool,
    /// First cycle in which it may; zero when it has.
    opens: Cycle,
    /// Earliest cycle in which the oldest instruction can make an access.
    ready: Cycle,
    /// The cycle behind the passes of the instruction that began last.
    passed: Cycle,
    /// Who goes first when both have an access ready: true for the texture unit.
    texture_turn: bool,
}

impl DevicePath {
    /// An idle path for at most `instructions` instructions and `accesses` accesses in flight.
    pub fn new(
        instructions: usize,
        accesses: usize,
        segment_bytes: usize,
        combining_lanes: u32,
        banks: Option<Banks>,
    ) -> DevicePath {
        DevicePath {
            queue: DelayLine::growing(instructions),
            own: VecDeque::new(),
            held: None,
            pending: PendingAccesses::new(accesses),
            full_since: None,
            trays: Trays::new(accesses),
            batches: Vec::new(),
            segment_bytes,
            combining_lanes,
            changed: 0,
            banks,
            begun: false,
            opens: Cycle::ZERO,
            ready: Cycle::NEVER,
            passed: Cycle::ZERO,
            texture_turn: false,
        }
    }

    /// Enqueues an instruction; it makes its first access at `ready` or later.
    #[inline]
    pub fn push(&mut self, entry: Place, ready: Cycle) {
        self.queue.push(ready, entry).expect("the queue has room for every instruction in flight");
        self.ready = self.queue.next_ready().max(self.opens);
    }

    /// Enqueues an access of the lane path's own, or of the part behind the banks. It makes no access before the instructions in front
    /// of it.
    pub fn push_own(&mut self, access: LaneAccess, ready: Cycle) {
        self.own.push_back(access);
        self.push(OWN, self.queue.last_ready().map_or(ready, |last| last.max(ready)));
    }

    /// Number of instructions and accesses in the queue.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Whether an access is ready that the L1D may take.
    #[inline]
    pub fn has_offer(&self, textures: &TextureUnit, l1d: &(impl L1d + ?Sized), now: Cycle) -> bool {
        match &self.held {
            Some(held) => held.may_pass(l1d, now),
            None => self.ready.min(textures.queue.next_ready()) <= now,
        }
    }

    /// Lets an instruction that makes its first access pass the banks.
    #[inline(always)]
    fn pass(&mut self, entry: &Entry, now: Cycle) {
        let Some(banks) = self.banks else { return };
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        let passes = match entry.operation {
            Operation::Load | Operation::Store | Operation::Copy | Operation::Texture
                if entry.global != 0 =>
            {
                banks.passes(entry, entry.global).taken
            }
            _ => 1,
        };
        (self.opens, self.passed) = (Cycle::ZERO, now + passes);
        self.ready = self.queue.next_ready();
    }

    /// Takes the oldest instruction from the queue. The next begins behind its passes.
    #[inline(always)]
    fn pop(&mut self, now: Cycle) {
        self.queue.pop(now);
        (self.begun, self.opens) = (false, self.passed);
        self.ready = self.queue.next_ready().max(self.opens);
    }

    /// Offers one access to the L1D; call while [`DevicePath::has_offer`] is true. Returns the access when the L1D
    /// accepts it. `watches` says whether somebody wants to know the access.
    #[inline(always)]
    pub fn offer(
        &mut self,
        watches: bool,
        table: &mut Table,
        textures: &mut TextureUnit,
        l1d: &mut (impl L1d + ?Sized),
        now: Cycle,
        statistics: &mut LsuStatistics,
    ) -> Option<Accepted> {
        if self.held.is_some() {
            return self.retry(watches, textures, l1d, now, statistics);
        }
        let texels_ready = textures.queue.next_ready() <= now;
        if texels_ready && (self.texture_turn || self.ready > now) {
            return self.offer_texels(watches, table, textures, l1d, now, statistics);
        }
        let place = *self.queue.front(now)?;
        if !self.has_room(now, statistics) {
            return None;
        }
        self.texture_turn = true;
        if place == OWN {
            return self.offer_own(watches, textures, l1d, now, statistics);
        }
        let entry = table.get_mut(place);
        if let Operation::Prefetch(level) = entry.operation {
            return self.offer_hint((place, level), entry, l1d, now, statistics);
        }
        self.pass(entry, now);
        let access = self.make(place, entry, statistics);
        let (detached, last) = (entry.is_detached(), !entry.has_device_lanes());
        let accepted = Accepted { entry: place, detached, last, is_texture: false, offered: None };
        self.present(watches, access, accepted, textures, l1d, now)
    }

    /// Offers the next line of a prefetch.
    #[inline(never)]
    fn offer_hint(
        &mut self,
        (place, level): (Place, HintLevel),
        entry: &mut Entry,
        l1d: &mut (impl L1d + ?Sized),
        now: Cycle,
        statistics: &mut LsuStatistics,
    ) -> Option<Accepted> {
        let (hint, lanes) = entry.next_hint(level);
        statistics.hints += 1;
        statistics.lane_addresses += u64::from(lanes.count_ones());
        let last = !entry.has_device_lanes();
        let accepted = Accepted { entry: place, detached: false, last, is_texture: false, offered: None };
        self.present_hint(hint, accepted, l1d, now, statistics)
    }

    /// Offers a hint, and holds it if the L1D refuses it.
    fn present_hint(
        &mut self,
        hint: Hint,
        accepted: Accepted,
        l1d: &mut (impl L1d + ?Sized),
        now: Cycle,
        statistics: &mut LsuStatistics,
    ) -> Option<Accepted> {
        match l1d.hint(&hint, now) {
            Ok(Hinted::Taken) => statistics.hints_taken += 1,
            Ok(Hinted::Ignored) => statistics.hints_ignored += 1,
            Ok(Hinted::Dropped) => statistics.hints_dropped += 1,
            Err(why) => {
                let (refused, changes) = (Refused::Hint(hint), l1d.changes(why, now));
                self.held = Some(Held { refused, accepted, why, since: now, changes });
                return None;
            }
        }
        if accepted.last {
            self.pop(now);
        }
        Some(accepted)
    }

    /// Offers the lane path's next access.
    #[inline(never)]
    fn offer_own(
        &mut self,
        watches: bool,
        textures: &mut TextureUnit,
        l1d: &mut (impl L1d + ?Sized),
        now: Cycle,
        statistics: &mut LsuStatistics,
    ) -> Option<Accepted> {
        let LaneAccess { token, cause, line, bytes, writes, tray } =
            self.own.pop_front().expect("an access was queued");
        // What copies tiles leaves nothing in the L1D.
        let policy = if token & BEHIND != 0 { Policy::Bypass } else { Policy::Cached };
        let pending = Pending { entry: OWN, warp: cause.warp, detached: false, part: Part::Own(token) };
        let token = self.pending.insert(pending);
        statistics.accesses += 1;
        statistics.bytes_accessed += u64::from(bytes.count());
        statistics.path_accesses += 1;
        statistics.path_bytes += u64::from(bytes.count());
        let action = if writes { Action::Store(tray) } else { Action::Load(tray) };
        let LaneCause { pc, warp } = cause;
        let access = Access { line, bytes, action, policy, token, pc, warp, leads: true };
        let accepted = Accepted { entry: OWN, detached: false, last: true, is_texture: false, offered: None };
        self.present(watches, access, accepted, textures, l1d, now)
    }

    /// Offers the next access of a texture fetch.
    #[inline(never)]
    fn offer_texels(
        &mut self,
        watches: bool,
        table: &mut Table,
        textures: &mut TextureUnit,
        l1d: &mut (impl L1d + ?Sized),
        now: Cycle,
        statistics: &mut LsuStatistics,
    ) -> Option<Accepted> {
        let place = *textures.queue.front(now)?;
        let accepted =
            Accepted { entry: place, detached: false, last: true, is_texture: true, offered: None };
        if !textures.get_mut(place).has_left() {
            // Nothing to read: a query, or every lane lies beyond the border.
            textures.queue.pop(now);
            return Some(accepted);
        }
        if !self.has_room(now, statistics) {
            return None;
        }
        self.texture_turn = false;
        let access = self.make_texels(place, table.get_mut(place), textures, statistics);
        let last = !textures.get_mut(place).has_left();
        self.present(watches, access, Accepted { last, ..accepted }, textures, l1d, now)
    }

    /// Whether another access can be in flight; counts the cycles in which none could.
    #[inline]
    fn has_room(&mut self, now: Cycle, statistics: &mut LsuStatistics) -> bool {
        if self.pending.is_full() {
            self.full_since.get_or_insert(now);
            return false;
        }
        if let Some(since) = self.full_since.take() {
            statistics.full_cycles += now.since(since);
        }
        true
    }

    /// Offers what the L1D refused.
    #[inline(never)]
    fn retry(
        &mut self,
        watches: bool,
        textures: &mut TextureUnit,
        l1d: &mut (impl L1d + ?Sized),
        now: Cycle,
        statistics: &mut LsuStatistics,
    ) -> Option<Accepted> {
        let mut held = self.held.take()?;
        held.settle(l1d, now, statistics);
        let Held { refused, accepted, why, since, .. } = held;
        count_refusal(why, now.since(since), statistics);
        match refused {
            Refused::Access(access) => self.present(watches, access, accepted, textures, l1d, now),
            Refused::Hint(hint) => self.present_hint(hint, accepted, l1d, now, statistics),
        }
    }

    /// Offers an access, and holds it if the L1D refuses it.
    #[inline(always)]
    fn present(
        &mut self,
        watches: bool,
        access: Access,
        accepted: Accepted,
        textures: &mut TextureUnit,
        l1d: &mut (impl L1d + ?Sized),
        now: Cycle,
    ) -> Option<Accepted> {
        let offered = if watches { Some(Offered::of(&access)) } else { None };
        let accepted = Accepted { offered, ..accepted };
        if let Err((access, why)) = l1d.offer(access, now) {
            let changes = l1d.changes(why, now);
            let refused = Refused::Access(access);
            self.held = Some(Held { refused, accepted, why, since: now, changes });
            return None;
        }
        match (accepted.last, accepted.is_texture) {
            (true, true) => _ = textures.queue.pop(now),
            (true, false) => self.pop(now),
            (false, _) => {}
        }
        Some(accepted)
    }

    /// Generates the next access of a texture fetch.
    fn make_texels(
        &mut self,
        place: Place,
        entry: &mut Entry,
        textures: &mut TextureUnit,
        statistics: &mut LsuStatistics,
    ) -> Access {
        let (group, segment, requested) = textures.get_mut(place).next_group(self.segment_bytes);
        let part = Part::Texels { segment, lanes: group.lanes };
        let token = self.pending.insert(Pending { entry: place, warp: entry.warp, detached: false, part });
        entry.open += 1;
        statistics.accesses += 1;
        statistics.bytes_accessed += u64::from(group.bytes.count());
        statistics.lane_addresses += u64::from(group.lanes.count_ones());
        statistics.bytes_requested += requested;
        let (action, policy) = (Action::Load(self.trays.take()), entry.policy);
        let (line, bytes) = (group.line, group.bytes);
        Access { line, bytes, action, policy, token, pc: entry.pc, warp: entry.warp, leads: true }
    }

    /// Generates the next access of any other instruction.
    #[inline(always)]
    fn make(&mut self, place: Place, entry: &mut Entry, statistics: &mut LsuStatistics) -> Access {
        let leads = entry.is_untouched();
        let (group, piece) = entry.next_device_group(self.segment_bytes);
        let part = Part::Words(piece);
        let pending = Pending { entry: place, warp: entry.warp, detached: entry.is_detached(), part };
        let token = self.pending.insert(pending);
        entry.open += 1;
        statistics.accesses += 1;
        statistics.bytes_accessed += u64::from(group.bytes.count());
        let lanes = u64::from(group.lanes.count_ones());
        statistics.lane_addresses += lanes;
        statistics.bytes_requested += lanes * u64::from(piece.width);
        let action = match entry.operation {
            // Texels come here where they are loads of global memory.
            Operation::Load | Operation::Copy | Operation::Texture => Action::Load(self.trays.take()),
            Operation::Store => {
                let mut tray = self.trays.take();
                words::gather(&mut tray, &entry.addresses, piece, &entry.image.words);
                Action::Store(tray)
            }
            Operation::Atomic { .. } => {
                let mut batch = self.batches.pop().unwrap_or_else(atomics::new_batch);
                atomics::fill(&mut batch, entry, group.lanes, self.combining_lanes);
                Action::Atomic(batch)
            }
            Operation::LoadMatrix(_)
            | Operation::Mbarrier(_)
            | Operation::CopyArrive
            | Operation::Bulk
            | Operation::Prefetch(_)
            | Operation::Tile => {
                unreachable!("these stay in shared memory, or are no accesses")
            }
        };
        let Group { line, bytes, .. } = group;
        Access { line, bytes, action, policy: entry.policy, token, pc: entry.pc, warp: entry.warp, leads }
    }

    /// Takes an access that the L1D has completed, and copies its bytes into the instruction's words.
    #[inline(always)]
    pub fn complete(
        &mut self,
        table: &mut Table,
        textures: &mut TextureUnit,
        completion: Completion,
    ) -> Completed {
        let Pending { entry: place, warp, detached, part } = self.pending.remove(completion.token);
        if place == OWN {
            return own(part, completion.action);
        }
        match completion.action {
            Action::Load(tray) => {
                match part {
                    Part::Words(piece) => {
                        let entry = table.get_mut(place);
                        words::scatter(&tray, &entry.addresses, piece, &mut entry.image.words);
                    }
                    Part::Own(_) => unreachable!("the lane path's accesses have no instruction"),
                    Part::Texels { segment, lanes } => {
                        textures.get_mut(place).take(&tray, segment, self.segment_bytes, lanes);
                    }
                }
                self.trays.put(tray);
            }
            Action::Store(tray) => self.trays.put(tray),
            Action::Atomic(batch) => {
                if !detached {
                    let Part::Words(piece) = part else { unreachable!("atomics move words, not {part:?}") };
                    let changed =
                        atomics::take(&batch, table.get_mut(place), piece.lanes, self.combining_lanes);
                    self.changed += u64::from(changed);
                }
                self.batches.push(batch);
            }
        }
        if detached { Completed::Detached(warp) } else { Completed::Of(place) }
    }

    /// Earliest cycle in which an access can be offered.
    pub fn next_event(&self, l1d: &(impl L1d + ?Sized), textures: &TextureUnit, now: Cycle) -> Cycle {
        match &self.held {
            Some(held) if held.may_pass(l1d, now) => now,
            Some(_) => Cycle::NEVER,
            // Room for another access comes with a completion, which the L1D announces.
            None if self.pending.is_full() => Cycle::NEVER,
            None => self.ready.min(textures.queue.next_ready()),
        }
    }

    /// Completes the counters of refusals for all cycles before `end`, where the L1D counts refusals by the cycle.
    pub fn settle(&mut self, l1d: &mut (impl L1d + ?Sized), end: Cycle, statistics: &mut LsuStatistics) {
        if let Some(held) = &mut self.held {
            held.settle(l1d, end, statistics);
        }
    }

    /// Accesses by atomics that have changed memory and returned what was there.
    pub fn changed(&self) -> u64 {
        self.changed
    }

    /// Number of accesses that are in flight at the L1D or refused by it; hints are none.
    pub fn outstanding(&self) -> usize {
        self.pending.len()
    }

    /// The refused access, if any.
    pub fn held_access(&self) -> Option<Offered> {
        self.held.as_ref()?.accepted.offered
    }

    /// Why the L1D refused what is offered again, if it did.
    pub fn why_held(&self) -> Option<Refusal> {
        self.held.as_ref().map(|held| held.why)
    }

    /// The instruction and line of the refused access or hint, if any.
    pub fn held(&self) -> Option<(Place, strata_memory::LineAddress)> {
        let held = self.held.as_ref()?;
        let line = match &held.refused {
            Refused::Access(access) => access.line,
            Refused::Hint(hint) => hint.line,
        };
        Some((held.accepted.entry, line))
    }
}

/// Tells what an access of the lane path's own brings back.
#[cold]
fn own(part: Part, action: Action) -> Completed {
    match (part, action) {
        (Part::Own(token), Action::Load(tray) | Action::Store(tray)) => Completed::Own(token, tray),
        other => unreachable!("{other:?} is not the lane path's"),
    }
}

fn count_refusal(why: Refusal, cycles: u64, statistics: &mut LsuStatistics) {
    let counter = match why {
        Refusal::Port => &mut statistics.refused_port,
        Refusal::Mshr => &mut statistics.refused_mshr,
        Refusal::Merge => &mut statistics.refused_merge,
        Refusal::Ways => &mut statistics.refused_ways,
        Refusal::Network => &mut statistics.refused_network,
        Refusal::Bank => &mut statistics.refused_bank,
        Refusal::Flush => &mut statistics.refused_flush,
    };
    *counter += cycles;
}
