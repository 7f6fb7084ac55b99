//! Comparisons and predicate logic.

use half::{bf16, f16};

use super::Operands;
use super::lanewise::{Scalar, compare, for_integer, predicate_source, test, write_predicate};
use crate::isa::{BoolOp, Compare, Instruction, Logic, Src, TestP, Ty};
use crate::lanes::{LaneMask, Row, WARP_LANES};

/// `setp`.
#[inline(always)]
pub(super) fn set_predicate(
    (relation, ty, combine, ftz): (Compare, Ty, Option<BoolOp>, bool),
    instruction: &Instruction,
    o: &mut impl Operands,
    lanes: LaneMask,
) {
    let (first, second) = match ty.element() {
        Some(element) => pair_masks(relation, element, ftz, o),
        None => {
            let holds = relation_mask(relation, ty, ftz, o);
            (holds, !holds)
        }
    };
    let (first, second) = match combine {
        None => (first, second),
        Some(op) => {
            let other = predicate_source(instruction, o, 2);
            (join(op, first, other), join(op, second, other))
        }
    };
    write_predicate(instruction, o, 0, lanes, first);
    write_predicate(instruction, o, 1, lanes, second);
}

/// `set`: all ones or 1.0 for true.
pub(super) fn set_value(
    (relation, ty, combine, ftz): (Compare, Ty, Option<BoolOp>, bool),
    to: Ty,
    instruction: &Instruction,
    o: &mut impl Operands,
    lanes: LaneMask,
) {
    let joined = |holds: LaneMask| match combine {
        Some(op) if instruction.src[2] != Src::None => join(op, holds, predicate_source(instruction, o, 2)),
        _ => holds,
    };
    let truth = match to {
        Ty::F32 => 1f32.to_bits(),
        Ty::F16 | Ty::F16x2 => f16::ONE.to_bits().into(),
        Ty::Bf16 | Ty::Bf16x2 => bf16::ONE.to_bits().into(),
        Ty::U16 | Ty::B16 => 0xffff,
        _ => u32::MAX,
    };
    let spread = |holds: LaneMask, truth: u32, lane: usize| truth & (holds >> lane & 1).wrapping_neg();
    let mut row = Row::ZERO;
    if let Some(element) = ty.element() {
        let (low, high) = pair_masks(relation, element, ftz, o);
        let (low, high) = (joined(low), joined(high));
        for lane in 0..WARP_LANES {
            row.0[lane] = spread(low, truth & 0xffff, lane) | spread(high, truth << 16, lane);
        }
    } else {
        let holds = joined(relation_mask(relation, ty, ftz, o));
        for lane in 0..WARP_LANES {
            row.0[lane] = spread(holds, truth, lane);
        }
    }
    o.write(0, 0, lanes, &row);
}

fn join(op: BoolOp, a: LaneMask, b: LaneMask) -> LaneMask {
    match op {
        BoolOp::And => a & b,
        BoolOp::Or => a | b,
        BoolOp::Xor => a ^ b,
    }
}

#[inline(always)]
fn relation_mask(relation: Compare, ty: Ty, ftz: bool, o: &impl Operands) -> LaneMask {
    match ty {
        Ty::F32 if ftz => number_mask::<FlushedF32>(relation, o),
        Ty::F32 => number_mask::<f32>(relation, o),
        Ty::F64 => number_mask::<f64>(relation, o),
        Ty::F16 if ftz => number_mask::<FlushedF16>(relation, o),
        Ty::F16 => number_mask::<WidenedF16>(relation, o),
        Ty::Bf16 => number_mask::<WidenedBf16>(relation, o),
        Ty::U8 | Ty::B8 => number_mask::<u8>(relation, o),
        Ty::S8 => number_mask::<i8>(relation, o),
        _ => for_integer!(ty, T => number_mask::<T>(relation, o)),
    }
}

/// The answers for the lower and for the upper elements of packed halves.
fn pair_masks(relation: Compare, element: Ty, ftz: bool, o: &impl Operands) -> (LaneMask, LaneMask) {
    match element {
        Ty::F16 if ftz => {
            (number_mask::<FlushedF16>(relation, o), number_mask::<Upper<FlushedF16>>(relation, o))
        }
        Ty::F16 => (number_mask::<WidenedF16>(relation, o), number_mask::<Upper<WidenedF16>>(relation, o)),
        Ty::Bf16 => (number_mask::<WidenedBf16>(relation, o), number_mask::<Upper<WidenedBf16>>(relation, o)),
        other => panic!("no comparison of packed {other:?}: the front end refuses it"),
    }
}

