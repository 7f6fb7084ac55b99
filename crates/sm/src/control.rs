//! Control flow, resolved in the SM itself: branches, barriers, sleep, prints, and the start and end of CTAs.

use strata_engine::Cycle;
use strata_memory::bits::members;
use strata_memory::doors::{LaneEvent, RegisterFile};
use strata_ptx::exec::print::Argument;
use strata_ptx::exec::{WarpContext, predicate_source};
use strata_ptx::isa::{Barrier, Instruction, MAX_PRINTED, Members, Op, Pc, Reg, Src};
use strata_ptx::lanes::{ALL_LANES, LaneMask, Row, WARP_LANES, lanes_of};
use strata_ptx::simt::{Gathering, Meeting};

use crate::barriers::{Arrival, BARRIERS_PER_CTA, Release};
use crate::clusters::OutOfTurn;
use crate::dispatch::Notice;
use crate::doors::Doors;
use crate::execute::source_row;
use crate::launch::{Fault, FaultKind, Launch};
use crate::print::Print;
use crate::sm::{LaneWait, Sm};
use crate::warps::{BarrierResult, Predicates, Warps};

/// A warp that is out of turn at the barrier of its cluster.
const OUT_OF_TURN: FaultKind =
    FaultKind::Unsupported { what: "an arrive or wait out of turn at the barrier of a cluster" };

impl<D: Doors> Sm<D> {
    /// Performs a control instruction whose operands have all been collected.
    pub(crate) fn resolve(&mut self, launch: &Launch, index: usize, now: Cycle) {
        let collected = self.collectors.get(index);
        let (rows, _) = self.collectors.operands(index);
        let (warp, pc, lanes) = (collected.warp as usize, collected.pc, collected.lanes);
        let count = launch.kernel.code[pc as usize].reads.as_slice().len();
        self.control_rows[..count].copy_from_slice(&rows[..count]);
        self.collectors.remove(index);
        self.follow(|path| path.ended(warp, pc, false, now));
        self.warps.resolving &= !(1 << warp);
        self.control(launch, warp, pc, lanes, now);
        self.finish_instruction(warp, now);
    }

    /// Performs a control instruction for `lanes` (guard applied), with its register operands in `control_rows`.
    /// Afterwards the warp is at its next instruction.
    pub(crate) fn control(&mut self, launch: &Launch, warp: usize, pc: Pc, lanes: LaneMask, now: Cycle) {
        let instruction = &launch.kernel.code[pc as usize];
        let simt = &mut self.warps.simt[warp];
        match instruction.op {
            Op::Branch { .. } => {
                let divergent = lanes != 0 && lanes != simt.active();
                self.statistics.divergent_branches += u64::from(divergent);
                simt.branch(lanes, instruction.target, pc + 1, instruction.reconverge);
                if instruction.yields {
                    simt.give_way(lanes);
                }
            }
            // The guard is false in every lane: the instruction does nothing.
            _ if lanes == 0 => simt.advance(),
            Op::BranchIndexed { table } | Op::Return { table } => {
                self.branch_indexed(launch, warp, pc, lanes, table);
            }
            Op::Call { table, .. } => self.call(launch, warp, pc, lanes, table),
            Op::Exit => {
                simt.exit(lanes);
                if simt.is_done() {
                    self.exit_warp(launch, warp, now);
                    return;
                }
            }
            Op::Trap => self.fail(launch, warp, pc, lanes, FaultKind::Trap),
            Op::AssertFail { assertion } => {
                let line = self.scalar(launch, instruction, 0, lanes);
                let what = launch.kernel.assertions[assertion as usize].describe(line);
                self.fail(launch, warp, pc, lanes, FaultKind::Assertion { what });
            }
            Op::ClusterArrive => self.arrive_at_cluster(launch, warp, pc, lanes),
            Op::ClusterWait => self.wait_for_cluster(launch, warp, pc, lanes),
            Op::Barrier(form) => self.barrier(launch, warp, pc, lanes, form, now),
            // The lanes that the mask names have come together before it issued.
            Op::WarpSync => {
                simt.advance();
                if self.lsu.has_lane_path() {
                    self.lsu.order(LaneEvent::Fence { lanes }, None, now);
                    self.gave_to_memory = true;
                }
            }
            Op::Fence { scope, .. } => {
                simt.advance();
                self.lsu.fence(warp as u8, scope, now);
                self.gave_to_memory = true;
                self.warps.at_fence |= 1 << warp;
            }
            Op::CopyWait { pending } => {
                simt.advance();
                self.lsu.wait_for_copies(warp as u8, pending);
                self.gave_to_memory = true;
                self.warps.at_copies = self.lsu.waiting_copies();
            }
            Op::BulkWait { pending, reads } => {
                simt.advance();
                self.lsu.wait_for_bulk(warp as u8, pending, reads);
                self.gave_to_memory = true;
                self.warps.at_copies = self.lsu.waiting_copies();
            }
            Op::Print { format, from } => {
                simt.advance();
                self.print(launch, warp, instruction, lanes, (format, from));
            }
            Op::Nanosleep => {
                simt.advance();
                self.sleep(launch, warp, instruction, lanes, now);
            }
            op => panic!("line {}: {op:?} is not control flow", instruction.line),
        }
        self.warps.dirty |= 1 << warp;
        self.fetch.go(warp, self.warps.simt[warp].pc());
    }

