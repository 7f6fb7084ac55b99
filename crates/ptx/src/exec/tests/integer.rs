//! Integer arithmetic against 128-bit arithmetic, on every pair of edge values of every type.

use super::{Slots, compute, compute32};
use crate::isa::{IntOp, IntUnary, Op, Part, Ty};

const TYPES: [Ty; 6] = [Ty::U16, Ty::S16, Ty::U32, Ty::S32, Ty::U64, Ty::S64];

fn bits(ty: Ty) -> u32 {
    8 * ty.bytes() as u32
}

/// The number that the low bits of a register mean.
fn number(ty: Ty, raw: u64) -> i128 {
    let raw = u128::from(raw) << (128 - bits(ty));
    if ty.is_signed() { raw as i128 >> (128 - bits(ty)) } else { (raw >> (128 - bits(ty))) as i128 }
}

/// What a register of a type holds for a number: narrow ones are extended to 32 bits.
fn register(ty: Ty, value: i128) -> u64 {
    let kept = number(ty, value as u64);
    if ty.rows() == 2 { kept as u64 } else { u64::from(kept as u32) }
}

fn edges(ty: Ty) -> Vec<u64> {
    let width = bits(ty);
    let top = 1u64 << (width - 1);
    let all = u64::MAX >> (64 - width);
    vec![0, 1, 2, 3, 7, 100, top - 1, top, top + 1, all - 1, all, all / 3, 0x1234_5678_9abc_def0 & all]
}

fn limits(ty: Ty) -> (i128, i128) {
    if ty.is_signed() {
        (-(1 << (bits(ty) - 1)), (1 << (bits(ty) - 1)) - 1)
    } else {
        (0, (1 << bits(ty)) - 1)
    }
}

/// Registers hold only what is above the low word for wide types.
fn result(ty: Ty, op: Op, sources: &[u64]) -> u64 {
    let value = compute(op, sources);
    if ty.rows() == 2 { value } else { value & 0xffff_ffff }
}

#[test]
fn two_operand_arithmetic() {
    type Expected = fn(Ty, i128, i128) -> i128;
    let table: [(IntOp, Expected); 8] = [
        (IntOp::Add, |_, a, b| a + b),
        (IntOp::Sub, |_, a, b| a - b),
        (IntOp::Min, |_, a, b| a.min(b)),
        (IntOp::Max, |_, a, b| a.max(b)),
        (IntOp::Div, |_, a, b| if b == 0 { -1 } else { a / b }),
        (IntOp::Rem, |_, a, b| if b == 0 { -1 } else { a % b }),
        (IntOp::AddSat, |ty, a, b| (a + b).clamp(limits(ty).0, limits(ty).1)),
        (IntOp::SubSat, |ty, a, b| (a - b).clamp(limits(ty).0, limits(ty).1)),
    ];
    for (op, expected) in table {
        for ty in TYPES {
            for a in edges(ty) {
                for b in edges(ty) {
                    let wanted = register(ty, expected(ty, number(ty, a), number(ty, b)));
                    assert_eq!(result(ty, Op::Int(op, ty), &[a, b]), wanted, "{op:?} {ty:?} {a:#x} {b:#x}");
                }
            }
        }
    }
}

