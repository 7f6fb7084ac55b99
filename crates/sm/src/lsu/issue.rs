//! Issue of memory instructions: decodes, resolves addresses, gathers operands, and enqueues on the paths involved.

use strata_engine::Cycle;
use strata_memory::doors::{LaneAction, Policy};
use strata_ptx::exec::{Operands, memory};
use strata_ptx::isa::{CacheOp, MemoryMode, Op, Ordering, Scope, Space, Ty};
use strata_ptx::lanes::LaneMask;

use super::address::{Places, Resolved, fault};
use super::behind::check_mapped;
use super::coalesce::{self, Shape};
use super::constants::Destination;
use super::entry::{Operation, Place, SECOND_OPERAND, SECOND_WIDE_OPERAND};
use super::fence::{HeldBack, acquires, releases};
use super::instruction::MemoryInstruction;
use super::{Lsu, atomics};
use crate::launch::{Fault, FaultKind, Launch};

impl Lsu {
    /// Accepts a memory instruction. A fault leaves the unit unchanged.
    ///
    /// # Errors
    /// Returns the fault of the first lane whose access is out of bounds, misaligned, or not supported by its memory.
    ///
    /// # Panics
    /// When [`Lsu::can_accept`] is false, when the warp waits for a fence, or when the instruction does not access
    /// memory.
    pub fn issue<O: Operands>(
        &mut self,
        memory: MemoryInstruction<'_>,
        operands: &O,
        launch: &Launch,
        now: Cycle,
    ) -> Result<(), Fault> {
        assert!(self.can_accept(), "a memory instruction was issued though no place is free");
        let (operation, mode) = match memory.instruction.op {
            Op::Load(mode) => (Operation::Load, mode),
            Op::Store(mode) => (Operation::Store, mode),
            Op::Atomic { op, mode } => (Operation::Atomic { op, returns: true }, mode),
            Op::Reduce { op, mode } => (Operation::Atomic { op, returns: false }, mode),
            Op::Prefetch(prefetch) => {
                self.issue_prefetch(&memory, operands, launch, prefetch, now);
                return Ok(());
            }
            Op::BulkPrefetch(prefetch) => {
                self.issue_bulk_prefetch(&memory, operands, launch, prefetch, now);
                return Ok(());
            }
            Op::Texture(_)
            | Op::TextureQuery(_)
            | Op::SurfaceLoad(_)
            | Op::SurfaceStore(_)
            | Op::SurfaceReduce { .. } => return self.issue_texels(&memory, operands, launch, now),
            _ => return self.issue_collective(memory, operands, launch, now),
        };
        if memory.lanes == 0 {
            return self.skip(operation, &memory, now);
        }
        let width = mode.ty.bytes() * usize::from(mode.vector);
        let entry = self.table.vacant();
        let target = (mode.space, width as u64);
        let Resolved { mut places, mut is_one, stride } =
            self.resolver.resolve(&memory, operands, launch, target, &mut entry.addresses)?;
        if operation != Operation::Load {
            check_support(&memory, launch, operation, mode, places)?;
        }
        if places.shared != 0 && self.behind.is_some() {
            check_mapped(&memory, launch, &entry.addresses, places.shared)?;
        }
        if places.constant != 0 {
            if self.read_only == Destination::Global {
                places.global |= std::mem::take(&mut places.constant);
                is_one = places.is_one();
            } else {
                self.statistics.constant_instructions += 1;
            }
        }

        entry.operation = operation;
        (entry.ty, entry.vector, entry.width) = (mode.ty, mode.vector, width as u8);
        entry.begin(&memory);
        (entry.lanes, entry.issued) = (memory.lanes, now);
        entry.policy = policy(operation, mode, places);
        entry.lane_action = lane_action(operation, mode);
        entry.global = places.global;
        (entry.local, entry.local_left, entry.local_word) = (places.local, places.local, 0);
        (entry.shared, entry.constant) = (places.shared, places.constant);
        entry.remote = places.remote;
        // Local memory is accessed one word at a time.
        let piece = if places.local != 0 { width.min(4) } else { width };
        entry.shape = match stride {
            _ if !is_one => Shape::Any,
            Some(stride) => coalesce::shape_of_stride(stride, memory.lanes, piece as u64),
            // Local addresses have gone another way for each lane; others without a stride have no pattern.
            None if places.local == 0 => Shape::Any,
            None => coalesce::shape(&entry.addresses, memory.lanes, piece as u64),
        };
        match operation {
            Operation::Load | Operation::Texture => {}
            Operation::Store => {
                memory::gather(operands, mode.ty, 1, usize::from(mode.vector), &mut entry.image);
            }
            Operation::LoadMatrix(_)
            | Operation::Copy
            | Operation::Mbarrier(_)
            | Operation::CopyArrive
            | Operation::Bulk
            | Operation::Prefetch(_)
            | Operation::Tile => {
                unreachable!("these have a way of their own")
            }
            Operation::Atomic { op, .. } => {
                memory::gather(operands, mode.ty, 1, 1, &mut entry.image);
                if op == strata_ptx::isa::AtomicOp::Cas {
                    let second = if width == 16 { SECOND_WIDE_OPERAND } else { SECOND_OPERAND };
                    for half in 0..mode.ty.rows() {
                        entry.image.words[second + half] = *operands.source(2, half);
                    }
                }
            }
        }

        let statistics = &mut self.statistics;
        statistics.global_instructions += u64::from(places.global != 0);
        statistics.local_instructions += u64::from(places.local != 0);
        statistics.shared_instructions += u64::from(places.shared != 0);
        statistics.split_instructions += u64::from(!is_one);
        self.count(operation);
        let place = self.table.claim();
        let acquires = acquires(mode.ordering);
        if releases(mode.ordering) {
            self.fences.begin(memory.warp, mode.scope, Some(HeldBack { entry: place, acquires }), now);
        } else {
            self.start(place, now);
            if acquires {
                self.fences.begin(memory.warp, mode.scope, None, now);
            }
        }
        Ok(())
    }

