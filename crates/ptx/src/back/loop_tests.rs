//! Random loops that a counter ends: unrolled, they compute what they say, wherever the counter begins and ends.

use super::body::definitions;
use super::random_tests::{PAIRS, PREDICATES, ROWS, same, step};
use super::testing::*;
use super::{Options, RegisterAllocation, compile};
use crate::ir::{Function, VInst, VReg, VSrc};
use crate::isa::{Compare, IntOp, Op, Part, Space, Ty};
use proptest::prelude::*;

/// The counter is one of the rows, its bound another; pointers are pairs.
const COUNTER: u32 = 0;
const BOUND: u32 = 1;
const LAST: u32 = ROWS + PAIRS + PREDICATES - 1;

/// Where a counter begins and what bounds it: near each other, near zero or an end of the numbers, where counters wrap.
fn ends() -> impl Strategy<Value = (u32, u32)> {
    let near = prop_oneof![2 => Just(0i32), 1 => Just(i32::MAX), 1 => Just(i32::MIN)];
    let apart = prop_oneof![3 => -6i32..7, 1 => -40i32..40];
    (near, -6i32..7, apart)
        .prop_map(|(near, first, bound)| (near.wrapping_add(first) as u32, near.wrapping_add(bound) as u32))
}

/// A round of the loop: what it computes, then what it moves on, in any order.
fn round() -> impl Strategy<Value = Vec<VInst>> {
    let advance = |width: Op, reg_of: u32| {
        move |by: i32| {
            inst(
                width,
                &[reg_of],
                &[reg(reg_of), bits(if width == ADD { u64::from(by as u32) } else { by as i64 as u64 })],
            )
        }
    };
    let shifted = (2u32..ROWS, prop_oneof![Just(COUNTER), 2u32..ROWS], 0u64..34)
        .prop_map(|(to, from, by)| inst(Op::Shl(Ty::B32), &[to], &[reg(from), bits(by)]));
    let scaled = (2u32..ROWS, 0u64..70, 2u32..ROWS).prop_map(|(to, by, plus)| {
        inst(Op::Mad { part: Part::Lo, ty: Ty::U32, sat: false }, &[to], &[reg(COUNTER), bits(by), reg(plus)])
    });
    let show = (ROWS..ROWS + PAIRS, 0u32..ROWS).prop_map(|(at, value)| store(reg(at), Ty::U32, reg(value)));
    let kept = step().prop_filter("leaves counter, bound and test alone", |inst| {
        !definitions(inst).any(|VReg(reg)| [COUNTER, BOUND, LAST].contains(&reg))
    });
    let guarded = (kept, proptest::option::weighted(0.2, any::<bool>())).prop_map(|(mut inst, guard)| {
        inst.guard = guard.map(|negated| (VReg(ROWS + PAIRS), negated));
        inst
    });
    let any = prop_oneof![
        6 => guarded,
        2 => shifted,
        1 => scaled,
        2 => show,
        1 => (-40i32..40).prop_map(advance(ADD64, ROWS)),
        1 => (-40i32..40).prop_map(advance(ADD64, ROWS + 1)),
        1 => (-40i32..40).prop_map(advance(ADD, 2)),
    ];
    proptest::collection::vec(any, 1..12)
}

/// A loop between values for all registers and stores of all of them.
fn looped() -> impl Strategy<Value = Function> {
    let compare = prop_oneof![
        Just(Compare::Lt),
        Just(Compare::Le),
        Just(Compare::Gt),
        Just(Compare::Ge),
        Just(Compare::Ne)
    ];
    let ty = prop_oneof![Just(Ty::S32), Just(Ty::U32)];
    let step = prop_oneof![4 => -3i32..4, 1 => any::<i32>()];
    let ends = (compare, ty, step, ends(), any::<bool>(), any::<bool>());
    (round(), 0usize..12, ends).prop_map(
        |(round, place, (cmp, ty, step, (first, bound), known, constant))| {
            let mut code: Vec<VInst> =
                (2..ROWS).map(|r| inst(Op::Mov(Ty::B32), &[r], &[bits(u64::from(r) * 7)])).collect();
            code.extend(
                (ROWS..ROWS + PAIRS).map(|r| inst(Op::Mov(Ty::B64), &[r], &[bits(u64::from(r) << 33)])),
            );
            code.extend(
                (0..PREDICATES).map(|p| inst(LESS, &[ROWS + PAIRS + p], &[bits(u64::from(p % 2)), bits(1)])),
            );
            code.push(inst(Op::Mov(Ty::B32), &[COUNTER], &[bits(first.into())]));
            code.push(inst(Op::Mov(Ty::B32), &[BOUND], &[bits(bound.into())]));
            if !known {
                // What a load gives is not known before.
                for (reg_of, value) in [(COUNTER, first), (BOUND, bound)] {
                    let word = mode(Space::Shared, Ty::U32);
                    code.push(inst(Op::Store(word), &[], &[bits(64), bits(value.into())]));
                    code.push(inst(Op::Load(word), &[reg_of], &[bits(64)]));
                }
            }
            let start = code.len() as u32;
            let place = place.min(round.len());
            let mut rounds = round;
            let update = Op::Int(IntOp::Add, Ty::U32);
            rounds.insert(place, inst(update, &[COUNTER], &[reg(COUNTER), bits(u64::from(step as u32))]));
            code.extend(rounds);
            let bound = if constant { bits(bound.into()) } else { reg(BOUND) };
            let test = Op::Setp { cmp, ty, combine: None, ftz: false };
            code.push(inst(test, &[LAST], &[reg(COUNTER), bound]));
            code.push(branch(start, Some((LAST, false))));
            code.extend((0..ROWS).map(|r| store(bits(8 * u64::from(r)), Ty::U32, reg(r))));
            code.extend((ROWS..ROWS + PAIRS).map(|r| store(bits(8 * u64::from(r)), Ty::U64, reg(r))));
            let last = VSrc::Reg(VReg(LAST), false);
            code.push(inst(Op::Select(Ty::B32), &[2], &[bits(1), bits(0), last]));
            code.push(store(bits(0), Ty::U32, reg(2)));
            code.push(exit());
            let kinds = [(ROWS, Ty::B32), (PAIRS, Ty::B64), (PREDICATES, Ty::Pred)];
            function(code, kinds.iter().flat_map(|(count, ty)| vec![*ty; *count as usize]).collect())
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn loops_keep_their_meaning(function in looped(), rows in 4u32..40) {
        let expected = run_virtual(&function);
        let tight = Options { allocation: RegisterAllocation::Tight, ..plain() };
        for options in [plain(), tight, options(rows, 4)] {
            same(&run_decoded(&compile(&function, &options).expect("compiles")), &expected);
        }
    }
}
