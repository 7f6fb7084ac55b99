//! The stages after issue: operand collection, dispatch and write-back.

use strata_engine::Cycle;
use strata_memory::bits::members;
use strata_memory::doors::RegisterFile;
use strata_memory::register_banks::WriteInPlace;
use strata_ptx::isa::{Dst, Instruction, Op, Pc};
use strata_ptx::lanes::{ALL_LANES, Row};

use crate::config::UnitKind;
use crate::doors::Doors;
use crate::execute::View;
use crate::launch::Launch;
use crate::lsu::{MemoryInstruction, moved};
use crate::sm::Sm;
use crate::target::Target;
use crate::token::Token;

impl<D: Doors> Sm<D> {
    /// Advances the register file by one cycle and collects operands.
    pub(crate) fn collect_operands(&mut self, now: Cycle) {
        // Even without pending reads, the register file may have writes to drain to its banks.
        let has_none = self.collectors.is_empty() || self.registers.banks().is_some();
        if has_none && self.registers.next_event(now) > now {
            return;
        }
        let mut complete = 0;
        let ready = self.collectors.ready();
        if D::EXTRAS
            && let Some(beside) = &mut self.beside
        {
            self.collectors.collect_beside((beside, &mut *self.registers), &mut complete, now);
        } else {
            self.collectors.collect(&mut *self.registers, &mut complete, now);
        }
        self.warps.dirty |= complete & self.warps.blocked_by_reads;
        if D::EXTRAS && complete != 0 && self.follows() {
            self.follow_operands(ready, now);
        }
    }

    /// Dispatches instructions whose operands have arrived to their units, oldest first.
    pub(crate) fn dispatch(&mut self, launch: &Launch, now: Cycle) {
        if let Some((index, target)) = self.collectors.only_ready() {
            return self.dispatch_only(launch, index, target, now);
        }
        let ready = self.collectors.ready_targets();
        if Target::CONTROL.is_in(ready) {
            while let Some(index) = self.collectors.oldest_ready(Target::CONTROL) {
                self.resolve(launch, index, now);
            }
        }
        for target in Target::members(ready & Target::COMPUTING) {
            while let Some(index) = self.collectors.oldest_ready(target)
                && let Some(unit) = self.units.available(target, now)
            {
                self.compute(launch, index, unit, now);
            }
        }
        // One memory instruction per cycle: the width of the path into the load/store unit.
        if Target::MEMORY.is_in(ready)
            && self.lsu.can_accept()
            && let Some(index) = self.collectors.oldest_ready_in_order(Target::MEMORY)
        {
            self.access(launch, index, now);
        }
    }

    /// Dispatches the only instruction whose operands have arrived.
    #[inline(always)]
    fn dispatch_only(&mut self, launch: &Launch, index: usize, target: Target, now: Cycle) {
        match target.kind() {
            None => self.resolve(launch, index, now),
            Some(UnitKind::Ldst) => {
                if self.lsu.can_accept() && self.collectors.oldest_ready_in_order(target) == Some(index) {
                    self.access(launch, index, now);
                }
            }
            Some(_) => {
                if let Some(unit) = self.units.available(target, now) {
                    self.compute(launch, index, unit, now);
                }
            }
        }
    }

    #[inline(always)]
    fn compute(&mut self, launch: &Launch, index: usize, unit: usize, now: Cycle) {
        if D::EXTRAS && self.follows() {
            self.follow_dispatch(index, now);
        }
        let collected = self.collectors.get(index);
        let micro = &self.micro[collected.pc as usize];
        if micro.routine.is_some() {
            let token = Token::of_executed(collected.warp, collected.pc, collected.lanes);
            self.units.dispatch_executed(micro.class, unit, token, now);
        } else {
            self.compute_collected(launch, index, unit, now);
        }
        self.collectors.remove(index);
    }

