//! Arrays of registers, of which an instruction picks one by a number that it reads (`mov.indirect`).

use super::body::{Body, instruction};
use super::error::BackError;
use crate::ir::{Constant, VDst, VInst, VSrc};
use crate::isa::{Op, Ty};

/// The register that an instruction picks when the text already says which: the move is an ordinary one then.
pub fn known_element(inst: &VInst) -> Option<u8> {
    let (Op::MovFromArray { registers } | Op::MovToArray { registers }) = inst.op else { return None };
    match inst.src.first() {
        Some(VSrc::Const(Constant::Bits(number))) => Some(*number as u8 % registers),
        _ => None,
    }
}

/// Refuses moves by a computed number on a machine that has none.
pub fn check_machine(body: &Body, has_them: bool) -> Result<(), BackError> {
    let picks = |inst: &&VInst| matches!(inst.op, Op::MovFromArray { .. } | Op::MovToArray { .. });
    match body.code.iter().find(picks) {
        Some(inst) if !has_them => Err(BackError::NotOfMachine {
            line: inst.line,
            instruction: "mov.indirect",
            key: "`sm.indirect_mov`",
        }),
        _ => Ok(()),
    }
}

/// Gives a number that is fixed only at launch a register: the operand collector picks by what a register holds.
pub fn settle_numbers(body: &mut Body) {
    let mut before: Vec<Vec<VInst>> = vec![Vec::new(); body.code.len()];
    for (at, moves) in before.iter_mut().enumerate() {
        let inst = &body.code[at];
        if !matches!(inst.op, Op::MovFromArray { .. } | Op::MovToArray { .. }) {
            continue;
        }
        if let (None, VSrc::Const(number)) = (known_element(inst), inst.src[0]) {
            let line = inst.line;
            let reg = body.fresh(Ty::B32);
            moves.push(instruction(Op::Mov(Ty::B32), vec![VDst::Reg(reg)], vec![VSrc::Const(number)], line));
            body.code[at].src[0] = VSrc::Reg(reg, false);
        }
    }
    if before.iter().any(|moves| !moves.is_empty()) {
        let after = vec![Vec::new(); body.code.len()];
        body.weave(before, after);
    }
}
