//! Extended-precision arithmetic: the carry flag is a predicate operand.

use super::arithmetic::PARTS;
use super::builder::Builder;
use super::operand::operands;
use crate::front::ast::Instruction;
use crate::front::check::Modifiers;
use crate::front::diagnostic::Fail;
use crate::ir::VDst;
use crate::isa::{Op, Ty};

const CARRIED: [Ty; 4] = [Ty::U32, Ty::S32, Ty::U64, Ty::S64];

impl<'a> Builder<'a> {
    /// `add.cc`, `addc`, `sub.cc`, `subc`, each with `.cc` or without.
    pub(super) fn add_carry(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let opcode = self.text(i.opcode);
        let carry_in = opcode.ends_with('c');
        let carry_out = m.flag("cc");
        let ty = m.ty(&CARRIED)?;
        m.finish()?;
        let [d, a, b] = operands(i)?;
        let mut dst = vec![self.dst(d, ty)?];
        let mut src = vec![self.src(a, ty)?, self.src(b, ty)?];
        if carry_in {
            src.push(self.carry_src());
        }
        if carry_out {
            dst.push(VDst::Reg(self.carry()));
        }
        let op = if opcode.starts_with("add") {
            Op::AddCarry { ty, carry_in, carry_out }
        } else {
            Op::SubBorrow { ty, carry_in, carry_out }
        };
        self.emit(op, &dst, &src);
        Ok(())
    }

    /// `mad.cc`, `madc`.
    pub(super) fn mad_carry(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let carry_in = self.text(i.opcode) == "madc";
        let part = m.require(&PARTS[..2])?;
        let carry_out = m.flag("cc");
        let ty = m.ty(&CARRIED)?;
        m.finish()?;
        let [d, a, b, c] = operands(i)?;
        let mut dst = vec![self.dst(d, ty)?];
        let mut src = vec![self.src(a, ty)?, self.src(b, ty)?, self.src(c, ty)?];
        if carry_in {
            src.push(self.carry_src());
        }
        if carry_out {
            dst.push(VDst::Reg(self.carry()));
        }
        self.emit(Op::MadCarry { part, ty, carry_in, carry_out }, &dst, &src);
        Ok(())
    }
}