    /// Computes with operands that have been collected.
    #[inline(never)]
    fn compute_collected(&mut self, launch: &Launch, index: usize, unit: usize, now: Cycle) {
        let collected = self.collectors.get(index);
        let (rows, predicates) = self.collectors.operands(index);
        let instruction = &launch.kernel.code[collected.pc as usize];
        let context = &mut self.warps.contexts[collected.warp as usize];
        if matches!(instruction.op, Op::ReadSpecial(_)) {
            (context.clock, context.nanoseconds) = (now.0, nanoseconds(now, self.clock_mhz));
        }
        let routine = self.units.routine(collected.pc);
        let outcome = self.units.dispatch(instruction.class, unit, now);
        outcome.begin(collected.warp, collected.pc);
        let outcome = Some(outcome);
        let mut view = View { instruction, rows, constants: &launch.constants, predicates, outcome };
        routine(instruction, &mut view, collected.lanes, context);
    }

    fn access(&mut self, launch: &Launch, index: usize, now: Cycle) {
        let collected = self.collectors.get(index);
        let (rows, predicates) = self.collectors.operands(index);
        let warp = collected.warp as usize;
        let instruction = &launch.kernel.code[collected.pc as usize];
        let cta = self.warps.cta[warp] as usize;
        let context = &self.warps.contexts[warp];
        let memory = MemoryInstruction {
            instruction,
            pc: collected.pc,
            warp: collected.warp,
            lanes: collected.lanes,
            shared_base: self.ctas.shared_base(cta),
            cta_slot: cta as u8,
            cta: context.ctaid,
            warp_in_cta: context.warp,
        };
        let view = View { instruction, rows, constants: &launch.constants, predicates, outcome: None };
        let before = if D::EXTRAS { self.lsu.before(moved::issue) } else { None };
        if before.is_some()
            && let Some(path) = self.lsu.path()
        {
            path.dispatched(warp, collected.pc, now, None);
        }
        if let Err(fault) = self.lsu.issue(memory, &view, launch, now) {
            self.fault = Some(fault);
            return;
        }
        if D::EXTRAS {
            self.lsu.charge(before, collected.warp, collected.pc);
        }
        self.collectors.remove(index);
        self.gave_to_memory = true;
        self.collecting_memory[warp] -= 1;
        self.warps.at_fence = self.lsu.waiting_fence();
        let bit = 1 << warp;
        if D::EXTRAS && self.lsu.holds_warp(instruction.op) {
            self.warps.resolving &= !bit;
            self.warps.at_copies = self.lsu.waiting_copies();
        }
        // The instruction that resolves later may be another one of the same warp, issued after this one.
        if instruction.fences {
            self.warps.resolving &= !bit;
        }
        self.warps.recheck(bit);
    }

    /// Writes results that are due to the register file, oldest first; those it refuses are retried.
    pub(crate) fn write_back(&mut self, launch: &Launch, now: Cycle) {
        let mut kept = 0;
        for index in 0..self.units.advance(now) {
            let token = self.units.writing(index);
            let left = match token.outcome() {
                None => self.write_executed(launch, token, now),
                Some(place) => self.write_outcome(launch, place, now).then_some(token),
            };
            if let Some(token) = left {
                self.units.keep(token, kept);
                kept += 1;
            }
        }
        self.units.end_writing(kept);
        for warp in members(self.warps.barrier_results_due) {
            self.write_barrier_result(launch, warp, now);
        }
    }

    /// Takes the time to write the rows of an instruction that has been executed. Returns what is left of it if one is refused.
    #[inline(always)]
    fn write_executed(&mut self, launch: &Launch, token: Token, now: Cycle) -> Option<Token> {
        let instruction = &launch.kernel.code[token.pc() as usize];
        let writes = &self.micro[token.pc() as usize].writes_to;
        if writes.rows != 0
            && let Some(banks) = self.registers.banks()
        {
            let write = WriteInPlace { done: token.done(), is_partial: token.is_partial() };
            let registers = instruction.writes.as_slice();
            let done = banks.write_in_place(token.warp(), registers, writes, write, now);
            if done < writes.rows {
                return Some(token.with_done(done));
            }
        }
        self.end_instruction(usize::from(token.warp()), token.pc(), instruction, now);
        None
    }

