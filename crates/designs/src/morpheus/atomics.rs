//! Atomics as warps take them: one operation on each word at a time, which may be that of many requests.

use strata_memory::atomic::{AtomicBatch, AtomicOp, AtomicType, apply};
use strata_memory::window::atomic_kind;
use strata_memory::{ByteMask, Line};

/// What a warp is asked to perform on a block: one operation on each of some words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Number of the operation.
    pub kind: u32,
    /// Bit i: word i of the block is concerned.
    pub words: u32,
    /// Operands, in the places of their words.
    pub operands: Line,
    /// Second operands of a compare-and-swap.
    pub second: Line,
    op: AtomicOp,
    ty: AtomicType,
}

impl Asked {
    /// Nothing yet, of an operation. `None` if kernels do not have it.
    pub fn new(op: AtomicOp, ty: AtomicType) -> Option<Asked> {
        let kind = atomic_kind(op, ty)?;
        Some(Asked { kind, words: 0, operands: Line::ZERO, second: Line::ZERO, op, ty })
    }

    /// The operation, and the type of its operands.
    pub fn operation(&self) -> (AtomicOp, AtomicType) {
        (self.op, self.ty)
    }

    /// Takes what it can of a batch of the operation, of those entries that are `left`, and returns which: the first one to each
    /// word, and all others where one operand has the effect of two.
    pub fn take(&mut self, batch: &AtomicBatch, left: u32) -> u32 {
        let mut taken = 0;
        for entry in members(left) {
            if self.take_entry(batch, entry) {
                taken |= 1 << entry;
            }
        }
        taken
    }

    fn take_entry(&mut self, batch: &AtomicBatch, entry: usize) -> bool {
        let (at, bytes) = (usize::from(batch.offset[entry]), batch.ty.bytes());
        let words = ByteMask::range(at / 4, bytes.div_ceil(4)).0 as u32;
        let mut operand = batch.a[entry];
        if self.words & words != 0 {
            if !is_associative(self.op, self.ty) {
                return false;
            }
            let mut before = [0; 8];
            before[..bytes].copy_from_slice(&self.operands.0[at..at + bytes]);
            operand = apply(self.op, self.ty, u64::from_le_bytes(before), operand, 0);
        }
        self.words |= words;
        self.operands.0[at..at + bytes].copy_from_slice(&operand.to_le_bytes()[..bytes]);
        if self.op == AtomicOp::Cas {
            self.second.0[at..at + bytes].copy_from_slice(&batch.b[entry].to_le_bytes()[..bytes]);
        }
        true
    }
}

/// Whether two operations on a word are one whose operand is the operation's result on theirs, to the bit.
fn is_associative(op: AtomicOp, ty: AtomicType) -> bool {
    use AtomicOp::{Add, And, Exch, Max, Min, Or, Xor};
    use AtomicType::{S32, S64, U32, U64};
    match op {
        Add => matches!(ty, U32 | S32 | U64 | S64),
        Min | Max | And | Or | Xor | Exch => true,
        _ => false,
    }
}

/// All entries of a batch.
pub fn entries(batch: &AtomicBatch) -> u32 {
    ((1_u64 << batch.count) - 1) as u32
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
