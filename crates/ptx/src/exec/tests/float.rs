//! Floating-point arithmetic: nearest against the host, directed roundings by the definition (the result is
//! on the right side of the exact value and its neighbour is not), the rest by tables.

use proptest::prelude::*;

use super::super::soft::{self, Format};
use super::{compute, compute_f32, compute_f64, compute32};
use crate::isa::{FloatMode, FloatOp, FloatUnary, Op, Rounding, Signs, Ty};

const DEFAULT: FloatMode = FloatMode::DEFAULT;

fn rounded(rounding: Rounding) -> FloatMode {
    FloatMode { rounding, ..DEFAULT }
}

fn bits_match(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

/// Any f32 bit pattern, subnormals and exact multiples of one another more often than by chance.
fn any_f32() -> impl Strategy<Value = f32> {
    prop_oneof![
        any::<u32>().prop_map(f32::from_bits),
        (-64i32..64, -30i32..30).prop_map(|(m, e)| m as f32 * (e as f32).exp2()),
        (0u32..1 << 24, any::<bool>()).prop_map(|(m, s)| f32::from_bits(m | u32::from(s) << 31)),
    ]
}

fn any_f64() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<u64>().prop_map(f64::from_bits),
        (-64i32..64, -30i32..30).prop_map(|(m, e)| f64::from(m) * f64::from(e).exp2()),
        (0u64..1 << 53, any::<bool>()).prop_map(|(m, s)| f64::from_bits(m | u64::from(s) << 63)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn soft_f32_equals_the_host(a in any_f32(), b in any_f32(), c in any_f32()) {
        let f = Format::F32;
        let [x, y, z] = [a, b, c].map(|v| u64::from(v.to_bits()));
        let rn = Rounding::Rn;
        let value = |bits: u64| f64::from(f32::from_bits(bits as u32));
        prop_assert!(bits_match(value(soft::add(f, x, y, rn)), f64::from(a + b)));
        prop_assert!(bits_match(value(soft::subtract(f, x, y, rn)), f64::from(a - b)));
        prop_assert!(bits_match(value(soft::multiply(f, x, y, rn)), f64::from(a * b)));
        prop_assert!(bits_match(value(soft::divide(f, x, y, rn)), f64::from(a / b)));
        prop_assert!(bits_match(value(soft::square_root(f, x, rn)), f64::from(a.sqrt())));
        prop_assert!(bits_match(value(soft::multiply_add(f, x, y, z, rn)), f64::from(a.mul_add(b, c))));
    }

    #[test]
    fn soft_f64_equals_the_host(a in any_f64(), b in any_f64(), c in any_f64()) {
        let f = Format::F64;
        let [x, y, z] = [a, b, c].map(f64::to_bits);
        let rn = Rounding::Rn;
        prop_assert!(bits_match(f64::from_bits(soft::add(f, x, y, rn)), a + b));
        prop_assert!(bits_match(f64::from_bits(soft::multiply(f, x, y, rn)), a * b));
        prop_assert!(bits_match(f64::from_bits(soft::divide(f, x, y, rn)), a / b));
        prop_assert!(bits_match(f64::from_bits(soft::square_root(f, x, rn)), a.sqrt()));
        prop_assert!(bits_match(f64::from_bits(soft::multiply_add(f, x, y, z, rn)), a.mul_add(b, c)));
        let single = f32::from_bits(soft::convert(f, Format::F32, x, rn) as u32);
        prop_assert!(bits_match(single.into(), (a as f32).into()));
    }

    /// Numbers so close in size that f64 holds sums and products of f32 exactly.
    #[test]
    fn directed_roundings_bracket_the_exact_value(
        a in -1.0e4f32..1.0e4, b in 1.0e-3f32..1.0e4, c in -1.0e4f32..1.0e4,
    ) {
        let [x, y, z] = [a, b, c].map(f64::from);
        let binary = |op, mode| compute_f32(Op::Float(op, Ty::F32, rounded(mode)), &[a, b]);
        // For each operation: the sign of (candidate - exact), computed exactly.
        let check = |result: &dyn Fn(Rounding) -> f32, excess: &dyn Fn(f64) -> f64, exact_sign: f64| {
            let (down, up, zero) = (result(Rounding::Rm), result(Rounding::Rp), result(Rounding::Rz));
            let nearest = result(Rounding::Rn);
            let exact = excess(down.into()) == 0.0;
            let brackets = excess(down.into()) <= 0.0
                && excess(up.into()) >= 0.0
                && (if exact { up == down } else { up == down.next_up() });
            brackets && zero == (if exact_sign < 0.0 { up } else { down }) && (nearest == up || nearest == down)
        };
        prop_assert!(check(&|m| binary(FloatOp::Add, m), &|r| r - (x + y), x + y));
        prop_assert!(check(&|m| binary(FloatOp::Sub, m), &|r| r - (x - y), x - y));
        prop_assert!(check(&|m| binary(FloatOp::Mul, m), &|r| r - x * y, x * y));
        prop_assert!(check(&|m| binary(FloatOp::Div, m), &|r| r * y - x, x));
        let root = |m| compute_f32(Op::FloatUnary(FloatUnary::Sqrt, Ty::F32, rounded(m)), &[b]);
        prop_assert!(check(&root, &|r| r * r - y, 1.0));
        let reciprocal = |m| compute_f32(Op::FloatUnary(FloatUnary::Rcp, Ty::F32, rounded(m)), &[b]);
        prop_assert!(check(&reciprocal, &|r| r * y - 1.0, 1.0));
        // x * y + z may need more than 53 bits: the order of doubles with an exact remainder decides.
        let fma = |m| compute_f32(Op::Fma(Ty::F32, rounded(m), Signs::PLUS), &[a, b, c]);
        let excess = |r: f64| { let d = r - z; d - x * y };
        let sum = x * y + z;
        if (sum - z) == x * y && (f64::from(fma(Rounding::Rm)) - z) + z == f64::from(fma(Rounding::Rm)) {
            prop_assert!(check(&fma, &excess, sum));
        }
    }

    #[test]
    fn halves_equal_integer_arithmetic(a: u16, b: u16, c: u16) {
        for (ty, format) in [(Ty::F16, Format::F16), (Ty::Bf16, Format::BF16)] {
            let [x, y, z] = [a, b, c].map(u64::from);
            let run = |op, operands: &[u64]| compute(op, operands) & 0xffff;
            let rn = Rounding::Rn;
            let binary = |op| run(Op::Float(op, ty, DEFAULT), &[x, y]);
            prop_assert_eq!(binary(FloatOp::Add), soft::add(format, x, y, rn));
            prop_assert_eq!(binary(FloatOp::Sub), soft::subtract(format, x, y, rn));
            prop_assert_eq!(binary(FloatOp::Mul), soft::multiply(format, x, y, rn));
            prop_assert_eq!(run(Op::Fma(ty, DEFAULT, Signs::PLUS), &[x, y, z]), soft::multiply_add(format, x, y, z, rn));
        }
    }
}

#[test]
fn packed_halves_are_two() {
    let (two, three) = (0x4000_4000u32, 0x4200_c200u32);
    assert_eq!(compute32(Op::Float(FloatOp::Add, Ty::F16x2, DEFAULT), &[two, three]), 0x4500_bc00);
    assert_eq!(compute32(Op::Fma(Ty::F16x2, DEFAULT, Signs::PLUS), &[two, three, two]), 0x4800_c400);
}

#[test]
fn overflow_follows_the_rounding() {
    let run =
        |rounding, a: f32| compute_f32(Op::Float(FloatOp::Mul, Ty::F32, rounded(rounding)), &[a, f32::MAX]);
    for (rounding, positive, negative) in [
        (Rounding::Rn, f32::INFINITY, f32::NEG_INFINITY),
        (Rounding::Rz, f32::MAX, f32::MIN),
        (Rounding::Rm, f32::MAX, f32::NEG_INFINITY),
        (Rounding::Rp, f32::INFINITY, f32::MIN),
    ] {
        assert_eq!((run(rounding, 2.0), run(rounding, -2.0)), (positive, negative), "{rounding:?}");
    }
}

#[test]
fn exact_zero_sums_take_their_sign_from_the_rounding() {
    for (rounding, wanted) in
        [(Rounding::Rn, 0.0f32), (Rounding::Rz, 0.0), (Rounding::Rp, 0.0), (Rounding::Rm, -0.0)]
    {
        let sum = compute_f32(Op::Float(FloatOp::Add, Ty::F32, rounded(rounding)), &[1.5, -1.5]);
        assert_eq!(sum.to_bits(), wanted.to_bits(), "{rounding:?}");
    }
}

#[test]
fn nan_is_canonical() {
    let payload = 0xffc0_1234;
    assert_eq!(compute32(Op::Float(FloatOp::Add, Ty::F32, DEFAULT), &[payload, 0]), 0x7fff_ffff);
    let infinity = f32::INFINITY.to_bits();
    assert_eq!(compute32(Op::Float(FloatOp::Sub, Ty::F32, DEFAULT), &[infinity, infinity]), 0x7fff_ffff);
    let signalling = 0x7ff0_0000_0000_0001;
    let got = compute(Op::Float(FloatOp::Add, Ty::F64, DEFAULT), &[signalling, 0]);
    assert_eq!(got, 0x7ff8_0000_0000_0001);
    let got = compute(Op::Float(FloatOp::Mul, Ty::F64, DEFAULT), &[f64::INFINITY.to_bits(), 0]);
    assert_eq!(got, 0xfff8_0000_0000_0000);
}

#[test]
fn flushing_and_saturation() {
    let ftz = FloatMode { ftz: true, ..DEFAULT };
    let sat = FloatMode { sat: true, ..DEFAULT };
    let tiny = f32::from_bits(1);
    let add = |mode, a, b| compute_f32(Op::Float(FloatOp::Add, Ty::F32, mode), &[a, b]).to_bits();
    assert_eq!(add(DEFAULT, tiny, tiny), 2);
    assert_eq!(add(ftz, -tiny, -tiny), (-0.0f32).to_bits());
    let normal = f32::MIN_POSITIVE;
    assert_eq!(compute_f32(Op::Float(FloatOp::Mul, Ty::F32, ftz), &[-normal, 0.5]).to_bits(), 0x8000_0000);
    for (a, wanted) in [(2.0, 1.0f32), (0.5, 0.5), (-1.0, 0.0), (f32::NAN, 0.0), (f32::INFINITY, 1.0)] {
        assert_eq!(add(sat, a, 0.0), wanted.to_bits(), "{a}");
    }
    assert_eq!(compute_f32(Op::Fma(Ty::F32, ftz, Signs::PLUS), &[tiny, f32::MAX, 1.0]), 1.0);
}

#[test]
fn minima_and_maxima() {
    let run = |op, a: f32, b: f32| compute_f32(Op::Float(op, Ty::F32, DEFAULT), &[a, b]).to_bits();
    let min = FloatOp::Min { nan: false, xorsign_abs: false };
    let max = FloatOp::Max { nan: false, xorsign_abs: false };
    let nan = f32::from_bits(0x7fff_ffff);
    let table = [
        (min, 1.0, 2.0, 1.0),
        (max, 1.0, 2.0, 2.0),
        (min, 0.0, -0.0, -0.0),
        (min, -0.0, 0.0, -0.0),
        (max, 0.0, -0.0, 0.0),
        (max, -0.0, 0.0, 0.0),
        (min, f32::NAN, 3.0, 3.0),
        (max, 3.0, f32::NAN, 3.0),
        (max, f32::NAN, f32::NAN, nan),
        (FloatOp::Min { nan: true, xorsign_abs: false }, 3.0, f32::NAN, nan),
        (FloatOp::Max { nan: true, xorsign_abs: false }, f32::NAN, 3.0, nan),
        (FloatOp::Min { nan: false, xorsign_abs: true }, -3.0, 2.0, -2.0),
        (FloatOp::Max { nan: false, xorsign_abs: true }, -3.0, -2.0, 3.0),
    ];
    for (op, a, b, wanted) in table {
        assert_eq!(run(op, a, b), wanted.to_bits(), "{op:?} {a} {b}");
    }
    let max = Op::Float(max, Ty::F64, DEFAULT);
    assert_eq!(compute_f64(max, &[f64::NAN, -1.0]), -1.0);
}

#[test]
fn signs() {
    let abs = Op::FloatUnary(FloatUnary::Abs, Ty::F32, DEFAULT);
    let neg = Op::FloatUnary(FloatUnary::Neg, Ty::F64, DEFAULT);
    assert_eq!(compute_f32(abs, &[-0.0]).to_bits(), 0);
    assert_eq!(compute_f64(neg, &[0.0]).to_bits(), 1 << 63);
    // The sign comes from the first operand, the magnitude from the second.
    let copysign = Op::Float(FloatOp::Copysign, Ty::F32, DEFAULT);
    assert_eq!(compute_f32(copysign, &[-1.0, 5.0]), -5.0);
}

/// Approximate functions against the host's library, with the error bounds of the PTX ISA.
#[test]
fn approximations_keep_their_bounds() {
    let run = |op, x: f32| f64::from(compute_f32(Op::FloatUnary(op, Ty::F32, DEFAULT), &[x]));
    let relative = |got: f64, wanted: f64| ((got - wanted) / wanted).abs();
    for k in 0..4000 {
        let t = f64::from(k) / 4000.0;
        let x = (t * 250.0 - 125.0) as f32;
        assert!(relative(run(FloatUnary::Ex2Approx, x), f64::from(x).exp2()) < 2f64.powf(-22.5), "ex2 {x}");
        let y = (t * 200.0 - 100.0).exp2() as f32;
        let log = f64::from(y).log2();
        assert!(
            (run(FloatUnary::Lg2Approx, y) - log).abs() <= 2f64.powi(-22) * log.abs().max(1.0),
            "lg2 {y}"
        );
        assert!(relative(run(FloatUnary::RsqrtApprox, y), 1.0 / f64::from(y).sqrt()) < 2f64.powf(-22.9));
        assert!(relative(run(FloatUnary::RcpApprox, y), 1.0 / f64::from(y)) < 2f64.powi(-23));
        assert!(relative(run(FloatUnary::SqrtApprox, y), f64::from(y).sqrt()) < 2f64.powi(-23));
        // Two units in the last place.
        let quotient = compute_f32(Op::Float(FloatOp::DivApprox, Ty::F32, DEFAULT), &[x, y]);
        assert!(
            x == 0.0 || relative(quotient.into(), f64::from(x) / f64::from(y)) < 2f64.powi(-22),
            "{x} / {y}"
        );
        // With `.ftz` the upper word of a double, the lower being zero.
        let root = 1.0 / f64::from(y).sqrt();
        for (op, wanted) in [(FloatUnary::RcpApprox, 1.0 / f64::from(y)), (FloatUnary::RsqrtApprox, root)] {
            let flushing = FloatMode { ftz: true, ..DEFAULT };
            let got = compute_f64(Op::FloatUnary(op, Ty::F64, flushing), &[y.into()]);
            assert!(relative(got, wanted) < 2f64.powi(-19) && got.to_bits() as u32 == 0, "{op:?} {y}: {got}");
        }
        let angle = ((t - 0.5) * 200.0) as f32;
        let wide = f64::from(angle);
        assert!((run(FloatUnary::SinApprox, angle) - wide.sin()).abs() < 2f64.powf(-20.5), "sin {angle}");
        assert!((run(FloatUnary::CosApprox, angle) - wide.cos()).abs() < 2f64.powf(-20.5), "cos {angle}");
        let x = ((t - 0.5) * 20.0) as f32;
        if x != 0.0 {
            assert!(
                relative(run(FloatUnary::TanhApprox, x), f64::from(x).tanh()) < 2f64.powi(-11),
                "tanh {x}"
            );
        }
    }
}

#[test]
fn approximations_at_the_edges() {
    let (inf, nan) = (f32::INFINITY, f32::from_bits(0x7fff_ffff));
    let table = [
        (FloatUnary::Ex2Approx, -inf, 0.0),
        (FloatUnary::Ex2Approx, inf, inf),
        (FloatUnary::Ex2Approx, 0.0, 1.0),
        (FloatUnary::Ex2Approx, f32::NAN, nan),
        (FloatUnary::Ex2Approx, -149.0, f32::from_bits(1)),
        (FloatUnary::Lg2Approx, -0.0, -inf),
        (FloatUnary::Lg2Approx, 1.0, 0.0),
        (FloatUnary::Lg2Approx, inf, inf),
        (FloatUnary::Lg2Approx, -1.0, nan),
        (FloatUnary::Lg2Approx, f32::from_bits(1), -149.0),
        (FloatUnary::SinApprox, -0.0, -0.0),
        (FloatUnary::SinApprox, inf, nan),
        (FloatUnary::CosApprox, 0.0, 1.0),
        (FloatUnary::CosApprox, -inf, nan),
        (FloatUnary::RsqrtApprox, -0.0, -inf),
        (FloatUnary::RsqrtApprox, inf, 0.0),
        (FloatUnary::RsqrtApprox, -1.0, nan),
        (FloatUnary::RcpApprox, -0.0, -inf),
        (FloatUnary::TanhApprox, -inf, -1.0),
        (FloatUnary::TanhApprox, -0.0, -0.0),
        (FloatUnary::SqrtApprox, -0.0, -0.0),
    ];
    for (op, x, wanted) in table {
        let got = compute_f32(Op::FloatUnary(op, Ty::F32, DEFAULT), &[x]);
        assert_eq!(got.to_bits(), wanted.to_bits(), "{op:?} {x}: {got}");
    }
    let huge = compute_f32(Op::FloatUnary(FloatUnary::SinApprox, Ty::F32, DEFAULT), &[1e30]);
    assert!(huge.abs() <= 1.0);
}

#[test]
fn extrema_of_three() {
    let run = |largest, nan, abs, ftz, values: [f32; 3]| {
        compute_f32(Op::Extremum3 { largest, nan, abs, ftz }, &values).to_bits()
    };
    let not = f32::from_bits(0x7fff_ffff);
    for (a, b, c) in [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)] {
        let order = |values: [f32; 3]| [values[a], values[b], values[c]];
        let (least, greatest) = (order([-3.0, 1.0, 2.0]), order([-3.0, 1.0, 2.0]));
        assert_eq!(run(false, false, false, false, least), (-3f32).to_bits());
        assert_eq!(run(true, false, false, false, greatest), 2f32.to_bits());
        assert_eq!(run(true, false, true, false, greatest), 3f32.to_bits());
        assert_eq!(run(false, false, false, false, order([0.0, -0.0, 1.0])), (-0.0f32).to_bits());
        assert_eq!(run(true, false, false, false, order([f32::NAN, f32::NAN, -1.0])), (-1f32).to_bits());
        assert_eq!(run(true, true, false, false, order([f32::NAN, 4.0, -1.0])), not.to_bits());
        assert_eq!(run(false, false, false, true, order([1e-40, 2.0, 1.0])), 0);
    }
    assert_eq!(run(true, false, false, false, [f32::NAN; 3]), not.to_bits());
}

