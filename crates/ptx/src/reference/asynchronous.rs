//! `cp.async` and `mbarrier`. Here a copy is complete when it is issued, which is one of the orders that the ISA allows: so
//! groups are always complete, and an arrival that waits for copies happens at once.

use super::access::Reach;
use super::fault::FaultKind;
use super::matrix::in_shared;
use super::observer::AccessKind;
use super::part::{LaneFault, Memories, Part};
use crate::exec::memory::{self, Image};
use crate::exec::{Operands, mbarrier, write_predicate};
use crate::isa::{
    AsyncCopy, CacheOp, Instruction, Mbarrier, MbarrierOp, MemoryMode, Ordering, Scope, Space, Ty,
};
use crate::lanes::{LaneMask, Row, WARP_LANES, lanes_of};

/// `cp.async`.
pub(super) fn copy<O: Operands>(
    instruction: &Instruction,
    operands: &O,
    copy: AsyncCopy,
    lanes: LaneMask,
    memories: &mut Memories<'_>,
) -> Result<(), LaneFault> {
    let bytes = usize::from(copy.bytes);
    let sizes = memory::copy_sizes(instruction, operands, copy);
    let from = memory::addresses(instruction, operands, Space::Global);
    let to = memory::copy_targets(operands, copy);
    let mut image = Image::ZERO;
    let readers = lanes_of(lanes).filter(|lane| sizes[*lane] > 0).fold(0, |mask, lane| mask | 1 << lane);
    if readers != 0 {
        let part = Part::new(Space::Global, readers, &from, bytes)?;
        memories.show(AccessKind::Load, &part);
        for lane in lanes_of(readers) {
            let size = usize::from(sizes[lane]);
            let Some(source) = memories.global.bytes(from[lane], size) else {
                let space = Space::Global;
                return Err((lane, FaultKind::OutOfBounds { space, address: from[lane], bytes: size }));
            };
            for (n, byte) in source.iter().enumerate() {
                image.words[n / 4].0[lane] |= u32::from(*byte) << (8 * (n % 4));
            }
        }
    }
    let part = Part::new(Space::Shared, lanes, &to, bytes)?;
    memories.show(AccessKind::Store, &part);
    part.visit(memories, |memory, lanes, indices| {
        for lane in lanes_of(lanes) {
            let to = &mut memory[indices.of(lane)..][..bytes];
            for (to, row) in to.chunks_exact_mut(4).zip(&image.words) {
                to.copy_from_slice(&row.0[lane].to_le_bytes());
            }
        }
    })
}

/// `mbarrier`: lanes take their turns from the lowest.
pub(super) fn barrier<O: Operands>(
    instruction: &Instruction,
    operands: &mut O,
    barrier: Mbarrier,
    lanes: LaneMask,
    memories: &mut Memories<'_>,
) -> Result<(), LaneFault> {
    let (mut low, mut high) = (Row::ZERO, Row::ZERO);
    let mut operand = [0u64; WARP_LANES];
    if barrier.op != MbarrierOp::Invalidate {
        for (lane, operand) in operand.iter_mut().enumerate() {
            *operand = operands.source(1, 0).0[lane].into();
            if barrier.op == MbarrierOp::TestState {
                *operand |= u64::from(operands.source(1, 1).0[lane]) << 32;
            }
        }
    }
    synchronize(
        instruction,
        operands,
        barrier,
        lanes,
        memories,
        |lane| operand[lane],
        |lane, result| {
            low.0[lane] = result as u32;
            high.0[lane] = (result >> 32) as u32;
        },
    )?;
    if barrier.op.is_test() {
        let holds = lanes_of(lanes).fold(0, |mask, lane| mask | low.0[lane] << lane);
        write_predicate(instruction, operands, 0, lanes, holds);
    } else if barrier.op.returns_state() {
        operands.write(0, 0, lanes, &low);
        operands.write(0, 1, lanes, &high);
    }
    Ok(())
}

/// `cp.async.mbarrier.arrive`: the copies are complete, so the arrival follows the expectation at once.
pub(super) fn arrive<O: Operands>(
    instruction: &Instruction,
    operands: &O,
    (space, counted): (Space, bool),
    lanes: LaneMask,
    memories: &mut Memories<'_>,
) -> Result<(), LaneFault> {
    if !counted {
        let op = MbarrierOp::Track;
        synchronize(instruction, operands, Mbarrier { op, space }, lanes, memories, |_| 0, |_, _| {})?;
    }
    let op = MbarrierOp::Arrive { drop: false, completes: true };
    synchronize(instruction, operands, Mbarrier { op, space }, lanes, memories, |_| 1, |_, _| {})
}

fn synchronize(
    instruction: &Instruction,
    operands: &impl Operands,
    Mbarrier { op, space }: Mbarrier,
    lanes: LaneMask,
    memories: &mut Memories<'_>,
    operand: impl Fn(usize) -> u64,
    mut returned: impl FnMut(usize, u64),
) -> Result<(), LaneFault> {
    let mode = MemoryMode {
        space,
        ty: Ty::B64,
        vector: 1,
        cache: CacheOp::All,
        ordering: Ordering::Weak,
        scope: Scope::Cta,
    };
    Reach::new(instruction, operands, &mode, lanes).each(|part| {
        in_shared(&part)?;
        memories.show(if op.is_test() { AccessKind::Load } else { AccessKind::Atomic }, &part);
        part.visit(memories, |bytes, lanes, indices| {
            for lane in lanes_of(lanes) {
                let cell =
                    bytes[indices.of(lane)..].first_chunk_mut().expect("the whole barrier is in bounds");
                let (after, result) = mbarrier::apply(op, u64::from_le_bytes(*cell), operand(lane));
                *cell = after.to_le_bytes();
                returned(lane, result);
            }
        })
    })
}
