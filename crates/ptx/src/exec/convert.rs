//! `cvt`: conversions among the integer and floating-point types.

use super::Operands;
use super::float_rules::{finish_f32, operand_f32};
use super::half_float::{narrow, widen};
use super::lanewise::{binary, unary, wide_source, write_lanes};
use super::narrow_float::{Fp8, to_tf32};
use super::soft::{self, Format};
use crate::isa::{FloatMode, Rounding, Ty};
use crate::lanes::LaneMask;

/// Runs `$body` with `$T` bound to the Rust integer of any PTX integer type.
macro_rules! for_any_integer {
    ($ty:expr, $T:ident => $body:expr) => {
        match $ty {
            Ty::U8 | Ty::B8 => {
                type $T = u8;
                $body
            }
            Ty::S8 => {
                type $T = i8;
                $body
            }
            Ty::U16 | Ty::B16 => {
                type $T = u16;
                $body
            }
            Ty::S16 => {
                type $T = i16;
                $body
            }
            Ty::U32 | Ty::B32 => {
                type $T = u32;
                $body
            }
            Ty::S32 => {
                type $T = i32;
                $body
            }
            Ty::U64 | Ty::B64 => {
                type $T = u64;
                $body
            }
            Ty::S64 => {
                type $T = i64;
                $body
            }
            other => panic!("{other:?} is not an integer type"),
        }
    };
}

/// dst0 = src0 converted. Packed 16-bit results take their upper element from src0, the lower from src1.
pub(super) fn convert(to: Ty, from: Ty, mode: FloatMode, o: &mut impl Operands, lanes: LaneMask) {
    match (to.is_float(), from.is_float()) {
        (false, false) if mode.sat => saturate_integer(to, from, o, lanes),
        (false, false) => resize_integer(to, from, o, lanes),
        (false, true) => to_integer(to, from, mode, o, lanes),
        (true, false) => from_integer(to, from, mode, o, lanes),
        (true, true) => between_floats(to, from, mode, o, lanes),
    }
}

/// An integer at another width.
#[allow(clippy::unnecessary_cast)]
#[inline(always)]
pub(super) fn resize_integer(to: Ty, from: Ty, o: &mut impl Operands, lanes: LaneMask) {
    for_any_integer!(from, F => match to {
        Ty::U8 | Ty::B8 => unary(o, lanes, |a: F| a as u8),
        Ty::S8 => unary(o, lanes, |a: F| a as i8),
        Ty::U16 | Ty::B16 => unary(o, lanes, |a: F| a as u16),
        Ty::S16 => unary(o, lanes, |a: F| a as i16),
        Ty::U32 | Ty::S32 | Ty::B32 => unary(o, lanes, |a: F| a as u32),
        // The source's type alone decides the extension.
        _ => unary(o, lanes, |a: F| a as u64),
    });
}

fn saturate_integer(to: Ty, from: Ty, o: &mut impl Operands, lanes: LaneMask) {
    let (low, high) = for_any_integer!(to, T => (i128::from(T::MIN), i128::from(T::MAX)));
    for_any_integer!(from, F => {
        let clamped = |a: F| i128::from(a).clamp(low, high) as u64;
        if to.rows() == 2 {
            unary(o, lanes, clamped);
        } else {
            unary(o, lanes, |a: F| clamped(a) as u32);
        }
    });
}

/// Rounds to an integer value.
#[inline(always)]
fn to_integral(rounding: Rounding, value: f64) -> f64 {
    match rounding {
        Rounding::Rn | Rounding::Rni => value.round_ties_even(),
        Rounding::Rna => value.round(),
        Rounding::Rz | Rounding::Rzi => value.trunc(),
        Rounding::Rm | Rounding::Rmi => value.floor(),
        Rounding::Rp | Rounding::Rpi => value.ceil(),
    }
}

/// Out-of-range values clamp. NaN gives zero, or the highest bit alone where the source or the result has 64 bits.
fn to_integer(to: Ty, from: Ty, mode: FloatMode, o: &mut impl Operands, lanes: LaneMask) {
    let rounding = mode.rounding;
    if (from, to, rounding) == (Ty::F32, Ty::S32, Rounding::Rzi) {
        // Flushing changes nothing: a subnormal truncates to zero.
        return unary(o, lanes, |a: f32| a as i32);
    }
    let highest = from == Ty::F64 || to.bytes() == 8;
    for_any_integer!(to, T => {
        let rounded = |a: f64| match to_integral(rounding, a) {
            integral if highest && integral.is_nan() => 1 << (T::BITS - 1),
            integral => integral as T,
        };
        match from {
            Ty::F64 => unary(o, lanes, rounded),
            Ty::F32 => unary(o, lanes, |a: f32| rounded(f64::from(operand_f32(mode, a)))),
            _ => unary(o, lanes, |a: u16| rounded(f64::from(widen(from == Ty::Bf16, a)))),
        }
    });
}

