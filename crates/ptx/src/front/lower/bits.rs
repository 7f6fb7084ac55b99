//! Logic, shifts, bit fields, permutation.

use super::builder::Builder;
use super::operand::{count, operands};
use crate::front::ast::{Instruction, Operand, OperandKind, Value};
use crate::front::check::Modifiers;
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::ir::{Constant, VSrc};
use crate::isa::{BitUnary, BoolOp, Compare, Logic, Op, Permute, Ty};

const FIELDS: [Ty; 4] = [Ty::U32, Ty::U64, Ty::S32, Ty::S64];
const BITS: [Ty; 3] = [Ty::B16, Ty::B32, Ty::B64];

impl<'a> Builder<'a> {
    /// `and`, `or`, `xor` on bits and predicates.
    pub(super) fn logic(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>, op: Logic) -> Result<(), Fail> {
        let ty = m.ty(&[Ty::B16, Ty::B32, Ty::B64, Ty::Pred])?;
        m.finish()?;
        self.binary(i, ty, if ty == Ty::Pred { Op::PredLogic(op) } else { Op::Logic(op, ty) })
    }

    /// `not`, `cnot`.
    pub(super) fn not(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let plain = self.text(i.opcode) == "not";
        let ty = m.ty(if plain { &[Ty::B16, Ty::B32, Ty::B64, Ty::Pred] } else { &BITS })?;
        m.finish()?;
        let op = match (plain, ty) {
            (true, Ty::Pred) => Op::PredNot,
            (true, _) => Op::Bit(BitUnary::Not, ty),
            (false, _) => Op::Bit(BitUnary::Cnot, ty),
        };
        self.unary(i, ty, op)
    }

    /// `shl`, `shr`: the amount is 32 bits whatever the type.
    pub(super) fn shift(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let left = self.text(i.opcode) == "shl";
        let right = [Ty::B16, Ty::B32, Ty::B64, Ty::U16, Ty::U32, Ty::U64, Ty::S16, Ty::S32, Ty::S64];
        let ty = m.ty(if left { &BITS } else { &right })?;
        m.finish()?;
        let [d, a, b] = operands(i)?;
        let (d, a, b) = (self.dst(d, ty)?, self.src(a, ty)?, self.src(b, Ty::U32)?);
        self.emit(if left { Op::Shl(ty) } else { Op::Shr(ty) }, &[d], &[a, b]);
        Ok(())
    }

    /// `shf`.
    pub(super) fn funnel(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let left = m.require(&[("l", true), ("r", false)])?;
        let wrap = m.require(&[("wrap", true), ("clamp", false)])?;
        let ty = m.ty(&[Ty::B32])?;
        m.finish()?;
        self.ternary(i, ty, Op::Shf { left, wrap })
    }

    /// `bfe`.
    pub(super) fn bfe(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let ty = m.ty(&FIELDS)?;
        m.finish()?;
        let [d, a, b, c] = operands(i)?;
        let (d, a, b, c) = (self.dst(d, ty)?, self.src(a, ty)?, self.src(b, Ty::U32)?, self.src(c, Ty::U32)?);
        self.emit(Op::Bfe(ty), &[d], &[a, b, c]);
        Ok(())
    }

    /// `bfi`.
    pub(super) fn bfi(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let ty = m.ty(&[Ty::B32, Ty::B64])?;
        m.finish()?;
        let [d, f, a, b, c] = operands(i)?;
        let (d, f, a) = (self.dst(d, ty)?, self.src(f, ty)?, self.src(a, ty)?);
        let (b, c) = (self.src(b, Ty::U32)?, self.src(c, Ty::U32)?);
        self.emit(Op::Bfi(ty), &[d], &[f, a, b, c]);
        Ok(())
    }

    /// `bmsk`.
    pub(super) fn bmsk(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let wrap = m.require(&[("wrap", true), ("clamp", false)])?;
        let ty = m.ty(&[Ty::B32])?;
        m.finish()?;
        self.binary(i, ty, Op::Bmsk { wrap })
    }

