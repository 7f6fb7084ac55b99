//! Comparisons and selections.

use super::builder::Builder;
use super::operand::{count, operands};
use crate::front::ast::{Instruction, OperandKind};
use crate::front::check::{Modifiers, is_untyped, word};
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::isa::{BoolOp, Compare, Op, Ty};

/// The first six are those of signed integers.
pub(super) const COMPARISONS: [(&str, Compare); 18] = [
    ("eq", Compare::Eq),
    ("ne", Compare::Ne),
    ("lt", Compare::Lt),
    ("le", Compare::Le),
    ("gt", Compare::Gt),
    ("ge", Compare::Ge),
    ("lo", Compare::Lt),
    ("ls", Compare::Le),
    ("hi", Compare::Gt),
    ("hs", Compare::Ge),
    ("equ", Compare::Equ),
    ("neu", Compare::Neu),
    ("ltu", Compare::Ltu),
    ("leu", Compare::Leu),
    ("gtu", Compare::Gtu),
    ("geu", Compare::Geu),
    ("num", Compare::Num),
    ("nan", Compare::Nan),
];

const COMBINATIONS: [(&str, BoolOp); 3] = [("and", BoolOp::And), ("or", BoolOp::Or), ("xor", BoolOp::Xor)];

const COMPARED: [Ty; 15] = [
    Ty::B16,
    Ty::B32,
    Ty::B64,
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
];

/// What `set` may write.
const SET: [Ty; 9] = [Ty::U16, Ty::S16, Ty::U32, Ty::S32, Ty::F32, Ty::F16, Ty::F16x2, Ty::Bf16, Ty::Bf16x2];

/// The comparison of `setp` and `set`: operator, combination, `.ftz`.
struct Comparison {
    cmp: Compare,
    combine: Option<BoolOp>,
    ftz: bool,
}

impl Comparison {
    fn take(m: &mut Modifiers<'_>) -> Result<(Self, &'static str), Fail> {
        let (cmp, name) = m.require(&COMPARISONS.map(|(name, cmp)| (name, (cmp, name))))?;
        let combine = m.pick(&COMBINATIONS);
        Ok((Comparison { cmp, combine, ftz: m.flag("ftz") }, name))
    }

    /// Which operators go with which types (PTX ISA, "Comparisons").
    fn check(&self, name: &str, ty: Ty, i: &Instruction) -> Result<(), Fail> {
        use Compare::*;
        let unsigned_name = matches!(name, "lo" | "ls" | "hi" | "hs");
        let ordered = !matches!(self.cmp, Eq | Ne);
        let float_only = matches!(self.cmp, Equ | Neu | Ltu | Leu | Gtu | Geu | Num | Nan) || self.ftz;
        let expected = match ty {
            _ if ty.is_float() && unsigned_name => {
                "`.eq`, `.ne`, `.lt`, `.le`, `.gt`, `.ge` and their unordered forms"
            }
            _ if !ty.is_float() && float_only => {
                "an integer comparison: `.eq`, `.ne`, `.lt`, `.le`, `.gt`, `.ge`"
            }
            Ty::F64 | Ty::Bf16 | Ty::Bf16x2 if self.ftz => "no `.ftz`",
            _ if is_untyped(ty) && ordered => "`.eq` or `.ne`, as bits have no order",
            _ if ty.is_signed() && unsigned_name => "`.eq`, `.ne`, `.lt`, `.le`, `.gt`, `.ge`",
            _ => return Ok(()),
        };
        let place = i.modifiers.first().map_or(i.place, |modifier| modifier.place);
        Err(Diagnostic::invalid(place, "comparison does not go with its type")
            .found(format!("`.{name}` on `.{}`", word(ty)))
            .expected(expected))
    }
}

