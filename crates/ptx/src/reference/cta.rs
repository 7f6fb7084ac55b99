//! A resident CTA: its warps, memories and barriers, and the execution of one warp for a while.

use super::access;
use super::asynchronous;
use super::barrier::Barriers;
use super::bulk;
use super::fault::{FaultKind, Place, WarpPlace};
use super::launch::Launch;
use super::mapped;
use super::maps::Maps;
use super::matrix;
use super::observer::{Issuer, Observer, RegisterUse};
use super::part::Memories;
use super::texels;
use super::warp::{AtCluster, Warp};
use super::world::{Stop, World};
use crate::exec::{InPlace, Operands, WarpContext, execute, guarded, members, picked_element};
use crate::isa::{Dst, Executor, Instruction, Op, Reg, Src};
use crate::lanes::{ALL_LANES, LaneMask, Row, WARP_LANES};
use crate::simt::{Gathering, Meeting, SimtStack};

/// A CTA whose warps run.
pub(super) struct Cta {
    pub(super) ctaid: [u32; 3],
    /// Its number in the launch, x first.
    pub(super) number: u64,
    pub(super) warps: Vec<Warp>,
    pub(super) live_warps: u32,
    /// Its number in its cluster.
    pub(super) rank: usize,
    /// All warps' registers, one warp after the other.
    pub(super) registers: Vec<Row>,
    pub(super) predicates: Vec<LaneMask>,
    pub(super) shared: Vec<u8>,
    pub(super) maps: Maps,
    /// All threads' local memory, one thread after the other.
    local: Vec<u8>,
    pub(super) barriers: Barriers,
}

impl Cta {
    /// A CTA at the start of the kernel.
    pub fn new(launch: &Launch<'_>, ctaid: [u32; 3]) -> Self {
        let kernel = launch.kernel;
        let warps = launch.threads.div_ceil(WARP_LANES as u32) as usize;
        let mut cta = Cta {
            ctaid,
            number: 0,
            rank: 0,
            warps: vec![
                Warp {
                    stack: SimtStack::new(0),
                    context: WarpContext::default(),
                    waiting: false,
                    at_cluster: AtCluster::Away,
                    printing: Vec::new()
                };
                warps
            ],
            live_warps: 0,
            registers: Row::zeros(warps * kernel.registers as usize),
            predicates: vec![0; warps * kernel.predicates as usize],
            shared: vec![0; launch.shared_bytes as usize],
            maps: Maps::default(),
            local: vec![0; warps * WARP_LANES * kernel.local_bytes as usize],
            barriers: Barriers::default(),
        };
        cta.restart(launch, ctaid);
        cta
    }

