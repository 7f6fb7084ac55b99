//! The load/store unit: from a warp's addresses to coalesced accesses and back to registers.
//!
//! ```text
//!             address_latency                             latency of the path           writeback_latency
//!   issue ----------------------> first access offered ------------------------> last one ----------------> write-back
//!   cycle t                       t + a, then the next ones                      complete at c              c + w
//! ```
//!
//! A coalesced load that hits is written back at `t + a + h + w`, where `h` is the L1D's hit latency, counted from
//! the cycle in which the L1D accepts an access to the cycle in which it returns it. An L1D takes one access a cycle, or as many
//! as it has banks until one of them is busy, in order. With an idle L1D of one and only hits, an instruction of n accesses takes
//! `n - 1` more cycles. A shared memory instruction of p passes begins at `t + a`,
//! or once the previous instruction's passes are done, and completes at `begin + p - 1 + latency`.
//!
//! The unit is fully pipelined: it accepts one instruction per cycle regardless of the hit latency. An instruction
//! occupies one of the `queue` entries of the front until its last access is accepted. After that it is limited only
//! by the number of accesses in flight (`accesses`) and by the L1D's own resources (MSHRs, merges, write buffer).
//!
//! There are four paths: global and local accesses, shared memory, the constant cache and the texture unit. Each path
//! is in order and independent of the others, except that global, local and texture accesses share the L1D's port.
//!
//! Each cycle, the SM calls [`Lsu::complete`] after ticking the L1D, unless the L1D has nothing due; [`Lsu::tick`]; then
//! [`Lsu::finished`] until it returns `None` or the write ports run out; then [`Lsu::issue`] if [`Lsu::can_accept`] is
//! true. A warp in [`Lsu::waiting_fence`] must not issue memory instructions, fences, barriers or its exit.
//!
//! The unit models neither address translation nor replays through the issue stage: an instruction is issued once and
//! stays here until it finishes.

mod address;
mod atomics;
mod banks;
mod behind;
mod bulk;
mod charge;
mod coalesce;
mod collective;
mod config;
mod constants;
mod copies;
mod device;
mod entry;
mod fence;
mod instruction;
mod issue;
mod lanes;
pub(crate) mod moved;
mod pending;
mod prefetch;
mod scratchpad;
mod statistics;
mod texels;
mod texture;
mod words;

#[cfg(test)]
mod tests;

use strata_engine::{Cycle, DelayLine};
use strata_memory::bits::members;
use strata_memory::doors::{Completion, L1d, LaneEvent};
use strata_memory::read_only::ReadOnly;
use strata_ptx::isa::Scope;
use strata_ptx::lanes::LaneMask;

use crate::launch::Launch;
use crate::ledger::Ledger;

pub use behind::WrongAccess;
pub use config::{LsuConfig, ReadOnlyWay, ScratchpadConfig, Surroundings, TextureConfig};
pub use fence::FenceState;
pub use instruction::{Finished, MemoryInstruction};
pub(crate) use moved::Moved;
pub use statistics::LsuStatistics;

use address::Resolver;
use behind::{BEHIND, Behind};
use bulk::Bulk;
use collective::Ending;
use constants::{ConstantPath, Destination};
use copies::Copies;
use device::{Accepted, Completed, DevicePath};
use entry::{Entry, NO_PARENT, OWN, Operation, Place, Table};
use fence::Fences;
use lanes::{Lanes, Waiter};
use scratchpad::Scratchpad;
use texture::TextureUnit;

/// The memories that the unit asked for something in a cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked {
    /// The L1D was offered an access or told to flush.
    pub l1d: bool,
    /// The constant cache was asked for a line.
    pub constants: bool,
    /// The part behind the banks of shared memory has found a program's error ([`Lsu::take_wrong`]).
    pub wrong: bool,
}

