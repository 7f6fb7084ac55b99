//! The approximate functions of f32.
//!
//! Each is a polynomial in f64 rounded once to f32: within half a unit in the last place and a little, well
//! inside the error bounds of the PTX ISA, and free of the host's mathematics library, so that a result is
//! the same on every host. Hardware differs from this in the last bits, as the ISA allows.

use std::f64::consts::{FRAC_2_PI, LN_2, LOG2_E};

/// Evaluates a polynomial, highest coefficient first.
#[inline(always)]
fn horner<const N: usize>(x: f64, coefficients: [f64; N]) -> f64 {
    coefficients.into_iter().reduce(|sum, coefficient| sum.mul_add(x, coefficient)).unwrap_or(0.0)
}

/// 2^x.
#[inline(always)]
fn exp2(x: f64) -> f64 {
    // Beyond this range f32 results are infinite or zero anyway.
    let x = x.clamp(-200.0, 200.0);
    let whole = x.round_ties_even();
    let t = (x - whole) * LN_2;
    // The Taylor series of e^t, |t| < 0.347: the first term left out is below 2^-43.
    let fraction = horner(
        t,
        [
            1.0 / 3_628_800.0,
            1.0 / 362_880.0,
            1.0 / 40_320.0,
            1.0 / 5_040.0,
            1.0 / 720.0,
            1.0 / 120.0,
            1.0 / 24.0,
            1.0 / 6.0,
            0.5,
            1.0,
            1.0,
        ],
    );
    fraction * f64::from_bits(((whole as i32 + 1023) as u64) << 52)
}

/// `ex2.approx`.
#[inline(always)]
pub fn ex2(x: f32) -> f32 {
    exp2(f64::from(x)) as f32
}

/// `lg2.approx`.
#[inline(always)]
pub fn lg2(x: f32) -> f32 {
    // Every positive f32 is normal as f64. The mantissa is taken from [sqrt(1/2), sqrt(2)).
    let bits = f64::from(x).to_bits();
    let offset = bits.wrapping_sub(0x3fe6_a09e_667f_3bcd);
    let exponent = (offset as i64 >> 52) as i32;
    let mantissa = f64::from_bits((offset & ((1 << 52) - 1)).wrapping_add(0x3fe6_a09e_667f_3bcd));
    // ln m = 2 atanh s.
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let q = s * s;
    let series = horner(q, [1.0 / 15.0, 1.0 / 13.0, 1.0 / 11.0, 1.0 / 9.0, 1.0 / 7.0, 0.2, 1.0 / 3.0, 1.0]);
    let result = (2.0 * LOG2_E * s).mul_add(series, f64::from(exponent)) as f32;
    match x {
        _ if x == 0.0 => f32::NEG_INFINITY,
        f32::INFINITY => f32::INFINITY,
        _ if x > 0.0 => result,
        _ => f32::NAN,
    }
}

/// Quadrant and remainder of an angle: x = quadrant * pi/2 + remainder.
#[inline(always)]
fn reduce(x: f32) -> (i64, f64) {
    const HALF_PI_HIGH: f64 = std::f64::consts::FRAC_PI_2;
    /// pi/2 minus its nearest f64.
    const HALF_PI_LOW: f64 = 6.123_233_995_736_766e-17;
    // The ISA bounds no error for large angles; the exact remainder by the nearest f64 keeps them tame.
    let x = f64::from(x);
    let x = if x.abs() > 1e9 { x % (4.0 * HALF_PI_HIGH) } else { x };
    let quadrant = (x * FRAC_2_PI).round_ties_even();
    let remainder = (-quadrant).mul_add(HALF_PI_LOW, (-quadrant).mul_add(HALF_PI_HIGH, x));
    (quadrant as i64, remainder)
}

/// sin of quadrant * pi/2 + r.
#[inline(always)]
fn sine(quadrant: i64, r: f64) -> f32 {
    let q = r * r;
    let sin =
        r * horner(q, [-1.0 / 39_916_800.0, 1.0 / 362_880.0, -1.0 / 5_040.0, 1.0 / 120.0, -1.0 / 6.0, 1.0]);
    let cos = horner(
        q,
        [1.0 / 479_001_600.0, -1.0 / 3_628_800.0, 1.0 / 40_320.0, -1.0 / 720.0, 1.0 / 24.0, -0.5, 1.0],
    );
    let magnitude = if quadrant & 1 == 0 { sin } else { cos };
    (if quadrant & 2 == 0 { magnitude } else { -magnitude }) as f32
}

/// `sin.approx`.
#[inline(always)]
pub fn sin(x: f32) -> f32 {
    if x == 0.0 {
        return x;
    }
    let (quadrant, r) = reduce(x);
    sine(quadrant, r)
}

/// `cos.approx`.
#[inline(always)]
pub fn cos(x: f32) -> f32 {
    let (quadrant, r) = reduce(x);
    sine(quadrant.wrapping_add(1), r)
}

/// `tanh.approx`.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    let wide = f64::from(x);
    if x.abs() < 0.03 {
        // Here 1 - 2/(e^2x + 1) would cancel; a sign of zero survives too.
        let q = wide * wide;
        return (wide * horner(q, [-17.0 / 315.0, 2.0 / 15.0, -1.0 / 3.0, 1.0])) as f32;
    }
    (1.0 - 2.0 / (exp2(2.0 * LOG2_E * wide) + 1.0)) as f32
}

/// `rsqrt.approx`; of a negative zero negative infinity.
#[inline(always)]
pub fn rsqrt(x: f32) -> f32 {
    (1.0 / f64::from(x).sqrt()) as f32
}

/// `rcp.approx.ftz.f64` and `rsqrt.approx.ftz.f64` work on the upper halves of their operand and result.
#[inline(always)]
pub fn upper_half(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & !0xffff_ffff)
}
