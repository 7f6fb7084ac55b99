//! Shared memory operations beyond loads, stores and atomics: matrix moves, asynchronous copies and mbarriers.

use strata_engine::Cycle;
use strata_memory::doors::{LaneAction, LaneEvent, Policy};
use strata_ptx::exec::{Operands, matrix, memory};
use strata_ptx::isa::{AsyncCopy, CacheOp, MatrixAccess, Mbarrier, MbarrierOp, Op, Space, Ty};
use strata_ptx::lanes::{LaneMask, Row, WARP_LANES, lanes_of};

use super::Lsu;
use super::address::{Places, fault};
use super::behind::check_mapped;
use super::coalesce::{self, Shape};
use super::entry::{Operation, Place, Stage};
use super::instruction::MemoryInstruction;
use crate::launch::{Fault, FaultKind, Launch};

/// Index in [`Entry::image`](super::entry::Entry::image) of a copy's shared addresses while it loads.
const TARGETS: usize = 4;
/// Index in [`Entry::image`](super::entry::Entry::image) of the number of bytes each lane reads.
const SIZES: usize = 5;

/// What follows when a step of an instruction completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The instruction is performed. `ordered` is true when fences have been waiting for it.
    Goes { ordered: bool },
    /// The instruction has another step to go.
    Stays,
}