/// The load/store unit of an SM, including its shared memory.
pub struct Lsu {
    table: Table,
    /// Occupied and total entries of the front. An instruction takes one entry per path on which it still has
    /// accesses to be accepted. There are none while a transfer of a tile blocks memory instructions.
    front: u32,
    queue: u32,
    /// What lanes pass before the other paths, in machines that have it.
    lanes: Option<Box<Lanes>>,
    /// What stands behind the banks of shared memory, in machines that have it.
    behind: Option<Box<Behind>>,
    device: DevicePath,
    scratchpad: Scratchpad,
    constants: ConstantPath,
    read_only: Destination,
    textures: TextureUnit,
    fences: Fences,
    copies: Copies,
    bulk: Bulk,
    resolver: Resolver,
    /// When shared memory, the requests for constants or the results of fetches have something to do next.
    due: Cycle,
    /// Completed instructions, ordered by the cycle of their write-back.
    done: DelayLine<Place>,
    address_latency: u64,
    writeback_latency: u64,
    /// Accesses that the L1D may take in a cycle.
    accesses_per_cycle: u32,
    statistics: LsuStatistics,
    /// What the SM counts by instruction, CTA or buffer, where that is asked for.
    ledger: Option<Box<Ledger>>,
    /// The same, while nothing of the launch concerns it any more.
    resting: Option<Box<Ledger>>,
}

impl Lsu {
    /// Builds an idle unit for an SM.
    ///
    /// # Errors
    /// Returns a sentence that names the first parameter out of range ([`LsuConfig::check`]), or `warp_slots` when it
    /// exceeds 64.
    pub fn new(config: &LsuConfig, sm: Surroundings) -> Result<Lsu, String> {
        config.check()?;
        if sm.warp_slots > 64 {
            return Err(format!("warp_slots is {}, expected at most 64", sm.warp_slots));
        }
        let (queue, accesses) = (*config.queue, *config.accesses as usize);
        let instructions = config.most_instructions();
        Ok(Lsu {
            table: Table::new(instructions),
            front: 0,
            queue,
            lanes: None,
            behind: None,
            device: DevicePath::new(
                instructions,
                accesses,
                *config.segment_bytes as usize,
                config.combining_lanes(),
                config.global_banks(),
            ),
            scratchpad: Scratchpad::new(&config.shared, sm.shared_bytes, instructions),
            constants: ConstantPath::new(instructions),
            read_only: if config.loads_read_only_as_global() {
                Destination::Global
            } else {
                Destination::ConstantCache
            },
            textures: TextureUnit::new(&config.texture, instructions),
            fences: Fences::new(sm.warp_slots),
            copies: Copies::new(sm.warp_slots),
            bulk: Bulk::new(sm.warp_slots),
            resolver: Resolver::new(sm.first_warp),
            due: Cycle::NEVER,
            done: DelayLine::growing(instructions),
            address_latency: u64::from(*config.address_latency_cycles),
            writeback_latency: u64::from(*config.writeback_latency_cycles),
            accesses_per_cycle: 1,
            statistics: LsuStatistics::default(),
            ledger: None,
            resting: None,
        })
    }

    /// The unit in front of an L1D that may take `accesses` accesses a cycle ([`L1d::accesses_per_cycle`]).
    #[must_use]
    pub fn with_accesses_per_cycle(self, accesses: u32) -> Lsu {
        Lsu { accesses_per_cycle: accesses, ..self }
    }

    /// The unit of a processor without a constant cache, whose instructions have one lane: constants and parameters are
    /// loaded through the L1D.
    #[must_use]
    pub fn without_constant_cache(self) -> Lsu {
        Lsu { read_only: Destination::L1d, ..self }
    }

    /// Loads the launch's texture and surface headers; call before the launch's first instruction.
    pub fn prepare(&mut self, launch: &Launch) {
        self.textures.prepare(launch);
        self.begin_accounts(launch);
    }

