//! Exchanges between the lanes of a warp.

use super::atomic::OPERATIONS;
use super::builder::Builder;
use super::operand::{count, operands};
use crate::front::ast::{Instruction, OperandKind};
use crate::front::check::Modifiers;
use crate::front::diagnostic::Fail;
use crate::ir::{Constant, VDst, VSrc};
use crate::isa::{AtomicOp, Op, Shuffle, Ty, Vote};

/// The members of an old form without `.sync`: every active lane.
const EVERYONE: VSrc = VSrc::Const(Constant::Bits(0xffff_ffff));

impl<'a> Builder<'a> {
    /// `shfl`.
    pub(super) fn shfl(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let sync = m.flag("sync");
        let mode = m.require(&[
            ("up", Shuffle::Up),
            ("down", Shuffle::Down),
            ("bfly", Shuffle::Bfly),
            ("idx", Shuffle::Idx),
        ])?;
        let ty = m.ty(&[Ty::B32])?;
        m.finish()?;
        let expected = 4 + usize::from(sync);
        if i.operands.len() != expected {
            return Err(count(i, &expected.to_string()));
        }
        let (d, p) = Self::dst_pair(&i.operands[0]);
        let mut dst = vec![self.dst_or_sink(d, ty)?];
        if p.is_some() {
            dst.push(self.optional_predicate(p)?);
        }
        let mut src = vec![self.src(&i.operands[1], ty)?];
        for operand in &i.operands[2..] {
            src.push(self.src(operand, Ty::U32)?);
        }
        if !sync {
            src.push(EVERYONE);
        }
        self.emit(Op::Shfl(mode), &dst, &src);
        Ok(())
    }

    /// `vote`.
    pub(super) fn vote(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let sync = m.flag("sync");
        let vote = m.require(&[
            ("all", Vote::All),
            ("any", Vote::Any),
            ("uni", Vote::Uni),
            ("ballot", Vote::Ballot),
        ])?;
        let ty = m.ty(if vote == Vote::Ballot { &[Ty::B32] } else { &[Ty::Pred] })?;
        m.finish()?;
        let expected = 2 + usize::from(sync);
        if i.operands.len() != expected {
            return Err(count(i, &expected.to_string()));
        }
        let (d, a) = (self.dst(&i.operands[0], ty)?, self.src(&i.operands[1], Ty::Pred)?);
        let members = i.operands.get(2).map_or(Ok(EVERYONE), |mask| self.src(mask, Ty::U32))?;
        self.emit(Op::Vote(vote), &[d], &[a, members]);
        Ok(())
    }

    /// `match`.
    pub(super) fn matching(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let all = m.require(&[("any", false), ("all", true)])?;
        m.require(&[("sync", ())])?;
        let ty = m.ty(&[Ty::B32, Ty::B64])?;
        m.finish()?;
        let [d, a, mask] = operands(i)?;
        let (d, p) = Self::dst_pair(d);
        if let (Some(p), false) = (p, all) {
            return Err(self.wrong_kind(p, "no predicate with `.any`"));
        }
        let mut dst = vec![self.dst_or_sink(d, Ty::B32)?];
        if p.is_some() {
            dst.push(self.optional_predicate(p)?);
        }
        let (a, mask) = (self.src(a, ty)?, self.src(mask, Ty::U32)?);
        self.emit(Op::Match { ty, all }, &dst, &[a, mask]);
        Ok(())
    }

    /// `activemask`.
    pub(super) fn activemask(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        m.ty(&[Ty::B32])?;
        m.finish()?;
        let [d] = operands(i)?;
        let d = self.dst(d, Ty::B32)?;
        self.emit(Op::Activemask, &[d], &[]);
        Ok(())
    }

    /// `redux.sync`.
    pub(super) fn redux(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        m.require(&[("sync", ())])?;
        if m.contains("f32") {
            return self.redux_float(i, m);
        }
        // The first six of the atomics' operations: add to xor.
        let op = m.require(&OPERATIONS[..6])?;
        let bits = matches!(op, AtomicOp::And | AtomicOp::Or | AtomicOp::Xor);
        let ty = m.ty(if bits { &[Ty::B32] } else { &[Ty::U32, Ty::S32] })?;
        m.finish()?;
        let [d, a, mask] = operands(i)?;
        let (d, a, mask) = (self.dst(d, ty)?, self.src(a, ty)?, self.src(mask, Ty::U32)?);
        self.emit(Op::Redux { op, ty }, &[d], &[a, mask]);
        Ok(())
    }

    /// `redux.sync` of f32.
    fn redux_float(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let largest = m.require(&[("min", false), ("max", true)])?;
        let (abs, nan) = (m.flag("abs"), m.flag("NaN"));
        let ty = m.ty(&[Ty::F32])?;
        m.finish()?;
        let [d, a, mask] = operands(i)?;
        let (d, a, mask) = (self.dst(d, ty)?, self.src(a, ty)?, self.src(mask, Ty::U32)?);
        self.emit(Op::ReduxFloat { largest, nan, abs }, &[d], &[a, mask]);
        Ok(())
    }

    /// `elect.sync`.
    pub(super) fn elect(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        m.require(&[("sync", ())])?;
        m.finish()?;
        let [d, mask] = operands(i)?;
        let OperandKind::Pair(pair) = &d.kind else { return Err(self.wrong_kind(d, "a pair `d|p`")) };
        let lane = self.dst_or_sink(&pair.0, Ty::B32)?;
        let p = self.dst_or_sink(&pair.1, Ty::Pred)?;
        let mask = self.src(mask, Ty::U32)?;
        let dst: [VDst; 2] = [lane, p];
        self.emit(Op::Elect, &dst, &[mask]);
        Ok(())
    }
}
