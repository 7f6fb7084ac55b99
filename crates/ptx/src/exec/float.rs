//! Floating-point arithmetic of f32 and f64 (the 16-bit formats: [`super::half_float`]).

use super::float_rules::{extremum_f32, extremum_f64, finish_f32, finish_f64, flush_f64, operand_f32};
use super::lanewise::{binary, ternary, unary};
use super::soft::{self, Format};
use super::{Operands, approx, half_float};
use crate::isa::{FloatMode, FloatOp, FloatUnary, Rounding, Signs, Ty};
use crate::lanes::LaneMask;

/// The canonical NaN of the approximate functions that work on the upper half of an f64.
const APPROXIMATE_NAN: f64 = f64::from_bits(0x7fff_ffff_0000_0000);

/// 2^126: the largest divisor of which `div.approx` gives a quotient.
const LARGEST_DIVISOR: f32 = f32::from_bits(0x7e80_0000);

/// What a mode with neither `.ftz` nor `.sat` nor `.relu` leaves to do.
const PLAIN: FloatMode = FloatMode::DEFAULT;

const fn is_plain(mode: FloatMode) -> bool {
    !mode.ftz && !mode.sat && !mode.relu
}

#[inline(always)]
fn unary_f32(o: &mut impl Operands, lanes: LaneMask, mode: FloatMode, f: impl Fn(f32) -> f32) {
    if is_plain(mode) {
        unary(o, lanes, |a| finish_f32(PLAIN, f(a)));
    } else {
        unary(o, lanes, |a| finish_f32(mode, f(operand_f32(mode, a))));
    }
}

#[inline(always)]
fn binary_f32(o: &mut impl Operands, lanes: LaneMask, mode: FloatMode, f: impl Fn(f32, f32) -> f32) {
    if is_plain(mode) {
        binary(o, lanes, |a, b| finish_f32(PLAIN, f(a, b)));
    } else {
        binary(o, lanes, |a, b| finish_f32(mode, f(operand_f32(mode, a), operand_f32(mode, b))));
    }
}

#[inline(always)]
fn binary_f64(o: &mut impl Operands, lanes: LaneMask, f: impl Fn(f64, f64) -> f64) {
    binary(o, lanes, |a, b| finish_f64(f(a, b), [a, b]));
}

type SoftBinary = fn(Format, u64, u64, Rounding) -> u64;

fn soft_binary(ty: Ty, mode: FloatMode, f: SoftBinary, o: &mut impl Operands, lanes: LaneMask) {
    let rounding = mode.rounding;
    if ty == Ty::F64 {
        return binary_f64(o, lanes, |a, b| {
            f64::from_bits(f(Format::F64, a.to_bits(), b.to_bits(), rounding))
        });
    }
    binary_f32(o, lanes, mode, |a, b| {
        f32::from_bits(f(Format::F32, a.to_bits().into(), b.to_bits().into(), rounding) as u32)
    });
}

/// `add` to `copysign`.
#[inline(always)]
pub(super) fn arithmetic(op: FloatOp, ty: Ty, mode: FloatMode, o: &mut impl Operands, lanes: LaneMask) {
    if ty.is_half() {
        return half_float::arithmetic(op, ty, mode, o, lanes);
    }
    let nearest = mode.rounding == Rounding::Rn;
    let double = ty == Ty::F64;
    match op {
        FloatOp::Add if !nearest => soft_binary(ty, mode, soft::add, o, lanes),
        FloatOp::Sub if !nearest => soft_binary(ty, mode, soft::subtract, o, lanes),
        FloatOp::Mul if !nearest => soft_binary(ty, mode, soft::multiply, o, lanes),
        FloatOp::Div if !nearest => soft_binary(ty, mode, soft::divide, o, lanes),
        FloatOp::Add if double => binary_f64(o, lanes, |a, b| a + b),
        FloatOp::Sub if double => binary_f64(o, lanes, |a, b| a - b),
        FloatOp::Mul if double => binary_f64(o, lanes, |a, b| a * b),
        FloatOp::Div | FloatOp::DivApprox | FloatOp::DivFull if double => binary_f64(o, lanes, |a, b| a / b),
        FloatOp::Add => binary_f32(o, lanes, mode, |a, b| a + b),
        FloatOp::Sub => binary_f32(o, lanes, mode, |a, b| a - b),
        FloatOp::Mul => binary_f32(o, lanes, mode, |a, b| a * b),
        // The approximate quotients are correctly rounded here. A divisor beyond 2^126 is as good as infinite to `.approx`.
        FloatOp::Div | FloatOp::DivFull => binary_f32(o, lanes, mode, |a, b| a / b),
        FloatOp::DivApprox => binary_f32(o, lanes, mode, |a, b| {
            if b.abs() > LARGEST_DIVISOR && b.is_finite() { a * 0f32.copysign(b) } else { a / b }
        }),
        FloatOp::Min { nan, xorsign_abs } | FloatOp::Max { nan, xorsign_abs } => {
            let largest = matches!(op, FloatOp::Max { .. });
            if double {
                binary_f64(o, lanes, |a, b| extremum_f64(largest, nan, xorsign_abs, a, b));
            } else {
                binary_f32(o, lanes, mode, |a, b| extremum_f32(largest, nan, xorsign_abs, a, b));
            }
        }
        FloatOp::Copysign if double => binary(o, lanes, |a: f64, b: f64| b.copysign(a)),
        FloatOp::Copysign => binary(o, lanes, |a: f32, b: f32| b.copysign(a)),
    }
}

