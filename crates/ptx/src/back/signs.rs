//! Takes negations into the sums that use them: an operand of a machine's addition or multiply-add may be negated.

use super::body::Body;
use super::facts::Facts;
use crate::ir::{VInst, VSrc};
use crate::isa::{FloatMode, FloatOp, FloatUnary, Op, Signs, Ty};

/// Lets sums take what was negated, with the other sign. The negation dies where nothing else uses it.
pub fn fold(body: &mut Body, facts: &Facts<'_>) {
    for at in 0..body.code.len() {
        // A negation may be of a negation.
        while let Some(sum) = folded(body, facts, at) {
            body.code[at] = sum;
        }
    }
}

/// A sum with one negation taken in.
fn folded(body: &Body, facts: &Facts<'_>, at: usize) -> Option<VInst> {
    let inst = &body.code[at];
    let (ty, mode) = match inst.op {
        Op::Float(FloatOp::Add | FloatOp::Sub, ty, mode) | Op::Fma(ty, mode, _) => (ty, mode),
        _ => return None,
    };
    (0..inst.src.len()).find_map(|slot| {
        let VSrc::Reg(reg, _) = inst.src[slot] else { return None };
        let from = facts.definition[reg.0 as usize].filter(|_| facts.holds_at(reg, at))?;
        let positive = negated(&body.code[from], ty, mode)?;
        if matches!(positive, VSrc::Reg(reg, _) if !facts.holds_at(reg, at)) {
            return None;
        }
        let (op, swapped) = with_other_sign(inst.op, slot)?;
        let mut sum = inst.clone();
        sum.op = op;
        sum.src[slot] = positive;
        if swapped {
            sum.src.swap(0, 1);
        }
        Some(sum)
    })
}

/// What an instruction negates, if a sum of this type and mode sees it as the negation gives it. A negation that flushes
/// subnormals goes only into what flushes them too.
fn negated(inst: &VInst, ty: Ty, mode: FloatMode) -> Option<VSrc> {
    match inst.op {
        Op::FloatUnary(FloatUnary::Neg, of, FloatMode { ftz, .. }) if of == ty && (!ftz || mode.ftz) => {
            Some(inst.src[0])
        }
        _ => None,
    }
}

/// The operation that takes operand `slot` with the other sign, and whether its first two operands change places.
fn with_other_sign(op: Op, slot: usize) -> Option<(Op, bool)> {
    match (op, slot) {
        (Op::Float(FloatOp::Add, ty, mode), _) => Some((Op::Float(FloatOp::Sub, ty, mode), slot == 0)),
        (Op::Float(FloatOp::Sub, ty, mode), 1) => Some((Op::Float(FloatOp::Add, ty, mode), false)),
        (Op::Fma(ty, mode, signs), 0 | 1) => {
            Some((Op::Fma(ty, mode, Signs { product: !signs.product, ..signs }), false))
        }
        (Op::Fma(ty, mode, signs), _) => {
            Some((Op::Fma(ty, mode, Signs { addend: !signs.addend, ..signs }), false))
        }
        _ => None,
    }
}
