//! Atomic read-modify-write operations, which the slice that owns the line performs.

use half::{bf16, f16};

use crate::line::Line;

/// An atomic operation. `old` is the value in memory; `a` and `b` are the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum AtomicOp {
    Add,
    Min,
    Max,
    /// `old >= a ? 0 : old + 1`.
    Inc,
    /// `old == 0 || old > a ? a : old - 1`.
    Dec,
    And,
    Or,
    Xor,
    Exch,
    /// `old == a ? b : old`.
    Cas,
}

/// Type of the operands. Bitwise operations ignore the sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum AtomicType {
    /// 16 bits, for compare-and-swap only.
    U16,
    U32,
    S32,
    U64,
    S64,
    F32,
    F64,
    /// A 16-bit floating-point format with one or two elements; only addition is supported.
    F16,
    Bf16,
    F16x2,
    Bf16x2,
    /// 128 bits, for exchange and compare-and-swap only.
    B128,
}

impl AtomicType {
    /// Size of one operand in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            AtomicType::U16 | AtomicType::F16 | AtomicType::Bf16 => 2,
            AtomicType::U32 | AtomicType::S32 | AtomicType::F32 | AtomicType::F16x2 | AtomicType::Bf16x2 => 4,
            AtomicType::U64 | AtomicType::S64 | AtomicType::F64 => 8,
            AtomicType::B128 => 16,
        }
    }
}

/// The atomic operations of one warp instruction on one line, in lane order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtomicBatch {
    /// Operation of every entry.
    pub op: AtomicOp,
    /// Type of the operands.
    pub ty: AtomicType,
    /// Number of entries in use.
    pub count: u8,
    /// Lane that issued each entry.
    pub lane: [u8; 32],
    /// Byte offset of each entry in the line, aligned to the type.
    pub offset: [u8; 32],
    /// First operand of each entry; the reply holds the old value here. Entry n of 128 bits has the places 2 n, for its
    /// low half, and 2 n + 1.
    pub a: [u64; 32],
    /// Second operand of each entry in the same places, used by compare-and-swap.
    pub b: [u64; 32],
    /// Whether the instruction needs the old values (`atom`, not `red`).
    pub returns: bool,
}

impl AtomicBatch {
    /// Largest size of a batch in a packet, in bytes: 32 compare-and-swaps of 64 bits. As many of 128 bits as have room
    /// take less.
    pub const LARGEST_WIRE_BYTES: u32 = 32 * (1 + 2 * 8);

    /// Most entries of 128 bits.
    pub const MOST_WIDE: u32 = 16;

    /// Makes a batch without entries.
    pub const fn empty(op: AtomicOp, ty: AtomicType) -> AtomicBatch {
        AtomicBatch {
            op,
            ty,
            count: 0,
            lane: [0; 32],
            offset: [0; 32],
            a: [0; 32],
            b: [0; 32],
            returns: false,
        }
    }

    /// Performs the entries on the line's bytes in order, and leaves the old values in `a`.
    pub fn perform(&mut self, line: &mut Line) {
        if self.ty == AtomicType::B128 {
            return self.perform_wide(line);
        }
        let bytes = self.ty.bytes();
        for entry in 0..self.count as usize {
            let at = self.offset[entry] as usize;
            let mut word = [0; 8];
            word[..bytes].copy_from_slice(&line.0[at..at + bytes]);
            let old = u64::from_le_bytes(word);
            let new = apply(self.op, self.ty, old, self.a[entry], self.b[entry]);
            line.0[at..at + bytes].copy_from_slice(&new.to_le_bytes()[..bytes]);
            self.a[entry] = old;
        }
    }

    #[cold]
    fn perform_wide(&mut self, line: &mut Line) {
        for entry in 0..self.count as usize {
            let bytes = line.0[self.offset[entry] as usize..].first_chunk_mut();
            let bytes: &mut [u8; 16] = bytes.expect("an operand lies in the line");
            let old = u128::from_le_bytes(*bytes);
            let new = apply_wide(self.op, old, wide(&self.a, entry), wide(&self.b, entry));
            *bytes = new.to_le_bytes();
            (self.a[2 * entry], self.a[2 * entry + 1]) = (old as u64, (old >> 64) as u64);
        }
    }

    /// Gives entry `to` the operands of entry `from` of a batch of the same type.
    pub fn copy_operands(&mut self, to: usize, from_batch: &AtomicBatch, from: usize) {
        let words = self.ty.bytes().div_ceil(8);
        for half in 0..words {
            self.a[words * to + half] = from_batch.a[words * from + half];
            self.b[words * to + half] = from_batch.b[words * from + half];
        }
    }
}

