//! What decides where lanes of a warp go on, and when: jumps, calls, ends, barriers, and prints, which wait for their last
//! argument.

use super::barrier::{Arrival, Release};
use super::cta::{Cta, operands_of};
use super::fault::FaultKind;
use super::launch::Launch;
use super::observer::BarrierArrival;
use super::warp::AtCluster;
use super::world::{Stop, World};
use crate::exec::print::{self, Argument};
use crate::exec::{Operands, predicate_source, write_predicate};
use crate::isa::{Barrier, Instruction, MAX_PRINTED, Op, Src};
use crate::lanes::{ALL_LANES, LaneMask, Row, WARP_LANES, lanes_of};

impl Cta {
    /// What decides where lanes go on, and when.
    pub fn control(
        &mut self,
        launch: &Launch<'_>,
        world: &mut World<'_>,
        number: usize,
        instruction: &Instruction,
        lanes: LaneMask,
    ) -> Result<(), Stop> {
        let first = lanes.trailing_zeros() as usize;
        let stack = &mut self.warps[number].stack;
        match instruction.op {
            Op::Branch { .. } => {
                let next = stack.pc() + 1;
                stack.branch(lanes, instruction.target, next, instruction.reconverge);
                if instruction.yields {
                    stack.give_way(lanes);
                }
            }
            Op::Call { table, .. } => self.call(launch, table, instruction, number, lanes)?,
            Op::Return { table } | Op::BranchIndexed { table } => {
                self.branch_indexed(launch, table, instruction, number, lanes)?;
            }
            // A guard that is false in every lane: the instruction does nothing.
            _ if lanes == 0 => stack.advance(),
            Op::Exit => self.exit(launch, world, number, lanes),
            Op::Trap => return Err(self.stop(launch, FaultKind::Trap, instruction, number, first)),
            Op::AssertFail { assertion } => {
                let operands =
                    operands_of(instruction, &mut self.registers, &mut self.predicates, launch, number);
                let line = operands.source(0, 0).0[first];
                let what = launch.kernel.assertions[assertion as usize].describe(line);
                return Err(self.stop(launch, FaultKind::Assertion { what }, instruction, number, first));
            }
            Op::ClusterArrive | Op::ClusterWait => {
                self.meet_cluster(launch, world, number, instruction, lanes)?;
            }
            Op::Barrier(form) => self.meet(launch, world, number, form, instruction, lanes)?,
            Op::Print { format, from } => {
                self.print(launch, world, number, instruction, (format, from), lanes);
                self.warps[number].stack.advance();
            }
            // Every access is complete before the next instruction, and time does not pass.
            Op::WarpSync | Op::Fence { .. } | Op::CopyWait { .. } | Op::BulkWait { .. } => {
                if world.observer.is_some() {
                    self.show_order(launch, world, number, instruction, lanes);
                }
                self.warps[number].stack.advance();
            }
            Op::Nanosleep => stack.advance(),
            other => unreachable!("{other:?} is not control flow"),
        }
        Ok(())
    }

    /// Shows the observer that a warp orders its accesses.
    #[cold]
    fn show_order(
        &mut self,
        launch: &Launch<'_>,
        world: &mut World<'_>,
        number: usize,
        instruction: &Instruction,
        lanes: LaneMask,
    ) {
        let by = self.issuer(number, instruction);
        let operands = operands_of(instruction, &mut self.registers, &mut self.predicates, launch, number);
        let Some(observer) = &mut world.observer else { return };
        match instruction.op {
            Op::WarpSync => observer.warp_syncs(&by, lanes, operands.source(0, 0)),
            _ => observer.orders(&by, lanes),
        }
    }