    /// Enqueues an instruction on the path of each memory that its lanes access.
    pub(super) fn start(&mut self, place: Place, now: Cycle) {
        let ready = now + self.address_latency;
        let entry = self.table.get_mut(place);
        let (device, shared, constant) = (entry.has_device_lanes(), entry.shared != 0, entry.constant != 0);
        entry.open = u16::from(device) + u16::from(shared) + u16::from(constant);
        self.front += u32::from(entry.open);
        self.fences.open(entry.warp);
        if self.lanes.is_some() {
            if device || shared {
                self.enter_device(place, ready);
            }
        } else {
            if device {
                self.device.push(place, ready);
            }
            if shared {
                self.queue_for_shared(place, ready);
            }
        }
        if constant {
            self.start_constants(place, ready);
        }
    }

    /// Queues an instruction for the constant cache, or where there is none, its one lane for the L1D.
    fn start_constants(&mut self, place: Place, ready: Cycle) {
        if self.read_only == Destination::ConstantCache {
            self.constants.push(place, ready);
            self.due = self.due.min(ready);
            return;
        }
        let entry = self.table.get_mut(place);
        debug_assert!(entry.lanes.count_ones() == 1, "one lane is in one memory");
        entry.global = std::mem::take(&mut entry.constant);
        self.device.push(place, ready);
    }

    /// Queues an instruction for shared memory; its passes begin at `ready` or later.
    #[inline]
    pub(super) fn queue_for_shared(&mut self, place: Place, ready: Cycle) {
        self.scratchpad.push(place, ready);
        self.due = self.due.min(self.scratchpad.next_event());
    }

    /// Counts an instruction without active lanes and completes it.
    pub(super) fn skip(
        &mut self,
        operation: Operation,
        memory: &MemoryInstruction<'_>,
        now: Cycle,
    ) -> Result<(), Fault> {
        self.count(operation);
        self.statistics.empty += 1;
        self.pass_through(memory, now);
        Ok(())
    }

    /// Completes an instruction that accesses no memory, without entering any path.
    pub(super) fn pass_through(&mut self, memory: &MemoryInstruction<'_>, now: Cycle) {
        let entry = self.table.vacant();
        (entry.operation, entry.ty, entry.vector, entry.width) = (Operation::Load, Ty::U32, 0, 0);
        entry.begin(memory);
        // Without active lanes, no rows are written.
        entry.result_rows = 0;
        (entry.lanes, entry.issued, entry.open) = (0, now, 0);
        (entry.global, entry.local_left, entry.shared, entry.constant) = (0, 0, 0, 0);
        self.fences.open(memory.warp);
        let place = self.table.claim();
        self.end(place, now);
    }

    pub(super) fn count(&mut self, operation: Operation) {
        self.statistics.instructions += 1;
        *match operation {
            Operation::Load => &mut self.statistics.loads,
            Operation::Store => &mut self.statistics.stores,
            Operation::Atomic { returns: true, .. } => &mut self.statistics.atomics,
            Operation::Atomic { returns: false, .. } => &mut self.statistics.reductions,
            Operation::Texture => &mut self.statistics.textures,
            other => unreachable!("{other:?} is counted where it is issued"),
        } += 1;
    }
}

/// Rejects operations that the accessed memory does not perform.
fn check_support(
    memory: &MemoryInstruction<'_>,
    launch: &Launch,
    operation: Operation,
    mode: MemoryMode,
    places: Places,
) -> Result<(), Fault> {
    let refuse = |lanes: LaneMask, what| {
        let lane = lanes.trailing_zeros() as usize;
        if lanes == 0 { Ok(()) } else { Err(fault(memory, launch, lane, FaultKind::Unsupported { what })) }
    };
    match operation {
        Operation::Store => refuse(places.constant, "a store to constant or parameter memory"),
        Operation::Atomic { op, .. } => {
            refuse(places.constant, "an atomic operation on constant or parameter memory")?;
            refuse(places.local, "an atomic operation on local memory")?;
            if atomics::at_the_line(op, mode.ty).is_none() {
                refuse(places.global, "an atomic operation of this type on global memory")?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// What an instruction asks of a lane path: only weak loads and stores may be served before the memory that other
/// lanes share.
fn lane_action(operation: Operation, mode: MemoryMode) -> LaneAction {
    let goes_past = matches!(mode.cache, CacheOp::Global | CacheOp::Volatile);
    match operation {
        _ if mode.ordering != Ordering::Weak || goes_past => LaneAction::Pass,
        Operation::Load => LaneAction::Load,
        Operation::Store => LaneAction::Store,
        _ => LaneAction::Pass,
    }
}

/// Chooses whether an instruction's accesses use or bypass the L1D.
fn policy(operation: Operation, mode: MemoryMode, places: Places) -> Policy {
    let is_strong = match mode.ordering {
        Ordering::Weak => false,
        Ordering::Volatile => true,
        // Threads of a CTA share an L1D, so CTA scope may use it.
        _ => mode.scope != Scope::Cta,
    };
    let goes_past = matches!(mode.cache, CacheOp::Global | CacheOp::Volatile);
    let is_atomic = matches!(operation, Operation::Atomic { .. });
    let is_private = mode.space == Space::Local || places.global == 0;
    if (is_strong || goes_past || is_atomic) && !is_private { Policy::Bypass } else { Policy::Cached }
}
