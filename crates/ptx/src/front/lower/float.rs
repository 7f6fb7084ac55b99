//! Floating-point arithmetic.

use super::builder::Builder;
use super::operand::{count, operands};
use crate::front::ast::{Instruction, Operand, Place};
use crate::front::check::{Modifiers, word};
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::ir::{VDst, VSrc};
use crate::isa::{FloatMode, FloatOp, FloatUnary, Op, Rounding, Signs, TestP, Ty};

/// Roundings to a floating-point value.
pub(super) const ROUNDINGS: [(&str, Rounding); 4] =
    [("rn", Rounding::Rn), ("rz", Rounding::Rz), ("rm", Rounding::Rm), ("rp", Rounding::Rp)];

/// The words that may stand before the type of an arithmetic instruction.
#[derive(Clone, Copy, Default)]
pub(super) struct FloatWords {
    pub rounding: Option<Rounding>,
    pub ftz: bool,
    pub sat: bool,
}

impl FloatWords {
    /// Takes rounding, `.ftz` and `.sat` in this order.
    pub(super) fn take(m: &mut Modifiers<'_>) -> Self {
        FloatWords { rounding: m.pick(&ROUNDINGS), ftz: m.flag("ftz"), sat: m.flag("sat") }
    }

    /// The mode on a floating-point type: `.ftz` and `.sat` are not for f64 and bf16, and halves round to
    /// nearest only.
    pub(super) fn mode(self, ty: Ty, place: Place) -> Result<FloatMode, Fail> {
        if ty == Ty::F64 && (self.ftz || self.sat) {
            return Err(Diagnostic::invalid(place, "`.ftz` and `.sat` are for single precision")
                .found("`.f64`")
                .expected("`.f32`"));
        }
        if matches!(ty, Ty::Bf16 | Ty::Bf16x2) && (self.ftz || self.sat) {
            return Err(Diagnostic::invalid(place, "`.ftz` and `.sat` do not go with this type")
                .found(format!("`.{}`", word(ty)))
                .expected("`.f16`, `.f16x2` or `.f32`"));
        }
        if ty.is_half() && !matches!(self.rounding, None | Some(Rounding::Rn)) {
            return Err(Diagnostic::invalid(place, "rounding does not go with this type")
                .found(format!("`.{}`", word(ty)))
                .expected("`.f32` or `.f64`, or `.rn`"));
        }
        let rounding = self.rounding.unwrap_or(Rounding::Rn);
        Ok(FloatMode { rounding, ftz: self.ftz, sat: self.sat, ..FloatMode::DEFAULT })
    }

    /// The mode of an instruction that takes halves and gives a single: no `.ftz` (PTX ISA, "Mixed Precision
    /// Floating-Point Instructions").
    pub(super) fn mixed(self, place: Place) -> Result<FloatMode, Fail> {
        if self.ftz {
            return Err(
                Diagnostic::invalid(place, "`.ftz` does not go with mixed precision").expected("no `.ftz`")
            );
        }
        self.mode(Ty::F32, place)
    }

    /// Whether an integer operation saturates: only `.s32` may, and nothing else goes with integers.
    pub(super) fn integer(self, ty: Ty, place: Place) -> Result<bool, Fail> {
        if self.rounding.is_some() || self.ftz || self.sat && ty != Ty::S32 {
            let expected = if self.sat { "`.s32` or `.f32`" } else { "`.f32` or `.f64`" };
            return Err(Diagnostic::invalid(place, "modifier does not go with this type")
                .found(format!("`.{}`", word(ty)))
                .expected(expected));
        }
        Ok(self.sat)
    }
}

impl<'a> Builder<'a> {
    /// `fma`, and `mad` on floating-point types.
    pub(super) fn fma(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        if m.contains("oob") {
            return Err(self.unsupported(i, "`.oob`"));
        }
        let words = FloatWords::take(m);
        let relu = !words.sat && m.silently(&[("relu", ())]).is_some();
        let place = m.place();
        let halves = [Ty::F16, Ty::F16x2, Ty::Bf16, Ty::Bf16x2];
        let fused = self.text(i.opcode) == "fma";
        let ty = match (fused, relu) {
            (true, true) => m.ty(&halves)?,
            (true, false) => m.ty(&[Ty::F32, Ty::F64, Ty::F16, Ty::F16x2, Ty::Bf16, Ty::Bf16x2])?,
            (false, _) => m.ty(&[Ty::F32, Ty::F64])?,
        };
        if words.rounding.is_none() && (fused || ty == Ty::F64) {
            return Err(Diagnostic::invalid(
                place,
                format!("rounding missing from `{}`", self.text(i.opcode)),
            )
            .found(format!("`.{}`", word(ty)))
            .expected("`.rn`, `.rz`, `.rm`, `.rp`"));
        }
        if ty == Ty::F32 && fused && m.peek().is_some() {
            return self.mixed_fma(i, m, words);
        }
        m.finish()?;
        let mode = FloatMode { relu, ..words.mode(ty, place)? };
        self.ternary(i, ty, Op::Fma(ty, mode, Signs::PLUS))
    }

