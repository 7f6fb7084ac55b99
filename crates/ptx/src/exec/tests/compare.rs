//! Comparisons, on every pair of edge values.

use super::{Slots, compute32};
use crate::isa::{BoolOp, Compare, Op, TestP, Ty};

/// The predicates that `setp` writes, with the predicate it combines with.
fn setp(cmp: Compare, ty: Ty, combine: Option<(BoolOp, bool)>, ftz: bool, a: u64, b: u64) -> (bool, bool) {
    let op = Op::Setp { cmp, ty, combine: combine.map(|(op, _)| op), ftz };
    let mut slots = Slots::new(op).source_value(0, a).source_value(1, b).with_predicate(0).with_predicate(1);
    if let Some((_, other)) = combine {
        slots = slots.source_predicate(2, if other { u32::MAX } else { 0 });
    }
    let slots = slots.run();
    (slots.predicates[0] == u32::MAX, slots.predicates[1] == u32::MAX)
}

const ALL: [Compare; 14] = [
    Compare::Eq,
    Compare::Ne,
    Compare::Lt,
    Compare::Le,
    Compare::Gt,
    Compare::Ge,
    Compare::Equ,
    Compare::Neu,
    Compare::Ltu,
    Compare::Leu,
    Compare::Gtu,
    Compare::Geu,
    Compare::Num,
    Compare::Nan,
];

/// For an ordering (none: a NaN) whether the relation holds, straight from the ISA's table.
fn holds(cmp: Compare, ordering: Option<std::cmp::Ordering>) -> bool {
    use std::cmp::Ordering::{Equal, Greater, Less};
    match cmp {
        Compare::Eq => ordering == Some(Equal),
        Compare::Ne => matches!(ordering, Some(Less | Greater)),
        Compare::Lt => ordering == Some(Less),
        Compare::Le => matches!(ordering, Some(Less | Equal)),
        Compare::Gt => ordering == Some(Greater),
        Compare::Ge => matches!(ordering, Some(Greater | Equal)),
        Compare::Equ => matches!(ordering, Some(Equal) | None),
        Compare::Neu => matches!(ordering, Some(Less | Greater) | None),
        Compare::Ltu => matches!(ordering, Some(Less) | None),
        Compare::Leu => matches!(ordering, Some(Less | Equal) | None),
        Compare::Gtu => matches!(ordering, Some(Greater) | None),
        Compare::Geu => matches!(ordering, Some(Greater | Equal) | None),
        Compare::Num => ordering.is_some(),
        Compare::Nan => ordering.is_none(),
    }
}

#[test]
fn floating_point_relations() {
    let values = [0.0, -0.0, 1.0, -1.0, 1e-40, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    for cmp in ALL {
        for a in values {
            for b in values {
                let wanted = holds(cmp, a.partial_cmp(&b));
                let got = setp(cmp, Ty::F64, None, false, a.to_bits(), b.to_bits());
                assert_eq!(got, (wanted, !wanted), "{cmp:?} {a} {b}");
                let [x, y] = [a as f32, b as f32];
                let bits = |x: f32| u64::from(x.to_bits());
                assert_eq!(setp(cmp, Ty::F32, None, false, bits(x), bits(y)).0, wanted, "{cmp:?} {x} {y}");
                let flushed = |x: f32| if x.is_subnormal() { 0.0 } else { x };
                let wanted = holds(cmp, flushed(x).partial_cmp(&flushed(y)));
                assert_eq!(setp(cmp, Ty::F32, None, true, bits(x), bits(y)).0, wanted, "ftz {cmp:?} {x} {y}");
                let half = |x: f64| u64::from(half::f16::from_f64(x).to_bits());
                let [x, y] = [a, b].map(half::f16::from_f64);
                let wanted = holds(cmp, x.partial_cmp(&y));
                assert_eq!(
                    setp(cmp, Ty::F16, None, false, half(a), half(b)).0,
                    wanted,
                    "f16 {cmp:?} {x} {y}"
                );
            }
        }
    }
}

#[test]
fn integer_relations() {
    let values = [0u64, 1, 0x7fff, 0x8000, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 1 << 63, u64::MAX];
    for cmp in &ALL[..6] {
        for a in values {
            for b in values {
                let check = |ty, ordering| {
                    assert_eq!(
                        setp(*cmp, ty, None, false, a, b).0,
                        holds(*cmp, Some(ordering)),
                        "{cmp:?} {ty:?}"
                    );
                };
                check(Ty::U16, (a as u16).cmp(&(b as u16)));
                check(Ty::S16, (a as i16).cmp(&(b as i16)));
                check(Ty::U32, (a as u32).cmp(&(b as u32)));
                check(Ty::S32, (a as i32).cmp(&(b as i32)));
                check(Ty::U64, a.cmp(&b));
                check(Ty::S64, (a as i64).cmp(&(b as i64)));
            }
        }
    }
}

#[test]
fn combinations() {
    for truth in [false, true] {
        for other in [false, true] {
            let run = |op| setp(Compare::Eq, Ty::U32, Some((op, other)), false, 5, if truth { 5 } else { 6 });
            assert_eq!(run(BoolOp::And), (truth & other, !truth & other));
            assert_eq!(run(BoolOp::Or), (truth | other, !truth | other));
            assert_eq!(run(BoolOp::Xor), (truth ^ other, !truth ^ other));
        }
    }
}

#[test]
fn set_writes_ones() {
    let set = |to, a, b| {
        compute32(Op::Set { cmp: Compare::Lt, to, ty: Ty::S32, combine: None, ftz: false }, &[a, b])
    };
    assert_eq!((set(Ty::U32, 1, 2), set(Ty::S32, 2, 1)), (u32::MAX, 0));
    assert_eq!((set(Ty::F32, 1, 2), set(Ty::F32, 2, 1)), (1f32.to_bits(), 0));
}

#[test]
fn properties() {
    let test = |property, value: f64| {
        let run = |ty, bits: u64| {
            Slots::new(Op::TestP(property, ty)).source_value(0, bits).with_predicate(0).run().predicates[0]
                != 0
        };
        let double = run(Ty::F64, value.to_bits());
        // The same class of number exists as f32 for every value below.
        let single = if value.is_subnormal() { 1e-40f32 } else { value as f32 };
        assert_eq!(run(Ty::F32, single.to_bits().into()), double, "{property:?} {value}");
        double
    };
    //            value            finite infinite number nan    normal subnormal
    let table = [
        (0.0, [true, false, true, false, true, false]),
        (-1.5, [true, false, true, false, true, false]),
        (5e-324, [true, false, true, false, false, true]),
        (f64::INFINITY, [false, true, true, false, false, false]),
        (f64::NAN, [false, false, false, true, false, false]),
    ];
    let properties =
        [TestP::Finite, TestP::Infinite, TestP::Number, TestP::NotANumber, TestP::Normal, TestP::Subnormal];
    for (value, wanted) in table {
        assert_eq!(properties.map(|property| test(property, value)), wanted, "{value}");
    }
}
