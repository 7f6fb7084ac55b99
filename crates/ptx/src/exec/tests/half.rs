//! f16 and bf16: all 65,536 operands of what has one, many pairs of the rest, against the `half` crate, exact sums and products in f64, and orders of
//! integers.

use half::{bf16, f16};

use super::super::atomic::apply;
use super::super::soft::{self, Format};
use super::{Slots, compute_each, compute32};
use crate::isa::{AtomicOp, BoolOp, Compare, FloatMode, FloatOp, FloatUnary, Op, Rounding, Signs, Ty};

const DEFAULT: FloatMode = FloatMode::DEFAULT;
const NAN: u16 = 0x7fff;
const EVERY: std::ops::RangeInclusive<u32> = 0..=0xffff;

/// Operands of binary and ternary operations: every eleventh, which comes to every low byte and every exponent.
fn some() -> impl Iterator<Item = u32> {
    EVERY.step_by(11)
}

/// The value of 16 bits, by the `half` crate.
fn value(brain: bool, bits: u32) -> f64 {
    if brain { bf16::from_bits(bits as u16).to_f64() } else { f16::from_bits(bits as u16).to_f64() }
}

/// The nearest 16 bits, by the `half` crate; NaN canonical.
fn nearest(brain: bool, value: f64) -> u16 {
    match value {
        _ if value.is_nan() => NAN,
        _ if brain => bf16::from_f64(value).to_bits(),
        _ => f16::from_f64(value).to_bits(),
    }
}

/// Zeros, ones, the ends of the subnormals and of the normals, infinities, NaN, and numbers between.
fn edges(brain: bool) -> [u32; 20] {
    let (one, infinity) = if brain { (0x3f80, 0x7f80) } else { (0x3c00, 0x7c00) };
    let normal = if brain { 0x0080 } else { 0x0400 };
    let positive =
        [0, 1, normal - 1, normal, one, one + 1, infinity - 1, infinity, infinity + 1, one - 3 * normal / 2];
    std::array::from_fn(|n| positive[n % 10] | if n < 10 { 0 } else { 0x8000 })
}

const TYPES: [(Ty, Ty, bool); 2] = [(Ty::F16, Ty::F16x2, false), (Ty::Bf16, Ty::Bf16x2, true)];

/// Both elements of a packed form against the scalar form, which the caller has checked.
fn packed_equals_scalar(scalar: Op, packed: Op, others: &[u32]) {
    let twice: Vec<u32> = others.iter().map(|bits| bits | (bits ^ 0x8000) << 16).collect();
    let inverted: Vec<u32> = others.iter().map(|bits| bits ^ 0x8000).collect();
    let low = compute_each(scalar, EVERY, others);
    let high = compute_each(scalar, EVERY.map(|bits| bits.reverse_bits() >> 16), &inverted);
    let both = compute_each(packed, EVERY.map(|bits| bits | (bits.reverse_bits() >> 16) << 16), &twice);
    for bits in EVERY {
        let at = bits as usize;
        assert_eq!(both[at], low[at] & 0xffff | high[at] << 16, "{packed:?} {bits:#06x}");
    }
}

#[test]
fn sums_and_products() {
    for (ty, pair, brain) in TYPES {
        let modes = [
            DEFAULT,
            FloatMode { sat: true, ..DEFAULT },
            FloatMode { ftz: true, ..DEFAULT },
            FloatMode { ftz: true, sat: true, ..DEFAULT },
        ];
        // bf16 has neither modifier.
        for mode in &modes[..if brain { 1 } else { 4 }] {
            let flush = |x: f64| if mode.ftz && x.abs() < 2f64.powi(-14) { 0.0f64.copysign(x) } else { x };
            for b in edges(brain) {
                for op in [FloatOp::Add, FloatOp::Sub, FloatOp::Mul] {
                    let got = compute_each(Op::Float(op, ty, *mode), some(), &[b]);
                    for (a, got) in some().zip(got) {
                        let (x, y) = (flush(value(brain, a)), flush(value(brain, b)));
                        // Sums of bf16 are not exact in f64, but too far apart to be wrongly rounded, save for
                        // the tie that the sticky part breaks: integers decide.
                        let exact = match op {
                            FloatOp::Add => x + y,
                            FloatOp::Sub => x - y,
                            _ => x * y,
                        };
                        let format = if brain { Format::BF16 } else { Format::F16 };
                        let wanted = if brain && op != FloatOp::Mul {
                            let f = if op == FloatOp::Add { soft::add } else { soft::subtract };
                            f(format, a.into(), b.into(), Rounding::Rn) as u16
                        } else {
                            let clamped = match mode.sat {
                                true if exact > 0.0 => exact.min(1.0),
                                true => 0.0,
                                false => exact,
                            };
                            // What rounds up to a normal number is not flushed.
                            nearest(brain, flush(value(brain, nearest(brain, clamped).into())))
                        };
                        assert_eq!(got as u16, wanted, "{op:?} {ty:?} {mode:?} {a:#06x} {b:#06x}");
                        assert_eq!(got >> 16, 0);
                    }
                }
            }
        }
        packed_equals_scalar(
            Op::Float(FloatOp::Sub, ty, DEFAULT),
            Op::Float(FloatOp::Sub, pair, DEFAULT),
            &[0x3c01],
        );
    }
}

