//! Integer arithmetic: add to sad, and the extended-precision forms.

use super::Operands;
use super::lanewise::{
    Scalar, binary, for_integer, predicate_source, ternary, unary, wide_source, write_predicate,
};
use crate::isa::{Dst, Instruction, IntOp, IntUnary, Part, Ty};
use crate::lanes::{ALL_LANES, LaneMask, Row, WARP_LANES};

/// Quotient with the machine's answer where mathematics has none: all ones for a zero divisor, wrapping
/// for the lowest number divided by minus one. Remainder: all ones, and zero.
trait Divide: Sized {
    fn quotient(self, divisor: Self) -> Self;
    fn remainder(self, divisor: Self) -> Self;
}

macro_rules! divide {
    ($($ty:ty)*) => {$(
        impl Divide for $ty {
            #[inline(always)]
            fn quotient(self, divisor: Self) -> Self {
                if divisor == 0 { !0 } else { self.wrapping_div(divisor) }
            }
            #[inline(always)]
            fn remainder(self, divisor: Self) -> Self {
                if divisor == 0 { !0 } else { self.wrapping_rem(divisor) }
            }
        }
    )*};
}
divide!(u16 i16 u32 i32 u64 i64);

/// Products of every width.
trait Multiply: Scalar {
    type Wide: Scalar;
    fn wide(self, other: Self) -> Self::Wide;
    fn wide_add(self, other: Self, addend: Self::Wide) -> Self::Wide;
    fn high(self, other: Self) -> Self;
}

macro_rules! multiply {
    ($($ty:ty, $wide:ty;)*) => {$(
        impl Multiply for $ty {
            type Wide = $wide;
            #[inline(always)]
            fn wide(self, other: Self) -> $wide {
                (self as $wide).wrapping_mul(other as $wide)
            }
            #[inline(always)]
            fn wide_add(self, other: Self, addend: $wide) -> $wide {
                self.wide(other).wrapping_add(addend)
            }
            #[inline(always)]
            fn high(self, other: Self) -> Self {
                (self.wide(other) >> <$ty>::BITS) as $ty
            }
        }
    )*};
}
multiply! { u16, u32; i16, i32; u32, u64; i32, i64; }

/// 64-bit operands have no wide form; the front end refuses it.
macro_rules! multiply_64 {
    ($($ty:ty, $double:ty;)*) => {$(
        impl Multiply for $ty {
            type Wide = $ty;
            fn wide(self, _: Self) -> $ty {
                panic!("a wide product of 64-bit operands does not exist")
            }
            fn wide_add(self, _: Self, _: $ty) -> $ty {
                panic!("a wide product of 64-bit operands does not exist")
            }
            #[inline(always)]
            fn high(self, other: Self) -> Self {
                ((self as $double * other as $double) >> 64) as $ty
            }
        }
    )*};
}
multiply_64! { u64, u128; i64, i128; }

/// `add` to `max`.
#[inline(always)]
pub(super) fn arithmetic(op: IntOp, ty: Ty, o: &mut impl Operands, lanes: LaneMask) {
    if matches!(ty, Ty::U16x2 | Ty::S16x2) {
        return packed(op, ty, o, lanes);
    }
    match op {
        // The sign plays no part in sums; one copy per width.
        IntOp::Add => match ty.bytes() {
            4 => binary(o, lanes, u32::wrapping_add),
            8 => wide_sum(o, lanes),
            _ => for_integer!(ty, T => binary(o, lanes, T::wrapping_add)),
        },
        IntOp::Sub => match ty.bytes() {
            4 => binary(o, lanes, u32::wrapping_sub),
            _ => for_integer!(ty, T => binary(o, lanes, T::wrapping_sub)),
        },
        IntOp::AddSat => for_integer!(ty, T => binary(o, lanes, T::saturating_add)),
        IntOp::SubSat => for_integer!(ty, T => binary(o, lanes, T::saturating_sub)),
        IntOp::Div => for_integer!(ty, T => binary(o, lanes, <T as Divide>::quotient)),
        IntOp::Rem => for_integer!(ty, T => binary(o, lanes, <T as Divide>::remainder)),
        IntOp::Min => for_integer!(ty, T => binary(o, lanes, |a: T, b: T| a.min(b))),
        IntOp::Max => for_integer!(ty, T => binary(o, lanes, |a: T, b: T| a.max(b))),
        IntOp::MinRelu => binary(o, lanes, |a: i32, b: i32| a.min(b).max(0)),
        IntOp::MaxRelu => binary(o, lanes, |a: i32, b: i32| a.max(b).max(0)),
    }
}

/// `add` of 64 bits, word by word: the rows need not be brought together and taken apart.
#[inline(always)]
fn wide_sum(o: &mut impl Operands, lanes: LaneMask) {
    let (mut lo, mut hi) = (Row::ZERO, Row::ZERO);
    let (a, b) = ((o.source(0, 0), o.source(0, 1)), (o.source(1, 0), o.source(1, 1)));
    for lane in 0..WARP_LANES {
        let sum = a.0.0[lane].wrapping_add(b.0.0[lane]);
        let carry = u32::from(sum < a.0.0[lane]);
        lo.0[lane] = sum;
        hi.0[lane] = a.1.0[lane].wrapping_add(b.1.0[lane]).wrapping_add(carry);
    }
    o.write(0, 0, lanes, &lo);
    o.write(0, 1, lanes, &hi);
}

