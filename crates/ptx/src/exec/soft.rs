//! IEEE 754 arithmetic in integers: the directed roundings and formats that the host does not have.
//!
//! A value is unpacked to sign, exponent and a 128-bit significand; an operation keeps enough bits that what
//! it drops can be folded into the lowest one ("sticky"); one function rounds and packs.

use crate::isa::Rounding;

/// A binary interchange format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Significand bits, the hidden one included.
    precision: u32,
    exponent_bits: u32,
    /// What an operation without a numeric answer gives.
    nan: u64,
}

impl Format {
    /// IEEE half.
    pub const F16: Format = Format { precision: 11, exponent_bits: 5, nan: 0x7fff };
    /// The upper half of a single.
    pub const BF16: Format = Format { precision: 8, exponent_bits: 8, nan: 0x7fff };
    /// The upper 19 bits of a single.
    pub const TF32: Format = Format { precision: 11, exponent_bits: 8, nan: 0x3_ffff };
    /// IEEE single.
    pub const F32: Format = Format { precision: 24, exponent_bits: 8, nan: 0x7fff_ffff };
    /// IEEE double.
    pub const F64: Format = Format { precision: 53, exponent_bits: 11, nan: 0xfff8_0000_0000_0000 };

    const fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    const fn infinity(self) -> u64 {
        ((1 << self.exponent_bits) - 1) << (self.precision - 1)
    }

    const fn sign(self, negative: bool) -> u64 {
        (negative as u64) << (self.precision + self.exponent_bits - 1)
    }

    const fn signed_infinity(self, negative: bool) -> u64 {
        self.infinity() | self.sign(negative)
    }
}

/// A number apart from NaN and infinity: `(-1)^negative * significand * 2^exponent`.
#[derive(Clone, Copy, Debug)]
struct Finite {
    negative: bool,
    exponent: i32,
    significand: u128,
}

#[derive(Clone, Copy, Debug)]
enum Value {
    Nan,
    Infinite(bool),
    Finite(Finite),
}

fn unpack(format: Format, bits: u64) -> Value {
    let negative = bits & format.sign(true) != 0;
    let magnitude = bits & (format.sign(true) - 1);
    let fraction_bits = format.precision - 1;
    let biased = (magnitude >> fraction_bits) as i32;
    let fraction = u128::from(magnitude & ((1 << fraction_bits) - 1));
    let lowest = 1 - format.bias() - fraction_bits as i32;
    match magnitude {
        _ if magnitude > format.infinity() => Value::Nan,
        _ if magnitude == format.infinity() => Value::Infinite(negative),
        _ if biased == 0 => Value::Finite(Finite { negative, exponent: lowest, significand: fraction }),
        _ => Value::Finite(Finite {
            negative,
            exponent: lowest + biased - 1,
            significand: fraction | 1 << fraction_bits,
        }),
    }
}

/// Whether a magnitude is rounded away from zero, given what lies below the last kept bit.
fn rounds_away(rounding: Rounding, negative: bool, odd: bool, dropped: u128, half: u128) -> bool {
    match rounding {
        Rounding::Rn | Rounding::Rni => dropped > half || (dropped == half && odd),
        Rounding::Rna => dropped >= half,
        Rounding::Rz | Rounding::Rzi => false,
        Rounding::Rm | Rounding::Rmi => negative && dropped != 0,
        Rounding::Rp | Rounding::Rpi => !negative && dropped != 0,
    }
}

/// Drops the lowest `count` bits, rounding by the mode.
fn round_off(significand: u128, count: u32, negative: bool, rounding: Rounding) -> u128 {
    match count {
        0 => significand,
        // Everything is dropped, and it is less than half of the last place.
        128.. => {
            let dropped = u128::from(significand != 0);
            u128::from(rounds_away(rounding, negative, false, dropped, 2))
        }
        _ => {
            let kept = significand >> count;
            let dropped = significand & ((1 << count) - 1);
            kept + u128::from(rounds_away(rounding, negative, kept & 1 == 1, dropped, 1 << (count - 1)))
        }
    }
}

