//! Atomics as warps take them: at most one entry for each word at a time.

use strata_memory::atomic::{AtomicBatch, AtomicOp};
use strata_memory::window::atomic_kind;
use strata_memory::{ByteMask, Line};

/// The entries of a batch that a warp performs together.
#[derive(Clone, Debug)]
pub struct Part {
    /// Bit i: entry i takes part.
    pub entries: u32,
    /// Number of the operation.
    pub kind: u32,
    /// Bit i: word i of the block is concerned.
    pub words: u32,
    /// Operands, in the places of their words.
    pub operands: Line,
    /// Second operands of a compare-and-swap.
    pub second: Line,
}

/// All entries of a batch.
pub fn entries(batch: &AtomicBatch) -> u32 {
    ((1_u64 << batch.count) - 1) as u32
}

/// The next part of those entries of a batch that are `left`: for each word the first. `None` if kernels do not have the
/// operation.
pub fn next_part(batch: &AtomicBatch, left: u32) -> Option<Part> {
    let kind = atomic_kind(batch.op, batch.ty)?;
    let bytes = batch.ty.bytes();
    let mut part = Part { entries: 0, kind, words: 0, operands: Line::ZERO, second: Line::ZERO };
    for entry in members(left) {
        let at = usize::from(batch.offset[entry]);
        let words = (ByteMask::range(at / 4, bytes.div_ceil(4)).0) as u32;
        if part.words & words != 0 {
            continue;
        }
        part.words |= words;
        part.entries |= 1 << entry;
        part.operands.0[at..at + bytes].copy_from_slice(&batch.a[entry].to_le_bytes()[..bytes]);
        if batch.op == AtomicOp::Cas {
            part.second.0[at..at + bytes].copy_from_slice(&batch.b[entry].to_le_bytes()[..bytes]);
        }
    }
    Some(part)
}

/// Performs some entries of a batch on a block, and leaves the old values in them.
pub fn perform(batch: &mut AtomicBatch, chosen: u32, block: &mut Line) {
    let mut some = AtomicBatch::empty(batch.op, batch.ty);
    for entry in members(chosen) {
        let at = usize::from(some.count);
        some.offset[at] = batch.offset[entry];
        some.copy_operands(at, batch, entry);
        some.count += 1;
    }
    some.perform(block);
    for (at, entry) in members(chosen).enumerate() {
        batch.copy_operands(entry, &some, at);
    }
}

/// The bytes that some entries of a batch touch.
pub fn bytes(batch: &AtomicBatch, chosen: u32) -> ByteMask {
    let each = members(chosen).map(|entry| ByteMask::range(batch.offset[entry].into(), batch.ty.bytes()));
    each.fold(ByteMask::NONE, |all, bytes| all | bytes)
}

fn members(mask: u32) -> impl Iterator<Item = usize> {
    strata_memory::bits::members(u64::from(mask))
}
