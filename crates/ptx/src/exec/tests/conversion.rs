//! Conversions: exhaustive for the 16-bit formats, tables of edges for the rest.

use half::{bf16, f16};
use proptest::prelude::*;

use super::{compute, compute_f32, compute32};
use crate::isa::{FloatMode, Op, Rounding, Ty};

fn cvt(to: Ty, from: Ty, rounding: Rounding, value: u64) -> u64 {
    let op = Op::Cvt { to, from, mode: FloatMode { rounding, ..FloatMode::DEFAULT } };
    let result = compute(op, &[value]);
    if to.rows() == 2 { result } else { result & 0xffff_ffff }
}

/// Value of an f16 or bf16 from its fields.
fn decode(bits: u16, exponent_bits: u32) -> f64 {
    let fraction_bits = 15 - exponent_bits;
    let bias = (1 << (exponent_bits - 1)) - 1;
    let exponent = i32::from(bits >> fraction_bits & ((1 << exponent_bits) - 1));
    let fraction = f64::from(bits & ((1 << fraction_bits) - 1));
    let scale = |e: i32| 2f64.powi(e - bias - fraction_bits as i32);
    let magnitude = match exponent {
        0 => fraction * scale(1),
        e if e == (1 << exponent_bits) - 1 => {
            if fraction == 0.0 {
                f64::INFINITY
            } else {
                f64::NAN
            }
        }
        e => (fraction + f64::from(1 << fraction_bits)) * scale(e),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

#[test]
fn every_half_widens_exactly() {
    for bits in 0..=u16::MAX {
        for (ty, exponent_bits) in [(Ty::F16, 5), (Ty::Bf16, 8)] {
            let wanted = decode(bits, exponent_bits);
            let single = f32::from_bits(cvt(Ty::F32, ty, Rounding::Rn, bits.into()) as u32);
            let double = f64::from_bits(cvt(Ty::F64, ty, Rounding::Rn, bits.into()));
            if wanted.is_nan() {
                assert!(single.is_nan() && double.is_nan());
            } else {
                assert_eq!((f64::from(single), double), (wanted, wanted), "{ty:?} {bits:#06x}");
            }
        }
    }
}

/// Between every pair of neighbours: the middle goes to the even one, and each direction to its side.
#[test]
fn every_half_is_rounded_to() {
    for (ty, exponent_bits) in [(Ty::F16, 5), (Ty::Bf16, 8)] {
        let infinity = if ty == Ty::F16 { 0x7c00 } else { 0x7f80 };
        for bits in 0..infinity - 1 {
            let (low, high) = (decode(bits, exponent_bits), decode(bits + 1, exponent_bits));
            let middle = (low + high) / 2.0;
            let even = if bits & 1 == 0 { bits } else { bits + 1 };
            for (value, nearest) in [(middle, even), (middle.next_down(), bits), (middle.next_up(), bits + 1)]
            {
                let convert = |rounding, value: f64| cvt(ty, Ty::F64, rounding, value.to_bits()) as u16;
                assert_eq!(convert(Rounding::Rn, value), nearest, "{ty:?} {value}");
                assert_eq!(convert(Rounding::Rz, value), bits);
                assert_eq!(convert(Rounding::Rm, value), bits);
                assert_eq!(convert(Rounding::Rp, value), bits + 1);
                assert_eq!(convert(Rounding::Rm, -value), (bits + 1) | 0x8000);
                assert_eq!(convert(Rounding::Rp, -value), bits | 0x8000);
            }
            let middle = middle as f32;
            let convert = |rounding, value: f32| cvt(ty, Ty::F32, rounding, value.to_bits().into()) as u16;
            if middle.is_normal() {
                assert_eq!(convert(Rounding::Rn, middle), even);
                assert_eq!(convert(Rounding::Rn, middle.next_up()), bits + 1);
                assert_eq!(convert(Rounding::Rn, middle.next_down()), bits);
                assert_eq!(convert(Rounding::Rz, middle), bits);
            }
        }
    }
}

#[test]
fn floats_to_integers() {
    let cases = [
        0.0,
        -0.0,
        0.5,
        1.5,
        2.5,
        -0.5,
        -1.5,
        -2.5,
        0.49999997,
        127.5,
        128.0,
        -128.5,
        255.5,
        65535.5,
        2147483647.5,
        -2147483648.5,
        4294967295.5,
        9.3e18,
        -9.3e18,
        1.9e19,
        1e30,
        -1e30,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    let round = |rounding, x: f64| match rounding {
        Rounding::Rni => {
            let low = x.floor();
            let rest = x - low;
            if rest < 0.5 || (rest == 0.5 && low % 2.0 == 0.0) { low } else { low + 1.0 }
        }
        Rounding::Rzi => x.trunc(),
        Rounding::Rmi => x.floor(),
        _ => x.ceil(),
    };
    for rounding in [Rounding::Rni, Rounding::Rzi, Rounding::Rmi, Rounding::Rpi] {
        for x in cases {
            let integral = round(rounding, x);
            // A NaN of 64 bits, or in as many, is the highest bit alone; others are zero.
            let clamp = |low: i128, high: i128| match x.is_nan() {
                true if low < 0 => low,
                true => (high + 1) / 2,
                false => (integral as i128).clamp(low, high),
            };
            let f64_to = |ty| cvt(ty, Ty::F64, rounding, x.to_bits());
            let place = format!("{x} {rounding:?}");
            assert_eq!(f64_to(Ty::S8) as u32, clamp(-128, 127) as u32, "s8 {place}");
            assert_eq!(f64_to(Ty::U8), clamp(0, 255) as u64, "u8 {place}");
            assert_eq!(f64_to(Ty::S16) as u32, clamp(-32768, 32767) as u32, "s16 {place}");
            assert_eq!(f64_to(Ty::U16), clamp(0, 65535) as u64, "u16 {place}");
            assert_eq!(f64_to(Ty::S32) as u32, clamp(i32::MIN.into(), i32::MAX.into()) as u32, "s32 {place}");
            assert_eq!(f64_to(Ty::U32), clamp(0, u32::MAX.into()) as u64, "u32 {place}");
            assert_eq!(f64_to(Ty::S64), clamp(i64::MIN.into(), i64::MAX.into()) as u64, "s64 {place}");
            assert_eq!(f64_to(Ty::U64), clamp(0, u64::MAX.into()) as u64, "u64 {place}");
            // As f32 where the value is one.
            if f64::from(x as f32) == x || x.is_nan() {
                let got = cvt(Ty::S32, Ty::F32, rounding, (x as f32).to_bits().into()) as u32;
                let wanted = if x.is_nan() { 0 } else { clamp(i32::MIN.into(), i32::MAX.into()) as u32 };
                assert_eq!(got, wanted, "f32 {place}");
                let wide = cvt(Ty::S64, Ty::F32, rounding, (x as f32).to_bits().into());
                assert_eq!(wide, clamp(i64::MIN.into(), i64::MAX.into()) as u64, "s64 of f32 {place}");
            }
        }
    }
}

#[test]
fn integers_to_integers() {
    let table = [
        (Ty::S32, Ty::S8, 0x1ff, 0xffff_ffff),
        (Ty::U32, Ty::U8, 0x1ff, 0xff),
        (Ty::S64, Ty::S32, 0x8000_0000, 0xffff_ffff_8000_0000),
        (Ty::U64, Ty::S32, 0x8000_0000, 0xffff_ffff_8000_0000),
        (Ty::S64, Ty::U32, 0x8000_0000, 0x8000_0000),
        (Ty::S8, Ty::S32, 0x180, 0xffff_ff80),
        (Ty::U16, Ty::S64, u64::MAX, 0xffff),
        (Ty::S16, Ty::U64, 0x8000, 0xffff_8000),
        (Ty::U32, Ty::U64, 0x1_0000_0002, 2),
    ];
    for (to, from, value, wanted) in table {
        assert_eq!(cvt(to, from, Rounding::Rn, value), wanted, "{to:?} {from:?} {value:#x}");
    }
    let sat = |to, from, value: u64| {
        let mode = FloatMode { sat: true, ..FloatMode::DEFAULT };
        compute(Op::Cvt { to, from, mode }, &[value]) as u32
    };
    assert_eq!(sat(Ty::U8, Ty::S32, -5i32 as u32 as u64), 0);
    assert_eq!(sat(Ty::U8, Ty::S32, 300), 255);
    assert_eq!(sat(Ty::S8, Ty::S32, 300), 127);
    assert_eq!(sat(Ty::S8, Ty::S32, -300i32 as u32 as u64), -128i32 as u32);
    assert_eq!(sat(Ty::S32, Ty::U64, u64::MAX), i32::MAX as u32);
}

/// The neighbour above, or the value itself where it is exact.
macro_rules! next_unless {
    ($value:expr, $exact:expr) => {
        if $exact { $value } else { $value.next_up() }
    };
}

proptest! {
    #[test]
    fn integers_to_floats(value: u64, shift in 0u32..64) {
        let value = value >> shift;
        for from in [Ty::U64, Ty::S64, Ty::U32, Ty::S32] {
            let exact = match from {
                Ty::U64 => i128::from(value),
                Ty::S64 => i128::from(value as i64),
                Ty::U32 => i128::from(value as u32),
                _ => i128::from(value as i32),
            };
            let single = |rounding| f32::from_bits(cvt(Ty::F32, from, rounding, value) as u32);
            let double = |rounding| f64::from_bits(cvt(Ty::F64, from, rounding, value));
            prop_assert_eq!(single(Rounding::Rn), exact as f32);
            prop_assert_eq!(double(Rounding::Rn), exact as f64);
            let (down, up, zero) = (single(Rounding::Rm), single(Rounding::Rp), single(Rounding::Rz));
            prop_assert!(down as i128 <= exact && exact <= up as i128);
            prop_assert_eq!(up, next_unless!(down, down as i128 == exact));
            prop_assert_eq!(zero, if exact < 0 { up } else { down });
            let (down, up) = (double(Rounding::Rm), double(Rounding::Rp));
            prop_assert!(down as i128 <= exact && exact <= up as i128);
            prop_assert_eq!(up, next_unless!(down, down as i128 == exact));
        }
    }

    #[test]
    fn doubles_to_singles(value in -1e38f64..1e38) {
        let convert = |rounding| f32::from_bits(cvt(Ty::F32, Ty::F64, rounding, value.to_bits()) as u32);
        let (down, up) = (convert(Rounding::Rm), convert(Rounding::Rp));
        prop_assert!(f64::from(down) <= value && value <= f64::from(up));
        prop_assert_eq!(up, next_unless!(down, f64::from(down) == value));
        prop_assert_eq!(convert(Rounding::Rn), value as f32);
    }
}

#[test]
fn roundings_to_integral_values() {
    let round = |rounding, x: f32| {
        compute_f32(
            Op::Cvt { to: Ty::F32, from: Ty::F32, mode: FloatMode { rounding, ..FloatMode::DEFAULT } },
            &[x],
        )
    };
    for (rounding, wanted) in [
        (Rounding::Rni, [2.0, -2.0, 4.0]),
        (Rounding::Rzi, [2.0, -2.0, 3.0]),
        (Rounding::Rmi, [2.0, -3.0, 3.0]),
        (Rounding::Rpi, [3.0, -2.0, 4.0]),
    ] {
        assert_eq!([2.5, -2.5, 3.5].map(|x| round(rounding, x)), wanted, "{rounding:?}");
    }
}

#[test]
fn saturation_and_flushing() {
    let run = |to, ftz, sat, x: f32| {
        let mode = FloatMode { ftz, sat, ..FloatMode::DEFAULT };
        compute32(Op::Cvt { to, from: Ty::F32, mode }, &[x.to_bits()])
    };
    assert_eq!(run(Ty::F32, false, true, 7.0), 1f32.to_bits());
    assert_eq!(run(Ty::F32, false, true, f32::NAN), 0);
    assert_eq!(run(Ty::F32, true, false, -1e-40), (-0.0f32).to_bits());
    assert_eq!(run(Ty::F16, false, true, 7.0), u32::from(f16::ONE.to_bits()));
    assert_eq!(run(Ty::Bf16, false, false, f32::NAN), 0x7fff);
    assert_eq!(run(Ty::F16, false, false, 65520.0), 0x7c00);
}

#[test]
fn pairs_pack_the_first_source_high() {
    let run = |to, high: f32, low: f32| {
        compute32(Op::Cvt { to, from: Ty::F32, mode: FloatMode::DEFAULT }, &[high.to_bits(), low.to_bits()])
    };
    let pair = |high: u16, low: u16| u32::from(high) << 16 | u32::from(low);
    assert_eq!(run(Ty::F16x2, 1.0, 2.0), pair(f16::from_f32(1.0).to_bits(), f16::from_f32(2.0).to_bits()));
    assert_eq!(run(Ty::Bf16x2, 1.0, 2.0), pair(bf16::from_f32(1.0).to_bits(), bf16::from_f32(2.0).to_bits()));
}

/// `.relu` makes negatives zero and keeps NaN; `.satfinite` makes infinities the largest number.
#[test]
fn halves_clamped_on_the_way() {
    let run = |to, relu, finite, rounding, x: f32| {
        compute32(
            Op::Cvt { to, from: Ty::F32, mode: FloatMode { relu, finite, rounding, ..FloatMode::DEFAULT } },
            &[x.to_bits()],
        )
    };
    let table = [
        (Ty::F16, true, false, Rounding::Rn, -1.5, 0),
        (Ty::F16, true, false, Rounding::Rn, -0.0, 0),
        (Ty::F16, true, false, Rounding::Rn, 1.5, 0x3e00),
        (Ty::F16, true, true, Rounding::Rn, f32::NAN, 0x7fff),
        (Ty::F16, false, true, Rounding::Rn, 1e9, 0x7bff),
        (Ty::F16, false, true, Rounding::Rn, f32::NEG_INFINITY, 0xfbff),
        (Ty::F16, false, false, Rounding::Rz, 1e9, 0x7bff),
        (Ty::F16, true, true, Rounding::Rn, f32::NEG_INFINITY, 0),
        (Ty::Bf16, false, true, Rounding::Rn, f32::MAX, 0x7f7f),
        (Ty::Bf16, false, false, Rounding::Rn, f32::MAX, 0x7f80),
        (Ty::Bf16, true, false, Rounding::Rz, -1e-40, 0),
        (Ty::Tf32, false, false, Rounding::Rn, 1.0 + 0.5 / 1024.0, 0x3f80_0000),
        (Ty::Tf32, false, false, Rounding::Rna, 1.0 + 0.5 / 1024.0, 0x3f80_2000),
        (Ty::Tf32, false, false, Rounding::Rz, -(1.0 + 0.9 / 1024.0), 0xbf80_0000),
        (Ty::Tf32, false, false, Rounding::Rna, f32::MAX, 0x7f80_0000),
        (Ty::Tf32, false, true, Rounding::Rna, f32::MIN, 0xff7f_e000),
        (Ty::Tf32, true, false, Rounding::Rn, -2.0, 0),
        (Ty::Tf32, false, true, Rounding::Rn, f32::NAN, 0x7fff_e000),
    ];
    for (to, relu, finite, rounding, x, wanted) in table {
        assert_eq!(run(to, relu, finite, rounding, x), wanted, "{to:?} {relu} {finite} {rounding:?} {x}");
    }
}

/// A value of an 8-bit format through f16, of which both formats are a part: e5m2 is its upper byte, e4m3 has a
/// smaller bias.
fn value_of_byte(ty: Ty, code: u8) -> f64 {
    let sign = if code & 0x80 == 0 { 1.0 } else { -1.0 };
    let magnitude = u16::from(code & 0x7f);
    sign * match ty {
        Ty::E5m2x2 => f16::from_bits(magnitude << 8).to_f64(),
        _ if magnitude == 0x7f => f64::NAN,
        _ => f16::from_bits(magnitude << 7).to_f64() * 256.0,
    }
}

fn pair_of_bytes(to: Ty, mode: FloatMode, high: f32, low: f32) -> u32 {
    compute32(Op::Cvt { to, from: Ty::F32, mode }, &[high.to_bits(), low.to_bits()])
}

#[test]
fn every_byte_is_read_and_rounded_to() {
    let mode = FloatMode { finite: true, ..FloatMode::DEFAULT };
    for (ty, largest) in [(Ty::E4m3x2, 0x7e), (Ty::E5m2x2, 0x7b)] {
        for code in 0..=u8::MAX {
            let wanted = value_of_byte(ty, code);
            let pair = compute32(
                Op::Cvt { to: Ty::F16x2, from: ty, mode: FloatMode::DEFAULT },
                &[u32::from(code) << 8 | 0x38],
            );
            let got = f16::from_bits((pair >> 16) as u16).to_f64();
            assert!(got == wanted || (got.is_nan() && wanted.is_nan()), "{ty:?} {code:#04x}: {got} {wanted}");
            assert_eq!(f16::from_bits(pair as u16).to_f64(), value_of_byte(ty, 0x38));
        }
        for code in 0..largest {
            let (low, high) = (value_of_byte(ty, code), value_of_byte(ty, code + 1));
            let middle = ((low + high) / 2.0) as f32;
            let even = code + (code & 1);
            for (x, wanted) in
                [(low as f32, code), (middle, even), (middle.next_down(), code), (middle.next_up(), code + 1)]
            {
                let got = pair_of_bytes(ty, mode, x, -x);
                assert_eq!(got, u32::from(wanted) << 8 | u32::from(wanted) | 0x80, "{ty:?} {x}");
                // By way of f16, when it holds the number.
                let half = f16::from_f32(x);
                if half.to_f32() == x {
                    let bits = u32::from(half.to_bits());
                    let got =
                        compute32(Op::Cvt { to: ty, from: Ty::F16x2, mode }, &[bits << 16 | 0x8000 | bits]);
                    assert_eq!(got, u32::from(wanted) << 8 | u32::from(wanted) | 0x80, "{ty:?} {x}");
                }
            }
        }
        let relu = FloatMode { relu: true, ..mode };
        let edge = u32::from(largest);
        assert_eq!(pair_of_bytes(ty, mode, 1e30, f32::NEG_INFINITY), edge << 8 | edge | 0x80, "{ty:?}");
        assert_eq!(pair_of_bytes(ty, relu, f32::NAN, f32::NEG_INFINITY), 0x7f00, "{ty:?}");
        assert_eq!(pair_of_bytes(ty, mode, 1e-30, -1e-40), 0x0080, "{ty:?}");
        let back = Op::Cvt { to: Ty::F16x2, from: ty, mode: FloatMode { relu: true, ..FloatMode::DEFAULT } };
        assert_eq!(compute32(back, &[0x7f81]), 0x7fff_0000, "{ty:?}");
    }
}

/// What the oracle `formats` consists of.
pub(super) const TESTS: &[fn()] = &[
    pairs_pack_the_first_source_high,
    halves_clamped_on_the_way,
    every_byte_is_read_and_rounded_to,
    every_half_widens_exactly,
];