    /// Whether the front and the instruction table have room, so that [`Lsu::issue`] may be called.
    #[inline]
    pub fn can_accept(&self) -> bool {
        self.front < self.queue && self.table.has_room()
    }

    /// Occupied entries of the front.
    pub(crate) fn queued(&self) -> u32 {
        self.front
    }

    /// Counts the instructions in the front from a cycle on, where that is asked for.
    #[inline]
    pub(crate) fn gauge_front(&self, now: Cycle) {
        if let Some(ledger) = &self.ledger {
            ledger.queued(self.front, now);
        }
    }

    /// Takes the accesses that the L1D has completed.
    #[inline(always)]
    pub fn complete(&mut self, l1d: &mut (impl L1d + ?Sized), now: Cycle) {
        self.complete_with(true, l1d, now);
    }

    /// As [`Lsu::complete`], of a unit that may have [extras](Lsu::has_extras) or not, as the caller knows when it is compiled.
    #[inline(always)]
    pub fn complete_with(&mut self, extras: bool, l1d: &mut (impl L1d + ?Sized), now: Cycle) {
        if self.device.outstanding() != 0 {
            while let Some(completion) = l1d.completed(now) {
                if extras && self.ledger.is_some() {
                    self.charge_completion(completion.token, now);
                }
                self.complete_access(completion, now);
            }
        }
    }

    /// Advances every path by one cycle: collects lines and passes, advances fences, then offers the next accesses.
    /// Inline, because in most cycles it only finds that few of its parts have anything to do.
    #[inline(always)]
    pub fn tick(
        &mut self,
        l1d: &mut (impl L1d + ?Sized),
        constants: &mut impl ReadOnly,
        now: Cycle,
    ) -> Asked {
        self.tick_with(true, l1d, constants, now)
    }

    /// As [`Lsu::tick`], of a unit that may have [extras](Lsu::has_extras) or not, as the caller knows when it is compiled.
    #[inline(always)]
    pub fn tick_with(
        &mut self,
        extras: bool,
        l1d: &mut (impl L1d + ?Sized),
        constants: &mut impl ReadOnly,
        now: Cycle,
    ) -> Asked {
        let mut asked = Asked::default();
        if self.constants.awaits_lines() {
            self.complete_constants(constants, now);
        }
        if self.due <= now {
            self.complete_passes(now);
        }
        if extras && self.lanes.is_some() {
            self.step_lanes(now);
        }
        if self.fences.is_active() {
            self.step_fences(l1d, now);
            asked.l1d = true;
        }
        if self.due <= now {
            asked.constants = self.constants.next_event() <= now;
            self.begin_passes(constants, now);
            asked.wrong = extras && self.behind.as_ref().is_some_and(|behind| behind.found_wrong());
        }
        if !self.bulk.is_idle() {
            self.step_bulk(now);
        }
        let mut left = self.accesses_per_cycle;
        while left > 0 && self.device.has_offer(&self.textures, l1d, now) {
            asked.l1d = true;
            // What comes behind a refused access waits with it.
            left = if self.offer(extras, l1d, now) { left - 1 } else { 0 };
        }
        asked
    }

    #[inline(always)]
    fn complete_access(&mut self, completion: Completion, now: Cycle) {
        self.statistics.completions += 1;
        match self.device.complete(&mut self.table, &mut self.textures, completion) {
            Completed::Of(place) => self.close(place, now),
            Completed::Detached(warp) => self.fences.close(warp),
            Completed::Own(token, tray) if token & BEHIND != 0 => self.performed_behind(token, tray, now),
            Completed::Own(token, tray) => self.return_tray(token, tray, now),
        }
    }

    #[inline(never)]
    fn complete_constants(&mut self, constants: &mut impl ReadOnly, now: Cycle) {
        while let Some(place) = self.constants.complete(&mut self.table, constants, now) {
            self.close(place, now);
        }
    }