    /// Takes arguments of a print, and prints when the last is there.
    fn print(
        &mut self,
        launch: &Launch<'_>,
        world: &mut World<'_>,
        number: usize,
        instruction: &Instruction,
        (format, from): (u32, u8),
        lanes: LaneMask,
    ) {
        let (format, from) = (&launch.kernel.formats[format as usize], usize::from(from));
        let operands = operands_of(instruction, &mut self.registers, &mut self.predicates, launch, number);
        world.changes += 1;
        let printing = &mut self.warps[number].printing;
        printing.resize_with(WARP_LANES, Vec::new);
        for lane in lanes_of(lanes) {
            let arguments = &mut printing[lane];
            arguments.truncate(from);
            for (slot, ty) in format.arguments[from..].iter().take(MAX_PRINTED).enumerate() {
                let wide = ty.rows() == 2;
                let hi = if wide { operands.source(slot, 1).0[lane] } else { 0 };
                let bits = u64::from(hi) << 32 | u64::from(operands.source(slot, 0).0[lane]);
                arguments.push(Argument { bits, wide });
            }
            if arguments.len() == format.arguments.len() {
                let text = print::format(&format.text, arguments, |address| world.global.text(address));
                world.printed.push_str(&text);
            }
        }
    }

    /// Ends lanes of a warp; barriers no longer wait for it when all have ended.
    pub fn exit(&mut self, launch: &Launch<'_>, world: &mut World<'_>, number: usize, lanes: LaneMask) {
        self.warps[number].stack.exit(lanes);
        if !self.warps[number].stack.is_done() {
            return;
        }
        self.live_warps -= 1;
        while let Some(release) = self.barriers.after_exit(self.live_warps) {
            self.release(launch, world, release);
        }
    }

    /// A warp executes a barrier instruction.
    fn meet(
        &mut self,
        launch: &Launch<'_>,
        world: &mut World<'_>,
        number: usize,
        form: Barrier,
        instruction: &Instruction,
        lanes: LaneMask,
    ) -> Result<(), Stop> {
        let first = lanes.trailing_zeros() as usize;
        let stack = &mut self.warps[number].stack;
        let live = stack.live();
        if lanes != live {
            // The others may yet end or arrive.
            if lanes == stack.active() && stack.gather(launch.kernel) {
                return Ok(());
            }
            let kind = FaultKind::DivergentBarrier { arrived: lanes, live };
            return Err(self.stop(launch, kind, instruction, number, first));
        }
        world.counts.add(lanes);
        world.changes += 1;
        let operands = operands_of(instruction, &mut self.registers, &mut self.predicates, launch, number);
        let scalar = |slot: usize| match instruction.src[slot] {
            Src::None => 0,
            _ => operands.source(slot, 0).0[first],
        };
        let waits = form != Barrier::Arrive;
        let votes = matches!(form, Barrier::RedPopc | Barrier::RedAnd | Barrier::RedOr);
        let ayes = if votes { predicate_source(instruction, &operands, 2) & lanes } else { 0 };
        let arrival = Arrival {
            barrier: scalar(0),
            threads: scalar(1),
            waiter: waits.then_some(number as u32),
            ayes: ayes.count_ones(),
            voters: if votes { lanes.count_ones() } else { 0 },
        };
        let release = self.barriers.arrive(arrival, self.live_warps).map_err(|reason| {
            self.stop(launch, FaultKind::BadBarrier { reason }, instruction, number, first)
        })?;
        if let Some(observer) = &mut world.observer {
            let Arrival { barrier, threads, .. } = arrival;
            observer.arrives(&self.issuer(number, instruction), &BarrierArrival { barrier, threads, waits });
        }
        if waits {
            self.warps[number].waiting = true;
        } else {
            self.warps[number].stack.advance();
        }
        if world.watches_registers {
            self.show_registers(launch, world, number, lanes, (instruction.reads.as_slice(), &[]));
        }
        if let Some(release) = release {
            self.release(launch, world, release);
        }
        Ok(())
    }

    /// A warp arrives at the barrier of its cluster, or waits there.
    fn meet_cluster(
        &mut self,
        launch: &Launch<'_>,
        world: &mut World<'_>,
        number: usize,
        instruction: &Instruction,
        lanes: LaneMask,
    ) -> Result<(), Stop> {
        let warp = &mut self.warps[number];
        let live = warp.stack.live();
        if lanes != live {
            // The others may yet end or arrive.
            if lanes == warp.stack.active() && warp.stack.gather(launch.kernel) {
                return Ok(());
            }
            let first = lanes.trailing_zeros() as usize;
            let kind = FaultKind::DivergentBarrier { arrived: lanes, live };
            return Err(self.stop(launch, kind, instruction, number, first));
        }
        world.counts.add(lanes);
        world.changes += 1;
        match (instruction.op, warp.at_cluster) {
            (Op::ClusterArrive, AtCluster::Away) => warp.at_cluster = AtCluster::Arrived,
            (Op::ClusterWait, AtCluster::Arrived) => {
                warp.at_cluster = AtCluster::Waits;
                warp.waiting = true;
                return Ok(());
            }
            (Op::ClusterWait, AtCluster::Passed) => warp.at_cluster = AtCluster::Away,
            _ => {
                let reason = "arrive and wait of a cluster's barrier do not take turns".into();
                let first = lanes.trailing_zeros() as usize;
                return Err(self.stop(launch, FaultKind::BadBarrier { reason }, instruction, number, first));
            }
        }
        self.warps[number].stack.advance();
        Ok(())
    }