    /// The row of a control instruction's source operand.
    fn row<'a>(&'a self, launch: &'a Launch, instruction: &Instruction, slot: usize) -> &'a Row {
        source_row(instruction, &self.control_rows, &launch.constants, slot, 0)
    }

    /// The value of a source operand that all executing lanes share.
    fn scalar(&self, launch: &Launch, instruction: &Instruction, slot: usize, lanes: LaneMask) -> u32 {
        self.row(launch, instruction, slot).0[lanes.trailing_zeros() as usize]
    }

    fn branch_indexed(&mut self, launch: &Launch, warp: usize, pc: Pc, lanes: LaneMask, table: u32) {
        let instruction = &launch.kernel.code[pc as usize];
        let table = &launch.kernel.branch_tables[table as usize];
        let mut targets = [pc + 1; WARP_LANES];
        for lane in lanes_of(lanes) {
            let index = self.row(launch, instruction, 0).0[lane] as usize;
            let Some(target) = table.get(index) else {
                let what = "a branch to an index beyond its table";
                return self.fail(launch, warp, pc, 1 << lane, FaultKind::Unsupported { what });
            };
            targets[lane] = *target;
        }
        let simt = &mut self.warps.simt[warp];
        match instruction.op {
            Op::Return { .. } => simt.ret(&targets),
            _ => simt.branch_indexed(&targets, instruction.reconverge),
        }
        if instruction.yields {
            simt.give_way(lanes);
        }
    }

    fn call(&mut self, launch: &Launch, warp: usize, pc: Pc, lanes: LaneMask, table: u32) {
        let kernel = &launch.kernel;
        let instruction = &kernel.code[pc as usize];
        let mut functions = [0; WARP_LANES];
        if instruction.src[0] == Src::None {
            functions.fill(kernel.branch_tables[table as usize][0]);
        } else {
            for lane in lanes_of(lanes) {
                let word = |half| {
                    u64::from(source_row(instruction, &self.control_rows, &launch.constants, 0, half).0[lane])
                };
                let address = word(1) << 32 | word(0);
                let Some(function) = kernel.function_at(table, address) else {
                    return self.fail(launch, warp, pc, 1 << lane, FaultKind::BadCall { address });
                };
                functions[lane] = function;
            }
            let first = functions[lanes.trailing_zeros() as usize];
            let divergent = lanes_of(lanes).any(|lane| functions[lane] != first);
            self.statistics.divergent_branches += u64::from(divergent);
        }
        self.warps.simt[warp].call(&functions, instruction.reconverge);
    }

    fn barrier(&mut self, launch: &Launch, warp: usize, pc: Pc, lanes: LaneMask, form: Barrier, now: Cycle) {
        let simt = &mut self.warps.simt[warp];
        if lanes != simt.live() {
            return self.fail(launch, warp, pc, lanes, FaultKind::DivergentBarrier);
        }
        simt.advance();
        let instruction = &launch.kernel.code[pc as usize];
        let number = self.scalar(launch, instruction, 0, lanes) as usize;
        let threads = match instruction.src[1] {
            Src::None => 0,
            _ => self.scalar(launch, instruction, 1, lanes),
        };
        if number >= BARRIERS_PER_CTA || threads % 32 != 0 {
            let what = "a barrier beyond 15, or for a number of threads that is not a multiple of 32";
            return self.fail(launch, warp, pc, lanes, FaultKind::Unsupported { what });
        }
        let cta = self.warps.cta[warp] as usize;
        if self.barriers.contradicts(cta, number, threads) {
            let what = "a barrier for another number of threads than warps wait there for";
            return self.fail(launch, warp, pc, lanes, FaultKind::Unsupported { what });
        }
        let reduces = matches!(form, Barrier::RedPopc | Barrier::RedAnd | Barrier::RedOr);
        let mut arrival =
            Arrival { waits: form != Barrier::Arrive, threads, lanes: lanes.count_ones(), ayes: 0 };
        // Without lanes there is no result to write.
        self.warps.barrier_results[warp] = BarrierResult::default();
        if reduces {
            let predicates = Predicates(&self.warps.predicates[warp]);
            arrival.ayes = (predicate_source(instruction, &predicates, 2) & lanes).count_ones();
            self.scoreboard.reserve(warp, &self.micro[pc as usize], instruction, false);
            self.warps.barrier_results[warp] = BarrierResult { pc, lanes, value: 0 };
            self.warps.in_flight[warp] += 1;
        }
        if arrival.waits {
            self.warps.at_barrier |= 1 << warp;
        }
        self.barrier_unit.arrive(now);
        let live = self.ctas.get(cta).live;
        if let Some(release) = self.barriers.arrive(cta, number, warp, arrival, live) {
            self.release(launch, cta, release, now);
        }
    }