    /// Completes what shared memory and the texture unit have done.
    #[inline(never)]
    fn complete_passes(&mut self, now: Cycle) {
        if self.behind.is_some() {
            self.step_behind(now);
        }
        while let Some(place) = self.scratchpad.complete(now) {
            if place == OWN {
                let access = self.scratchpad.complete_own();
                self.return_tray(access.token, access.tray, now);
            } else {
                self.close(place, now);
            }
        }
        while let Some(place) = self.textures.next_result(now) {
            let entry = self.table.get_mut(place);
            self.textures.results(place, entry.lanes, &mut entry.image.words);
            self.end(place, now);
        }
    }

    #[cold]
    fn step_fences(&mut self, l1d: &mut (impl L1d + ?Sized), now: Cycle) {
        for warp in members(self.fences.evicting()) {
            let everything = LaneEvent::Fence { lanes: LaneMask::MAX };
            self.fences.open(warp as u8);
            self.order_for(everything, Waiter::Fence(warp as u8), now);
        }
        let mut done = self.fences.step(l1d, now, &mut self.statistics);
        while done != 0 {
            let warp = done.trailing_zeros() as u8;
            done &= done - 1;
            if let Some(place) = self.fences.finish(warp, now, &mut self.statistics) {
                self.start(place, now);
            }
        }
    }

    /// Begins the next passes of shared memory and requests the next line of constants.
    #[inline(never)]
    fn begin_passes(&mut self, constants: &mut impl ReadOnly, now: Cycle) {
        if self.banks_are_open()
            && let Some(place) = self.scratchpad.begin(now)
        {
            let before = self.before(moved::pass);
            self.begin_pass(place, now);
            self.charge_place(before, Some(place));
        }
        let before = self.before(moved::request);
        let asking = if before.is_some() { self.constants.front(now) } else { None };
        if let Some(place) = self.constants.offer(&mut self.table, constants, now, &mut self.statistics) {
            self.front -= 1;
            self.close(place, now);
        }
        self.charge_place(before, asking);
        let fetched = self.textures.next_event();
        self.due = self.scratchpad.next_event().min(self.constants.next_event()).min(fetched);
        if let Some(behind) = &self.behind {
            if !self.banks_are_open() {
                // The next passes begin when the part has room.
                let completed = self.scratchpad.next_completion();
                self.due = completed.min(self.constants.next_event()).min(fetched);
            }
            self.due = self.due.min(behind.part.next_event(now.next()));
        }
    }

    /// Begins the passes of an instruction, or of an access of the lane path's own.
    #[inline]
    fn begin_pass(&mut self, place: Place, now: Cycle) {
        if place != OWN {
            self.front -= 1;
            if self.behind.is_some() && !self.offer_behind(place, now) {
                return;
            }
            let entry = self.table.get_mut(place);
            self.scratchpad.perform(place, entry, now, &mut self.statistics);
        } else if let Some(write) = self.scratchpad.perform_own(now, &mut self.statistics) {
            self.return_tray(write.token, write.tray, now);
        }
    }

    /// Offers the next access to the L1D. Returns whether it was taken.
    #[inline(always)]
    fn offer(&mut self, extras: bool, l1d: &mut (impl L1d + ?Sized), now: Cycle) -> bool {
        let before = if extras { self.before(moved::offer) } else { None };
        let (watches, statistics) = (before.is_some(), &mut self.statistics);
        let accepted = self.device.offer(watches, &mut self.table, &mut self.textures, l1d, now, statistics);
        if let Some(before) = before {
            self.charge_offer(&before, &accepted, now);
        }
        let Some(Accepted { entry: place, detached, last, .. }) = accepted else { return false };
        if place == OWN {
            return true;
        }
        if detached {
            self.fences.open(self.table.get(place).warp);
            self.close(place, now);
        }
        if last {
            self.front -= 1;
            self.close(place, now);
        }
        true
    }