    /// Wakes the warps of a completed barrier and writes the results that they wait for.
    fn release(&mut self, launch: &Launch<'_>, world: &mut World<'_>, release: Release) {
        if let Some(observer) = &mut world.observer {
            observer.opens(self.number, release.barrier, release.warps);
        }
        for number in (0..self.warps.len()).filter(|number| release.warps >> number & 1 == 1) {
            let warp = &mut self.warps[number];
            let instruction = &launch.kernel.code[warp.stack.pc() as usize];
            let lanes = warp.stack.active();
            let mut operands =
                operands_of(instruction, &mut self.registers, &mut self.predicates, launch, number);
            let verdict = |truth: bool| if truth { ALL_LANES } else { 0 };
            match instruction.op {
                Op::Barrier(Barrier::RedPopc) => operands.write(0, 0, lanes, &Row::splat(release.count)),
                Op::Barrier(Barrier::RedAnd) => {
                    write_predicate(instruction, &mut operands, 0, lanes, verdict(release.all));
                }
                Op::Barrier(Barrier::RedOr) => {
                    write_predicate(instruction, &mut operands, 0, lanes, verdict(release.any));
                }
                _ => {}
            }
            warp.waiting = false;
            warp.stack.advance();
            if world.watches_registers {
                self.show_registers(launch, world, number, lanes, (&[], instruction.writes.as_slice()));
            }
        }
    }

    fn branch_indexed(
        &mut self,
        launch: &Launch<'_>,
        table: u32,
        instruction: &Instruction,
        number: usize,
        lanes: LaneMask,
    ) -> Result<(), Stop> {
        let targets = &launch.kernel.branch_tables[table as usize];
        let operands = operands_of(instruction, &mut self.registers, &mut self.predicates, launch, number);
        let fallthrough = self.warps[number].stack.pc() + 1;
        let mut chosen = [fallthrough; WARP_LANES];
        for lane in lanes_of(lanes) {
            let index = operands.source(0, 0).0[lane];
            let Some(target) = targets.get(index as usize) else {
                let reason = format!("branch index {index} is beyond its table of {}", targets.len());
                return Err(self.stop(launch, FaultKind::BadBranch { reason }, instruction, number, lane));
            };
            chosen[lane] = *target;
        }
        let stack = &mut self.warps[number].stack;
        match instruction.op {
            Op::Return { .. } => stack.ret(&chosen),
            _ => stack.branch_indexed(&chosen, instruction.reconverge),
        }
        if instruction.yields {
            stack.give_way(lanes);
        }
        Ok(())
    }

    fn call(
        &mut self,
        launch: &Launch<'_>,
        table: u32,
        instruction: &Instruction,
        number: usize,
        lanes: LaneMask,
    ) -> Result<(), Stop> {
        let kernel = launch.kernel;
        let mut functions = [0; WARP_LANES];
        if instruction.src[0] == Src::None {
            functions.fill(kernel.branch_tables[table as usize][0]);
        } else {
            let operands =
                operands_of(instruction, &mut self.registers, &mut self.predicates, launch, number);
            for lane in lanes_of(lanes) {
                let (lo, hi) = (operands.source(0, 0).0[lane], operands.source(0, 1).0[lane]);
                let address = u64::from(hi) << 32 | u64::from(lo);
                let Some(function) = kernel.function_at(table, address) else {
                    return Err(self.stop(launch, FaultKind::BadCall { address }, instruction, number, lane));
                };
                functions[lane] = function;
            }
        }
        self.warps[number].stack.call(&functions, instruction.reconverge);
        Ok(())
    }
}