#[test]
fn multiply_add_clamps_negatives() {
    for (ty, pair, brain) in TYPES {
        let format = if brain { Format::BF16 } else { Format::F16 };
        let relu = FloatMode { relu: true, ..DEFAULT };
        for b in edges(brain) {
            for c in edges(brain) {
                let got = compute_each(Op::Fma(ty, relu, Signs::PLUS), EVERY.step_by(101), &[b, c]);
                for (a, got) in EVERY.step_by(101).zip(got) {
                    let [x, y, z] = [a, b, c].map(u64::from);
                    let exact = soft::multiply_add(format, x, y, z, Rounding::Rn) as u16;
                    let wanted = if exact >> 15 == 1 { 0 } else { exact };
                    assert_eq!(got as u16, wanted, "{ty:?} {a:#06x} {b:#06x} {c:#06x}");
                }
            }
        }
        packed_equals_scalar(
            Op::Fma(ty, relu, Signs::PLUS),
            Op::Fma(pair, relu, Signs::PLUS),
            &[0x4123, 0x3333],
        );
    }
}

/// The place of a number among all: negative zero right below positive zero.
fn place(bits: u32) -> i32 {
    if bits & 0x8000 == 0 { bits as i32 } else { -1 - (bits & 0x7fff) as i32 }
}

#[test]
fn minima_and_maxima() {
    for (ty, pair, brain) in TYPES {
        let infinity = if brain { 0x7f80 } else { 0x7c00 };
        let is_nan = |bits: u32| bits & 0x7fff > infinity;
        for b in edges(brain) {
            for (nan, xorsign_abs) in [(false, false), (true, false), (false, true), (true, true)] {
                for largest in [false, true] {
                    let op = if largest {
                        FloatOp::Max { nan, xorsign_abs }
                    } else {
                        FloatOp::Min { nan, xorsign_abs }
                    };
                    let got = compute_each(Op::Float(op, ty, DEFAULT), some(), &[b]);
                    for (a, got) in some().zip(got) {
                        let (x, y) = if xorsign_abs { (a & 0x7fff, b & 0x7fff) } else { (a, b) };
                        let first = (place(x) > place(y)) == largest;
                        let chosen = match (is_nan(a), is_nan(b)) {
                            (false, false) => Some(if first { x } else { y }),
                            (true, true) => None,
                            _ if nan => None,
                            (true, false) => Some(y),
                            (false, true) => Some(x),
                        };
                        let sign = if xorsign_abs { (a ^ b) & 0x8000 } else { 0 };
                        let wanted = chosen.map_or(u32::from(NAN), |bits| bits | sign);
                        assert_eq!(got, wanted, "{op:?} {ty:?} {a:#06x} {b:#06x}");
                    }
                }
            }
        }
        let min = FloatOp::Min { nan: true, xorsign_abs: false };
        packed_equals_scalar(Op::Float(min, ty, DEFAULT), Op::Float(min, pair, DEFAULT), &[0x1234]);
    }
}

#[test]
fn signs_of_every_half() {
    for (ty, pair, brain) in TYPES {
        let infinity = if brain { 0x7f80 } else { 0x7c00 };
        for (op, f) in [
            (FloatUnary::Abs, (|bits| bits & 0x7fff) as fn(u32) -> u32),
            (FloatUnary::Neg, |bits| bits ^ 0x8000),
        ] {
            let got = compute_each(Op::FloatUnary(op, ty, DEFAULT), EVERY, &[]);
            for (bits, got) in EVERY.zip(got) {
                let wanted = if bits & 0x7fff > infinity { NAN.into() } else { f(bits) };
                assert_eq!(got, wanted, "{op:?} {ty:?} {bits:#06x}");
            }
            packed_equals_scalar(Op::FloatUnary(op, ty, DEFAULT), Op::FloatUnary(op, pair, DEFAULT), &[]);
        }
    }
    let flushed = Op::FloatUnary(FloatUnary::Neg, Ty::F16, FloatMode { ftz: true, ..DEFAULT });
    assert_eq!(compute32(flushed, &[0x03ff]), 0x8000);
}

