//! The atomics that the memory system performs: a warp's operations on a line, as one batch.
//!
//! Where the machine combines atomics, lanes of an aligned group that add to the same address leave the SM as one operation
//! with the sum of their operands. The value each lane would have found follows from the one that the first lane found and the
//! operands of the lanes before it, so the lanes get what they would have got one after the other, in lane order.

use strata_memory::LINE_BYTES;
use strata_memory::atomic::{self, AtomicBatch, AtomicOp, AtomicType, apply};
use strata_ptx::exec::memory::Image;
use strata_ptx::isa::{self, Ty};
use strata_ptx::lanes::{LaneMask, WARP_LANES, lanes_of};

use super::entry::{Entry, Operation, SECOND_OPERAND, SECOND_WIDE_OPERAND};

/// Maps an atomic of the instruction set to the memory system's operation on a line; `None` when it has none.
pub fn at_the_line(op: isa::AtomicOp, ty: Ty) -> Option<(AtomicOp, AtomicType)> {
    use isa::AtomicOp as Isa;
    let performed = match op {
        Isa::Add => AtomicOp::Add,
        Isa::Min => AtomicOp::Min,
        Isa::Max => AtomicOp::Max,
        Isa::Inc => AtomicOp::Inc,
        Isa::Dec => AtomicOp::Dec,
        Isa::And => AtomicOp::And,
        Isa::Or => AtomicOp::Or,
        Isa::Xor => AtomicOp::Xor,
        Isa::Exch => AtomicOp::Exch,
        Isa::Cas => AtomicOp::Cas,
    };
    let operands = match (ty, op) {
        (Ty::U16 | Ty::B16 | Ty::S16, Isa::Cas) => AtomicType::U16,
        (Ty::U32 | Ty::B32, _) => AtomicType::U32,
        (Ty::S32, _) => AtomicType::S32,
        (Ty::U64 | Ty::B64, _) => AtomicType::U64,
        (Ty::S64, _) => AtomicType::S64,
        (Ty::F32, Isa::Add | Isa::Exch) => AtomicType::F32,
        (Ty::F64, Isa::Add | Isa::Exch) => AtomicType::F64,
        (Ty::F16, Isa::Add | Isa::Min | Isa::Max) => AtomicType::F16,
        (Ty::Bf16, Isa::Add | Isa::Min | Isa::Max) => AtomicType::Bf16,
        (Ty::F16x2, Isa::Add) => AtomicType::F16x2,
        (Ty::Bf16x2, Isa::Add) => AtomicType::Bf16x2,
        (Ty::B128, Isa::Exch | Isa::Cas) => AtomicType::B128,
        _ => return None,
    };
    Some((performed, operands))
}

/// Whether operands can be combined before they meet the value in memory. Sums of floating-point numbers cannot: they depend
/// on the order.
const fn combines(op: AtomicOp, ty: AtomicType) -> bool {
    use AtomicOp::{Add, And, Max, Min, Or, Xor};
    use AtomicType::{S32, S64, U32, U64};
    matches!(op, Add | Min | Max | And | Or | Xor) && matches!(ty, U32 | S32 | U64 | S64)
}

/// An empty batch, to be filled.
#[cold]
pub fn new_batch() -> Box<AtomicBatch> {
    Box::new(AtomicBatch::empty(AtomicOp::Add, AtomicType::U32))
}

/// Fills a batch with the atomics of `lanes`, in the order of their first lanes. Lanes of a group of `combining` lanes that have
/// the same address share an entry.
pub fn fill(batch: &mut AtomicBatch, entry: &Entry, lanes: LaneMask, combining: u32) {
    let Operation::Atomic { op, returns } = entry.operation else {
        unreachable!("only atomics make batches")
    };
    (batch.op, batch.ty) = at_the_line(op, entry.ty).expect("checked at issue");
    (batch.returns, batch.count) = (returns, 0);
    if batch.ty == AtomicType::B128 {
        return fill_wide(batch, entry, lanes);
    }
    let (words, wide) = (&entry.image, entry.width == 8);
    if combining > 1 && combines(batch.op, batch.ty) {
        let mut left = lanes;
        while left != 0 {
            let first = left.trailing_zeros() as usize;
            let sharers = sharers(entry, left, first, combining);
            let operands = lanes_of(sharers).map(|lane| operand(words, 0, wide, lane));
            let combined = operands.reduce(|sum, operand| apply(batch.op, batch.ty, sum, operand, 0));
            push(batch, entry, first, combined.expect("a lane shares with itself"), 0);
            left &= !sharers;
        }
        return;
    }
    for lane in lanes_of(lanes) {
        let (a, b) = (operand(words, 0, wide, lane), operand(words, SECOND_OPERAND, wide, lane));
        push(batch, entry, lane, a, b);
    }
}

