//! Random programs: what the back end makes of them computes what they say.

use super::testing::*;
use super::{Options, RegisterAllocation, compile};
use crate::ir::{Constant, Function, VInst, VReg, VSrc};
use crate::isa::{Dst, Logic, Op, PC_NONE, Part, Space, Src, Ty};
use proptest::prelude::*;

/// Registers of a random program: some of each kind.
pub(super) const ROWS: u32 = 8;
pub(super) const PAIRS: u32 = 4;
pub(super) const PREDICATES: u32 = 6;

fn row() -> impl Strategy<Value = u32> {
    0..ROWS
}

fn pair() -> impl Strategy<Value = u32> {
    ROWS..ROWS + PAIRS
}

fn predicate() -> impl Strategy<Value = u32> {
    ROWS + PAIRS..ROWS + PAIRS + PREDICATES
}

fn row_source() -> impl Strategy<Value = VSrc> {
    prop_oneof![4 => row().prop_map(reg), 1 => (0u64..100).prop_map(bits)]
}

fn pair_source() -> impl Strategy<Value = VSrc> {
    let symbol = (0i64..64).prop_map(|addend| VSrc::Const(Constant::Symbol { symbol: 1, addend }));
    prop_oneof![4 => pair().prop_map(reg), 1 => any::<u64>().prop_map(bits), 1 => symbol]
}

fn predicate_source() -> impl Strategy<Value = VSrc> {
    let register = (predicate(), any::<bool>()).prop_map(|(p, negated)| VSrc::Reg(VReg(p), negated));
    prop_oneof![6 => register, 1 => any::<bool>().prop_map(VSrc::PredConst)]
}

/// An instruction after which control goes on, without a guard.
pub(super) fn step() -> impl Strategy<Value = VInst> {
    let mov = |ty| move |(dst, src): (u32, VSrc)| inst(Op::Mov(ty), &[dst], &[src]);
    prop_oneof![
        2 => (row(), row_source()).prop_map(mov(Ty::B32)),
        2 => (pair(), pair_source()).prop_map(mov(Ty::B64)),
        2 => (row(), row_source(), row_source()).prop_map(|(d, a, b)| inst(ADD, &[d], &[a, b])),
        3 => (pair(), pair_source(), pair_source()).prop_map(|(d, a, b)| inst(ADD64, &[d], &[a, b])),
        2 => (pair(), pair(), 0u64..64).prop_map(|(d, a, b)| inst(ADD64, &[d], &[reg(a), bits(b)])),
        1 => (pair(), pair_source())
            .prop_map(|(d, a)| inst(Op::Cvta { space: Space::Global, to_generic: true }, &[d], &[a])),
        1 => (pair(), row_source(), row_source(), pair_source()).prop_map(|(d, a, b, c)| {
            inst(Op::Mad { part: Part::Wide, ty: Ty::U32, sat: false }, &[d], &[a, b, c])
        }),
        1 => (pair(), row_source(), row_source())
            .prop_map(|(d, a, b)| inst(Op::Pack { whole: Ty::B64, pieces: 2 }, &[d], &[a, b])),
        1 => (row(), row(), pair_source()).prop_filter_map("two results", |(lo, hi, a)| {
            (lo != hi).then(|| inst(Op::Unpack { whole: Ty::B64, pieces: 2 }, &[lo, hi], &[a]))
        }),
        1 => (predicate(), predicate(), row_source(), row_source()).prop_filter_map("two", |(p, q, a, b)| {
            (p != q).then(|| inst(LESS, &[p, q], &[a, b]))
        }),
        2 => (predicate(), row_source(), row_source()).prop_map(|(p, a, b)| inst(LESS, &[p], &[a, b])),
        1 => (predicate(), predicate_source()).prop_map(|(p, a)| inst(Op::PredMov, &[p], &[a])),
        1 => (predicate(), predicate_source()).prop_map(|(p, a)| inst(Op::PredNot, &[p], &[a])),
        1 => (predicate(), predicate_source(), predicate_source())
            .prop_map(|(p, a, b)| inst(Op::PredLogic(Logic::Xor), &[p], &[a, b])),
        1 => (row(), row_source(), row_source(), predicate_source())
            .prop_map(|(d, a, b, p)| inst(Op::Select(Ty::B32), &[d], &[a, b, p])),
        1 => (row(), 0u64..4).prop_map(|(d, at)| {
            inst(Op::Load(mode(Space::Param, Ty::U32)), &[d], &[bits(at * 4)])
        }),
        1 => (pair(), 0u64..4).prop_map(|(d, at)| {
            inst(Op::Load(mode(Space::Param, Ty::U64)), &[d], &[bits(at * 8)])
        }),
        3 => (row(), row_source(), 0i64..16).prop_map(|(d, a, offset)| VInst {
            offset,
            ..inst(Op::Load(mode(Space::Shared, Ty::U32)), &[d], &[a])
        }),
        1 => (pair(), pair(), 0i64..16).prop_map(|(d, a, offset)| VInst {
            offset,
            ..inst(Op::Load(mode(Space::Shared, Ty::U64)), &[d], &[reg(a)])
        }),
        2 => (row_source(), row_source(), 0i64..16).prop_map(|(a, v, offset)| VInst {
            offset,
            ..inst(Op::Store(mode(Space::Shared, Ty::U32)), &[], &[a, v])
        }),
        1 => (pair(), pair_source()).prop_map(|(a, v)| {
            inst(Op::Store(mode(Space::Shared, Ty::U64)), &[], &[reg(a), v])
        }),
        4 => (row(), 0u64..8).prop_map(|(d, at)| {
            inst(Op::Load(mode(Space::Shared, Ty::U32)), &[d], &[bits(4 * at)])
        }),
        2 => (pair(), 0u64..4).prop_map(|(d, at)| {
            inst(Op::Load(mode(Space::Shared, Ty::U64)), &[d], &[bits(8 * at)])
        }),
        4 => (0u64..8, row_source()).prop_map(|(at, v)| {
            inst(Op::Store(mode(Space::Shared, Ty::U32)), &[], &[bits(4 * at), v])
        }),
        2 => (0u64..4, pair_source()).prop_map(|(at, v)| {
            inst(Op::Store(mode(Space::Shared, Ty::U64)), &[], &[bits(8 * at), v])
        }),
        2 => (pair(), row_source()).prop_map(|(a, v)| store(reg(a), Ty::U32, v)),
        2 => (pair(), pair_source()).prop_map(|(a, v)| store(reg(a), Ty::U64, v)),
    ]
}

