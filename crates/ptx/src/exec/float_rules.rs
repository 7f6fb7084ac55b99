//! What formats and modes ask of a result: NaN, `.ftz`, `.sat`, `.relu`, and which of two operands is the larger.
//!
//! NaN results are canonical in f32 (0x7fffffff); in f64 the last NaN operand is passed on, quieted. Both are what GPUs do. `.ftz`
//! flushes operands and results that are subnormal after rounding.

use crate::isa::FloatMode;

/// The canonical NaN of f32.
const NAN_F32: f32 = f32::from_bits(0x7fff_ffff);
const QUIET_F64: u64 = 1 << 51;

/// A subnormal f32 as the zero of its sign.
#[inline(always)]
pub(super) fn flush_f32(bits: u32) -> u32 {
    if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits }
}

/// A subnormal f64 as the zero of its sign.
#[inline(always)]
pub(super) fn flush_f64(value: f64) -> f64 {
    if value.abs() < f64::MIN_POSITIVE { value * 0.0 } else { value }
}

/// The f32 result of an operation under its mode: canonical NaN, `.ftz`, `.sat`.
#[inline(always)]
pub(super) fn finish_f32(mode: FloatMode, value: f32) -> f32 {
    let bits = if value.is_nan() { NAN_F32.to_bits() } else { value.to_bits() };
    let bits = if mode.ftz { flush_f32(bits) } else { bits };
    let value = f32::from_bits(bits);
    match (mode.sat, mode.relu) {
        (false, false) => value,
        (false, true) if value > 0.0 || value.is_nan() => value,
        // NaN fails the comparison and becomes zero.
        (true, _) if value > 0.0 => value.min(1.0),
        _ => 0.0,
    }
}

/// An operand under the mode.
#[inline(always)]
pub(super) fn operand_f32(mode: FloatMode, value: f32) -> f32 {
    if mode.ftz { f32::from_bits(flush_f32(value.to_bits())) } else { value }
}

/// The f64 result: the host's bits unless it is NaN.
#[inline(always)]
pub(super) fn finish_f64<const N: usize>(result: f64, operands: [f64; N]) -> f64 {
    if !result.is_nan() {
        return result;
    }
    let last = operands.into_iter().rfind(|operand| operand.is_nan());
    f64::from_bits(last.map_or(0xfff8_0000_0000_0000, |nan| nan.to_bits() | QUIET_F64))
}

macro_rules! extremum {
    ($name:ident, $float:ty) => {
        /// `min` or `max`: a number wins over NaN unless `nan`; negative zero is below positive zero.
        #[inline(always)]
        pub(super) fn $name(largest: bool, nan: bool, xorsign_abs: bool, a: $float, b: $float) -> $float {
            let negative = a.is_sign_negative() != b.is_sign_negative();
            let (a, b) = if xorsign_abs { (a.abs(), b.abs()) } else { (a, b) };
            let first = if largest {
                a > b || (a == b && a.is_sign_positive())
            } else {
                a < b || (a == b && a.is_sign_negative())
            };
            let chosen = match (a.is_nan(), b.is_nan()) {
                (false, false) => {
                    if first {
                        a
                    } else {
                        b
                    }
                }
                _ if nan => <$float>::NAN,
                (true, _) => b,
                (_, true) => a,
            };
            if xorsign_abs && negative { -chosen } else { chosen }
        }
    };
}
extremum!(extremum_f32, f32);
extremum!(extremum_f64, f64);
