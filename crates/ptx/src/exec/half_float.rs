//! Arithmetic of f16 and bf16, single and packed.
//!
//! Operands are widened to f64, where a product is exact and a sum is corrected to "round to odd" (an inexact
//! result gets an odd last bit): rounding that once more, to the narrow format, equals rounding the exact
//! value once (Boldo and Melquiond, "Emulation of a FMA and Correctly Rounded Sums", 2008).

use half::{bf16, f16};

use super::float_rules::{extremum_f64, finish_f32, operand_f32};
use super::{Operands, approx};
use crate::isa::{FloatMode, FloatOp, FloatUnary, Signs, Ty};
use crate::lanes::{LaneMask, Row, WARP_LANES};

/// The f32 of the same value.
#[inline(always)]
pub(super) fn widen(brain: bool, bits: u16) -> f32 {
    if brain { bf16::from_bits(bits).to_f32() } else { f16::from_bits(bits).to_f32() }
}

/// Nearest value of the narrow format, ties to even; NaN is canonical.
#[inline(always)]
pub(super) fn narrow(brain: bool, value: f32) -> u16 {
    match value {
        _ if value.is_nan() => 0x7fff,
        _ if brain => bf16::from_f32(value).to_bits(),
        _ => f16::from_f32(value).to_bits(),
    }
}

/// a + b rounded to odd.
#[inline(always)]
fn add_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    // Knuth's exact error of a sum.
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    if !sum.is_finite() || error == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    let away = (error > 0.0) == (sum > 0.0);
    f64::from_bits(if away { sum.to_bits() + 1 } else { sum.to_bits() - 1 })
}

/// An f64 as f32, rounded to odd.
#[inline(always)]
fn to_f32_odd(value: f64) -> f32 {
    let nearest = value as f32;
    let back = f64::from(nearest);
    if back == value || value.is_nan() || nearest.to_bits() & 1 == 1 {
        return nearest;
    }
    let away = value.abs() > back.abs();
    f32::from_bits(if away { nearest.to_bits() + 1 } else { nearest.to_bits() - 1 })
}

/// Applies `f` to every element (two a row when packed) of `N` sources.
#[inline(always)]
fn elements<const N: usize>(
    ty: Ty,
    mode: FloatMode,
    o: &mut impl Operands,
    lanes: LaneMask,
    f: impl Fn([f64; N]) -> f64,
) {
    let brain = matches!(ty, Ty::Bf16 | Ty::Bf16x2);
    let halves = if ty.bytes() == 4 { 2 } else { 1 };
    // Subnormals of f16 are normal as f32 and have to be recognised before; those of bf16 are not.
    let flush = |bits: u16| if mode.ftz && !brain && bits & 0x7c00 == 0 { bits & 0x8000 } else { bits };
    let mut row = Row::ZERO;
    for lane in 0..WARP_LANES {
        let mut word = 0;
        for half in 0..halves {
            let operands = std::array::from_fn(|slot| {
                let bits = (o.source(slot, 0).0[lane] >> (16 * half)) as u16;
                f64::from(operand_f32(mode, widen(brain, flush(bits))))
            });
            let value = finish_f32(FloatMode { ftz: mode.ftz && brain, ..mode }, to_f32_odd(f(operands)));
            word |= u32::from(flush(narrow(brain, value))) << (16 * half);
        }
        row.0[lane] = word;
    }
    o.write(0, 0, lanes, &row);
}

/// `add` to `max`.
///
/// # Panics
/// On operations that the 16-bit formats do not have: the front end refuses them.
pub(super) fn arithmetic(op: FloatOp, ty: Ty, mode: FloatMode, o: &mut impl Operands, lanes: LaneMask) {
    match op {
        FloatOp::Add => elements(ty, mode, o, lanes, |[a, b]| add_to_odd(a, b)),
        FloatOp::Sub => elements(ty, mode, o, lanes, |[a, b]| add_to_odd(a, -b)),
        FloatOp::Mul => elements(ty, mode, o, lanes, |[a, b]| a * b),
        FloatOp::Min { nan, xorsign_abs } => {
            elements(ty, mode, o, lanes, |[a, b]| extremum_f64(false, nan, xorsign_abs, a, b));
        }
        FloatOp::Max { nan, xorsign_abs } => {
            elements(ty, mode, o, lanes, |[a, b]| extremum_f64(true, nan, xorsign_abs, a, b));
        }
        FloatOp::Div | FloatOp::DivApprox | FloatOp::DivFull | FloatOp::Copysign => {
            panic!("{op:?} does not exist for {ty:?}: the front end refuses it")
        }
    }
}

/// `fma`.
pub(super) fn multiply_add(ty: Ty, mode: FloatMode, signs: Signs, o: &mut impl Operands, lanes: LaneMask) {
    let signed = |x: f64, negated: bool| if negated { -x } else { x };
    elements(ty, mode, o, lanes, |[a, b, c]| {
        add_to_odd(signed(a * b, signs.product), signed(c, signs.addend))
    });
}

/// `abs`, `neg`, `ex2`, `tanh`.
///
/// # Panics
/// On functions that the 16-bit formats do not have: the front end refuses them.
pub(super) fn single(op: FloatUnary, ty: Ty, mode: FloatMode, o: &mut impl Operands, lanes: LaneMask) {
    let through_f32 = |f: fn(f32) -> f32| move |[a]: [f64; 1]| f64::from(f(a as f32));
    match op {
        FloatUnary::Abs => elements(ty, mode, o, lanes, |[a]| a.abs()),
        FloatUnary::Neg => elements(ty, mode, o, lanes, |[a]| -a),
        FloatUnary::Ex2Approx => elements(ty, mode, o, lanes, through_f32(approx::ex2)),
        FloatUnary::TanhApprox => elements(ty, mode, o, lanes, through_f32(approx::tanh)),
        other => panic!("{other:?} does not exist for {ty:?}: the front end refuses it"),
    }
}