    /// A warp arrives at the barrier of its cluster.
    fn arrive_at_cluster(&mut self, launch: &Launch, warp: usize, pc: Pc, lanes: LaneMask) {
        let simt = &mut self.warps.simt[warp];
        if lanes != simt.live() {
            return self.fail(launch, warp, pc, lanes, FaultKind::DivergentBarrier);
        }
        simt.advance();
        match self.clusters.arrive(warp) {
            Ok(released) => {
                self.follow(|path| path.releases(released));
                self.released |= released;
            }
            Err(OutOfTurn) => self.fail(launch, warp, pc, lanes, OUT_OF_TURN),
        }
    }

    /// A warp waits at the barrier of its cluster.
    fn wait_for_cluster(&mut self, launch: &Launch, warp: usize, pc: Pc, lanes: LaneMask) {
        let simt = &mut self.warps.simt[warp];
        if lanes != simt.live() {
            return self.fail(launch, warp, pc, lanes, FaultKind::DivergentBarrier);
        }
        simt.advance();
        match self.clusters.wait(warp) {
            Ok(true) => self.warps.at_barrier |= 1 << warp,
            Ok(false) => {}
            Err(OutOfTurn) => self.fail(launch, warp, pc, lanes, OUT_OF_TURN),
        }
    }

    /// Releases the warps that waited at a barrier of a CTA, once the lane path, if there is one, has passed on what
    /// they wrote.
    fn release(&mut self, launch: &Launch, cta: usize, release: Release, now: Cycle) {
        self.follow(|path| path.releases(release.warps));
        if self.lsu.has_lane_path() {
            self.wait_for_lanes(LaneEvent::Barrier { cta: cta as u8 }, LaneWait::Release(release), now);
        } else {
            self.release_in_time(launch, release, now);
        }
    }

    /// Releases the warps that waited at a barrier, once the barrier has taken its time.
    pub(crate) fn release_in_time(&mut self, launch: &Launch, release: Release, now: Cycle) {
        let has_result = members(release.warps).any(|warp| self.warps.barrier_results[warp].lanes != 0);
        if let Some(release) = self.barrier_unit.complete(release, has_result, now) {
            self.release_warps(launch, release);
        }
    }

    /// Releases warps whose barriers have taken their time.
    pub(crate) fn release_due(&mut self, launch: &Launch, now: Cycle) {
        while let Some(release) = self.barrier_unit.take(now) {
            self.release_warps(launch, release);
        }
    }

    /// Releases the warps that waited at a barrier; they resume in the next cycle.
    fn release_warps(&mut self, launch: &Launch, release: Release) {
        self.released |= release.warps;
        for warp in members(release.warps) {
            let result = &mut self.warps.barrier_results[warp];
            if result.lanes == 0 {
                continue;
            }
            result.value = match launch.kernel.code[result.pc as usize].op {
                Op::Barrier(Barrier::RedPopc) => release.ayes,
                Op::Barrier(Barrier::RedAnd) => u32::from(release.all),
                Op::Barrier(Barrier::RedOr) => u32::from(release.ayes > 0),
                op => panic!("{op:?} has no result to wait for"),
            };
            self.warps.barrier_results_due |= 1 << warp;
            // Its next instruction may be a barrier again.
            self.warps.dirty |= 1 << warp;
        }
    }

