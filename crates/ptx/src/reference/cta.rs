//! A resident CTA: its warps, memories and barriers, and the execution of one warp for a while.

use super::access::{self, Memories};
use super::asynchronous;
use super::barrier::{Arrival, Barriers, Release};
use super::fault::{FaultKind, Place, WarpPlace};
use super::launch::Launch;
use super::matrix;
use super::observer::Observer;
use super::texels;
use super::warp::{Warp, WarpOperands};
use super::world::{Stop, World};
use crate::exec::print::{self, Argument};
use crate::exec::{Operands, WarpContext, execute, guarded, predicate_source, write_predicate};
use crate::isa::{Barrier, Executor, Instruction, MAX_PRINTED, Op, Src};
use crate::lanes::{ALL_LANES, LaneMask, Row, WARP_LANES, lanes_of};
use crate::simt::SimtStack;

/// A CTA whose warps run.
pub(super) struct Cta {
    ctaid: [u32; 3],
    warps: Vec<Warp>,
    live_warps: u32,
    /// All warps' registers, one warp after the other.
    registers: Vec<Row>,
    predicates: Vec<LaneMask>,
    shared: Vec<u8>,
    /// All threads' local memory, one thread after the other.
    local: Vec<u8>,
    barriers: Barriers,
}

impl Cta {
    /// A CTA at the start of the kernel.
    pub fn new(launch: &Launch<'_>, ctaid: [u32; 3]) -> Self {
        let kernel = launch.kernel;
        let warps = launch.threads.div_ceil(WARP_LANES as u32) as usize;
        let mut cta = Cta {
            ctaid,
            warps: vec![
                Warp {
                    stack: SimtStack::new(0),
                    context: WarpContext::default(),
                    waiting: false,
                    printing: Vec::new()
                };
                warps
            ],
            live_warps: 0,
            registers: vec![Row::ZERO; warps * kernel.registers as usize],
            predicates: vec![0; warps * kernel.predicates as usize],
            shared: vec![0; launch.shared_bytes as usize],
            local: vec![0; warps * WARP_LANES * kernel.local_bytes as usize],
            barriers: Barriers::default(),
        };
        cta.restart(launch, ctaid);
        cta
    }

    /// Makes this the start of another CTA; keeps the memory.
    pub fn restart(&mut self, launch: &Launch<'_>, ctaid: [u32; 3]) {
        self.ctaid = ctaid;
        self.live_warps = self.warps.len() as u32;
        self.registers.fill(Row::ZERO);
        self.predicates.fill(0);
        self.shared.fill(0);
        self.local.fill(0);
        self.barriers = Barriers::default();
        let slots = self.warps.len() as u32;
        for (number, warp) in self.warps.iter_mut().enumerate() {
            let threads = launch.threads - (number * WARP_LANES) as u32;
            let lanes = if threads >= 32 { ALL_LANES } else { (1 << threads) - 1 };
            warp.stack.reset(lanes);
            warp.waiting = false;
            warp.context = WarpContext {
                ntid: launch.config.block,
                nctaid: launch.config.grid,
                ctaid,
                warp: number as u32,
                warp_slot: number as u32,
                warp_slots: slots,
                sm: 0,
                sms: 1,
                grid: 1,
                clock: 0,
                nanoseconds: 0,
                dynamic_shared: launch.config.dynamic_shared,
                total_shared: launch.shared_bytes,
            };
        }
    }

    /// Whether every thread has ended.
    pub fn is_done(&self) -> bool {
        self.live_warps == 0
    }

    /// Where the warps stand that have not ended.
    pub fn places(&self, launch: &Launch<'_>) -> Vec<WarpPlace> {
        let of = |(number, warp): (usize, &Warp)| WarpPlace {
            cta: self.ctaid,
            warp: number as u32,
            line: launch.line(warp.stack.pc()),
            active: warp.stack.active(),
            barrier: self.barriers.waits_at(number as u32),
        };
        self.warps.iter().enumerate().filter(|(_, warp)| !warp.stack.is_done()).map(of).collect()
    }