#[test]
fn products() {
    for ty in TYPES {
        let wide = match ty {
            Ty::U16 => Ty::U32,
            Ty::S16 => Ty::S32,
            Ty::U32 => Ty::U64,
            _ => Ty::S64,
        };
        for a in edges(ty) {
            for b in edges(ty) {
                let (x, y, c) = (number(ty, a), number(ty, b), 0x0fed_cba9_8765_4321u64);
                // u64 products do not fit i128 when both have the top bit; wrapping keeps the low 128 bits.
                let product = x.wrapping_mul(y);
                let high = if ty == Ty::U64 { (product as u128 >> 64) as i128 } else { product >> bits(ty) };
                let place = format!("{ty:?} {a:#x} {b:#x}");
                assert_eq!(result(ty, Op::Mul(Part::Lo, ty), &[a, b]), register(ty, product), "lo {place}");
                assert_eq!(result(ty, Op::Mul(Part::Hi, ty), &[a, b]), register(ty, high), "hi {place}");
                let mad = |part| Op::Mad { part, ty, sat: false };
                let sum = |value: i128| register(ty, value.wrapping_add(number(ty, c)));
                assert_eq!(result(ty, mad(Part::Lo), &[a, b, c]), sum(product), "mad.lo {place}");
                assert_eq!(result(ty, mad(Part::Hi), &[a, b, c]), sum(high), "mad.hi {place}");
                if ty.bytes() < 8 {
                    let wanted = register(wide, product);
                    assert_eq!(result(wide, Op::Mul(Part::Wide, ty), &[a, b]), wanted, "wide {place}");
                    let wanted = register(wide, product + number(wide, c));
                    assert_eq!(result(wide, mad(Part::Wide), &[a, b, c]), wanted, "mad.wide {place}");
                }
                let difference = register(ty, (x - y).abs() + number(ty, c));
                assert_eq!(result(ty, Op::Sad(ty), &[a, b, c]), difference, "sad {place}");
            }
        }
    }
}

#[test]
fn one_operand_arithmetic() {
    for ty in [Ty::S16, Ty::S32, Ty::S64] {
        for a in edges(ty) {
            let x = number(ty, a);
            assert_eq!(result(ty, Op::IntUnary(IntUnary::Abs, ty), &[a]), register(ty, x.abs()));
            assert_eq!(result(ty, Op::IntUnary(IntUnary::Neg, ty), &[a]), register(ty, -x));
        }
    }
}

#[test]
fn products_of_24_bits() {
    let edges = [0, 1, 0x7f_ffff, 0x80_0000, 0xff_ffff, 0xff00_0001, 0x1234_5678, u32::MAX];
    for ty in [Ty::U32, Ty::S32] {
        let value = |x: u32| match ty {
            Ty::S32 => i64::from((x << 8) as i32) >> 8,
            _ => i64::from(x & 0xff_ffff),
        };
        for a in edges {
            for b in edges {
                let product = value(a) * value(b);
                let hi = (product >> 16) as u32;
                assert_eq!(compute32(Op::Mul24(Part::Lo, ty), &[a, b]), product as u32);
                assert_eq!(compute32(Op::Mul24(Part::Hi, ty), &[a, b]), hi);
                let mad = Op::Mad24 { part: Part::Hi, ty, sat: false };
                assert_eq!(compute32(mad, &[a, b, 77]), hi.wrapping_add(77));
            }
        }
    }
    let saturated = Op::Mad24 { part: Part::Hi, ty: Ty::S32, sat: true };
    assert_eq!(compute32(saturated, &[0x7f_ffff, 0x7f_ffff, i32::MAX as u32]), i32::MAX as u32);
    let saturated = Op::Mad { part: Part::Hi, ty: Ty::S32, sat: true };
    assert_eq!(compute32(saturated, &[i32::MIN as u32, i32::MAX as u32, i32::MIN as u32]), i32::MIN as u32);
}

/// (result, carry) of an operation with carries.
fn with_carry(op: Op, sources: &[u64], carry: Option<bool>) -> (u64, bool) {
    let mut slots = Slots::new(op).with_predicate(1);
    for (slot, value) in sources.iter().enumerate() {
        slots = slots.source_value(slot, *value);
    }
    if let Some(carry) = carry {
        slots = slots.source_predicate(sources.len(), if carry { u32::MAX } else { 0 });
    }
    let slots = slots.run();
    (slots.result(0), slots.predicates[1] == u32::MAX)
}