/// `min` and `max` of three; `(largest, nan, abs)`.
pub(super) fn extremum_of_three(
    (largest, nan, abs): (bool, bool, bool),
    ftz: bool,
    o: &mut impl Operands,
    lanes: LaneMask,
) {
    let mode = FloatMode { ftz, ..FloatMode::DEFAULT };
    ternary(o, lanes, |a: f32, b: f32, c: f32| {
        let [a, b, c] = [a, b, c].map(|x| operand_f32(mode, if abs { x.abs() } else { x }));
        let pair = extremum_f32(largest, nan, false, a, b);
        finish_f32(mode, extremum_f32(largest, nan, false, pair, c))
    });
}

/// `fma`, and `mad` of floating-point types.
#[inline(always)]
pub(super) fn multiply_add(ty: Ty, mode: FloatMode, signs: Signs, o: &mut impl Operands, lanes: LaneMask) {
    let Signs { product, addend } = signs;
    let rounding = mode.rounding;
    let single = |x: f32, negated: bool| if negated { -x } else { x };
    let double = |x: f64, negated: bool| if negated { -x } else { x };
    match (ty, rounding) {
        (Ty::F32, Rounding::Rn) if is_plain(mode) => ternary(o, lanes, |a: f32, b: f32, c: f32| {
            finish_f32(PLAIN, single(a, product).mul_add(b, single(c, addend)))
        }),
        (Ty::F32, Rounding::Rn) => ternary(o, lanes, |a: f32, b: f32, c: f32| {
            let [a, b, c] = [a, b, c].map(|x| operand_f32(mode, x));
            finish_f32(mode, single(a, product).mul_add(b, single(c, addend)))
        }),
        (Ty::F32, _) => ternary(o, lanes, |a: f32, b: f32, c: f32| {
            let [a, b, c] =
                [single(a, product), b, single(c, addend)].map(|x| u64::from(operand_f32(mode, x).to_bits()));
            finish_f32(mode, f32::from_bits(soft::multiply_add(Format::F32, a, b, c, rounding) as u32))
        }),
        // A NaN keeps its sign.
        (Ty::F64, Rounding::Rn) => ternary(o, lanes, |a: f64, b: f64, c: f64| {
            finish_f64(double(a, product).mul_add(b, double(c, addend)), [a, b, c])
        }),
        (Ty::F64, _) => ternary(o, lanes, |a: f64, b: f64, c: f64| {
            let [x, y, z] = [double(a, product), b, double(c, addend)].map(f64::to_bits);
            finish_f64(f64::from_bits(soft::multiply_add(Format::F64, x, y, z, rounding)), [a, b, c])
        }),
        _ => half_float::multiply_add(ty, mode, signs, o, lanes),
    }
}

/// `abs` to `tanh`.
pub(super) fn single(op: FloatUnary, ty: Ty, mode: FloatMode, o: &mut impl Operands, lanes: LaneMask) {
    match ty {
        Ty::F32 => single_f32(op, mode, o, lanes),
        Ty::F64 => single_f64(op, mode, o, lanes),
        _ => half_float::single(op, ty, mode, o, lanes),
    }
}