fn arbitrary_instruction(length: u32) -> impl Strategy<Value = VInst> {
    let flow = prop_oneof![
        10 => (0..=length).prop_map(|target| branch(target, None)),
        1 => Just(exit()),
    ];
    let guard = proptest::option::weighted(0.25, (predicate(), any::<bool>()));
    let always = proptest::option::weighted(0.9, (predicate(), any::<bool>()));
    prop_oneof![6 => (step(), guard), 1 => (flow, always)].prop_map(|(mut inst, guard)| {
        inst.guard = guard.map(|(p, negated)| (VReg(p), negated));
        inst
    })
}

/// A program that gives every register a value first, if `initialise`.
fn program(initialise: bool) -> impl Strategy<Value = Function> {
    (1u32..60)
        .prop_flat_map(|length| proptest::collection::vec(arbitrary_instruction(length), length as usize))
        .prop_map(move |body| {
            let mut code: Vec<VInst> = Vec::new();
            if initialise {
                code.extend((0..ROWS).map(|r| inst(Op::Mov(Ty::B32), &[r], &[bits(u64::from(r) * 7)])));
                code.extend(
                    (ROWS..ROWS + PAIRS).map(|r| inst(Op::Mov(Ty::B64), &[r], &[bits(u64::from(r) << 33)])),
                );
                code.extend(
                    (0..PREDICATES)
                        .map(|p| inst(LESS, &[ROWS + PAIRS + p], &[bits(u64::from(p % 2)), bits(1)])),
                );
            }
            let first = code.len() as u32;
            code.extend(body.into_iter().map(|mut inst| {
                inst.target += first;
                inst
            }));
            let kinds = [(ROWS, Ty::B32), (PAIRS, Ty::B64), (PREDICATES, Ty::Pred)];
            function(code, kinds.iter().flat_map(|(count, ty)| vec![*ty; *count as usize]).collect())
        })
}

/// The outputs agree as far as both go: an endless loop is cut at different places.
pub(super) fn same(left: &[(u64, u64)], right: &[(u64, u64)]) {
    let common = left.len().min(right.len());
    assert_eq!(left[..common], right[..common]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn programs_keep_their_meaning(function in program(true), rows in 4u32..24, predicates in 2u32..8) {
        let expected = run_virtual(&function);
        let separate = Options { allocation: RegisterAllocation::Separate, ..plain() };
        let tight = Options { allocation: RegisterAllocation::Tight, ..plain() };
        for options in [plain(), Options::default(), tight, separate] {
            let free = compile(&function, &options).expect("compiles");
            same(&run_decoded(&free), &expected);
        }
        let tight = compile(&function, &options(rows, predicates)).expect("compiles");
        same(&run_decoded(&tight), &expected);
        prop_assert!(tight.registers <= rows.max(10));
        let separate = Options { allocation: RegisterAllocation::Separate, ..options(rows, predicates) };
        let separate = compile(&function, &separate).expect("compiles");
        same(&run_decoded(&separate), &expected);
        prop_assert!(separate.registers <= rows.max(10));
    }

    #[test]
    fn undefined_values_never_panic(function in program(false), rows in 4u32..24) {
        compile(&function, &options(rows, 2)).expect("compiles");
    }

    #[test]
    fn decoded_sets_agree_with_operands(function in program(true)) {
        let kernel = compile(&function, &plain()).expect("compiles");
        for inst in &kernel.code {
            for src in inst.src {
                if let Src::Reg(reg) = src {
                    prop_assert!(inst.read_set.contains(reg) && inst.reads.as_slice().contains(&reg));
                }
            }
            for dst in inst.dst {
                if let Dst::Reg(reg) = dst {
                    prop_assert!(inst.write_set.contains(reg) && u32::from(reg.0) < kernel.registers);
                }
            }
            prop_assert!(inst.reconverge == PC_NONE || (inst.reconverge as usize) < kernel.code.len());
        }
    }
}