/// Operand `entry` of 128 bits.
pub fn wide(operands: &[u64; 32], entry: usize) -> u128 {
    u128::from(operands[2 * entry + 1]) << 64 | u128::from(operands[2 * entry])
}

/// Computes the new value of an operation of 128 bits.
pub fn apply_wide(op: AtomicOp, old: u128, a: u128, b: u128) -> u128 {
    match op {
        AtomicOp::Exch => a,
        AtomicOp::Cas if old == a => b,
        AtomicOp::Cas => old,
        // The front end refuses the rest (PTX ISA, `atom`).
        _ => unreachable!("{op:?} of 128 bits"),
    }
}

/// The NaN that arithmetic produces: that of the reference executor, the same on every host.
const NAN_F32: u32 = 0x7fff_ffff;
/// As [`NAN_F32`], in double precision.
const NAN_F64: u64 = 0xfff8_0000_0000_0000;
/// As [`NAN_F32`], in both 16-bit formats.
const NAN_HALF: u16 = 0x7fff;

/// Computes the new value of one operation. Values are in the low bits.
pub fn apply(op: AtomicOp, ty: AtomicType, old: u64, a: u64, b: u64) -> u64 {
    use AtomicOp::*;
    use AtomicType::*;
    match op {
        And => old & a,
        Or => old | a,
        Xor => old ^ a,
        Exch => a,
        Cas => {
            let mask = u64::MAX >> (64 - 8 * ty.bytes());
            if old & mask == a & mask { b } else { old }
        }
        Inc => {
            let (old, a) = (old as u32, a as u32);
            u64::from(if old >= a { 0 } else { old + 1 })
        }
        Dec => {
            let (old, a) = (old as u32, a as u32);
            u64::from(if old == 0 || old > a { a } else { old - 1 })
        }
        Add | Min | Max => match ty {
            U16 | U32 => u64::from(int(op, old as u32, a as u32, u32::wrapping_add)),
            S32 => u64::from(int(op, old as i32, a as i32, i32::wrapping_add) as u32),
            U64 => int(op, old, a, u64::wrapping_add),
            S64 => int(op, old as i64, a as i64, i64::wrapping_add) as u64,
            // The front end refuses the rest (PTX ISA, `atom`).
            B128 => unreachable!("{op:?} of 128 bits"),
            F16 | Bf16 if op != Add => half_extreme(op, ty, old as u16, a as u16).into(),
            _ if op != Add => unreachable!("{op:?} of floating-point numbers"),
            F32 => {
                let sum = f32::from_bits(old as u32) + f32::from_bits(a as u32);
                u64::from(if sum.is_nan() { NAN_F32 } else { sum.to_bits() })
            }
            F64 => {
                let sum = f64::from_bits(old) + f64::from_bits(a);
                if sum.is_nan() { NAN_F64 } else { sum.to_bits() }
            }
            F16 | Bf16 => half_sum(ty, old as u16, a as u16).into(),
            F16x2 | Bf16x2 => {
                let element = if ty == F16x2 { F16 } else { Bf16 };
                let sum = |at: u32| u64::from(half_sum(element, (old >> at) as u16, (a >> at) as u16)) << at;
                sum(0) | sum(16)
            }
        },
    }
}

/// The lesser or greater of two 16-bit floating-point numbers, which only bulk reductions ask for. -0 is below 0; a number
/// wins over what is none.
fn half_extreme(op: AtomicOp, ty: AtomicType, old: u16, a: u16) -> u16 {
    let wide = |bits| {
        if ty == AtomicType::Bf16 { bf16::from_bits(bits).to_f32() } else { f16::from_bits(bits).to_f32() }
    };
    let (x, y) = (wide(old), wide(a));
    let keeps = match op {
        _ if x.is_nan() && y.is_nan() => return NAN_HALF,
        _ if x.is_nan() || y.is_nan() => y.is_nan(),
        AtomicOp::Min => x.total_cmp(&y).is_le(),
        _ => x.total_cmp(&y).is_ge(),
    };
    if keeps { old } else { a }
}