/// A relation on values with a partial order: an incomparable pair has a NaN in it.
#[inline(always)]
#[allow(clippy::double_comparisons)] // `a < b || a > b` is no `!=` where NaN is
fn number_mask<T: Scalar + PartialOrd>(relation: Compare, o: &impl Operands) -> LaneMask {
    let unordered = |a: T, b: T| a.partial_cmp(&b).is_none();
    match relation {
        Compare::Eq => compare(o, |a: T, b: T| a == b),
        // The plain forms are false for NaN, `ne` too.
        Compare::Ne => compare(o, |a: T, b: T| a < b || a > b),
        Compare::Lt => compare(o, |a: T, b: T| a < b),
        Compare::Le => compare(o, |a: T, b: T| a <= b),
        Compare::Gt => compare(o, |a: T, b: T| a > b),
        Compare::Ge => compare(o, |a: T, b: T| a >= b),
        Compare::Equ => !compare(o, |a: T, b: T| a < b || a > b),
        Compare::Neu => !compare(o, |a: T, b: T| a == b),
        Compare::Ltu => !compare(o, |a: T, b: T| a >= b),
        Compare::Leu => !compare(o, |a: T, b: T| a > b),
        Compare::Gtu => !compare(o, |a: T, b: T| a <= b),
        Compare::Geu => !compare(o, |a: T, b: T| a < b),
        Compare::Num => !compare(o, unordered),
        Compare::Nan => compare(o, unordered),
    }
}

/// A number that compares by its value in another format; only ever read.
macro_rules! read_as {
    ($(#[$doc:meta] $name:ident($inner:ty) = $read:expr;)*) => {$(
        #[$doc]
        #[derive(Clone, Copy, PartialEq, PartialOrd)]
        struct $name($inner);

        impl Scalar for $name {
            const WIDE: bool = false;
            #[inline(always)]
            fn from_bits(bits: u64) -> Self {
                let read: fn(u64) -> $inner = $read;
                $name(read(bits))
            }
            fn into_bits(self) -> u64 {
                unreachable!("comparisons write no numbers")
            }
        }
    )*};
}

read_as! {
    /// An f32 whose subnormals are zero.
    FlushedF32(f32) = |bits| f32::from_bits(super::float_rules::flush_f32(bits as u32));
    /// An f16 as the f32 of the same value.
    WidenedF16(f32) = |bits| f16::from_bits(bits as u16).to_f32();
    /// An f16 whose subnormals are zero, as an f32.
    FlushedF16(f32) = |bits| {
        if bits & 0x7c00 == 0 { 0.0 } else { f16::from_bits(bits as u16).to_f32() }
    };
    /// A bf16 as the f32 of the same value.
    WidenedBf16(f32) = |bits| bf16::from_bits(bits as u16).to_f32();
}

/// The upper of two packed 16-bit numbers; only ever read.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Upper<T>(T);

impl<T: Scalar> Scalar for Upper<T> {
    const WIDE: bool = false;
    #[inline(always)]
    fn from_bits(bits: u64) -> Self {
        Upper(T::from_bits(bits >> 16 & 0xffff))
    }
    fn into_bits(self) -> u64 {
        unreachable!("comparisons write no numbers")
    }
}

/// `testp`. Zero counts as normal.
pub(super) fn test_property(
    property: TestP,
    ty: Ty,
    instruction: &Instruction,
    o: &mut impl Operands,
    lanes: LaneMask,
) {
    let answer = if ty == Ty::F64 {
        test(o, |a: u64| has_property(property, a << 1, 0x7ff << 53, 1 << 53))
    } else {
        test(o, |a: u32| has_property(property, u64::from(a << 1), 0xff << 24, 1 << 24))
    };
    write_predicate(instruction, o, 0, lanes, answer);
}

/// `magnitude`, `infinity` and `smallest_normal` are bit patterns shifted left by one, the sign gone.
#[inline(always)]
fn has_property(property: TestP, magnitude: u64, infinity: u64, smallest_normal: u64) -> bool {
    match property {
        TestP::Finite => magnitude < infinity,
        TestP::Infinite => magnitude == infinity,
        TestP::Number => magnitude <= infinity,
        TestP::NotANumber => magnitude > infinity,
        TestP::Normal => magnitude == 0 || (smallest_normal..infinity).contains(&magnitude),
        TestP::Subnormal => magnitude != 0 && magnitude < smallest_normal,
    }
}

/// `and.pred` and its kin.
#[inline(always)]
pub(super) fn predicate_logic(op: Logic, instruction: &Instruction, o: &mut impl Operands, lanes: LaneMask) {
    let (a, b) = (predicate_source(instruction, o, 0), predicate_source(instruction, o, 1));
    let value = match op {
        Logic::And => a & b,
        Logic::Or => a | b,
        Logic::Xor => a ^ b,
    };
    write_predicate(instruction, o, 0, lanes, value);
}

/// `mov.pred` (`invert` false) and `not.pred`.
#[inline(always)]
pub(super) fn predicate_copy(
    invert: bool,
    instruction: &Instruction,
    o: &mut impl Operands,
    lanes: LaneMask,
) {
    let value = predicate_source(instruction, o, 0);
    write_predicate(instruction, o, 0, lanes, if invert { !value } else { value });
}