    /// Retires one of the parts that an instruction waits for; the last one completes the instruction.
    #[inline(always)]
    fn close(&mut self, place: Place, now: Cycle) {
        let entry = self.table.get_mut(place);
        entry.open -= 1;
        if entry.open == 0 {
            self.close_last(place, now);
        }
    }

    #[inline(never)]
    fn close_last(&mut self, place: Place, now: Cycle) {
        if self.table.get(place).operation == Operation::Texture {
            if self.read_only == Destination::Global && self.load_texels(place, now) {
                return;
            }
            self.begin_results(place, now);
        } else {
            self.end(place, now);
        }
    }

    /// Starts on the results of a fetch whose texels are all here.
    fn begin_results(&mut self, place: Place, now: Cycle) {
        let lanes = self.table.get(place).lanes;
        self.textures.begin_results(place, lanes, now);
        self.due = self.due.min(self.textures.next_event());
    }

    /// Completes an instruction, or starts the second step of one that has two, and schedules its write-back.
    #[inline]
    fn end(&mut self, place: Place, now: Cycle) {
        let entry = self.table.get_mut(place);
        if entry.parent != NO_PARENT {
            return self.end_piece(place, now);
        }
        let mut is_ordered = true;
        if entry.operation == Operation::Load {
            words::extend(entry.ty, entry.vector, &mut entry.image);
        } else if entry.operation.is_collective() {
            match self.end_collective(place, now) {
                Ending::Goes { ordered } => is_ordered = ordered,
                Ending::Stays => return,
            }
        }
        let entry = self.table.get_mut(place);
        if is_ordered {
            self.fences.close(entry.warp);
        }
        self.statistics.finished += 1;
        let cycles = now.since(entry.issued);
        self.statistics.latency_cycles += cycles;
        if self.ledger.is_some() {
            self.charge_end(place, cycles);
        }
        self.done
            .push(now + self.writeback_latency, place)
            .expect("there is room for every instruction in flight");
    }