    /// Runs every ready warp for up to `quantum` instructions.
    ///
    /// # Errors
    /// What stops the kernel; a deadlock when no warp is ready.
    pub fn run(&mut self, launch: &Launch<'_>, world: &mut World<'_>, quantum: u32) -> Result<(), Stop> {
        let mut progress = false;
        for number in 0..self.warps.len() {
            if self.warps[number].is_ready() {
                progress = true;
                self.run_warp(launch, world, number, quantum)?;
            }
        }
        if progress { Ok(()) } else { Err((FaultKind::Deadlock { warps: self.places(launch) }, None)) }
    }

    fn run_warp(
        &mut self,
        launch: &Launch<'_>,
        world: &mut World<'_>,
        number: usize,
        quantum: u32,
    ) -> Result<(), Stop> {
        let kernel = launch.kernel;
        for _ in 0..quantum {
            let warp = &mut self.warps[number];
            if !warp.is_ready() {
                return Ok(());
            }
            let (pc, active) = (warp.stack.pc(), warp.stack.active());
            let Some(instruction) = kernel.code.get(pc as usize) else {
                // Falling off the end is an exit.
                self.exit(launch, number, active);
                continue;
            };
            let mut operands =
                operands_of(instruction, &mut self.registers, &mut self.predicates, launch, number);
            let lanes = guarded(instruction.guard, active, &operands);
            // A barrier that the warp is not ready for is met again, and counted then.
            if lanes == 0 || !matches!(instruction.op, Op::Barrier(_)) {
                world.counts.add(instruction.class, lanes);
            }
            match instruction.executor {
                Executor::Control => self.control(launch, world, number, instruction, lanes)?,
                Executor::Lanes => {
                    warp.context.clock = world.counts.warp_instructions;
                    warp.context.nanoseconds = world.counts.warp_instructions;
                    if lanes != 0 {
                        execute(instruction, &mut operands, lanes, &warp.context);
                    }
                    warp.stack.advance();
                }
                Executor::Memory => {
                    self.memory(launch, world, number, instruction, lanes)?;
                    self.warps[number].stack.advance();
                }
                Executor::Texels => {
                    texels::execute(instruction, &mut operands, lanes, world)
                        .map_err(|(lane, kind)| self.stop(launch, kind, instruction, number, lane))?;
                    self.warps[number].stack.advance();
                }
            }
        }
        // Lanes that others of the same warp spin for get their turn too.
        self.warps[number].stack.defer(|pc| launch.kernel.is_barrier(pc));
        Ok(())
    }

    /// An access to memory, or what has to do with copies.
    fn memory(
        &mut self,
        launch: &Launch<'_>,
        world: &mut World<'_>,
        number: usize,
        instruction: &Instruction,
        lanes: LaneMask,
    ) -> Result<(), Stop> {
        let kernel = launch.kernel;
        let mut operands =
            operands_of(instruction, &mut self.registers, &mut self.predicates, launch, number);
        let local = per_warp(&self.local, WARP_LANES * kernel.local_bytes as usize, number);
        let mut memories = Memories {
            global: world.global,
            shared: &mut self.shared,
            local: &mut self.local[local],
            local_bytes: kernel.local_bytes as usize,
            params: &launch.config.params,
            observer: world.observer.as_deref_mut().map(|observer| observer as &mut dyn Observer),
        };
        let memories = &mut memories;
        let done = match &instruction.op {
            Op::Load(mode) => access::load(instruction, &mut operands, mode, lanes, memories),
            Op::Store(mode) => access::store(instruction, &operands, mode, lanes, memories),
            Op::Atomic { op, mode } => {
                access::atomic(instruction, &mut operands, (*op, mode), true, lanes, memories)
            }
            Op::Reduce { op, mode } => {
                access::atomic(instruction, &mut operands, (*op, mode), false, lanes, memories)
            }
            Op::LoadMatrix(access) => matrix::load(instruction, &mut operands, *access, lanes, memories),
            Op::StoreMatrix(access) => matrix::store(instruction, &operands, *access, lanes, memories),
            Op::CopyAsync(copy) => asynchronous::copy(instruction, &operands, *copy, lanes, memories),
            Op::CopyArrive { space, counted } => {
                asynchronous::arrive(instruction, &operands, (*space, *counted), lanes, memories)
            }
            Op::Mbarrier(barrier) => {
                asynchronous::barrier(instruction, &mut operands, *barrier, lanes, memories)
            }
            // Copies are complete at once, and a hint changes no value.
            Op::CopyCommit | Op::Prefetch(_) => Ok(()),
            other => unreachable!("{other:?} is no memory operation"),
        };
        done.map_err(|(lane, kind)| {
            let overflow =
                matches!(kind, FaultKind::OutOfBounds { .. }) && kernel.overflows_stack(instruction);
            let limit = kernel.stack_bytes;
            let kind = if overflow { FaultKind::StackOverflow { limit } } else { kind };
            self.stop(launch, kind, instruction, number, lane)
        })
    }