    fn print(
        &mut self,
        launch: &Launch,
        warp: usize,
        instruction: &Instruction,
        lanes: LaneMask,
        (format, from): (u32, u8),
    ) {
        let cta = self.ctas.get(self.warps.cta[warp] as usize).index;
        let number = self.warps.contexts[warp].warp;
        let types = &launch.kernel.formats[format as usize].arguments[usize::from(from)..];
        for lane in lanes_of(lanes) {
            let arguments = types
                .iter()
                .take(MAX_PRINTED)
                .enumerate()
                .map(|(slot, ty)| {
                    let word = |half| {
                        let row = source_row(instruction, &self.control_rows, &launch.constants, slot, half);
                        u64::from(row.0[lane])
                    };
                    let wide = ty.rows() == 2;
                    Argument { bits: if wide { word(1) << 32 | word(0) } else { word(0) }, wide }
                })
                .collect();
            let print = Print { cta, warp: number, lane: lane as u8, format, arguments };
            if from == 0 {
                self.prints.push(print);
                continue;
            }
            // The lane's earlier arguments are in its last print: no other print of the lane comes between.
            let begun = self.prints.iter_mut().rfind(|begun| begun.continues_with(&print));
            begun.expect("a print begins with its first argument").arguments.extend(print.arguments);
        }
    }

    /// Puts a warp to sleep for the longest time that any of its lanes requests.
    fn sleep(
        &mut self,
        launch: &Launch,
        warp: usize,
        instruction: &Instruction,
        lanes: LaneMask,
        now: Cycle,
    ) {
        let row = self.row(launch, instruction, 0);
        let nanoseconds = lanes_of(lanes).map(|lane| row.0[lane]).max().unwrap_or(0);
        let cycles = (u64::from(nanoseconds) * self.clock_mhz).div_ceil(1000);
        self.warps.wake[warp] = now + cycles.max(1);
        self.warps.asleep |= 1 << warp;
    }

    /// Records a fault of the program, which stops the SM.
    pub(crate) fn fail(&mut self, launch: &Launch, warp: usize, pc: Pc, lanes: LaneMask, kind: FaultKind) {
        let context = &self.warps.contexts[warp];
        let thread = context.warp * WARP_LANES as u32 + lanes.trailing_zeros().min(31);
        let [x, y, _] = launch.block;
        let (text, line) = launch.kernel.source(launch.kernel.code[pc as usize].line);
        self.fault = Some(Fault {
            kind,
            kernel: launch.kernel.name.clone(),
            line,
            text,
            cta: context.ctaid,
            thread: [thread % x, thread / x % y, thread / (x * y)],
        });
    }

    /// Starts a CTA: assigns its warps to slots and zeroes its shared memory.
    pub(crate) fn start_cta(&mut self, launch: &Launch, index: u64, now: Cycle) {
        self.count_cycles(now);
        let place = launch.cta_place(index);
        let slot = self.ctas.start(index, place);
        self.barriers.reset(slot);
        let size = u64::from(launch.cluster_ctas());
        let warps = u64::MAX >> (64 - self.ctas.warps_per_cta) << self.ctas.first_warp(slot);
        self.clusters.start(index / size, warps);
        if D::EXTRAS
            && let Some(ledger) = self.lsu.ledger()
        {
            let first = self.ctas.first_warp(slot);
            let warps = first..first + self.ctas.warps_per_cta as usize;
            ledger.start_cta(index, warps.clone());
            if let Some(path) = ledger.path() {
                path.begin_cta(warps, now);
            }
        }
        self.lsu.start_cta(slot as u8, (index / size, (index % size) as u32), self.ctas.shared_base(slot));
        if self.ctas.shared_per_cta > 0 {
            self.lsu.clear_shared(self.ctas.shared_base(slot), self.ctas.shared_per_cta);
        }
        let first = self.ctas.first_warp(slot);
        let mut threads = launch.threads_per_cta();
        for number in 0..self.ctas.warps_per_cta {
            let warp = first + number as usize;
            let lanes = if threads >= 32 { ALL_LANES } else { (1 << threads) - 1 };
            threads = threads.saturating_sub(32);
            let context = WarpContext {
                ntid: launch.block,
                nctaid: launch.grid,
                ctaid: place,
                cluster: launch.cluster,
                warp: number,
                warp_slot: warp as u32,
                warp_slots: self.warps.slots,
                sm: u32::from(self.id.0),
                sms: self.sms,
                grid: launch.number,
                clock: 0,
                nanoseconds: 0,
                dynamic_shared: launch.dynamic_shared,
                total_shared: launch.shared_per_cta(),
            };
            debug_assert!(self.scoreboard.is_clear(warp), "a warp slot is given back with nothing pending");
            self.warps.start(warp, slot as u8, lanes, context);
            self.fetch.start(warp);
            let scheduler = warp % self.schedulers.len();
            self.schedulers[scheduler].add(warp);
            let moment = self.moment(now);
            if let Some(throttle) = &mut self.throttle {
                throttle.add(warp, moment);
            }
        }
    }