    /// Returns the next instruction whose write-back is due and frees its table entry. The rows stay valid until the
    /// next instruction is issued.
    #[inline(always)]
    pub fn finished(&mut self, now: Cycle) -> Option<Finished<'_>> {
        let place = self.done.pop(now)?;
        self.table.release(place);
        let entry = self.table.get(place);
        let Entry { warp, pc, lanes, result_rows, ref image, .. } = *entry;
        Some(Finished { warp, pc, lanes, rows: &image.words[..usize::from(result_rows)] })
    }

    /// Starts a fence. The warp stays in [`Lsu::waiting_fence`] until the fence completes.
    ///
    /// # Panics
    /// When the warp already waits for a fence.
    pub fn fence(&mut self, warp: u8, scope: Scope, now: Cycle) {
        self.fences.begin(warp, scope, None, now);
    }

    /// Mask of warps that wait for an explicit fence or for one implied by an acquire or release operation.
    #[inline]
    pub fn waiting_fence(&self) -> u64 {
        self.fences.waiting()
    }

    /// The state of a warp's fence, for the deadlock report.
    pub fn fence_state(&self, warp: u8) -> FenceState {
        self.fences.state(warp)
    }

    /// Requests an L1D flush (write back and invalidate) once every access has been performed. Call at the end of a
    /// kernel, when no warp is resident.
    pub fn flush_for_kernel_end(&mut self) {
        self.fences.end_kernel();
    }

    /// Whether the flush requested by [`Lsu::flush_for_kernel_end`] is done; returns true once per request.
    pub fn kernel_end_flushed(&mut self, now: Cycle) -> bool {
        self.fences.has_ended_kernel() && self.has_ended_behind(now) && self.fences.kernel_ended()
    }

    /// A warp's unfinished instructions plus its unanswered reductions.
    pub fn pending(&self, warp: u8) -> u32 {
        self.fences.unperformed(warp)
    }

    /// Whether no instruction, access or fence is in flight.
    pub fn is_idle(&self) -> bool {
        let lanes = self.lanes.as_ref().is_none_or(|lanes| lanes.is_idle());
        let behind = self.behind.as_ref().is_none_or(|behind| behind.part.is_idle());
        self.table.len() == 0
            && self.device.outstanding() == 0
            && self.fences.waiting() == 0
            && lanes
            && behind
    }

    /// A CTA starts in a slot: its cluster, its number in it, and where its shared memory begins.
    pub fn start_cta(&mut self, slot: u8, of: (u64, u32), base: u32) {
        self.resolver.start_cta(slot, of, base);
    }

    /// Zeroes `bytes` bytes of shared memory from `base` on, before a CTA starts.
    ///
    /// # Panics
    /// When the range lies outside the SM's shared memory.
    pub fn clear_shared(&mut self, base: u32, bytes: u32) {
        self.scratchpad.clear(base, bytes);
    }

    /// Earliest cycle from `now` on in which [`Lsu::tick`] changes anything. Completions are excluded: the L1D and
    /// the constant cache announce those themselves.
    #[inline]
    pub fn next_event(&self, l1d: &(impl L1d + ?Sized), now: Cycle) -> Cycle {
        self.next_event_with(true, l1d, now)
    }

    /// As [`Lsu::next_event`], of a unit that may have [extras](Lsu::has_extras) or not, as the caller knows when it is compiled.
    #[inline(always)]
    pub fn next_event_with(&self, extras: bool, l1d: &(impl L1d + ?Sized), now: Cycle) -> Cycle {
        let access = self.device.next_event(l1d, &self.textures, now);
        if access <= now || !self.bulk.is_idle() && self.bulk.has_left() && self.can_accept() {
            return now;
        }
        let next = access.min(self.due).min(self.fences.next_event(l1d, now)).min(self.done.next_ready());
        match &self.lanes {
            Some(lanes) if extras => next.min(lanes.next_event(now)),
            _ => next,
        }
    }

    /// Completes its and the L1D's counters of refusals for all cycles before `end`, where the L1D counts refusals by the cycle.
    pub fn settle(&mut self, l1d: &mut (impl L1d + ?Sized), end: Cycle) {
        self.device.settle(l1d, end, &mut self.statistics);
    }

    /// Adds one sentence to `report` for each instruction in flight, refused access and waiting fence.
    pub fn waits(&self, report: &mut Vec<String>) {
        for entry in self.table.iter() {
            let Entry { warp, line, pc, open, global, local_left, shared, constant, .. } = entry;
            report.push(format!(
                "warp {warp}: memory instruction at line {line} (pc {pc}), issued in cycle {}, waits for {open} \
                 parts; lanes not offered yet: global {global:#x}, local {local_left:#x}, constant \
                 {constant:#x}; lanes in shared memory {shared:#x}",
                entry.issued
            ));
        }
        if let Some(lanes) = &self.lanes {
            lanes.path.waits(report);
        }
        if let Some(behind) = &self.behind {
            behind.part.waits(report);
        }
        if let Some((place, line)) = self.device.held()
            && place == OWN
        {
            report.push(format!("the L1D refuses line {line} of the lane path"));
        } else if let Some((place, line)) = self.device.held() {
            report.push(format!("the L1D refuses line {line} of warp {}", self.table.get(place).warp));
        }
        let mut waiting = self.fences.waiting();
        while waiting != 0 {
            let warp = waiting.trailing_zeros() as u8;
            waiting &= waiting - 1;
            report.push(format!(
                "warp {warp}: its fence is {:?}, {} of its accesses are not performed",
                self.fences.state(warp),
                self.fences.unperformed(warp)
            ));
        }
    }

    /// Atomics that have changed memory and returned what was there, per access or lane: more come of more changes.
    pub fn changed_atomics(&self) -> u64 {
        self.device.changed() + self.scratchpad.changed()
    }

    /// The counters since construction.
    pub fn statistics(&self) -> &LsuStatistics {
        &self.statistics
    }
}
