//! Which registers operands access, by rule.

use super::testing::*;
use super::{AccessRules, Accesses, Options, RegisterAllocation, WideAccesses, compile};
use crate::isa::{Dst, Op, Part, PredReg, Reg, Special, Ty};
use crate::program::Kernel;

fn kernel(accesses: AccessRules, max_registers: u32) -> Kernel {
    // Two products of 64 bits and a comparison, all live together.
    let wide = Op::Mul(Part::Wide, Ty::U32);
    let code = vec![
        inst(Op::ReadSpecial(Special::LaneId), &[0], &[]),
        inst(wide, &[1], &[reg(0), reg(0)]),
        inst(wide, &[2], &[reg(0), bits(3)]),
        inst(LESS, &[3], &[reg(0), bits(9)]),
        inst(Op::Select(Ty::B64), &[1], &[reg(1), reg(2), reg(3)]),
        inst(ADD64, &[1], &[reg(1), reg(2)]),
        store(bits(8), Ty::U64, reg(1)),
        exit(),
    ];
    let function = function(code, vec![Ty::B32, Ty::B64, Ty::B64, Ty::Pred]);
    let allocation = RegisterAllocation::Tight;
    let options = Options { accesses, allocation, max_registers, load_window: 0, ..plain() };
    compile(&function, &options).expect("compiles")
}

/// Reads and writes of the instruction before the last but one: the selection.
fn of_selection(kernel: &Kernel) -> &Accesses {
    let at = kernel.code.iter().position(|inst| matches!(inst.op, Op::Select(_))).expect("it is there");
    &kernel.accesses[at]
}

#[test]
fn a_wide_value_is_accessed_by_row_once_or_as_one_register() {
    let rules = |wide, predicates| AccessRules { wide, predicates };
    assert!(kernel(AccessRules::default(), 255).accesses.is_empty(), "rows need no list");
    let count = |rules| {
        let kernel = kernel(rules, 255);
        let Accesses { reads, writes } = of_selection(&kernel).clone();
        let highest = kernel.accesses.iter().flat_map(|of| of.reads.as_slice()).map(|reg| reg.0).max();
        (reads.as_slice().len(), writes.len(), highest.expect("it reads"))
    };
    assert_eq!(count(rules(WideAccesses::Rows, true)).0, 5, "two pairs and a predicate");
    assert_eq!(count(rules(WideAccesses::Once, false)).0, 2);
    assert_eq!(count(rules(WideAccesses::Once, false)).1, 1);
    // Pairs begin at even rows; numbers have no holes.
    assert!(count(rules(WideAccesses::Once, false)).2 >= 2);
    assert!(count(rules(WideAccesses::OneNumber, false)).2 <= 2);
}

#[test]
fn predicates_have_the_numbers_behind_those_of_values_within_the_limit() {
    let rules = AccessRules { wide: WideAccesses::Rows, predicates: true };
    let all = kernel(rules, 255);
    let predicate = Reg((all.registers - 1) as u8);
    let writes: Vec<_> = all.accesses.iter().flat_map(|of| &of.writes).collect();
    assert!(writes.contains(&&(predicate, Dst::Pred(PredReg(0)))), "{writes:?}");
    // As many as fit without the predicate: with it one must be spilled.
    let fewer = kernel(rules, all.registers - 1);
    assert!(fewer.registers < all.registers && fewer.spill_bytes > 0, "{}", fewer.registers);
}