    /// Handles the exit of a warp's last lanes.
    fn exit_warp(&mut self, launch: &Launch, warp: usize, now: Cycle) {
        self.warps.exited |= 1 << warp;
        self.fetch.stop(warp);
        let scheduler = warp % self.schedulers.len();
        self.schedulers[scheduler].remove(warp);
        let moment = self.moment(now);
        if let Some(throttle) = &mut self.throttle {
            throttle.remove(warp, moment);
        }
        let cta = self.warps.cta[warp] as usize;
        self.ctas.get_mut(cta).live -= 1;
        let live = self.ctas.get(cta).live;
        while let Some(release) = self.barriers.exited(cta, live) {
            self.release(launch, cta, release, now);
        }
        let released = self.clusters.exited(warp);
        if released != 0 {
            self.follow(|path| path.releases(released));
        }
        self.released |= released;
        if self.warps.in_flight[warp] == 0 {
            self.retire(warp, now);
        }
    }

    /// Retires a warp that has exited and has nothing in flight; the CTA's last warp frees its slot.
    pub(crate) fn retire(&mut self, warp: usize, now: Cycle) {
        self.registers.release(warp as u8);
        let slot = self.warps.cta[warp] as usize;
        if D::EXTRAS && self.lsu.has_ledger() {
            let first = self.ctas.first_warp(slot);
            self.follow(|path| path.retired(first, now));
        }
        let cta = self.ctas.get_mut(slot);
        cta.holding -= 1;
        if cta.holding > 0 {
            return;
        }
        if self.lsu.has_lane_path() {
            self.wait_for_lanes(LaneEvent::CtaEnd { cta: slot as u8 }, LaneWait::CtaEnd(slot), now);
        } else {
            self.end_cta(slot, now);
        }
    }

    /// Frees the slot of a CTA that has ended.
    pub(crate) fn end_cta(&mut self, slot: usize, now: Cycle) {
        self.ctas.finish(slot);
        self.lsu.end_cta(slot as u8, now);
        // A cycle whose issue stage has begun counts with the warps that it found.
        self.count_cycles(now.max(self.accounted));
        let first = self.ctas.first_warp(slot);
        for warp in first..first + self.ctas.warps_per_cta as usize {
            self.warps.resident &= !(1 << warp);
            self.warps.exited &= !(1 << warp);
        }
        if D::EXTRAS
            && let Some(ledger) = self.lsu.ledger()
        {
            let warps = first..first + self.ctas.warps_per_cta as usize;
            ledger.end_cta(warps.clone(), now);
            if let Some(path) = ledger.path() {
                path.end_cta(warps, now);
            }
        }
        self.statistics.ctas += 1;
        self.notify(Notice::CtaDone);
    }
}

/// Whether the lanes that an instruction is for have come: all of the warp that live to a barrier, those of the membermask
/// to others. If not, the warp turns to other lanes, and the instruction is issued again later.
#[inline(never)]
pub(crate) fn gather(
    launch: &Launch,
    warps: &mut Warps,
    value: impl Fn(Reg) -> Row,
    warp: usize,
    pc: Pc,
    lanes: LaneMask,
) -> Gathering {
    let instruction = &launch.kernel.code[pc as usize];
    let simt = &mut warps.simt[warp];
    if instruction.op.is_barrier() {
        // A barrier that only some can reach is a fault, which is found where it is carried out.
        let put_off = lanes == simt.active() && lanes != simt.live() && simt.gather(&launch.kernel);
        return if put_off { Gathering::Later } else { Gathering::Complete };
    }
    if lanes == 0 || !simt.is_split() {
        return Gathering::Complete;
    }
    let masks = match instruction.op.members() {
        Some(Members::All) => Row::splat(ALL_LANES),
        Some(Members::Source(slot)) => match instruction.src[slot] {
            Src::Reg(register) => value(register),
            Src::Const(row) => launch.constants[usize::from(row)],
            Src::None | Src::Pred(..) | Src::PredConst(_) => Row::ZERO,
        },
        None => Row::ZERO,
    };
    simt.gather_named(lanes, &masks, Meeting::of(instruction.op))
}
