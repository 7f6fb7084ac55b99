//! Integer arithmetic, and the entrances that integer and floating-point types share.

use super::builder::Builder;
use super::float::FloatWords;
use super::operand::operands;
use crate::front::ast::Instruction;
use crate::front::check::{Modifiers, word};
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::isa::{FloatMode, FloatOp, FloatUnary, IntOp, IntUnary, Op, Part, Ty};

/// Integers of 16 bits and more.
pub(super) const INTEGERS: [Ty; 6] = [Ty::U16, Ty::U32, Ty::U64, Ty::S16, Ty::S32, Ty::S64];

/// What `add`, `min` and `max` take; `sub` all but the last two.
const NUMBERS: [Ty; 14] = [
    Ty::U16,
    Ty::U32,
    Ty::U64,
    Ty::S16,
    Ty::S32,
    Ty::S64,
    Ty::F32,
    Ty::F64,
    Ty::F16,
    Ty::F16x2,
    Ty::Bf16,
    Ty::Bf16x2,
    Ty::U16x2,
    Ty::S16x2,
];

pub(super) const PARTS: [(&str, Part); 3] = [("lo", Part::Lo), ("hi", Part::Hi), ("wide", Part::Wide)];

/// Twice as wide.
pub(super) fn doubled(ty: Ty) -> Ty {
    match ty {
        Ty::U16 => Ty::U32,
        Ty::S16 => Ty::S32,
        Ty::U32 => Ty::U64,
        _ => Ty::S64,
    }
}

impl<'a> Builder<'a> {
    /// `add`, `sub` without carry.
    pub(super) fn add_sub(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let add = self.text(i.opcode) == "add";
        let words = FloatWords::take(m);
        let place = m.place();
        let ty = m.ty(if add { &NUMBERS } else { &NUMBERS[..12] })?;
        if ty == Ty::F32 && m.peek().is_some() {
            return self.mixed_sum(i, m, words);
        }
        m.finish()?;
        if ty.is_float() {
            let mode = words.mode(ty, place)?;
            let op = if add { FloatOp::Add } else { FloatOp::Sub };
            return self.contracting(i, ty, op, mode, words);
        }
        let op = match (words.integer(ty, place)?, add) {
            (false, true) => IntOp::Add,
            (false, false) => IntOp::Sub,
            (true, true) => IntOp::AddSat,
            (true, false) => IntOp::SubSat,
        };
        self.binary(i, ty, Op::Int(op, ty))
    }

    /// `mul`.
    pub(super) fn mul(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        if let Some(part) = m.pick(&PARTS) {
            let ty = self.product_type(m, part)?;
            let [d, a, b] = operands(i)?;
            let result = if part == Part::Wide { doubled(ty) } else { ty };
            let (d, a, b) = (self.dst(d, result)?, self.src(a, ty)?, self.src(b, ty)?);
            self.emit(Op::Mul(part, ty), &[d], &[a, b]);
            return Ok(());
        }
        let words = FloatWords::take(m);
        let place = m.place();
        let ty = m.ty(&[Ty::F32, Ty::F64, Ty::F16, Ty::F16x2, Ty::Bf16, Ty::Bf16x2])?;
        m.finish()?;
        let mode = words.mode(ty, place)?;
        self.contracting(i, ty, FloatOp::Mul, mode, words)
    }

    /// A floating-point sum or product, which the assembler may join with another where the text names no rounding.
    fn contracting(
        &mut self,
        i: &Instruction,
        ty: Ty,
        op: FloatOp,
        mode: FloatMode,
        words: FloatWords,
    ) -> Result<(), Fail> {
        let [d, a, b] = operands(i)?;
        let (d, a, b) = (self.dst(d, ty)?, self.src(a, ty)?, self.src(b, ty)?);
        self.emit(Op::Float(op, ty, mode), &[d], &[a, b]).contracts = words.rounding.is_none();
        Ok(())
    }

    fn product_type(&self, m: &mut Modifiers<'_>, part: Part) -> Result<Ty, Fail> {
        // The product of 64-bit operands has no register to be whole in.
        let allowed =
            if part == Part::Wide { &[Ty::U16, Ty::U32, Ty::S16, Ty::S32][..] } else { &INTEGERS[..] };
        let ty = m.ty(allowed)?;
        m.finish()?;
        Ok(ty)
    }

    /// `mad`.
    pub(super) fn mad(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let Some(part) = m.pick(&PARTS) else { return self.fma(i, m) };
        let sat = part == Part::Hi && m.flag("sat");
        let ty = if sat { m.ty(&[Ty::S32])? } else { self.product_type(m, part)? };
        m.finish()?;
        let [d, a, b, c] = operands(i)?;
        let result = if part == Part::Wide { doubled(ty) } else { ty };
        let (d, a, b, c) = (self.dst(d, result)?, self.src(a, ty)?, self.src(b, ty)?, self.src(c, result)?);
        self.emit(Op::Mad { part, ty, sat }, &[d], &[a, b, c]);
        Ok(())
    }

    /// `mul24`, `mad24`.
    pub(super) fn mul24(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let part = m.require(&PARTS[..2])?;
        let mad = self.text(i.opcode) == "mad24";
        let sat = mad && part == Part::Hi && m.flag("sat");
        let ty = m.ty(if sat { &[Ty::S32] } else { &[Ty::U32, Ty::S32] })?;
        m.finish()?;
        if !mad {
            return self.binary(i, ty, Op::Mul24(part, ty));
        }
        self.ternary(i, ty, Op::Mad24 { part, ty, sat })
    }