/// Two 16-bit integers in a register.
///
/// # Panics
/// On operations that the packed types do not have: the front end refuses them.
fn packed(op: IntOp, ty: Ty, o: &mut impl Operands, lanes: LaneMask) {
    match (op, ty) {
        // The carry of the lower sum must not reach the upper.
        (IntOp::Add, _) => binary(o, lanes, |a: u32, b: u32| {
            (a.wrapping_add(b) & 0xffff) | (a & !0xffff).wrapping_add(b & !0xffff)
        }),
        (IntOp::Min, Ty::U16x2) => halves(o, lanes, u16::min),
        (IntOp::Max, Ty::U16x2) => halves(o, lanes, u16::max),
        (IntOp::Min, _) => halves(o, lanes, |a, b| (a as i16).min(b as i16) as u16),
        (IntOp::Max, _) => halves(o, lanes, |a, b| (a as i16).max(b as i16) as u16),
        (IntOp::MinRelu, _) => halves(o, lanes, |a, b| (a as i16).min(b as i16).max(0) as u16),
        (IntOp::MaxRelu, _) => halves(o, lanes, |a, b| (a as i16).max(b as i16).max(0) as u16),
        (other, _) => panic!("{other:?} does not exist for {ty:?}: the front end refuses it"),
    }
}

#[inline(always)]
fn halves(o: &mut impl Operands, lanes: LaneMask, f: impl Fn(u16, u16) -> u16) {
    binary(o, lanes, |a: u32, b: u32| {
        let half = |shift: u32| u32::from(f((a >> shift) as u16, (b >> shift) as u16)) << shift;
        half(0) | half(16)
    });
}

/// `abs`, `neg`; the lowest number stays itself.
pub(super) fn single(op: IntUnary, ty: Ty, o: &mut impl Operands, lanes: LaneMask) {
    match (op, ty.bytes()) {
        (IntUnary::Abs, 2) => unary(o, lanes, i16::wrapping_abs),
        (IntUnary::Abs, 4) => unary(o, lanes, i32::wrapping_abs),
        (IntUnary::Abs, _) => unary(o, lanes, i64::wrapping_abs),
        (IntUnary::Neg, 2) => unary(o, lanes, i16::wrapping_neg),
        (IntUnary::Neg, 4) => unary(o, lanes, i32::wrapping_neg),
        (IntUnary::Neg, _) => unary(o, lanes, i64::wrapping_neg),
    }
}

/// `mul`.
#[inline(always)]
pub(super) fn multiply(part: Part, ty: Ty, o: &mut impl Operands, lanes: LaneMask) {
    match part {
        Part::Lo => for_integer!(ty, T => binary(o, lanes, T::wrapping_mul)),
        Part::Hi => for_integer!(ty, T => binary(o, lanes, <T as Multiply>::high)),
        Part::Wide => for_integer!(ty, T => binary(o, lanes, <T as Multiply>::wide)),
    }
}

/// `mad`.
#[inline(always)]
pub(super) fn multiply_add(part: Part, ty: Ty, sat: bool, o: &mut impl Operands, lanes: LaneMask) {
    match part {
        Part::Hi if sat => ternary(o, lanes, |a: i32, b: i32, c: i32| a.high(b).saturating_add(c)),
        Part::Lo => {
            for_integer!(ty, T => ternary(o, lanes, |a: T, b: T, c: T| a.wrapping_mul(b).wrapping_add(c)))
        }
        Part::Hi => {
            for_integer!(ty, T => ternary(o, lanes, |a: T, b: T, c: T| Multiply::high(a, b).wrapping_add(c)))
        }
        Part::Wide => for_integer!(ty, T => ternary(o, lanes, <T as Multiply>::wide_add)),
    }
}

/// The 48-bit product of the low 24 bits of two operands.
#[inline(always)]
fn product_24(signed: bool, a: u32, b: u32) -> i64 {
    let extend = |x: u32| if signed { i64::from((x << 8) as i32 >> 8) } else { i64::from(x & 0xff_ffff) };
    extend(a) * extend(b)
}

/// Bits 16 to 47 of the product (`hi`) or 0 to 31 (`lo`).
#[inline(always)]
fn part_24(part: Part, product: i64) -> u32 {
    if part == Part::Hi { (product >> 16) as u32 } else { product as u32 }
}

/// `mul24`.
pub(super) fn multiply_24(part: Part, ty: Ty, o: &mut impl Operands, lanes: LaneMask) {
    let signed = ty.is_signed();
    binary(o, lanes, |a: u32, b: u32| part_24(part, product_24(signed, a, b)));
}