impl Lsu {
    /// Accepts a matrix move, asynchronous copy or mbarrier operation. Kept out of line so that the path of common
    /// instructions stays short.
    ///
    /// # Errors
    /// Returns the fault of the first lane whose address is out of bounds, misaligned, or outside shared memory.
    ///
    /// # Panics
    /// On any other instruction.
    #[inline(never)]
    pub(super) fn issue_collective<O: Operands>(
        &mut self,
        memory: MemoryInstruction<'_>,
        operands: &O,
        launch: &Launch,
        now: Cycle,
    ) -> Result<(), Fault> {
        if let Op::Tile(op) = memory.instruction.op
            && memory.lanes != 0
        {
            return self.issue_tile(&memory, operands, launch, op, now);
        }
        if let Op::Bulk(copy) = memory.instruction.op
            && memory.lanes != 0
        {
            return self.issue_bulk(&memory, operands, launch, copy, now);
        }
        let statistics = &mut self.statistics;
        let (counter, is_empty) = match memory.instruction.op {
            Op::Bulk(_) => (&mut statistics.copies, true),
            Op::BulkCommit => {
                self.bulk.commit(memory.warp);
                (&mut statistics.copy_controls, true)
            }
            Op::Tile(_) => (&mut statistics.copy_controls, true),
            Op::CopyCommit => {
                self.copies.commit(memory.warp);
                statistics.instructions += 1;
                statistics.copy_controls += 1;
                statistics.empty += 1;
                self.pass_through(&memory, now);
                return Ok(());
            }
            Op::LoadMatrix(access) => (&mut statistics.loads, memory.lanes & access.address_lanes() == 0),
            Op::StoreMatrix(access) => (&mut statistics.stores, memory.lanes & access.address_lanes() == 0),
            Op::CopyAsync(_) => (&mut statistics.copies, memory.lanes == 0),
            Op::CopyArrive { .. } => (&mut statistics.copy_controls, memory.lanes == 0),
            Op::Mbarrier(barrier) if barrier.op.is_test() => (&mut statistics.loads, memory.lanes == 0),
            Op::Mbarrier(barrier) if barrier.op.returns_state() => {
                (&mut statistics.atomics, memory.lanes == 0)
            }
            Op::Mbarrier(_) => (&mut statistics.reductions, memory.lanes == 0),
            op => panic!("line {}: {op:?} is not a memory instruction", memory.instruction.line),
        };
        if is_empty {
            *counter += 1;
            statistics.instructions += 1;
            statistics.empty += 1;
            self.pass_through(&memory, now);
            return Ok(());
        }
        let places = match memory.instruction.op {
            Op::LoadMatrix(access) | Op::StoreMatrix(access) => {
                self.matrix(&memory, operands, launch, access)?
            }
            Op::CopyAsync(copy) => self.copy(&memory, operands, launch, copy)?,
            Op::CopyArrive { space, counted } => {
                let operation =
                    if counted { Operation::CopyArrive } else { Operation::Mbarrier(MbarrierOp::Track) };
                let places = self.in_shared(&memory, operands, launch, (space, 8))?;
                let entry = self.table.vacant();
                entry.operation = operation;
                (entry.ty, entry.vector, entry.width) = (Ty::B64, 1, 8);
                entry.image.words[0] = Row::splat(1);
                entry.image.words[1] = Row::ZERO;
                places
            }
            Op::Mbarrier(barrier) => self.barrier(&memory, operands, launch, barrier)?,
            op => unreachable!("{op:?} was refused above"),
        };

        let (group, order) = self.copies.next(memory.warp);
        let entry = self.table.vacant();
        entry.begin(&memory);
        (entry.lanes, entry.issued) = (memory.lanes, now);
        (entry.group, entry.order, entry.stage) = (group, order, Stage::First);
        entry.lane_action = match memory.instruction.op {
            // Lanes name rows for each other.
            Op::LoadMatrix(_) | Op::StoreMatrix(_) => LaneAction::Collective,
            _ => LaneAction::Pass,
        };
        entry.global = places.global;
        (entry.local, entry.local_left, entry.local_word) = (0, 0, 0);
        // A copy reaches shared memory in its second step.
        let is_copy = entry.operation == Operation::Copy;
        entry.shared = if is_copy { 0 } else { places.shared };
        entry.remote = if is_copy { 0 } else { places.remote };
        entry.constant = 0;
        let lanes = if is_copy { places.global } else { places.shared };
        entry.shape = match lanes {
            0 => Shape::Any,
            _ => coalesce::shape(&entry.addresses, lanes, entry.width.into()),
        };
        let arrives = matches!(memory.instruction.op, Op::CopyArrive { .. });

        let statistics = &mut self.statistics;
        statistics.instructions += 1;
        statistics.global_instructions += u64::from(places.global != 0);
        statistics.shared_instructions += u64::from(places.shared != 0);
        statistics.split_instructions += u64::from(!places.is_one());
        match memory.instruction.op {
            Op::LoadMatrix(_) => statistics.loads += 1,
            Op::StoreMatrix(_) => statistics.stores += 1,
            Op::CopyAsync(_) => statistics.copies += 1,
            Op::Mbarrier(barrier) if barrier.op.is_test() => statistics.loads += 1,
            Op::Mbarrier(barrier) if barrier.op.returns_state() => statistics.atomics += 1,
            Op::Mbarrier(_) => statistics.reductions += 1,
            _ => statistics.copy_controls += 1,
        }
        let place = self.table.claim();
        if is_copy {
            self.begin_copy(place, now);
        } else if arrives && self.table.get(place).operation == Operation::CopyArrive {
            self.arrive(place, now);
        } else {
            self.order_mbarrier(place, now);
            self.start(place, now);
        }
        Ok(())
    }

    /// Resolves the lanes' addresses, all of which must lie in shared memory.
    fn in_shared<O: Operands>(
        &mut self,
        memory: &MemoryInstruction<'_>,
        operands: &O,
        launch: &Launch,
        target: (Space, u64),
    ) -> Result<Places, Fault> {
        let addresses = &mut self.table.vacant().addresses;
        let places = self.resolver.resolve(memory, operands, launch, target, addresses)?.places;
        if self.behind.is_some() {
            check_mapped(memory, launch, addresses, places.shared)?;
        }
        let elsewhere = memory.lanes & !places.shared;
        if elsewhere != 0 {
            let what = "an operation of shared memory on another memory";
            let lane = elsewhere.trailing_zeros() as usize;
            return Err(fault(memory, launch, lane, FaultKind::Unsupported { what }));
        }
        Ok(places)
    }