    /// `d, a, b, c` of one type.
    pub(super) fn ternary(&mut self, i: &Instruction, ty: Ty, op: Op) -> Result<(), Fail> {
        let [d, a, b, c] = operands(i)?;
        let (d, a, b, c) = (self.dst(d, ty)?, self.src(a, ty)?, self.src(b, ty)?, self.src(c, ty)?);
        self.emit(op, &[d], &[a, b, c]);
        Ok(())
    }

    /// `rem`, and `div` of integers.
    pub(super) fn int_divide(
        &mut self,
        i: &'a Instruction,
        m: &mut Modifiers<'_>,
        op: IntOp,
    ) -> Result<(), Fail> {
        let ty = m.ty(&INTEGERS)?;
        m.finish()?;
        self.binary(i, ty, Op::Int(op, ty))
    }

    /// `min`, `max`.
    pub(super) fn min_max(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let min = self.text(i.opcode) == "min";
        let ftz = m.flag("ftz");
        let nan = m.flag("NaN");
        if i.operands.len() == 4 {
            return self.min_max_of_three(i, m, Op::Extremum3 { largest: !min, nan, abs: false, ftz });
        }
        let xorsign_abs = m.flag("xorsign") && m.require(&[("abs", true)])?;
        let relu = m.flag("relu");
        let place = m.place();
        let ty = m.ty(if relu { &[Ty::S32, Ty::S16x2] } else { &NUMBERS })?;
        m.finish()?;
        if ty.is_float() {
            if ty == Ty::F64 && (nan || xorsign_abs) {
                return Err(Diagnostic::invalid(place, "`.NaN` and `.xorsign.abs` are for single precision")
                    .found("`.f64`")
                    .expected("`.f32`"));
            }
            let words = FloatWords { ftz, ..FloatWords::default() };
            let mode = words.mode(ty, place)?;
            let op = if min { FloatOp::Min { nan, xorsign_abs } } else { FloatOp::Max { nan, xorsign_abs } };
            return self.binary(i, ty, Op::Float(op, ty, mode));
        }
        if ftz || nan || xorsign_abs {
            return Err(Diagnostic::invalid(place, "floating-point modifier on an integer type")
                .found(format!("`.{}`", word(ty)))
                .expected("`.f32` or `.f64`"));
        }
        let op = match (min, relu) {
            (true, false) => IntOp::Min,
            (true, true) => IntOp::MinRelu,
            (false, false) => IntOp::Max,
            (false, true) => IntOp::MaxRelu,
        };
        self.binary(i, ty, Op::Int(op, ty))
    }

    /// `min`, `max` of three singles.
    fn min_max_of_three(
        &mut self,
        i: &'a Instruction,
        m: &mut Modifiers<'_>,
        mut op: Op,
    ) -> Result<(), Fail> {
        if let Op::Extremum3 { abs, .. } = &mut op {
            *abs = m.flag("abs");
        }
        let ty = m.ty(&[Ty::F32])?;
        m.finish()?;
        self.ternary(i, ty, op)
    }

    /// `abs`, `neg`.
    pub(super) fn abs_neg(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let abs = self.text(i.opcode) == "abs";
        let ftz = m.flag("ftz");
        let place = m.place();
        let ty =
            m.ty(&[Ty::S16, Ty::S32, Ty::S64, Ty::F32, Ty::F64, Ty::F16, Ty::F16x2, Ty::Bf16, Ty::Bf16x2])?;
        m.finish()?;
        let words = FloatWords { ftz, ..FloatWords::default() };
        if ty.is_float() {
            let mode = words.mode(ty, place)?;
            return self.unary(
                i,
                ty,
                Op::FloatUnary(if abs { FloatUnary::Abs } else { FloatUnary::Neg }, ty, mode),
            );
        }
        words.integer(ty, place)?;
        self.unary(i, ty, Op::IntUnary(if abs { IntUnary::Abs } else { IntUnary::Neg }, ty))
    }

    /// `sad`.
    pub(super) fn sad(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let ty = m.ty(&INTEGERS)?;
        m.finish()?;
        let [d, a, b, c] = operands(i)?;
        let unsigned = match ty {
            Ty::S16 => Ty::U16,
            Ty::S32 => Ty::U32,
            Ty::S64 => Ty::U64,
            other => other,
        };
        let (d, a, b, c) =
            (self.dst(d, unsigned)?, self.src(a, ty)?, self.src(b, ty)?, self.src(c, unsigned)?);
        self.emit(Op::Sad(ty), &[d], &[a, b, c]);
        Ok(())
    }

    /// `dp4a`, `dp2a`.
    pub(super) fn dot(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let four = self.text(i.opcode) == "dp4a";
        let hi = !four && m.require(&[("lo", false), ("hi", true)])?;
        let a_signed = m.ty(&[Ty::U32, Ty::S32])?.is_signed();
        let b_signed = m.ty(&[Ty::U32, Ty::S32])?.is_signed();
        m.finish()?;
        let op = if four { Op::Dp4a { a_signed, b_signed } } else { Op::Dp2a { a_signed, b_signed, hi } };
        self.ternary(i, Ty::B32, op)
    }
}