fn from_integer(to: Ty, from: Ty, mode: FloatMode, o: &mut impl Operands, lanes: LaneMask) {
    let nearest = mode.rounding == Rounding::Rn;
    for_any_integer!(from, F => match to {
        Ty::F32 if nearest && !mode.sat => unary(o, lanes, |a: F| a as f32),
        Ty::F64 if nearest && !mode.sat => unary(o, lanes, |a: F| a as f64),
        Ty::F64 => unary(o, lanes, |a: F| {
            let bits = soft::from_integer(Format::F64, i128::from(a), mode.rounding);
            finish_f64(mode, f64::from_bits(bits))
        }),
        Ty::F32 => unary(o, lanes, |a: F| {
            let bits = soft::from_integer(Format::F32, i128::from(a), mode.rounding);
            finish_f32(mode, f32::from_bits(bits as u32))
        }),
        _ => unary(o, lanes, |a: F| {
            let bits = soft::from_integer(format_of(to), i128::from(a), mode.rounding) as u16;
            finish_half(to == Ty::Bf16, mode, bits)
        }),
    });
}

const fn format_of(ty: Ty) -> Format {
    match ty {
        Ty::F64 => Format::F64,
        Ty::F32 => Format::F32,
        Ty::Bf16 | Ty::Bf16x2 => Format::BF16,
        _ => Format::F16,
    }
}

/// `.sat` of an f64 result.
#[inline(always)]
fn finish_f64(mode: FloatMode, value: f64) -> f64 {
    match mode.sat {
        false => value,
        true if value > 0.0 => value.min(1.0),
        true => 0.0,
    }
}

/// `.sat`, `.relu` and `.satfinite` of a 16-bit result.
#[inline(always)]
fn finish_half(brain: bool, mode: FloatMode, bits: u16) -> u16 {
    let bits = match (mode.relu, mode.sat) {
        (false, false) => bits,
        _ => narrow(brain, finish_f32(FloatMode { ftz: false, ..mode }, widen(brain, bits))),
    };
    let infinity = if brain { 0x7f80 } else { 0x7c00 };
    // The largest finite number comes right before infinity.
    bits - u16::from(mode.finite && bits & 0x7fff == infinity)
}

/// `.relu` of an operand: of a rounded value it would be the same.
#[inline(always)]
fn without_negatives(mode: FloatMode, value: f32) -> f32 {
    if mode.relu && value <= 0.0 { 0.0 } else { value }
}

const fn is_integral(rounding: Rounding) -> bool {
    matches!(rounding, Rounding::Rni | Rounding::Rzi | Rounding::Rmi | Rounding::Rpi)
}

fn between_floats(to: Ty, from: Ty, mode: FloatMode, o: &mut impl Operands, lanes: LaneMask) {
    let nearest = mode.rounding == Rounding::Rn;
    let integral = is_integral(mode.rounding);
    match (from, to) {
        (Ty::F32, Ty::F16x2 | Ty::Bf16x2) => {
            binary(o, lanes, |high: f32, low: f32| {
                let [high, low] = [high, low].map(|a| u32::from(narrowed(to, mode, a)));
                high << 16 | low
            });
        }
        (Ty::F32, Ty::E4m3x2 | Ty::E5m2x2) => {
            let format = Fp8::of(to);
            binary(o, lanes, |high: f32, low: f32| {
                u16::from_be_bytes([high, low].map(|a| format.encode(without_negatives(mode, a))))
            });
        }
        (Ty::F16x2, Ty::E4m3x2 | Ty::E5m2x2) => {
            let format = Fp8::of(to);
            unary(o, lanes, |pair: u32| {
                let encoded = |bits: u32| format.encode(without_negatives(mode, widen(false, bits as u16)));
                u16::from_be_bytes([encoded(pair >> 16), encoded(pair)])
            });
        }
        (Ty::E4m3x2 | Ty::E5m2x2, Ty::F16x2) => {
            let format = Fp8::of(from);
            unary(o, lanes, |pair: u16| {
                let decoded = |code: u8| u32::from(finish_half(false, mode, format.decode(code).to_bits()));
                let [high, low] = pair.to_be_bytes().map(decoded);
                high << 16 | low
            });
        }
        (Ty::F32, Ty::Tf32) => {
            unary(o, lanes, |a: f32| to_tf32(without_negatives(mode, a), mode.rounding, mode.finite));
        }
        (Ty::F32, Ty::F32) => unary(o, lanes, |a: f32| {
            let a = operand_f32(mode, a);
            let rounded = if integral { to_integral(mode.rounding, f64::from(a)) as f32 } else { a };
            finish_f32(mode, rounded)
        }),
        (Ty::F32, Ty::F64) => unary(o, lanes, |a: f32| {
            if mode.ftz && a.is_nan() && !mode.sat {
                return f64::from(f32::from_bits(0x7fff_ffff));
            }
            let a = f64::from(operand_f32(mode, a));
            finish_f64(mode, if integral { to_integral(mode.rounding, a) } else { a })
        }),
        (Ty::F64, Ty::F32) if nearest => {
            unary(o, lanes, |a: f64| match nan_of(from, to, mode, a.to_bits()) {
                Some(nan) => f32::from_bits(nan as u32),
                None => finish_f32(mode, a as f32),
            })
        }
        (Ty::F64, Ty::F64) => unary(o, lanes, |a: f64| {
            finish_f64(mode, if integral { to_integral(mode.rounding, a) } else { a })
        }),
        // A mere shift, which leaves a NaN as it is.
        (Ty::Bf16, Ty::F32) if mode == FloatMode::DEFAULT => unary(o, lanes, |a: u16| u32::from(a) << 16),
        (Ty::F16 | Ty::Bf16, Ty::F32) => unary(o, lanes, |a: u16| {
            let a = widen(from == Ty::Bf16, a);
            finish_f32(mode, if integral { to_integral(mode.rounding, f64::from(a)) as f32 } else { a })
        }),
        (Ty::F32, Ty::F16 | Ty::Bf16) => unary(o, lanes, |a: f32| narrowed(to, mode, a)),
        _ => any_pair(to, from, mode, o, lanes),
    }
}