    /// `add.f32.f16 d, a, c` and its kin: the halves are widened, which is exact, and the rest is f32.
    pub(super) fn mixed_sum(
        &mut self,
        i: &'a Instruction,
        m: &mut Modifiers<'_>,
        words: FloatWords,
    ) -> Result<(), Fail> {
        let op = if self.text(i.opcode) == "add" { FloatOp::Add } else { FloatOp::Sub };
        let place = m.place();
        let narrow = m.ty(&[Ty::F16, Ty::Bf16])?;
        m.finish()?;
        let mode = words.mixed(place)?;
        let [d, a, c] = operands(i)?;
        let (a, c) = (self.widened(a, narrow)?, self.src(c, Ty::F32)?);
        let d = self.dst(d, Ty::F32)?;
        self.emit(Op::Float(op, Ty::F32, mode), &[d], &[a, c]);
        Ok(())
    }

    /// `fma.rn.f32.f16 d, a, b, c`.
    fn mixed_fma(
        &mut self,
        i: &'a Instruction,
        m: &mut Modifiers<'_>,
        words: FloatWords,
    ) -> Result<(), Fail> {
        let place = m.place();
        let narrow = m.ty(&[Ty::F16, Ty::Bf16])?;
        m.finish()?;
        let mode = words.mixed(place)?;
        let [d, a, b, c] = operands(i)?;
        let (a, b) = (self.widened(a, narrow)?, self.widened(b, narrow)?);
        let (c, d) = (self.src(c, Ty::F32)?, self.dst(d, Ty::F32)?);
        self.emit(Op::Fma(Ty::F32, mode, Signs::PLUS), &[d], &[a, b, c]);
        Ok(())
    }

    /// A half as a single.
    fn widened(&mut self, operand: &'a Operand, narrow: Ty) -> Result<VSrc, Fail> {
        let (value, wide) = (self.src(operand, narrow)?, self.fresh(Ty::F32));
        let op = Op::Cvt { to: Ty::F32, from: narrow, mode: FloatMode::DEFAULT };
        self.emit_always(op, &[VDst::Reg(wide)], &[value]);
        Ok(VSrc::Reg(wide, false))
    }

    /// `add`, `sub`, `mul`, `fma` of two singles in a 64-bit register: an instruction each, as no class of a
    /// machine does both at once.
    pub(super) fn singles(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let words = FloatWords { rounding: m.pick(&ROUNDINGS), ftz: m.flag("ftz"), sat: false };
        let place = m.place();
        m.require(&[("f32x2", ())])?;
        m.finish()?;
        let mode = words.mode(Ty::F32, place)?;
        let op = match self.text(i.opcode) {
            "add" => Op::Float(FloatOp::Add, Ty::F32, mode),
            "sub" => Op::Float(FloatOp::Sub, Ty::F32, mode),
            "mul" => Op::Float(FloatOp::Mul, Ty::F32, mode),
            _ if words.rounding.is_none() => {
                return Err(Diagnostic::invalid(place, "rounding missing from `fma`")
                    .found("`.f32x2`")
                    .expected("`.rn`, `.rz`, `.rm`, `.rp`"));
            }
            _ => Op::Fma(Ty::F32, mode, Signs::PLUS),
        };
        let expected = if matches!(op, Op::Fma(..)) { 4 } else { 3 };
        if i.operands.len() != expected {
            return Err(count(i, &expected.to_string()));
        }
        let (mut low, mut high) = (Vec::new(), Vec::new());
        for operand in &i.operands[1..] {
            let (pair, pieces) = (self.src(operand, Ty::B64)?, [self.fresh(Ty::F32), self.fresh(Ty::F32)]);
            self.emit_always(Op::Unpack { whole: Ty::B64, pieces: 2 }, &pieces.map(VDst::Reg), &[pair]);
            low.push(VSrc::Reg(pieces[0], false));
            high.push(VSrc::Reg(pieces[1], false));
        }
        let results = [self.fresh(Ty::F32), self.fresh(Ty::F32)];
        self.emit_always(op, &[VDst::Reg(results[0])], &low);
        self.emit_always(op, &[VDst::Reg(results[1])], &high);
        let d = self.dst(&i.operands[0], Ty::B64)?;
        let results = results.map(|register| VSrc::Reg(register, false));
        self.emit(Op::Pack { whole: Ty::B64, pieces: 2 }, &[d], &results);
        Ok(())
    }