/// The bounds of the PTX ISA: relative for `ex2` of numbers that are not subnormal, absolute for `tanh`.
#[test]
fn approximations_of_every_half() {
    for (ty, pair, brain) in TYPES {
        let mode = FloatMode { ftz: brain, ..DEFAULT };
        let (relative, smallest) =
            if brain { (2f64.powi(-7), 2f64.powi(-126)) } else { (2f64.powf(-9.9), 2f64.powi(-14)) };
        let ex2 = Op::FloatUnary(FloatUnary::Ex2Approx, ty, mode);
        let largest = value(brain, if brain { 0x7f7f } else { 0x7bff });
        for (bits, got) in EVERY.zip(compute_each(ex2, EVERY, &[])) {
            let (x, got) = (value(brain, bits), value(brain, got));
            let wanted = x.exp2();
            if x.is_nan() {
                assert!(got.is_nan());
            } else if wanted > largest * (1.0 + relative) {
                assert_eq!(got, f64::INFINITY, "ex2 {x}");
            } else if wanted < smallest {
                assert!((got - wanted).abs() <= smallest, "ex2 {x}: {got}");
            } else if wanted <= largest {
                assert!((got - wanted).abs() <= relative * wanted, "ex2 {ty:?} {x}: {got}");
            }
        }
        let tanh = Op::FloatUnary(FloatUnary::TanhApprox, ty, DEFAULT);
        let bound = if brain { 2f64.powi(-8) } else { 2f64.powf(-10.987) };
        for (bits, got) in EVERY.zip(compute_each(tanh, EVERY, &[])) {
            let (x, got) = (value(brain, bits), value(brain, got));
            assert!(
                (got - x.tanh()).abs() <= bound || (x.is_nan() && got.is_nan()),
                "tanh {ty:?} {x}: {got}"
            );
        }
        packed_equals_scalar(ex2, Op::FloatUnary(FloatUnary::Ex2Approx, pair, mode), &[]);
        packed_equals_scalar(tanh, Op::FloatUnary(FloatUnary::TanhApprox, pair, DEFAULT), &[]);
    }
}

#[test]
fn packed_comparisons_answer_for_each_half() {
    use std::cmp::Ordering::{Greater, Less};
    for (scalar, ty, brain) in TYPES {
        for low in edges(brain) {
            for high in edges(brain) {
                let (x, y) = (value(brain, low), value(brain, high));
                for (cmp, wanted) in [
                    (Compare::Lt, [x < y, y < x]),
                    (
                        Compare::Geu,
                        [!matches!(x.partial_cmp(&y), Some(Less)), !matches!(y.partial_cmp(&x), Some(Less))],
                    ),
                    (Compare::Gt, [x.partial_cmp(&y) == Some(Greater), y.partial_cmp(&x) == Some(Greater)]),
                    (Compare::Nan, [x.is_nan() || y.is_nan(); 2]),
                ] {
                    let (a, b) = (low | high << 16, high | low << 16);
                    let run = |op: Op, slots: Slots| {
                        let _ = op;
                        let slots = slots.source_value(0, a.into()).source_value(1, b.into()).run();
                        [slots.predicates[0] == u32::MAX, slots.predicates[1] == u32::MAX]
                    };
                    let setp = Op::Setp { cmp, ty, combine: None, ftz: false };
                    let slots = || Slots::new(setp).with_predicate(0).with_predicate(1);
                    assert_eq!(run(setp, slots()), wanted, "{setp:?} {x} {y}");
                    let joined = Op::Setp { cmp, ty, combine: Some(BoolOp::Xor), ftz: false };
                    let slots = Slots::new(joined).with_predicate(0).with_predicate(1);
                    assert_eq!(run(joined, slots.source_predicate(2, u32::MAX)), wanted.map(|w| !w));
                    let one = nearest(brain, 1.0);
                    for (to, truth) in [(ty, one), (Ty::U32, 0xffff)] {
                        let set = Op::Set { cmp, to, ty, combine: None, ftz: false };
                        let [low, high] = wanted.map(|w| if w { u32::from(truth) } else { 0 });
                        assert_eq!(compute32(set, &[a, b]), low | high << 16, "{set:?} {x} {y}");
                    }
                    for (to, truth) in [(scalar, one.into()), (Ty::U16, 0xffff), (Ty::S32, u32::MAX)] {
                        let set = Op::Set { cmp, to, ty: scalar, combine: None, ftz: false };
                        let wanted = if wanted[0] { truth } else { 0 };
                        assert_eq!(compute32(set, &[low, high]), wanted, "{set:?} {x} {y}");
                    }
                }
            }
        }
    }
    // Subnormals are zero under `.ftz`.
    let set = Op::Set { cmp: Compare::Eq, to: Ty::U32, ty: Ty::F16x2, combine: None, ftz: true };
    assert_eq!(compute32(set, &[0x03ff_0400, 0x8001_0000]), 0xffff_0000);
}

#[test]
fn atomic_sums() {
    for (ty, pair, brain) in TYPES {
        let format = if brain { Format::BF16 } else { Format::F16 };
        for b in edges(brain) {
            for a in some() {
                let (x, y) = (u64::from(a), u64::from(b));
                let wanted = soft::add(format, x, y, Rounding::Rn);
                assert_eq!(apply(AtomicOp::Add, ty, x, y, 0), wanted, "{ty:?} {a:#06x} {b:#06x}");
                let both = apply(AtomicOp::Add, pair, x | 0x3c00_0000, y | 0xbc00_0000, 0);
                assert_eq!(both, wanted, "{pair:?} {a:#06x} {b:#06x}");
            }
        }
    }
}

/// What the oracle `bounds` consists of, for halves.
pub(super) const BOUNDS: &[fn()] = &[approximations_of_every_half];