    /// What decides where lanes go on, and when.
    fn control(
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
            }
            Op::Call { table, .. } => self.call(launch, table, instruction, number, lanes)?,
            Op::Return { table } | Op::BranchIndexed { table } => {
                self.branch_indexed(launch, table, instruction, number, lanes)?;
            }
            // A guard that is false in every lane: the instruction does nothing.
            _ if lanes == 0 => stack.advance(),
            Op::Exit => self.exit(launch, number, lanes),
            Op::Trap => return Err(self.stop(launch, FaultKind::Trap, instruction, number, first)),
            Op::AssertFail { assertion } => {
                let operands =
                    operands_of(instruction, &mut self.registers, &mut self.predicates, launch, number);
                let line = operands.source(0, 0).0[first];
                let what = launch.kernel.assertions[assertion as usize].describe(line);
                return Err(self.stop(launch, FaultKind::Assertion { what }, instruction, number, first));
            }
            Op::Barrier(form) => self.meet(launch, world, number, form, instruction, lanes)?,
            Op::Print { format, from } => {
                self.print(launch, world, number, instruction, (format, from), lanes);
                self.warps[number].stack.advance();
            }
            // Every access is complete before the next instruction, and time does not pass.
            Op::WarpSync | Op::Fence { .. } | Op::CopyWait { .. } | Op::Nanosleep => stack.advance(),
            other => unreachable!("{other:?} is no control flow"),
        }
        Ok(())
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

    fn stop(
        &self,
        launch: &Launch<'_>,
        kind: FaultKind,
        instruction: &Instruction,
        warp: usize,
        lane: usize,
    ) -> Stop {
        let thread = launch.thread((warp * WARP_LANES + lane) as u32);
        (kind, Some(Place { line: instruction.line, cta: self.ctaid, thread }))
    }

    /// Ends lanes of a warp; barriers no longer wait for it when all have ended.
    fn exit(&mut self, launch: &Launch<'_>, number: usize, lanes: LaneMask) {
        self.warps[number].stack.exit(lanes);
        if !self.warps[number].stack.is_done() {
            return;
        }
        self.live_warps -= 1;
        while let Some(release) = self.barriers.after_exit(self.live_warps) {
            self.release(launch, release);
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
        world.counts.add(instruction.class, lanes);
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
        if waits {
            self.warps[number].waiting = true;
        } else {
            self.warps[number].stack.advance();
        }
        if let Some(release) = release {
            self.release(launch, release);
        }
        Ok(())
    }

    /// Wakes the warps of a completed barrier and writes the results that they wait for.
    fn release(&mut self, launch: &Launch<'_>, release: Release) {
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

/// The range of one warp in an array of `size` elements a warp.
fn per_warp<T>(array: &[T], size: usize, number: usize) -> std::ops::Range<usize> {
    debug_assert!((number + 1) * size <= array.len());
    number * size..(number + 1) * size
}

#[inline(always)]
fn operands_of<'a>(
    instruction: &'a Instruction,
    registers: &'a mut [Row],
    predicates: &'a mut [LaneMask],
    launch: &'a Launch<'_>,
    number: usize,
) -> WarpOperands<'a> {
    let own_registers = per_warp(registers, launch.kernel.registers as usize, number);
    let own_predicates = per_warp(predicates, launch.kernel.predicates as usize, number);
    WarpOperands {
        instruction,
        registers: &mut registers[own_registers],
        predicates: &mut predicates[own_predicates],
        constants: &launch.constants,
    }
}