#[test]
fn carries() {
    for ty in [Ty::U32, Ty::S32, Ty::U64, Ty::S64] {
        let mask = u128::from(u64::MAX >> (64 - bits(ty)));
        for a in edges(ty) {
            for b in edges(ty) {
                for carry in [None, Some(false), Some(true)] {
                    let carry_in = carry.is_some();
                    let extra = u128::from(carry == Some(true));
                    let kept = |(value, flag): (u64, bool)| (u128::from(value) & mask, flag);

                    let sum = u128::from(a) + u128::from(b) + extra;
                    let op = Op::AddCarry { ty, carry_in, carry_out: true };
                    assert_eq!(kept(with_carry(op, &[a, b], carry)), (sum & mask, sum > mask));

                    // The carry of a subtraction is there when it does not borrow.
                    let taken = u128::from(b) + u128::from(carry == Some(false));
                    let op = Op::SubBorrow { ty, carry_in, carry_out: true };
                    let wanted = (u128::from(a).wrapping_sub(taken) & mask, u128::from(a) >= taken);
                    assert_eq!(kept(with_carry(op, &[a, b], carry)), wanted);

                    let product = number(ty, a).wrapping_mul(number(ty, b)) as u128;
                    for (part, kept_product) in
                        [(Part::Lo, product & mask), (Part::Hi, product >> bits(ty) & mask)]
                    {
                        let sum = kept_product + u128::from(a) + extra;
                        let op = Op::MadCarry { part, ty, carry_in, carry_out: true };
                        assert_eq!(kept(with_carry(op, &[a, b, a], carry)), (sum & mask, sum > mask));
                    }
                }
            }
        }
    }
}

#[test]
fn dot_products() {
    let (a, b) = (0x80ff_017f, 0x7f80_ff02);
    let bytes = |word: u32, signed: bool| {
        word.to_le_bytes().map(|byte| if signed { i64::from(byte as i8) } else { i64::from(byte) })
    };
    for a_signed in [false, true] {
        for b_signed in [false, true] {
            let sum: i64 = bytes(a, a_signed).iter().zip(bytes(b, b_signed)).map(|(x, y)| x * y).sum();
            let wanted = (sum + 0xffff_fff0) as u32;
            assert_eq!(compute32(Op::Dp4a { a_signed, b_signed }, &[a, b, 0xffff_fff0]), wanted);
            for hi in [false, true] {
                let halves = [a as u16, (a >> 16) as u16]
                    .map(|half| if a_signed { i64::from(half as i16) } else { i64::from(half) });
                let picked = &bytes(b, b_signed)[if hi { 2..4 } else { 0..2 }];
                let sum: i64 = halves.iter().zip(picked).map(|(x, y)| x * y).sum();
                let wanted = (sum + 5) as u32;
                assert_eq!(compute32(Op::Dp2a { a_signed, b_signed, hi }, &[a, b, 5]), wanted);
            }
        }
    }
}

#[test]
fn packed_integers_do_not_touch_each_other() {
    let edges = [0u16, 1, 0x7fff, 0x8000, 0xffff, 0x1234];
    for a in edges {
        for b in edges {
            let pair = |high: u16, low: u16| u32::from(high) << 16 | u32::from(low);
            let run = |op, ty| compute32(Op::Int(op, ty), &[pair(a, b), pair(b, a)]);
            let (x, y) = (a as i16, b as i16);
            let both = |value: u16| pair(value, value);
            for ty in [Ty::U16x2, Ty::S16x2] {
                assert_eq!(run(IntOp::Add, ty), both(a.wrapping_add(b)), "{a:#x} {b:#x}");
            }
            assert_eq!(run(IntOp::Min, Ty::U16x2), both(a.min(b)));
            assert_eq!(run(IntOp::Max, Ty::U16x2), both(a.max(b)));
            assert_eq!(run(IntOp::Min, Ty::S16x2), both(x.min(y) as u16));
            assert_eq!(run(IntOp::Max, Ty::S16x2), both(x.max(y) as u16));
            assert_eq!(run(IntOp::MinRelu, Ty::S16x2), both(x.min(y).max(0) as u16));
            assert_eq!(run(IntOp::MaxRelu, Ty::S16x2), both(x.max(y).max(0) as u16));
        }
    }
    let relu = |op, a: i32, b: i32| compute32(Op::Int(op, Ty::S32), &[a as u32, b as u32]) as i32;
    assert_eq!((relu(IntOp::MinRelu, -3, 5), relu(IntOp::MaxRelu, -3, -5)), (0, 0));
    assert_eq!((relu(IntOp::MinRelu, 3, 5), relu(IntOp::MaxRelu, -3, 5)), (3, 5));
}