fn single_f32(op: FloatUnary, mode: FloatMode, o: &mut impl Operands, lanes: LaneMask) {
    let rounding = mode.rounding;
    let nearest = rounding == Rounding::Rn;
    match op {
        FloatUnary::Abs => unary_f32(o, lanes, mode, f32::abs),
        FloatUnary::Neg => unary_f32(o, lanes, mode, |a| -a),
        FloatUnary::Rcp if !nearest => unary_f32(o, lanes, mode, |a| {
            let one = u64::from(1f32.to_bits());
            f32::from_bits(soft::divide(Format::F32, one, a.to_bits().into(), rounding) as u32)
        }),
        FloatUnary::Sqrt if !nearest => unary_f32(o, lanes, mode, |a| {
            f32::from_bits(soft::square_root(Format::F32, a.to_bits().into(), rounding) as u32)
        }),
        FloatUnary::Rcp | FloatUnary::RcpApprox => unary_f32(o, lanes, mode, |a| 1.0 / a),
        FloatUnary::Sqrt | FloatUnary::SqrtApprox => unary_f32(o, lanes, mode, square_root),
        FloatUnary::RsqrtApprox
        | FloatUnary::SinApprox
        | FloatUnary::CosApprox
        | FloatUnary::Lg2Approx
        | FloatUnary::Ex2Approx
        | FloatUnary::TanhApprox => approximate_f32(op, mode, o, lanes),
    }
}

/// The square root; of what has none the canonical NaN. Asked of the operand's bits: a compiler may take the host's NaN for the
/// canonical one where a comparison of floats decides.
#[inline(always)]
fn square_root(a: f32) -> f32 {
    let bits = a.to_bits();
    let has_none = bits > 0x8000_0000 || (bits > 0x7f80_0000 && bits < 0x8000_0000);
    f32::from_bits(if has_none { 0x7fff_ffff } else { a.sqrt().to_bits() })
}

fn approximate_f32(op: FloatUnary, mode: FloatMode, o: &mut impl Operands, lanes: LaneMask) {
    match op {
        FloatUnary::RsqrtApprox => unary_f32(o, lanes, mode, approx::rsqrt),
        FloatUnary::SinApprox => unary_f32(o, lanes, mode, approx::sin),
        FloatUnary::CosApprox => unary_f32(o, lanes, mode, approx::cos),
        FloatUnary::Lg2Approx => unary_f32(o, lanes, mode, approx::lg2),
        FloatUnary::Ex2Approx => unary_f32(o, lanes, mode, approx::ex2),
        FloatUnary::TanhApprox => unary_f32(o, lanes, mode, approx::tanh),
        _ => unreachable!("{op:?} is not an approximate function"),
    }
}

/// # Panics
/// On the approximate functions that f64 does not have: the front end refuses them.
fn single_f64(op: FloatUnary, mode: FloatMode, o: &mut impl Operands, lanes: LaneMask) {
    let rounding = mode.rounding;
    let nearest = rounding == Rounding::Rn;
    let with_nan = |a: f64, result: f64| finish_f64(result, [a]);
    let approximate = |a: f64, f: fn(f64) -> f64| {
        if !mode.ftz {
            return finish_f64(f(a), [a]);
        }
        let a = flush_f64(approx::upper_half(a));
        let result = f(a);
        if result.is_nan() { APPROXIMATE_NAN } else { flush_f64(approx::upper_half(result)) }
    };
    match op {
        // A NaN keeps its sign.
        FloatUnary::Abs => unary(o, lanes, |a: f64| if a.is_nan() { with_nan(a, a) } else { a.abs() }),
        FloatUnary::Neg => unary(o, lanes, |a: f64| if a.is_nan() { with_nan(a, a) } else { -a }),
        FloatUnary::Rcp if nearest => unary(o, lanes, |a: f64| with_nan(a, 1.0 / a)),
        FloatUnary::Sqrt if nearest => unary(o, lanes, |a: f64| with_nan(a, a.sqrt())),
        FloatUnary::Rcp => unary(o, lanes, |a: f64| {
            let one = 1f64.to_bits();
            with_nan(a, f64::from_bits(soft::divide(Format::F64, one, a.to_bits(), rounding)))
        }),
        FloatUnary::Sqrt => unary(o, lanes, |a: f64| {
            with_nan(a, f64::from_bits(soft::square_root(Format::F64, a.to_bits(), rounding)))
        }),
        FloatUnary::RcpApprox => unary(o, lanes, |a: f64| approximate(a, |a| 1.0 / a)),
        FloatUnary::RsqrtApprox => unary(o, lanes, |a: f64| approximate(a, |a| 1.0 / a.sqrt())),
        other => panic!("{other:?} does not exist for f64: the front end refuses it"),
    }
}