/// Copies the old values of the atomics of `lanes` to the lanes' words. Returns whether any of the values was replaced by
/// another.
pub fn take(batch: &AtomicBatch, entry: &mut Entry, lanes: LaneMask, combining: u32) -> bool {
    if batch.ty == AtomicType::B128 {
        return take_wide(batch, entry);
    }
    let combined = combining > 1 && combines(batch.op, batch.ty);
    let unused_bits = 64 - 8 * batch.ty.bytes();
    let differs = |old: u64, new: u64| (new ^ old) << unused_bits != 0;
    let wide = entry.width == 8;
    let mut changed = false;
    for at in 0..usize::from(batch.count).min(WARP_LANES) {
        let (first, mut old) = (usize::from(batch.lane[at]), batch.a[at]);
        if !combined {
            if !changed {
                let a = operand(&entry.image, 0, wide, first);
                let b = operand(&entry.image, SECOND_OPERAND, wide, first);
                changed = differs(old, apply(batch.op, batch.ty, old, a, b));
            }
            put(entry, first, old);
            continue;
        }
        for lane in lanes_of(sharers(entry, lanes, first, combining)) {
            let operand = operand(&entry.image, 0, wide, lane);
            put(entry, lane, old);
            let new = apply(batch.op, batch.ty, old, operand, 0);
            changed |= differs(old, new);
            old = new;
        }
    }
    changed
}

/// Fills a batch with atomics of 128 bits, which are never combined.
#[cold]
fn fill_wide(batch: &mut AtomicBatch, entry: &Entry, lanes: LaneMask) {
    for (at, lane) in lanes_of(lanes).enumerate() {
        batch.lane[at] = lane as u8;
        batch.offset[at] = entry.addresses[lane] as u8 % LINE_BYTES as u8;
        for half in 0..2 {
            batch.a[2 * at + half] = operand(&entry.image, 2 * half, true, lane);
            batch.b[2 * at + half] = operand(&entry.image, SECOND_WIDE_OPERAND + 2 * half, true, lane);
        }
        batch.count += 1;
    }
}

/// As [`take`], of 128 bits.
#[cold]
fn take_wide(batch: &AtomicBatch, entry: &mut Entry) -> bool {
    let mut changed = false;
    for at in 0..usize::from(batch.count) {
        let lane = usize::from(batch.lane[at]);
        let wide = |first: usize| {
            let [low, high] = [0, 2].map(|half| operand(&entry.image, first + half, true, lane));
            u128::from(high) << 64 | u128::from(low)
        };
        let old = atomic::wide(&batch.a, at);
        changed |= old != atomic::apply_wide(batch.op, old, wide(0), wide(SECOND_WIDE_OPERAND));
        for n in 0..4 {
            entry.image.words[n].0[lane] = (old >> (32 * n)) as u32;
        }
    }
    changed
}

/// Those of `lanes` that are in one aligned group of `combining` lanes with lane `first`, and have its address.
fn sharers(entry: &Entry, lanes: LaneMask, first: usize, combining: u32) -> LaneMask {
    let group = LaneMask::MAX >> (WARP_LANES as u32 - combining) << (first as u32 & !(combining - 1));
    let address = entry.addresses[first];
    lanes_of(lanes & group)
        .filter(|lane| entry.addresses[*lane] == address)
        .fold(0, |sharers, lane| sharers | 1 << lane)
}

/// Appends an operation that a lane issues.
#[inline(always)]
fn push(batch: &mut AtomicBatch, entry: &Entry, lane: usize, a: u64, b: u64) {
    let at = usize::from(batch.count);
    batch.lane[at] = lane as u8;
    batch.offset[at] = entry.addresses[lane] as u8 % LINE_BYTES as u8;
    (batch.a[at], batch.b[at]) = (a, b);
    batch.count += 1;
}

/// A lane's operand that begins in word `first` of the image.
#[inline(always)]
fn operand(image: &Image, first: usize, wide: bool, lane: usize) -> u64 {
    let high = if wide { image.words[first + 1].0[lane] } else { 0 };
    u64::from(high) << 32 | u64::from(image.words[first].0[lane])
}

/// Puts an old value in a lane's words.
#[inline(always)]
fn put(entry: &mut Entry, lane: usize, old: u64) {
    entry.image.words[0].0[lane] = old as u32;
    if entry.width == 8 {
        entry.image.words[1].0[lane] = (old >> 32) as u32;
    }
}