impl<'a> Builder<'a> {
    /// `setp`.
    pub(super) fn setp(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let (comparison, name) = Comparison::take(m)?;
        let ty = m.ty(&COMPARED)?;
        m.finish()?;
        comparison.check(name, ty, i)?;
        let Comparison { cmp, combine, ftz } = comparison;
        let expected = 3 + usize::from(combine.is_some());
        if i.operands.len() != expected {
            return Err(count(i, &expected.to_string()));
        }
        let (p, q) = Self::dst_pair(&i.operands[0]);
        // Packed halves have two answers; a single half has no complement.
        if ty.is_half() && ty.element().is_some() != q.is_some() {
            let expected = if q.is_some() { "one predicate" } else { "a pair `p|q`" };
            return Err(self.wrong_kind(&i.operands[0], expected));
        }
        let mut dst = vec![self.dst_or_sink(p, Ty::Pred)?];
        if let Some(q) = q {
            dst.push(self.dst_or_sink(q, Ty::Pred)?);
        }
        let mut src = vec![self.src(&i.operands[1], ty)?, self.src(&i.operands[2], ty)?];
        if combine.is_some() {
            src.push(self.src(&i.operands[3], Ty::Pred)?);
        }
        self.emit(Op::Setp { cmp, ty, combine, ftz }, &dst, &src);
        Ok(())
    }

    /// `set`.
    pub(super) fn set(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let (comparison, name) = Comparison::take(m)?;
        let to = m.ty(&SET)?;
        let ty = m.ty(&COMPARED)?;
        m.finish()?;
        let allowed = match ty {
            Ty::F16x2 => [Ty::F16x2, Ty::U32, Ty::S32].as_slice(),
            Ty::Bf16x2 => [Ty::Bf16x2, Ty::U32, Ty::S32].as_slice(),
            Ty::F16 | Ty::Bf16 => [Ty::U16, Ty::S16, Ty::U32, Ty::S32, Ty::F16, Ty::Bf16].as_slice(),
            _ => [Ty::U32, Ty::S32, Ty::F32, Ty::F16, Ty::Bf16].as_slice(),
        };
        if !allowed.contains(&to) {
            let allowed: Vec<String> = allowed.iter().map(|ty| format!("`.{}`", word(*ty))).collect();
            return Err(Diagnostic::invalid(i.place, format!("result of comparing `.{}`", word(ty)))
                .found(format!("`.{}`", word(to)))
                .expected(allowed.join(", ")));
        }
        comparison.check(name, ty, i)?;
        let Comparison { cmp, combine, ftz } = comparison;
        let expected = 3 + usize::from(combine.is_some());
        if i.operands.len() != expected {
            return Err(count(i, &expected.to_string()));
        }
        let d = self.dst(&i.operands[0], to)?;
        let mut src = vec![self.src(&i.operands[1], ty)?, self.src(&i.operands[2], ty)?];
        if combine.is_some() {
            src.push(self.src(&i.operands[3], Ty::Pred)?);
        }
        self.emit(Op::Set { cmp, to, ty, combine, ftz }, &[d], &src);
        Ok(())
    }

    /// `selp`.
    pub(super) fn selp(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let ty = m.ty(&COMPARED[..11])?;
        m.finish()?;
        let [d, a, b, p] = operands(i)?;
        let (d, a, b, p) = (self.dst(d, ty)?, self.src(a, ty)?, self.src(b, ty)?, self.src(p, Ty::Pred)?);
        self.emit(Op::Select(ty), &[d], &[a, b, p]);
        Ok(())
    }

    /// `slct`.
    pub(super) fn slct(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let ftz = m.flag("ftz");
        let ty = m.ty(&COMPARED[..11])?;
        let test = m.ty(if ftz { &[Ty::F32] } else { &[Ty::S32, Ty::F32] })?;
        m.finish()?;
        let [d, a, b, c] = operands(i)?;
        if matches!(c.kind, OperandKind::Not(_)) {
            return Err(self.wrong_kind(c, "a number"));
        }
        let (d, a, b, c) = (self.dst(d, ty)?, self.src(a, ty)?, self.src(b, ty)?, self.src(c, test)?);
        self.emit(Op::SelectSign { ty, test, ftz }, &[d], &[a, b, c]);
        Ok(())
    }
}
