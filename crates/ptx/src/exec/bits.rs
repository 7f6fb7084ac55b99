//! Bitwise logic, shifts, bit fields and byte permutes.

use super::Operands;
use super::lanewise::{Scalar, binary, for_bits, for_integer, quaternary, ternary, unary};
use crate::isa::{BitUnary, Logic, Permute, Ty};
use crate::lanes::LaneMask;

/// `and`, `or`, `xor`.
#[inline(always)]
pub(super) fn logic(op: Logic, ty: Ty, o: &mut impl Operands, lanes: LaneMask) {
    match op {
        Logic::And => for_bits!(ty, T => binary(o, lanes, |a: T, b: T| a & b)),
        Logic::Or => for_bits!(ty, T => binary(o, lanes, |a: T, b: T| a | b)),
        Logic::Xor => for_bits!(ty, T => binary(o, lanes, |a: T, b: T| a ^ b)),
    }
}

/// `not` to `bfind`.
pub(super) fn single(op: BitUnary, ty: Ty, o: &mut impl Operands, lanes: LaneMask) {
    match op {
        BitUnary::Not => for_bits!(ty, T => unary(o, lanes, |a: T| !a)),
        BitUnary::Cnot => for_bits!(ty, T => unary(o, lanes, |a: T| T::from(a == 0))),
        BitUnary::Brev => for_bits!(ty, T => unary(o, lanes, T::reverse_bits)),
        BitUnary::Popc => for_bits!(ty, T => unary(o, lanes, T::count_ones)),
        BitUnary::Clz => for_bits!(ty, T => unary(o, lanes, T::leading_zeros)),
        BitUnary::Bfind { shiftamt } => for_integer!(ty, T => unary(o, lanes, |a: T| {
            // A negative number is searched for its highest zero.
            #[allow(unused_comparisons, clippy::absurd_extreme_comparisons)]
            let searched = if a < 0 { !a } else { a };
            match (searched.leading_zeros(), shiftamt) {
                (T::BITS, _) => u32::MAX,
                (zeros, true) => zeros,
                (zeros, false) => T::BITS - 1 - zeros,
            }
        })),
    }
}

/// `shl`: amounts above the width give zero.
#[inline(always)]
pub(super) fn shift_left(ty: Ty, o: &mut impl Operands, lanes: LaneMask) {
    for_bits!(ty, T => binary(o, lanes, |a: T, n: u32| if n < T::BITS { a << n } else { 0 }));
}

/// `shr`: amounts above the width give zero or the sign.
#[inline(always)]
pub(super) fn shift_right(ty: Ty, o: &mut impl Operands, lanes: LaneMask) {
    if ty.is_signed() {
        for_integer!(ty, T => binary(o, lanes, |a: T, n: u32| a >> n.min(T::BITS - 1)));
    } else {
        for_bits!(ty, T => binary(o, lanes, |a: T, n: u32| if n < T::BITS { a >> n } else { 0 }));
    }
}

/// `shf`: the word of src1:src0 that a shift brings to the top (left) or the bottom (right).
pub(super) fn funnel(left: bool, wrap: bool, o: &mut impl Operands, lanes: LaneMask) {
    ternary(o, lanes, |a: u32, b: u32, n: u32| {
        let n = if wrap { n & 31 } else { n.min(32) };
        let both = u64::from(b) << 32 | u64::from(a);
        if left { ((both << n) >> 32) as u32 } else { (both >> n) as u32 }
    });
}

/// `lop3`.
pub(super) fn lop3(table: u8, o: &mut impl Operands, lanes: LaneMask) {
    // One mask per row of the truth table: the sum of products vectorises and needs no case per table.
    let row: [u32; 8] = std::array::from_fn(|k| if table >> k & 1 == 1 { u32::MAX } else { 0 });
    ternary(o, lanes, |a: u32, b: u32, c: u32| {
        let low = (!b & ((!c & row[0]) | (c & row[1]))) | (b & ((!c & row[2]) | (c & row[3])));
        let high = (!b & ((!c & row[4]) | (c & row[5]))) | (b & ((!c & row[6]) | (c & row[7])));
        (!a & low) | (a & high)
    });
}

/// `bfe`. Position and length are the low bytes of their operands.
pub(super) fn extract(ty: Ty, o: &mut impl Operands, lanes: LaneMask) {
    for_integer!(ty, T => ternary(o, lanes, |a: T, position: u32, length: u32| {
        let (position, length) = (position & 0xff, length & 0xff);
        let width = T::BITS;
        if length == 0 {
            return 0;
        }
        // Beyond the top bit the field continues with the sign (zero for unsigned types): exactly what a
        // right shift that stops at the width shifts in.
        let shifted = if position < width {
            a >> position
        } else if Ty::is_signed(ty) {
            a >> (width - 1)
        } else {
            0
        };
        if length >= width { shifted } else { (shifted << (width - length)) >> (width - length) }
    }));
}

