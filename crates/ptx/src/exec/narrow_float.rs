//! The formats that values are only ever converted to and from: 8 bits (e4m3, e5m2) and tf32.
//!
//! PTX ISA, "Alternate Floating-Point Data Formats"; the 8-bit formats are those of Micikevicius et al., "FP8
//! Formats for Deep Learning", 2022.

use half::f16;

use super::soft::{self, Format};
use crate::isa::{Rounding, Ty};

/// An 8-bit format with a sign in bit 7.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fp8 {
    fraction_bits: i32,
    /// Exponent of the smallest normal number, 2^n.
    lowest: i32,
    /// The largest finite number.
    largest: f32,
    /// From here on magnitudes are infinite (the first) or NaN.
    special: u8,
    /// Whether the first of them is infinity.
    has_infinity: bool,
}

impl Fp8 {
    const E4M3: Fp8 =
        Fp8 { fraction_bits: 3, lowest: -6, largest: 448.0, special: 0x7f, has_infinity: false };
    const E5M2: Fp8 =
        Fp8 { fraction_bits: 2, lowest: -14, largest: 57344.0, special: 0x7c, has_infinity: true };

    /// The format of a packed type's elements.
    ///
    /// # Panics
    /// On a type with other elements: the front end pairs none with these conversions.
    pub(super) fn of(ty: Ty) -> Fp8 {
        match ty {
            Ty::E4m3x2 => Fp8::E4M3,
            Ty::E5m2x2 => Fp8::E5M2,
            other => panic!("{other:?} has no 8-bit elements: the front end refuses it"),
        }
    }

    /// Nearest value, ties to even; what is too large becomes the largest finite number, NaN 0x7f.
    pub(super) fn encode(self, value: f32) -> u8 {
        if value.is_nan() {
            return 0x7f;
        }
        let magnitude = value.abs().min(self.largest);
        // Exponent of the binade, from that of the smallest normal number on; f32 subnormals are far below.
        let exponent = ((magnitude.to_bits() >> 23) as i32 - 127).max(self.lowest);
        // In units of the last place, exactly; a number and its binade lie behind one another in the encoding, so
        // that a significand rounded up to the next power of two carries into the exponent.
        let units = f64::from(magnitude) * power_of_two(self.fraction_bits - exponent);
        let code = ((exponent - self.lowest) << self.fraction_bits) as u8 + units.round_ties_even() as u8;
        code | if value.is_sign_negative() { 0x80 } else { 0 }
    }

    /// The value; every one is an f16.
    pub(super) fn decode(self, code: u8) -> f16 {
        let magnitude = code & 0x7f;
        let value = if magnitude == self.special && self.has_infinity {
            f64::INFINITY
        } else if magnitude >= self.special {
            return f16::from_bits(0x7fff);
        } else {
            let exponent = i32::from(magnitude >> self.fraction_bits);
            let fraction = f64::from(magnitude & ((1 << self.fraction_bits) - 1));
            // The first two binades have the same unit; the lower of them has no hidden bit.
            let hidden = if exponent == 0 { 0.0 } else { f64::from(1 << self.fraction_bits) };
            (hidden + fraction) * power_of_two(exponent.max(1) - 1 + self.lowest - self.fraction_bits)
        };
        f16::from_f64(if code & 0x80 == 0 { value } else { -value })
    }
}

/// 2^n for an n that a normal f64 has.
const fn power_of_two(n: i32) -> f64 {
    f64::from_bits(((n + 1023) as u64) << 52)
}

/// An f32 as tf32: sign, 8 bits of exponent and 10 of fraction in the upper bits of a word, the rest zero. Ties away from zero
/// (`.rna`) keep what of a NaN is in the upper bits, one less of it with `.satfinite`, as GPUs do.
pub(super) fn to_tf32(value: f32, rounding: Rounding, finite: bool) -> u32 {
    if rounding == Rounding::Rna && value.is_nan() {
        return (value.to_bits() >> 13 << 13) - (u32::from(finite) << 13);
    }
    let bits = soft::convert(Format::F32, Format::TF32, value.to_bits().into(), rounding) as u32;
    let overflowed = finite && bits & 0x3_ffff == 0x3_fc00;
    (bits - u32::from(overflowed)) << 13
}