/// What the oracle `bounds` consists of, for singles and doubles.
pub(super) const TESTS: &[fn()] = &[approximations_keep_their_bounds, approximations_at_the_edges];

#[test]
fn quotients_by_what_is_nearly_infinite() {
    let divide = |op, a: f32, b: f32| compute_f32(Op::Float(op, Ty::F32, DEFAULT), &[a, b]).to_bits();
    let beyond = f32::from_bits(0x7e80_0001);
    for (a, b, approximate) in [
        (3.0, beyond, 0),
        (f32::MAX, f32::MAX, 0),
        (-3.0, beyond, 0x8000_0000),
        (f32::INFINITY, beyond, 0x7fff_ffff),
        (f32::MAX, f32::from_bits(0x7e80_0000), 0x407f_ffff),
        (3.0, f32::INFINITY, 0),
    ] {
        assert_eq!(divide(FloatOp::DivApprox, a, b), approximate, "{a} / {b}");
        assert_eq!(divide(FloatOp::DivFull, a, b), (a / b).to_bits(), "{a} / {b}");
    }
}

#[test]
fn roots_of_negative_numbers_are_one_nan() {
    for op in [FloatUnary::Sqrt, FloatUnary::SqrtApprox] {
        for bits in [0xbf80_0000, 0xff80_0000, 0x8000_0001, 0x7fc0_0000, 0xffc1_2345, 0x7f80_0001] {
            let root = compute_f32(Op::FloatUnary(op, Ty::F32, DEFAULT), &[f32::from_bits(bits)]);
            assert_eq!(root.to_bits(), 0x7fff_ffff, "{op:?} of {bits:#x}");
        }
        let zero = compute_f32(Op::FloatUnary(op, Ty::F32, DEFAULT), &[-0.0]);
        assert_eq!(zero.to_bits(), 0x8000_0000);
    }
}