/// An f32 in a 16-bit format.
#[inline(always)]
fn narrowed(to: Ty, mode: FloatMode, value: f32) -> u16 {
    let brain = matches!(to, Ty::Bf16 | Ty::Bf16x2);
    let value = operand_f32(mode, value);
    let bits = if mode.rounding == Rounding::Rn {
        narrow(brain, value)
    } else {
        soft::convert(Format::F32, format_of(to), value.to_bits().into(), mode.rounding) as u16
    };
    finish_half(brain, mode, bits)
}

/// The NaN that a conversion from or to f64 makes of one: of its sign, with what there is room for of its payload, quiet.
fn nan_of(from: Ty, to: Ty, mode: FloatMode, bits: u64) -> Option<u64> {
    // Sign, exponent and fraction.
    let layout = |ty: Ty| match ty {
        Ty::F64 => (63, 52),
        Ty::F32 => (31, 23),
        Ty::Bf16 => (15, 7),
        _ => (15, 10),
    };
    let ((sign, fraction), (to_sign, to_fraction)) = (layout(from), layout(to));
    let magnitude = bits & ((1 << sign) - 1);
    let infinity = (1u64 << sign) - (1 << fraction);
    if magnitude <= infinity || mode.sat || mode.relu || (from != Ty::F64 && to != Ty::F64) {
        return None;
    }
    let payload = magnitude - infinity;
    let payload = if fraction > to_fraction {
        payload >> (fraction - to_fraction)
    } else {
        payload << (to_fraction - fraction)
    };
    let to_infinity = (1u64 << to_sign) - (1 << to_fraction);
    Some((bits >> sign) << to_sign | to_infinity | payload | 1 << (to_fraction - 1))
}

/// The pairs that are rare enough for integer arithmetic.
fn any_pair(to: Ty, from: Ty, mode: FloatMode, o: &mut impl Operands, lanes: LaneMask) {
    let source = |o: &dyn Fn(usize) -> u64, lane: usize| {
        let bits = o(lane);
        if let Some(nan) = nan_of(from, to, mode, bits) {
            return nan;
        }
        if !is_integral(mode.rounding) {
            return soft::convert(format_of(from), format_of(to), bits, mode.rounding);
        }
        let wide = f64::from_bits(soft::convert(format_of(from), Format::F64, bits, Rounding::Rn));
        let integral = to_integral(mode.rounding, wide).to_bits();
        soft::convert(Format::F64, format_of(to), integral, Rounding::Rn)
    };
    let mut results = [0u64; 32];
    for (lane, result) in results.iter_mut().enumerate() {
        let read = |lane: usize| match from {
            Ty::F64 => wide_source(o, 0, lane),
            Ty::F32 => operand_f32(mode, f32::from_bits(o.source(0, 0).0[lane])).to_bits().into(),
            _ => (o.source(0, 0).0[lane] & 0xffff).into(),
        };
        *result = source(&read, lane);
    }
    match to {
        Ty::F64 => write_lanes(o, lanes, |lane| finish_f64(mode, f64::from_bits(results[lane]))),
        Ty::F32 => write_lanes(o, lanes, |lane| {
            let value = f32::from_bits(results[lane] as u32);
            if from == Ty::F64 && value.is_nan() && !mode.sat { value } else { finish_f32(mode, value) }
        }),
        _ => write_lanes(o, lanes, |lane| finish_half(to == Ty::Bf16, mode, results[lane] as u16)),
    }
}