/// `bfi`. Position and length are the low bytes of their operands; what falls off the top is dropped.
pub(super) fn insert(ty: Ty, o: &mut impl Operands, lanes: LaneMask) {
    for_bits!(ty, T => quaternary(o, lanes, |a: T, b: T, position: u32, length: u32| {
        let (position, length) = (position & 0xff, length & 0xff);
        if position >= T::BITS || length == 0 {
            return b;
        }
        let field = if length >= T::BITS { T::MAX } else { (1 << length) - 1 } << position;
        (b & !field) | ((a << position) & field)
    }));
}

/// `bmsk`: ones at bits `[start, start + length)`.
pub(super) fn mask(wrap: bool, o: &mut impl Operands, lanes: LaneMask) {
    binary(o, lanes, |start: u32, length: u32| {
        let limit = |x: u32| u64::from(if wrap { x & 31 } else { x.min(32) });
        (((1u64 << limit(length)) - 1) << limit(start)) as u32
    });
}

/// `fns`: the n-th set bit at or after (n > 0) or at or before (n < 0) a base; n = 0 asks for the base itself. No bit is at a base
/// beyond the word.
pub(super) fn find_nth_set(o: &mut impl Operands, lanes: LaneMask) {
    ternary(o, lanes, |mask: u32, base: u32, n: i32| {
        if base > 31 {
            return u32::MAX;
        }
        let from_base = if n < 0 { mask & (u32::MAX >> (31 - base)) } else { mask & (u32::MAX << base) };
        match n {
            0 => return if mask >> base & 1 == 1 { base } else { u32::MAX },
            _ if from_base.count_ones() < n.unsigned_abs() => return u32::MAX,
            _ => {}
        }
        let mut rest = if n < 0 { from_base.reverse_bits() } else { from_base };
        for _ in 1..n.unsigned_abs() {
            rest &= rest - 1;
        }
        if n < 0 { 31 - rest.trailing_zeros() } else { rest.trailing_zeros() }
    });
}

/// `szext`: a width of no bits gives zero; from 32 on the whole word is meant (clamp), or the width modulo 32.
pub(super) fn extend(signed: bool, wrap: bool, o: &mut impl Operands, lanes: LaneMask) {
    binary(o, lanes, |a: u32, width: u32| {
        let width = if wrap { width & 31 } else { width.min(32) };
        let top = 32 - width;
        match (width, signed) {
            (0, _) => 0,
            (_, true) => ((a << top) as i32 >> top) as u32,
            (_, false) => a << top >> top,
        }
    });
}

/// Which bytes of {src1, src0} each mode's four selectors pick, as a default-mode selector.
const fn permute_table(mode: Permute) -> [u32; 4] {
    match mode {
        Permute::Default => [0; 4],
        Permute::F4e => [0x3210, 0x4321, 0x5432, 0x6543],
        Permute::B4e => [0x5670, 0x6701, 0x7012, 0x0123],
        Permute::Rc8 => [0x0000, 0x1111, 0x2222, 0x3333],
        Permute::Ecl => [0x3210, 0x3211, 0x3222, 0x3333],
        Permute::Ecr => [0x0000, 0x1110, 0x2210, 0x3210],
        Permute::Rc16 => [0x1010, 0x3232, 0x1010, 0x3232],
    }
}

/// `prmt`.
pub(super) fn permute(mode: Permute, o: &mut impl Operands, lanes: LaneMask) {
    let table = permute_table(mode);
    ternary(o, lanes, |a: u32, b: u32, selector: u32| {
        let selector = if mode == Permute::Default { selector } else { table[selector as usize & 3] };
        let bytes = u64::from(b) << 32 | u64::from(a);
        (0..4).fold(0, |word, k| {
            let nibble = selector >> (4 * k) & 0xf;
            let byte = (bytes >> (8 * (nibble & 7))) as u8;
            // The top bit of a nibble asks for eight copies of the byte's sign.
            let byte = if nibble & 8 == 0 { byte } else { (byte as i8 >> 7) as u8 };
            word | u32::from(byte) << (8 * k)
        })
    });
}

/// The bits of a scalar as a register holds them: for callers that move values untouched.
pub(super) fn copy<T: Scalar>(o: &mut impl Operands, lanes: LaneMask) {
    unary(o, lanes, |a: T| a);
}