/// Rounds to a format. The lowest bit of a significand may be sticky when it has bits to spare.
fn pack(format: Format, value: Finite, rounding: Rounding) -> u64 {
    let Finite { negative, exponent, significand } = value;
    let sign = format.sign(negative);
    if significand == 0 {
        return sign;
    }
    let fraction_bits = format.precision - 1;
    let lowest = 1 - format.bias() - fraction_bits as i32;
    let top = exponent + 127 - significand.leading_zeros() as i32;
    let mut last_place = (top - fraction_bits as i32).max(lowest);
    let mut kept = if last_place >= exponent {
        round_off(significand, (last_place - exponent) as u32, negative, rounding)
    } else {
        significand << (exponent - last_place)
    };
    if kept >> format.precision != 0 {
        kept >>= 1;
        last_place += 1;
    }
    if kept >> fraction_bits == 0 {
        return sign | kept as u64;
    }
    let biased = (last_place - lowest + 1) as u64;
    if biased >= (1 << format.exponent_bits) - 1 {
        let away = rounds_away(rounding, negative, true, 3, 2);
        return sign | (format.infinity() - u64::from(!away));
    }
    sign | biased << fraction_bits | (kept as u64 & ((1 << fraction_bits) - 1))
}

/// Puts the highest bit of a non-zero significand at bit 125, which leaves room for a carry.
fn normalise(value: Finite) -> Finite {
    let shift = value.significand.leading_zeros() as i32 - 2;
    debug_assert!(shift >= 0, "significands of operands have at most 126 bits");
    Finite { exponent: value.exponent - shift, significand: value.significand << shift, ..value }
}

/// Shifts right and folds what falls off into the lowest bit.
fn shift_sticky(significand: u128, count: u32) -> u128 {
    match count {
        0 => significand,
        128.. => u128::from(significand != 0),
        _ => significand >> count | u128::from(significand & ((1 << count) - 1) != 0),
    }
}

fn add_finite(a: Finite, b: Finite, rounding: Rounding) -> Finite {
    let zero_sign = if a.negative == b.negative { a.negative } else { rounding == Rounding::Rm };
    match (a.significand, b.significand) {
        (0, 0) => return Finite { negative: zero_sign, ..a },
        (_, 0) => return a,
        (0, _) => return b,
        _ => {}
    }
    let (a, b) = (normalise(a), normalise(b));
    let (large, small) =
        if (a.exponent, a.significand) >= (b.exponent, b.significand) { (a, b) } else { (b, a) };
    let aligned = shift_sticky(small.significand, (large.exponent - small.exponent) as u32);
    if large.negative == small.negative {
        return Finite { significand: large.significand + aligned, ..large };
    }
    let significand = large.significand - aligned;
    Finite { negative: if significand == 0 { zero_sign } else { large.negative }, significand, ..large }
}

fn multiply_finite(a: Finite, b: Finite) -> Finite {
    Finite {
        negative: a.negative != b.negative,
        exponent: a.exponent + b.exponent,
        significand: a.significand * b.significand,
    }
}

/// a + b.
pub fn add(format: Format, a: u64, b: u64, rounding: Rounding) -> u64 {
    match (unpack(format, a), unpack(format, b)) {
        (Value::Nan, _) | (_, Value::Nan) => format.nan,
        (Value::Infinite(a), Value::Infinite(b)) if a != b => format.nan,
        (Value::Infinite(negative), _) | (_, Value::Infinite(negative)) => format.signed_infinity(negative),
        (Value::Finite(a), Value::Finite(b)) => pack(format, add_finite(a, b, rounding), rounding),
    }
}

/// a - b.
pub fn subtract(format: Format, a: u64, b: u64, rounding: Rounding) -> u64 {
    add(format, a, b ^ format.sign(true), rounding)
}

/// a * b.
pub fn multiply(format: Format, a: u64, b: u64, rounding: Rounding) -> u64 {
    match (unpack(format, a), unpack(format, b)) {
        (Value::Finite(a), Value::Finite(b)) => pack(format, multiply_finite(a, b), rounding),
        (a, b) => infinite_product(a, b).map_or(format.nan, |negative| format.signed_infinity(negative)),
    }
}