#[test]
fn terms_of_a_multiply_add_may_be_subtracted() {
    let less = |product, addend| Signs { product, addend };
    // (1 + 2^-12)^2 is 1 + 2^-11 + 2^-24: rounded before it is added, the last would be gone.
    let (a, c) = (1.0 + 2f32.powi(-12), 1.0 + 2f32.powi(-11));
    let fma = |signs| compute_f32(Op::Fma(Ty::F32, DEFAULT, signs), &[a, a, c]);
    assert_eq!(fma(less(false, true)), 2f32.powi(-24));
    assert_eq!(fma(less(true, false)), -2f32.powi(-24));
    assert_eq!(fma(less(true, true)), -fma(Signs::PLUS));
    let down = FloatMode { rounding: Rounding::Rm, ..DEFAULT };
    // -(1 + 2^-11 + 2^-24) towards minus infinity: the next single is 2^-23 further.
    let product = compute_f32(Op::Fma(Ty::F32, down, less(true, false)), &[a, a, 0.0]);
    assert_eq!(product, -(1.0 + 2f32.powi(-11) + 2f32.powi(-23)));
    let tiny = f32::from_bits(1);
    let ftz = FloatMode { ftz: true, ..DEFAULT };
    let flushed = compute_f32(Op::Fma(Ty::F32, ftz, less(true, false)), &[tiny, f32::MAX, 1.0]);
    assert_eq!(flushed, 1.0);
    let (a, c) = (1.0 + 2f64.powi(-27), 1.0 + 2f64.powi(-26));
    for rounding in [Rounding::Rn, Rounding::Rz] {
        let mode = FloatMode { rounding, ..DEFAULT };
        assert_eq!(compute_f64(Op::Fma(Ty::F64, mode, less(true, false)), &[a, a, c]), -2f64.powi(-54));
        assert_eq!(compute_f64(Op::Fma(Ty::F64, mode, less(false, true)), &[a, a, c]), 2f64.powi(-54));
    }
    // 2 and -3 by 2, from 3 and 2: -1 and 8.
    let (two, three) = (0x4000_4000u32, 0x4200_c200u32);
    let halves = compute32(Op::Fma(Ty::F16x2, DEFAULT, less(true, false)), &[two, three, two]);
    assert_eq!(halves, 0xc400_4800);
}