/// The sum of two 16-bit floating-point numbers. Rounded to f32 first, it is rounded correctly all the same: 24 bits are at
/// least twice 11 (or 8) and two more.
fn half_sum(ty: AtomicType, old: u16, a: u16) -> u16 {
    let sum = if ty == AtomicType::Bf16 {
        bf16::from_f32(bf16::from_bits(old).to_f32() + bf16::from_bits(a).to_f32()).to_bits()
    } else {
        f16::from_f32(f16::from_bits(old).to_f32() + f16::from_bits(a).to_f32()).to_bits()
    };
    let infinity = if ty == AtomicType::Bf16 { 0x7f80 } else { 0x7c00 };
    if sum & 0x7fff > infinity { NAN_HALF } else { sum }
}

fn int<T: Ord>(op: AtomicOp, old: T, a: T, add: impl Fn(T, T) -> T) -> T {
    match op {
        AtomicOp::Min => old.min(a),
        AtomicOp::Max => old.max(a),
        _ => add(old, a),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_performed_in_order() {
        let mut line = Line::ZERO;
        let mut batch = AtomicBatch::empty(AtomicOp::Add, AtomicType::U32);
        batch.count = 3;
        batch.offset = [4; 32];
        (batch.a[0], batch.a[1], batch.a[2]) = (5, 6, 7);
        batch.perform(&mut line);
        assert_eq!(batch.a[..3], [0, 5, 11]);
        assert_eq!(line.0[4], 18);
    }

    #[test]
    fn entries_of_128_bits_lie_in_pairs_of_places() {
        let mut line = Line::ZERO;
        line.0[16..32].copy_from_slice(&(7_u128 << 64 | 9).to_le_bytes());
        let mut batch = AtomicBatch::empty(AtomicOp::Cas, AtomicType::B128);
        (batch.count, batch.offset) = (3, [16; 32]);
        // The first has another high half, the second what is there, the third what the second leaves.
        batch.a[..6].copy_from_slice(&[9, 8, 9, 7, 1, 2]);
        batch.b[..6].copy_from_slice(&[5, 5, 1, 2, 3, 4]);
        batch.perform(&mut line);
        assert_eq!(batch.a[..6], [9, 7, 9, 7, 1, 2]);
        assert_eq!(line.0[16..32], (4_u128 << 64 | 3).to_le_bytes());
        assert_eq!((line.0[15], line.0[32]), (0, 0));
        let wire = AtomicBatch::MOST_WIDE * (1 + 2 * AtomicType::B128.bytes() as u32);
        assert!(wire <= AtomicBatch::LARGEST_WIRE_BYTES);
    }

    #[test]
    fn edges() {
        use AtomicOp::*;
        use AtomicType::*;
        let table = [
            (Inc, U32, 7, 7, 0, 0),
            (Inc, U32, 6, 7, 0, 7),
            (Dec, U32, 0, 7, 0, 7),
            (Dec, U32, 9, 7, 0, 7),
            (Dec, U32, 5, 7, 0, 4),
            (Min, S32, 0xffff_ffff, 1, 0, 0xffff_ffff),
            (Min, U32, 0xffff_ffff, 1, 0, 1),
            (Max, S64, u64::MAX, 1, 0, 1),
            (Cas, U16, 0x1234, 0x1234, 9, 9),
            (Cas, U32, 4, 5, 9, 4),
            (Add, U32, 0xffff_ffff, 2, 0, 1),
            // Infinity less infinity.
            (Add, F32, 0x7f80_0000, 0xff80_0000, 0, 0x7fff_ffff),
            // 1.5 and a last place; a tie that rounds to even; an overflow beside a sum; a NaN beside a zero.
            (Add, F16, 0x3e00, 0x1400, 0, 0x3e01),
            (Add, Bf16, 0x3fc0, 0x3b80, 0, 0x3fc0),
            // -0 below 0, and a number before what is none.
            (Min, F16, 0, 0x8000, 0, 0x8000),
            (Max, F16, 0x8000, 0, 0, 0),
            (Min, F16, 0x7e01, 0x7bff, 0, 0x7bff),
            (Max, Bf16, 0xbf80, 0xffff, 0, 0xbf80),
            (Max, Bf16, 0xffc1, 0x7f81, 0, 0x7fff),
            (Add, F16x2, 0x7bff_3c00, 0x7bff_3c00, 0, 0x7c00_4000),
            (Add, Bf16x2, 0xff80_3f80, 0x7f80_bf80, 0, 0x7fff_0000),
            (Add, F64, 0x7ff0_0000_0000_0000, 0xfff0_0000_0000_0000, 0, 0xfff8_0000_0000_0000),
        ];
        for (op, ty, old, a, b, expected) in table {
            assert_eq!(apply(op, ty, old, a, b), expected, "{op:?} {ty:?} {old:#x} {a:#x}");
        }
    }
}