    /// `div`: integers have no rounding.
    pub(super) fn div(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        if m.peek().is_some_and(|word| word.starts_with(['u', 's'])) {
            return self.int_divide(i, m, crate::isa::IntOp::Div);
        }
        let approximation = m.pick(&[("approx", FloatOp::DivApprox), ("full", FloatOp::DivFull)]);
        let approximate = approximation.is_some();
        let words = FloatWords { rounding: m.pick(&ROUNDINGS), ftz: m.flag("ftz"), sat: false };
        let place = m.place();
        if !approximate && words.rounding.is_none() {
            return Err(m.wrong());
        }
        let ty = m.ty(if approximate { &[Ty::F32] } else { &[Ty::F32, Ty::F64] })?;
        m.finish()?;
        let op = approximation.unwrap_or(FloatOp::Div);
        let mode = words.mode(ty, place)?;
        self.binary(i, ty, Op::Float(op, ty, mode))
    }

    /// `rcp`, `sqrt`: approximate or correctly rounded.
    pub(super) fn rcp_sqrt(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let rcp = self.text(i.opcode) == "rcp";
        let approximate = m.flag("approx");
        let rounding = if approximate { Rounding::Rn } else { m.require(&ROUNDINGS)? };
        let ftz = m.flag("ftz");
        let ty = match (approximate, rcp, ftz) {
            // The one approximate double: `rcp.approx.ftz.f64`.
            (true, true, true) | (false, _, false) => m.ty(&[Ty::F32, Ty::F64])?,
            _ => m.ty(&[Ty::F32])?,
        };
        m.finish()?;
        let op = match (rcp, approximate) {
            (true, true) => FloatUnary::RcpApprox,
            (true, false) => FloatUnary::Rcp,
            (false, true) => FloatUnary::SqrtApprox,
            (false, false) => FloatUnary::Sqrt,
        };
        self.unary(i, ty, Op::FloatUnary(op, ty, FloatMode { rounding, ftz, ..FloatMode::DEFAULT }))
    }

    /// `rsqrt`, `sin`, `cos`, `lg2`, `ex2`, `tanh`.
    pub(super) fn approximate(
        &mut self,
        i: &'a Instruction,
        m: &mut Modifiers<'_>,
        op: FloatUnary,
    ) -> Result<(), Fail> {
        m.require(&[("approx", ())])?;
        let ftz = op != FloatUnary::TanhApprox && m.flag("ftz");
        let ty = match op {
            FloatUnary::RsqrtApprox => m.ty(&[Ty::F32, Ty::F64])?,
            // Of the halves f16 keeps subnormals, bf16 does not.
            FloatUnary::Ex2Approx if ftz => m.ty(&[Ty::F32, Ty::Bf16, Ty::Bf16x2])?,
            FloatUnary::Ex2Approx => m.ty(&[Ty::F32, Ty::F16, Ty::F16x2])?,
            FloatUnary::TanhApprox => m.ty(&[Ty::F32, Ty::F16, Ty::F16x2, Ty::Bf16, Ty::Bf16x2])?,
            _ => m.ty(&[Ty::F32])?,
        };
        m.finish()?;
        self.unary(i, ty, Op::FloatUnary(op, ty, FloatMode { ftz, ..FloatMode::DEFAULT }))
    }

    /// `copysign`.
    pub(super) fn copysign(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let ty = m.ty(&[Ty::F32, Ty::F64])?;
        m.finish()?;
        self.binary(i, ty, Op::Float(FloatOp::Copysign, ty, FloatMode::DEFAULT))
    }

    /// `testp`.
    pub(super) fn testp(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let test = m.require(&[
            ("finite", TestP::Finite),
            ("infinite", TestP::Infinite),
            ("number", TestP::Number),
            ("notanumber", TestP::NotANumber),
            ("normal", TestP::Normal),
            ("subnormal", TestP::Subnormal),
        ])?;
        let ty = m.ty(&[Ty::F32, Ty::F64])?;
        m.finish()?;
        let [d, a] = operands(i)?;
        let (d, a) = (self.dst(d, Ty::Pred)?, self.src(a, ty)?);
        self.emit(Op::TestP(test, ty), &[d], &[a]);
        Ok(())
    }
}