    /// Makes this the start of another CTA; keeps the memory.
    pub fn restart(&mut self, launch: &Launch<'_>, ctaid: [u32; 3]) {
        self.ctaid = ctaid;
        self.number = launch.number(ctaid);
        self.live_warps = self.warps.len() as u32;
        self.registers.fill(Row::ZERO);
        self.predicates.fill(0);
        self.shared.fill(0);
        self.maps.clear();
        self.local.fill(0);
        self.barriers = Barriers::default();
        let slots = self.warps.len() as u32;
        let cluster = launch.cluster();
        self.rank = WarpContext { ctaid, cluster, ..WarpContext::default() }.cluster_rank() as usize;
        for (number, warp) in self.warps.iter_mut().enumerate() {
            let threads = launch.threads - (number * WARP_LANES) as u32;
            let lanes = if threads >= 32 { ALL_LANES } else { (1 << threads) - 1 };
            warp.stack.reset(lanes);
            warp.waiting = false;
            warp.at_cluster = AtCluster::Away;
            warp.context = WarpContext {
                ntid: launch.config.block,
                nctaid: launch.config.grid,
                ctaid,
                cluster: launch.cluster(),
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

    /// The registers and predicates of a warp.
    pub fn state(&self, launch: &Launch<'_>, number: usize) -> (&[Row], &[LaneMask]) {
        let registers = per_warp(&self.registers, launch.kernel.registers as usize, number);
        let predicates = per_warp(&self.predicates, launch.kernel.predicates as usize, number);
        (&self.registers[registers], &self.predicates[predicates])
    }

    /// Runs every ready warp for up to `quantum` instructions.
    ///
    /// Returns whether any was ready.
    ///
    /// # Errors
    /// What stops the kernel.
    pub fn run(&mut self, launch: &Launch<'_>, world: &mut World<'_>, quantum: u32) -> Result<bool, Stop> {
        let mut progress = false;
        for number in 0..self.warps.len() {
            if self.warps[number].is_ready() {
                progress = true;
                if world.watches_registers {
                    self.run_watched(launch, world, number, quantum)?;
                } else {
                    self.run_warp(launch, world, number, quantum)?;
                }
                // Lanes that others of the same warp spin for get their turn too.
                let warp = &mut self.warps[number];
                if warp.is_ready() {
                    warp.stack.defer(|pc| launch.kernel.is_barrier(pc));
                }
            }
        }
        Ok(progress)
    }

    /// Runs a warp for up to `quantum` instructions, or until it is no longer ready.
    fn run_warp(
        &mut self,
        launch: &Launch<'_>,
        world: &mut World<'_>,
        number: usize,
        quantum: u32,
    ) -> Result<(), Stop> {
        let kernel = launch.kernel;
        let mut left = quantum;
        while left > 0 {
            if !self.warps[number].is_ready() {
                return Ok(());
            }
            let passed = self.run_straight(launch, world, number, left);
            if passed > 0 {
                left -= passed;
                continue;
            }
            left -= 1;
            let warp = &mut self.warps[number];
            let (pc, active) = (warp.stack.pc(), warp.stack.active());
            let Some(instruction) = kernel.code.get(pc as usize) else {
                // Falling off the end is an exit.
                self.exit(launch, world, number, active);
                continue;
            };
            let mut operands =
                operands_of(instruction, &mut self.registers, &mut self.predicates, launch, number);
            let lanes = guarded(instruction.guard, active, &operands);
            if instruction.gathers && lanes != 0 && warp.stack.is_split() {
                let masks = members(instruction, &operands);
                match warp.stack.gather_named(lanes, &masks, Meeting::of(instruction.op)) {
                    Gathering::Complete => {}
                    Gathering::Later => continue,
                    Gathering::Never => {
                        let kind = FaultKind::MissingLanes { arrived: lanes, live: warp.stack.live() };
                        let first = lanes.trailing_zeros() as usize;
                        return Err(self.stop(launch, kind, instruction, number, first));
                    }
                }
            }
            // A barrier that the warp is not ready for is met again, and counted then.
            if lanes == 0 || !instruction.op.is_barrier() {
                world.counts.add(lanes);
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
                    let by = Issuer { cta: self.number, warp: number as u32, pc, instruction };
                    let writes = matches!(instruction.op, Op::SurfaceStore(_) | Op::SurfaceReduce { .. });
                    world.changes += u64::from(lanes != 0 && writes);
                    texels::execute(by, &mut operands, lanes, world)
                        .map_err(|(lane, kind)| self.stop(launch, kind, instruction, number, lane))?;
                    self.warps[number].stack.advance();
                }
            }
        }
        Ok(())
    }

    /// As [`Cta::run_warp`], and the observer sees the registers of every instruction.
    fn run_watched(
        &mut self,
        launch: &Launch<'_>,
        world: &mut World<'_>,
        number: usize,
        quantum: u32,
    ) -> Result<(), Stop> {
        for _ in 0..quantum {
            let warp = &self.warps[number];
            if !warp.is_ready() {
                return Ok(());
            }
            let (pc, active) = (warp.stack.pc(), warp.stack.active());
            // A barrier shows its registers itself: it may be put off, and writes only when it opens.
            let instruction = launch.kernel.code.get(pc as usize);
            let Some(instruction) = instruction.filter(|found| !found.op.is_barrier()) else {
                self.run_warp(launch, world, number, 1)?;
                continue;
            };
            let operands =
                operands_of(instruction, &mut self.registers, &mut self.predicates, launch, number);
            let lanes = guarded(instruction.guard, active, &operands);
            let picked = picked_register(instruction, &operands, lanes);
            let executed = world.counts.warp_instructions;
            self.run_warp(launch, world, number, 1)?;
            // It waits for other lanes, and is executed later.
            if world.counts.warp_instructions == executed {
                continue;
            }
            let (mut reads, mut writes) = (instruction.reads, instruction.writes);
            match (instruction.op, picked) {
                (Op::MovFromArray { .. }, Some(register)) => _ = reads.push(register),
                (Op::MovToArray { .. }, Some(register)) => _ = writes.push(register),
                _ => {}
            }
            self.show_registers(launch, world, number, lanes, (reads.as_slice(), writes.as_slice()));
        }
        Ok(())
    }

    /// Shows the observer which registers a warp has read and written.
    #[cold]
    pub fn show_registers(
        &self,
        launch: &Launch<'_>,
        world: &mut World<'_>,
        number: usize,
        lanes: LaneMask,
        (reads, writes): (&[Reg], &[Reg]),
    ) {
        let Some(observer) = &mut world.observer else { return };
        if lanes == 0 || reads.is_empty() && writes.is_empty() {
            return;
        }
        let own = per_warp(&self.registers, launch.kernel.registers as usize, number);
        observer.registers(&RegisterUse { lanes, reads, writes, rows: &self.registers[own] });
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
        let by = self.issuer(number, instruction);
        let mut operands =
            operands_of(instruction, &mut self.registers, &mut self.predicates, launch, number);
        let local = per_warp(&self.local, WARP_LANES * kernel.local_bytes as usize, number);
        let mut memories = Memories {
            global: world.global,
            shared: &mut self.shared,
            peers: &mut world.peers,
            rank: self.rank,
            maps: &mut self.maps,
            local: &mut self.local[local],
            local_bytes: kernel.local_bytes as usize,
            params: &launch.config.params,
            by,
            observer: world.observer.as_deref_mut().map(|observer| observer as &mut dyn Observer),
        };
        let memories = &mut memories;
        let changes = &mut world.changes;
        *changes += u64::from(lanes != 0 && changes_memory(instruction.op));
        let done = match &instruction.op {
            Op::Load(mode) => access::load(instruction, &mut operands, mode, lanes, memories),
            Op::Store(mode) => access::store(instruction, &operands, mode, lanes, memories),
            Op::Atomic { op, mode } => {
                access::atomic(instruction, &mut operands, (*op, mode), true, lanes, memories, changes)
            }
            Op::Reduce { op, mode } => {
                access::atomic(instruction, &mut operands, (*op, mode), false, lanes, memories, changes)
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
            Op::Bulk(copy) => {
                let in_cluster = launch.cluster().is_some();
                bulk::copy(instruction, &operands, (*copy, in_cluster), lanes, memories)
            }
            Op::Tile(op) => mapped::tile(*op, instruction, &operands, lanes, memories),
            // Copies are complete at once, and a hint changes no value.
            Op::CopyCommit | Op::BulkCommit => {
                if let Some(observer) = &mut memories.observer {
                    observer.orders(&by, lanes);
                }
                Ok(())
            }
            Op::Prefetch(_) | Op::BulkPrefetch(_) => Ok(()),
            other => unreachable!("{other:?} is not a memory operation"),
        };
        done.map_err(|(lane, kind)| {
            let overflow =
                matches!(kind, FaultKind::OutOfBounds { .. }) && kernel.overflows_stack(instruction);
            let limit = kernel.stack_bytes;
            let kind = if overflow { FaultKind::StackOverflow { limit } } else { kind };
            self.stop(launch, kind, instruction, number, lane)
        })
    }

    /// A warp and the instruction that it executes.
    pub fn issuer<'a>(&self, number: usize, instruction: &'a Instruction) -> Issuer<'a> {
        Issuer { cta: self.number, warp: number as u32, pc: self.warps[number].stack.pc(), instruction }
    }

    pub fn stop(
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
}

/// Whether an access counts as a change of memory whatever it writes. Atomics count where they change a value: many poll by
/// them.
fn changes_memory(op: Op) -> bool {
    match op {
        Op::Store(_) | Op::StoreMatrix(_) | Op::CopyAsync(_) | Op::CopyArrive { .. } | Op::Tile(_) => true,
        Op::Bulk(_) => true,
        Op::Mbarrier(barrier) => !barrier.op.is_test(),
        _ => false,
    }
}

/// The register of an array that an instruction is about to read or write.
fn picked_register(instruction: &Instruction, operands: &InPlace<'_>, lanes: LaneMask) -> Option<Reg> {
    let (array, registers) = match (instruction.op, instruction.src[1], instruction.dst[0]) {
        (Op::MovFromArray { registers }, Src::Reg(array), _) => (array, registers),
        (Op::MovToArray { registers }, _, Dst::Reg(array)) => (array, registers),
        _ => return None,
    };
    (lanes != 0).then(|| Reg(array.0 + picked_element(operands.source(0, 0), registers, lanes) as u8))
}

/// The range of one warp in an array of `size` elements a warp.
fn per_warp<T>(array: &[T], size: usize, number: usize) -> std::ops::Range<usize> {
    debug_assert!((number + 1) * size <= array.len());
    number * size..(number + 1) * size
}

/// The operands of an instruction of a warp.
#[inline(always)]
pub(super) fn operands_of<'a>(
    instruction: &'a Instruction,
    registers: &'a mut [Row],
    predicates: &'a mut [LaneMask],
    launch: &'a Launch<'_>,
    number: usize,
) -> InPlace<'a> {
    let own_registers = per_warp(registers, launch.kernel.registers as usize, number);
    let own_predicates = per_warp(predicates, launch.kernel.predicates as usize, number);
    InPlace {
        instruction,
        registers: &mut registers[own_registers],
        predicates: &mut predicates[own_predicates],
        constants: &launch.constants,
    }
}