    fn matrix<O: Operands>(
        &mut self,
        memory: &MemoryInstruction<'_>,
        operands: &O,
        launch: &Launch,
        access: MatrixAccess,
    ) -> Result<Places, Fault> {
        let rows = MemoryInstruction { lanes: memory.lanes & access.address_lanes(), ..*memory };
        let places = self.in_shared(&rows, operands, launch, (access.space, 16))?;
        let entry = self.table.vacant();
        (entry.ty, entry.vector, entry.width) = (Ty::B128, 1, 16);
        // Rows of inactive lanes read as zero.
        entry.image = memory::Image::ZERO;
        entry.operation = match memory.instruction.op {
            Op::LoadMatrix(_) => Operation::LoadMatrix(access),
            _ => {
                matrix::rows(access, operands, &mut entry.image);
                Operation::Store
            }
        };
        Ok(places)
    }

    fn barrier<O: Operands>(
        &mut self,
        memory: &MemoryInstruction<'_>,
        operands: &O,
        launch: &Launch,
        Mbarrier { op, space }: Mbarrier,
    ) -> Result<Places, Fault> {
        let places = self.in_shared(memory, operands, launch, (space, 8))?;
        let entry = self.table.vacant();
        entry.operation = Operation::Mbarrier(op);
        (entry.ty, entry.vector, entry.width) = (Ty::B64, 1, 8);
        if op != MbarrierOp::Invalidate {
            entry.image.words[0] = *operands.source(1, 0);
        }
        entry.image.words[1] = if op == MbarrierOp::TestState { *operands.source(1, 1) } else { Row::ZERO };
        Ok(places)
    }

    /// Resolves both sides of a copy: the source addresses go to the entry's addresses, the targets and sizes to its
    /// words.
    fn copy<O: Operands>(
        &mut self,
        memory: &MemoryInstruction<'_>,
        operands: &O,
        launch: &Launch,
        copy: AsyncCopy,
    ) -> Result<Places, Fault> {
        let bytes = u64::from(copy.bytes);
        let sizes = memory::copy_sizes(memory.instruction, operands, copy);
        let readers = lanes_of(memory.lanes).filter(|lane| sizes[*lane] > 0);
        let readers: LaneMask = readers.fold(0, |lanes, lane| lanes | 1 << lane);
        let is_whole = lanes_of(readers).all(|lane| sizes[lane] == copy.bytes);

        let mut targets = memory::copy_targets(operands, copy);
        for lane in lanes_of(memory.lanes) {
            let address = targets[lane];
            if !address.is_multiple_of(bytes) {
                let kind = FaultKind::Misaligned { address, bytes: bytes as u32 };
                return Err(fault(memory, launch, lane, kind));
            }
            if address + bytes > launch.shared_per_cta().into() {
                let kind = FaultKind::OutOfBounds { address, bytes: bytes as u32, space: "shared" };
                return Err(fault(memory, launch, lane, kind));
            }
            targets[lane] += u64::from(memory.shared_base);
        }
        let reading = MemoryInstruction { lanes: readers, ..*memory };
        let addresses = &mut self.table.vacant().addresses;
        if readers == 0 {
            *addresses = [0; WARP_LANES];
        } else if is_whole {
            self.resolver.resolve(&reading, operands, launch, (Space::Global, bytes), addresses)?;
        } else {
            self.resolver.resolve_sized(&reading, operands, launch, (bytes, &sizes), addresses)?;
        }

        let entry = self.table.vacant();
        entry.operation = Operation::Copy;
        (entry.ty, entry.vector, entry.width) = (Ty::U32, copy.bytes / 4, copy.bytes);
        entry.policy = if copy.cache == CacheOp::Global { Policy::Bypass } else { Policy::Cached };
        entry.image.words[TARGETS] = Row(targets.map(|target| target as u32));
        entry.image.words[SIZES] = Row(sizes.map(u32::from));
        Ok(Places { global: readers, shared: memory.lanes, ..Places::default() })
    }

    /// Starts a copy's load; a copy that reads nothing goes straight to shared memory. Fences do not wait for copies.
    fn begin_copy(&mut self, place: Place, now: Cycle) {
        let ready = now + self.address_latency;
        let entry = self.table.get_mut(place);
        entry.open = 1;
        if entry.global != 0 {
            self.enter_device(place, ready);
            self.front += 1;
        } else {
            self.land(place, now);
        }
    }