    /// Writes rows of an outcome. Returns whether the register file refused one.
    #[inline(always)]
    fn write_outcome(&mut self, launch: &Launch, place: u16, now: Cycle) -> bool {
        if D::EXTRAS && self.beside.is_some() {
            if self.write_beside(launch, place, now) {
                return true;
            }
        } else {
            let outcome = self.units.outcome(place);
            while let Some((register, lanes, row)) = outcome.next_row() {
                if !self.registers.offer_write(outcome.warp, register, lanes, row, now) {
                    return true;
                }
                outcome.took_row();
            }
        }
        let outcome = self.units.outcome(place);
        let warp = outcome.warp as usize;
        outcome.write_predicates(&mut self.warps.predicates[warp]);
        let pc = outcome.pc;
        self.units.free(place);
        self.end_instruction(warp, pc, &launch.kernel.code[pc as usize], now);
        false
    }

    /// Writes rows of an outcome beside the register file once it has taken the instruction's accesses. Returns whether it
    /// refused one.
    #[inline(never)]
    fn write_beside(&mut self, launch: &Launch, place: u16, now: Cycle) -> bool {
        let (outcome, beside) = (self.units.outcome(place), self.beside.as_mut().expect("values lie there"));
        let accesses = &launch.kernel.accesses[outcome.pc as usize].writes;
        while let Some((number, from)) = accesses.get(outcome.accepted()) {
            // A result that the instruction does not have this time is not written.
            if let Some((lanes, row)) = outcome.value(*from)
                && !self.registers.offer_write(outcome.warp, *number, lanes, &row, now)
            {
                return true;
            }
            outcome.took_row();
        }
        outcome.rows().for_each(|(register, lanes, row)| beside.write(outcome.warp, register, lanes, row));
        false
    }

    /// Ends an instruction whose results have been written.
    #[inline(always)]
    fn end_instruction(&mut self, warp: usize, pc: Pc, instruction: &Instruction, now: Cycle) {
        let micro = &self.micro[pc as usize];
        let is_awaited = self.scoreboard.release(warp, micro, instruction);
        self.warps.recheck(u64::from(is_awaited) << warp);
        if D::EXTRAS && self.lsu.has_ledger() {
            let is_awaited = is_awaited || micro.is_subroutine;
            if let Some(path) = self.lsu.path() {
                path.ended(warp, pc, is_awaited, now);
            }
        }
        if D::EXTRAS && micro.is_subroutine {
            self.warps.in_subroutine &= !(1 << warp);
            self.warps.recheck(1 << warp);
        }
        self.finish_instruction(warp, now);
    }

    fn write_barrier_result(&mut self, launch: &Launch, warp: usize, now: Cycle) {
        let result = self.warps.barrier_results[warp];
        let instruction = &launch.kernel.code[result.pc as usize];
        match instruction.dst[0] {
            Dst::Reg(register) => {
                let row = Row::splat(result.value);
                let accesses = launch.kernel.accesses.get(result.pc as usize);
                let number =
                    accesses.and_then(|of| of.writes.first()).map_or(register, |(number, _)| *number);
                if !self.registers.offer_write(warp as u8, number, result.lanes, &row, now) {
                    return;
                }
                if let Some(beside) = &mut self.beside {
                    beside.write(warp as u8, register, result.lanes, &row);
                }
            }
            Dst::Pred(register) => {
                let predicate = &mut self.warps.predicates[warp][register.0 as usize];
                let value = if result.value != 0 { ALL_LANES } else { 0 };
                *predicate = (*predicate & !result.lanes) | (value & result.lanes);
            }
            Dst::None => {}
        }
        self.warps.barrier_results_due &= !(1 << warp);
        self.scoreboard.release(warp, &self.micro[result.pc as usize], instruction);
        self.follow(|path| path.barrier_result(warp, now));
        // Its next instruction may be a barrier that waited for this result's place.
        self.warps.recheck(1 << warp);
        self.finish_instruction(warp, now);
    }

    /// Handles the completion of one of a warp's instructions.
    #[inline]
    pub(crate) fn finish_instruction(&mut self, warp: usize, now: Cycle) {
        self.warps.in_flight[warp] -= 1;
        if self.warps.in_flight[warp] == 0 && self.warps.exited >> warp & 1 == 1 {
            self.retire(warp, now);
        }
    }
}

/// The time of a cycle, for `%globaltimer`.
#[cold]
fn nanoseconds(now: Cycle, clock_mhz: u64) -> u64 {
    (u128::from(now.0) * 1000 / u128::from(clock_mhz)) as u64
}
