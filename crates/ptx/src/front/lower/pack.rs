//! `cvt.pack`: two integers, saturated, beside each other.

use super::builder::Builder;
use super::operand::count;
use crate::front::ast::Instruction;
use crate::front::check::Modifiers;
use crate::front::diagnostic::Fail;
use crate::ir::{Constant, VDst, VSrc};
use crate::isa::{IntOp, Logic, Op, Ty};

impl<'a> Builder<'a> {
    /// `cvt.pack`: b in the lowest bits, a above it, then the low bits of c when the results are narrower than 16 bits.
    pub(super) fn cvt_pack(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        m.require(&[("pack", ())])?;
        m.require(&[("sat", ())])?;
        let (bits, signed) = m.require(&[
            ("u16", (16, false)),
            ("s16", (16, true)),
            ("u8", (8, false)),
            ("s8", (8, true)),
            ("u4", (4, false)),
            ("s4", (4, true)),
            ("u2", (2, false)),
            ("s2", (2, true)),
        ])?;
        m.ty(&[Ty::S32])?;
        let goes_on = bits < 16;
        if goes_on {
            m.ty(&[Ty::B32])?;
        }
        m.finish()?;
        let wanted = 3 + usize::from(goes_on);
        if i.operands.len() != wanted {
            return Err(count(i, &wanted.to_string()));
        }
        let d = self.dst(&i.operands[0], Ty::B32)?;
        let a = self.src(&i.operands[1], Ty::S32)?;
        let b = self.src(&i.operands[2], Ty::S32)?;
        let c = match i.operands.get(3) {
            Some(c) => Some(self.src(c, Ty::B32)?),
            None => None,
        };
        let (least, most) = match signed {
            true => (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1),
            false => (0, (1i64 << bits) - 1),
        };
        let number = |value: i64| VSrc::Const(Constant::Bits(u64::from(value as u32)));
        let mut clamp = |value: VSrc| {
            let (low, both) = (self.fresh(Ty::S32), self.fresh(Ty::S32));
            self.emit_always(Op::Int(IntOp::Max, Ty::S32), &[VDst::Reg(low)], &[value, number(least)]);
            let low = VSrc::Reg(low, false);
            self.emit_always(Op::Int(IntOp::Min, Ty::S32), &[VDst::Reg(both)], &[low, number(most)]);
            VSrc::Reg(both, false)
        };
        let (a, b) = (clamp(a), clamp(b));
        // Bits above the two: c's, or nothing that stays.
        let mut above = number(0);
        if let Some(c) = c {
            let moved = self.fresh(Ty::B32);
            self.emit_always(Op::Shl(Ty::B32), &[VDst::Reg(moved)], &[c, number(2 * bits)]);
            above = VSrc::Reg(moved, false);
        }
        let (low, both) = (self.fresh(Ty::B32), self.fresh(Ty::B32));
        self.emit_always(Op::Logic(Logic::And, Ty::B32), &[VDst::Reg(low)], &[b, number((1 << bits) - 1)]);
        let parts = [VSrc::Reg(low, false), above];
        self.emit_always(Op::Logic(Logic::Or, Ty::B32), &[VDst::Reg(both)], &parts);
        let inserted = [a, VSrc::Reg(both, false), number(bits), number(bits)];
        self.emit(Op::Bfi(Ty::B32), &[d], &inserted);
        Ok(())
    }
}