    /// `szext`.
    pub(super) fn szext(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let wrap = m.require(&[("wrap", true), ("clamp", false)])?;
        let ty = m.ty(&[Ty::U32, Ty::S32])?;
        m.finish()?;
        let [d, a, b] = operands(i)?;
        let (d, a, b) = (self.dst(d, ty)?, self.src(a, ty)?, self.src(b, Ty::U32)?);
        self.emit(Op::Szext { signed: ty.is_signed(), wrap }, &[d], &[a, b]);
        Ok(())
    }

    /// `brev`: result as wide as the operand. `popc`, `clz`, `bfind`: result is 32 bits.
    pub(super) fn bit_unary(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let opcode = self.text(i.opcode);
        let op = match opcode {
            "brev" => BitUnary::Brev,
            "popc" => BitUnary::Popc,
            "clz" => BitUnary::Clz,
            _ => BitUnary::Bfind { shiftamt: m.flag("shiftamt") },
        };
        let ty = m.ty(if opcode == "bfind" { &FIELDS } else { &[Ty::B32, Ty::B64] })?;
        m.finish()?;
        let [d, a] = operands(i)?;
        let result = if op == BitUnary::Brev { ty } else { Ty::U32 };
        let (d, a) = (self.dst(d, result)?, self.src(a, ty)?);
        self.emit(Op::Bit(op, ty), &[d], &[a]);
        Ok(())
    }

    /// `fns`.
    pub(super) fn fns(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let ty = m.ty(&[Ty::B32])?;
        m.finish()?;
        self.ternary(i, ty, Op::Fns)
    }

    /// `prmt`.
    pub(super) fn prmt(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let ty = m.ty(&[Ty::B32])?;
        let mode = m
            .pick(&[
                ("f4e", Permute::F4e),
                ("b4e", Permute::B4e),
                ("rc8", Permute::Rc8),
                ("ecl", Permute::Ecl),
                ("ecr", Permute::Ecr),
                ("rc16", Permute::Rc16),
            ])
            .unwrap_or(Permute::Default);
        m.finish()?;
        self.ternary(i, ty, Op::Prmt(mode))
    }

    /// `lop3`, with its predicate form.
    pub(super) fn lop3(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let combine = m.pick(&[("and", BoolOp::And), ("or", BoolOp::Or)]);
        let ty = m.ty(&[Ty::B32])?;
        m.finish()?;
        let expected = if combine.is_some() { 6 } else { 5 };
        if i.operands.len() != expected {
            return Err(count(i, &expected.to_string()));
        }
        let table = self.table(&i.operands[4])?;
        let mut src = Vec::new();
        for operand in &i.operands[1..4] {
            src.push(self.src(operand, ty)?);
        }
        let Some(combine) = combine else {
            let d = self.dst(&i.operands[0], ty)?;
            self.emit(Op::Lop3(table), &[d], &src);
            return Ok(());
        };
        let OperandKind::Pair(pair) = &i.operands[0].kind else {
            return Err(self.wrong_kind(&i.operands[0], "a pair `d|p`"));
        };
        let p = self.dst(&pair.1, Ty::Pred)?;
        let q = self.src(&i.operands[5], Ty::Pred)?;
        let value = match pair.0.kind {
            OperandKind::Sink => self.fresh(ty),
            _ => self.dst_register(&pair.0, ty)?,
        };
        self.emit(Op::Lop3(table), &[crate::ir::VDst::Reg(value)], &src);
        let zero = VSrc::Const(Constant::Bits(0));
        let op = Op::Setp { cmp: Compare::Ne, ty, combine: Some(combine), ftz: false };
        self.emit(op, &[p], &[VSrc::Reg(value, false), zero, q]);
        Ok(())
    }

    /// The look-up table of a `lop3`.
    fn table(&self, operand: &Operand) -> Result<u8, Fail> {
        match operand.kind {
            OperandKind::Value(Value::Int(table)) if table < 256 => Ok(table as u8),
            OperandKind::Value(Value::Int(table)) => {
                Err(Diagnostic::invalid(operand.place, "look-up table out of range")
                    .found(table.to_string())
                    .expected("0 to 255"))
            }
            _ => Err(self.wrong_kind(operand, "a constant look-up table from 0 to 255")),
        }
    }
}
