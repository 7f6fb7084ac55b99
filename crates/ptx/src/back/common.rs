//! Common subexpressions: integer arithmetic that was already done on every path is not done again.
//!
//! Compilers leave few in their text; moving constants from sums into memory offsets makes more, as the
//! addresses of neighbouring arrays become one.

use super::body::Body;
use super::facts::Facts;
use crate::back::constant::Key;
use crate::ir::{VDst, VInst, VReg, VSrc};
use crate::isa::{IntOp, Op};
use std::collections::{BTreeMap, HashMap};

/// A source as a key.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Operand {
    Reg(VReg),
    Const(Key),
}

/// An operation and what it is applied to.
type Expression = (Op, Vec<Operand>);

/// Turns repetitions into copies.
pub fn share(body: &mut Body, facts: &Facts<'_>) {
    // Looked up only, never iterated over.
    // None of an expression's places dominates another, so of the blocks before or at some place in the order of
    // their numbers, only the last can dominate it.
    let mut known: HashMap<Expression, BTreeMap<u32, VReg>> = HashMap::new();
    for block in &facts.cfg.order {
        for at in facts.cfg.block(*block).range() {
            let Some((dst, key)) = expression(&body.code[at], facts, at) else { continue };
            let earlier = known.entry(key).or_default();
            let number = facts.number_of_block(at);
            match earlier.range(..=number).next_back().filter(|(_, reg)| facts.holds_at(**reg, at)) {
                Some((_, reg)) => {
                    let inst = &mut body.code[at];
                    inst.src = vec![VSrc::Reg(*reg, false)];
                    inst.op = Op::Mov(body.registers[dst.0 as usize]);
                }
                None => _ = earlier.insert(number, dst),
            }
        }
    }
}

/// An expression over values that never change, and the register that gets it.
fn expression(inst: &VInst, facts: &Facts<'_>, at: usize) -> Option<(VReg, Expression)> {
    let shareable = matches!(
        inst.op,
        Op::Int(IntOp::Add | IntOp::Sub, _) | Op::Mul(..) | Op::Mad { .. } | Op::Shl(_) | Op::Logic(..)
    );
    let [VDst::Reg(dst)] = inst.dst[..] else { return None };
    if !shareable || !facts.is_value(dst) {
        return None;
    }
    let operand = |src: &VSrc| match *src {
        VSrc::Reg(reg, false) => facts.holds_at(reg, at).then_some(Operand::Reg(reg)),
        VSrc::Const(constant) => Some(Operand::Const(Key::from(constant))),
        _ => None,
    };
    let mut operands: Vec<Operand> = inst.src.iter().map(operand).collect::<Option<_>>()?;
    // The registers of a sum in order, so that a + b is b + a.
    if let (Op::Int(IntOp::Add, _), [Operand::Reg(left), Operand::Reg(right)]) = (inst.op, &operands[..])
        && left > right
    {
        operands.swap(0, 1);
    }
    Some((dst, (inst.op, operands)))
}