/// The sign of a product with an infinite factor; none when it is NaN.
fn infinite_product(a: Value, b: Value) -> Option<bool> {
    match (a, b) {
        (Value::Infinite(a), Value::Infinite(b)) => Some(a != b),
        (Value::Infinite(infinite), Value::Finite(finite))
        | (Value::Finite(finite), Value::Infinite(infinite)) => {
            (finite.significand != 0).then_some(infinite != finite.negative)
        }
        _ => None,
    }
}

/// a * b + c with one rounding.
pub fn multiply_add(format: Format, a: u64, b: u64, c: u64, rounding: Rounding) -> u64 {
    match (unpack(format, a), unpack(format, b), unpack(format, c)) {
        (Value::Finite(a), Value::Finite(b), Value::Finite(c)) => {
            pack(format, add_finite(multiply_finite(a, b), c, rounding), rounding)
        }
        (_, _, Value::Nan) => format.nan,
        (Value::Finite(_), Value::Finite(_), Value::Infinite(negative)) => format.signed_infinity(negative),
        (a, b, c) => match (infinite_product(a, b), c) {
            (None, _) => format.nan,
            (Some(product), Value::Infinite(addend)) if product != addend => format.nan,
            (Some(product), _) => format.signed_infinity(product),
        },
    }
}

/// a / b.
pub fn divide(format: Format, a: u64, b: u64, rounding: Rounding) -> u64 {
    match (unpack(format, a), unpack(format, b)) {
        (Value::Nan, _) | (_, Value::Nan) | (Value::Infinite(_), Value::Infinite(_)) => format.nan,
        (Value::Infinite(a), Value::Finite(b)) => format.signed_infinity(a != b.negative),
        (Value::Finite(a), Value::Infinite(b)) => format.sign(a.negative != b),
        (Value::Finite(a), Value::Finite(b)) => {
            let negative = a.negative != b.negative;
            match (a.significand, b.significand) {
                (0, 0) => return format.nan,
                (0, _) => return format.sign(negative),
                (_, 0) => return format.signed_infinity(negative),
                _ => {}
            }
            // 126 bits over at most 53 leave at least 73 bits of quotient.
            let (a, b) = (normalise(a), b);
            let (quotient, rest) = (a.significand / b.significand, a.significand % b.significand);
            let value = Finite {
                negative,
                exponent: a.exponent - b.exponent,
                significand: quotient | u128::from(rest != 0),
            };
            pack(format, value, rounding)
        }
    }
}

/// The square root.
pub fn square_root(format: Format, a: u64, rounding: Rounding) -> u64 {
    match unpack(format, a) {
        Value::Finite(a) if a.significand == 0 => format.sign(a.negative),
        Value::Infinite(false) => format.infinity(),
        Value::Finite(a) if !a.negative => {
            let mut a = normalise(a);
            if a.exponent & 1 != 0 {
                a = Finite { exponent: a.exponent - 1, significand: a.significand << 1, ..a };
            }
            let root = a.significand.isqrt();
            let inexact = root * root != a.significand;
            let value = Finite {
                negative: false,
                // One more place, so that the sticky bit lies below the root's own last bit.
                exponent: a.exponent / 2 - 1,
                significand: root << 1 | u128::from(inexact),
            };
            pack(format, value, rounding)
        }
        _ => format.nan,
    }
}

/// The same number in another format.
pub fn convert(from: Format, to: Format, bits: u64, rounding: Rounding) -> u64 {
    match unpack(from, bits) {
        Value::Nan => to.nan,
        Value::Infinite(negative) => to.signed_infinity(negative),
        Value::Finite(value) => pack(to, value, rounding),
    }
}

/// An integer as a floating-point number.
pub fn from_integer(to: Format, value: i128, rounding: Rounding) -> u64 {
    pack(to, Finite { negative: value < 0, exponent: 0, significand: value.unsigned_abs() }, rounding)
}