/// `mad24`.
pub(super) fn multiply_add_24(part: Part, ty: Ty, sat: bool, o: &mut impl Operands, lanes: LaneMask) {
    let signed = ty.is_signed();
    if sat {
        return ternary(o, lanes, |a: u32, b: u32, c: i32| {
            (part_24(part, product_24(signed, a, b)) as i32).saturating_add(c)
        });
    }
    ternary(o, lanes, |a: u32, b: u32, c: u32| part_24(part, product_24(signed, a, b)).wrapping_add(c));
}

/// `sad`.
pub(super) fn sum_of_difference(ty: Ty, o: &mut impl Operands, lanes: LaneMask) {
    for_integer!(ty, T => ternary(o, lanes, |a: T, b: T, c: T| c.wrapping_add(a.abs_diff(b) as T)));
}

/// `add.cc`, `addc`, `sub.cc`, `subc`. A subtraction is the sum of `a`, the complement of `b` and a carry, which `sub.cc` takes
/// as 1, so its carry out is 0 when it borrows. That is what the vendor's assembler computes (`tests/vendor.txt`); the ISA
/// says "borrow" and leaves open how additions and subtractions mix in one chain.
pub(super) fn carry_sum(
    instruction: &Instruction,
    ty: Ty,
    subtract: bool,
    carry_in: bool,
    o: &mut impl Operands,
    lanes: LaneMask,
) {
    let carries = match (carry_in, subtract) {
        (true, _) => predicate_source(instruction, o, 2),
        (false, true) => ALL_LANES,
        (false, false) => 0,
    };
    let complement = if subtract { (1 << (8 * ty.bytes())) - 1 } else { 0 };
    carry_result(instruction, ty, o, lanes, |o, lane| {
        let (a, b) = (operand(o, 0, lane, ty), operand(o, 1, lane, ty));
        a + (b ^ complement) + u128::from(carries >> lane & 1)
    });
}

/// `mad.cc`, `madc`.
pub(super) fn carry_multiply_add(
    instruction: &Instruction,
    part: Part,
    ty: Ty,
    carry_in: bool,
    o: &mut impl Operands,
    lanes: LaneMask,
) {
    let carries = if carry_in { predicate_source(instruction, o, 3) } else { 0 };
    let bits = 8 * ty.bytes() as u32;
    let extend =
        |x: u128| if ty.is_signed() { (x << (128 - bits)) as i128 >> (128 - bits) } else { x as i128 };
    carry_result(instruction, ty, o, lanes, |o, lane| {
        let (a, b) = (operand(o, 0, lane, ty), operand(o, 1, lane, ty));
        let product = extend(a).wrapping_mul(extend(b)) as u128;
        let kept = if part == Part::Hi { product >> bits } else { product } & ((1 << bits) - 1);
        kept + operand(o, 2, lane, ty) + u128::from(carries >> lane & 1)
    });
}

fn operand(o: &impl Operands, slot: usize, lane: usize, ty: Ty) -> u128 {
    if ty.rows() == 2 { wide_source(o, slot, lane).into() } else { o.source(slot, 0).0[lane].into() }
}

/// Writes sums that are one bit wider than `ty`: the sum to dst0, the extra bit to dst1.
fn carry_result<O: Operands>(
    instruction: &Instruction,
    ty: Ty,
    o: &mut O,
    lanes: LaneMask,
    sum: impl Fn(&O, usize) -> u128,
) {
    let (mut lo, mut hi, mut carry) = (Row::ZERO, Row::ZERO, 0);
    for lane in 0..WARP_LANES {
        let sum = sum(o, lane);
        lo.0[lane] = sum as u32;
        hi.0[lane] = (sum >> 32) as u32;
        carry |= ((sum >> (8 * ty.bytes())) as u32 & 1) << lane;
    }
    o.write(0, 0, lanes, &lo);
    if ty.rows() == 2 {
        o.write(0, 1, lanes, &hi);
    }
    if instruction.dst[1] != Dst::None {
        write_predicate(instruction, o, 1, lanes, carry);
    }
}

/// `dp4a`: four products of bytes.
pub(super) fn dot_4(a_signed: bool, b_signed: bool, o: &mut impl Operands, lanes: LaneMask) {
    ternary(o, lanes, |a: u32, b: u32, c: u32| {
        (0..4).fold(c, |sum, k| {
            sum.wrapping_add(byte(a, k, a_signed).wrapping_mul(byte(b, k, b_signed)) as u32)
        })
    });
}

/// `dp2a`: two products of a half-word of `a` and a byte of the low or high half of `b`.
pub(super) fn dot_2(a_signed: bool, b_signed: bool, hi: bool, o: &mut impl Operands, lanes: LaneMask) {
    ternary(o, lanes, |a: u32, b: u32, c: u32| {
        (0..2).fold(c, |sum, k| {
            let half = (a >> (16 * k)) as u16;
            let half = if a_signed { i32::from(half as i16) } else { i32::from(half) };
            sum.wrapping_add(half.wrapping_mul(byte(b, k + if hi { 2 } else { 0 }, b_signed)) as u32)
        })
    });
}

#[inline(always)]
fn byte(word: u32, index: u32, signed: bool) -> i32 {
    let byte = (word >> (8 * index)) as u8;
    if signed { i32::from(byte as i8) } else { i32::from(byte) }
}