    /// Queues a loaded copy for shared memory, with the bytes beyond each lane's size zeroed.
    fn land(&mut self, place: Place, now: Cycle) {
        let entry = self.table.get_mut(place);
        let (targets, sizes) = (entry.image.words[TARGETS], entry.image.words[SIZES]);
        for (n, words) in entry.image.words[..usize::from(entry.width) / 4].iter_mut().enumerate() {
            for (word, size) in words.0.iter_mut().zip(sizes.0) {
                let kept = size.saturating_sub(4 * n as u32).min(4);
                *word &= ((1u64 << (8 * kept)) - 1) as u32;
            }
        }
        let first = targets.0[entry.lanes.trailing_zeros() as usize];
        for (lane, address) in entry.addresses.iter_mut().enumerate() {
            let takes_part = entry.lanes >> lane & 1 == 1;
            *address = u64::from(if takes_part { targets.0[lane] } else { first });
        }
        entry.stage = Stage::Last;
        entry.shape = coalesce::shape(&entry.addresses, entry.lanes, entry.width.into());
        entry.shared = entry.lanes;
        entry.open = 1;
        self.enter_shared(place, now + self.address_latency);
        self.front += 1;
    }

    /// Queues an arrival for its mbarrier, unless earlier copies have yet to reach shared memory.
    fn arrive(&mut self, place: Place, now: Cycle) {
        if self.copies.holds_back(place, &self.table) {
            return;
        }
        let entry = self.table.get_mut(place);
        entry.stage = Stage::Last;
        entry.shared = entry.lanes;
        entry.open = 1;
        self.enter_shared(place, now + self.address_latency);
        self.front += 1;
    }

    /// Tells a lane path that an mbarrier orders what comes before it and what comes after: called when it starts and
    /// when it has been performed.
    fn order_mbarrier(&mut self, place: Place, now: Cycle) {
        let entry = self.table.get(place);
        if self.has_lane_path() && matches!(entry.operation, Operation::Mbarrier(_)) {
            self.order(LaneEvent::Fence { lanes: entry.lanes }, None, now);
        }
    }

    /// Handles the completion of a step: starts the next one, or reports that the instruction is performed.
    pub(super) fn end_collective(&mut self, place: Place, now: Cycle) -> Ending {
        let entry = self.table.get_mut(place);
        match (entry.operation, entry.stage) {
            (Operation::LoadMatrix(access), _) => {
                let fragments = matrix::fragments(access, &entry.image);
                entry.image.words[..fragments.len()].copy_from_slice(&fragments);
                Ending::Goes { ordered: true }
            }
            (Operation::Copy, Stage::First) => {
                self.land(place, now);
                Ending::Stays
            }
            (Operation::Copy, _) => {
                self.landed(place, now);
                Ending::Goes { ordered: false }
            }
            (Operation::Mbarrier(MbarrierOp::Track), _) => {
                entry.operation = Operation::CopyArrive;
                (entry.image.words[0], entry.image.words[1]) = (Row::splat(1), Row::ZERO);
                let warp = entry.warp;
                self.fences.close(warp);
                self.arrive(place, now);
                Ending::Stays
            }
            (Operation::CopyArrive, _) => Ending::Goes { ordered: false },
            (Operation::Mbarrier(_), _) => {
                self.order_mbarrier(place, now);
                Ending::Goes { ordered: true }
            }
            _ => Ending::Goes { ordered: true },
        }
    }

    /// Completes a copy that has reached shared memory, and releases the warp and the arrivals that waited for it.
    fn landed(&mut self, place: Place, now: Cycle) {
        let entry = self.table.get_mut(place);
        entry.stage = Stage::Done;
        let warp = entry.warp;
        self.copies.landed(warp, &self.table);
        while let Some(place) = self.copies.next_freed(warp, &self.table) {
            self.arrive(place, now);
        }
    }

    /// Makes the warp wait for its copies: until at most `pending` groups are in flight (`cp.async.wait_group`), or
    /// with `None` until no copy is (`cp.async.wait_all`).
    pub fn wait_for_copies(&mut self, warp: u8, pending: Option<u32>) {
        self.copies.wait(warp, pending, &self.table);
    }

    /// Mask of warps that wait for their copies.
    #[inline]
    pub fn waiting_copies(&self) -> u64 {
        self.copies.waiting() | self.bulk.waiting()
    }
}
