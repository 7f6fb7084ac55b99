//! Clusters: addresses in the shared memory of their CTAs, their barrier, and stores that a barrier counts.
//!
//! An address in the shared memory of a CTA of the cluster has the CTA's number plus one above its place there
//! ([`CTA_SHARED_BITS`]); without a number it is of the CTA itself. So `mapa` and `getctarank` are integer arithmetic.

use super::builder::Builder;
use super::bulk::REDUCTIONS;
use super::operand::operands;
use crate::exec::memory::CTA_SHARED_BITS;
use crate::front::ast::{Instruction, Operand};
use crate::front::check::Modifiers;
use crate::front::diagnostic::Fail;
use crate::ir::{Constant, VDst, VSrc, window};
use crate::isa::{
    AtomicOp, CacheOp, Compare, FloatMode, IntOp, Logic, Mbarrier, MbarrierOp, MemoryMode, Op, Ordering,
    Part, Scope, Space, Special, Ty,
};

const CLUSTER: (&str, ()) = ("shared::cluster", ());

const fn constant(bits: u64) -> VSrc {
    VSrc::Const(Constant::Bits(bits))
}

impl<'a> Builder<'a> {
    /// `barrier.cluster.arrive`, `barrier.cluster.wait`. What they order is in order: CTAs of a cluster share an SM.
    pub(super) fn cluster_barrier(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let op = m.require(&[("arrive", Op::ClusterArrive), ("wait", Op::ClusterWait)])?;
        if op == Op::ClusterArrive {
            m.pick(&[("release", ()), ("relaxed", ())]);
        } else {
            m.flag("acquire");
        }
        m.flag("aligned");
        self.bare(i, m, op)
    }

    /// `mapa`: the address of the same place in another CTA of the cluster.
    pub(super) fn map_address(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let is_shared = m.pick(&[CLUSTER]).is_some();
        let ty = m.ty(&[Ty::U32, Ty::U64])?;
        m.finish()?;
        let [d, address, rank] = operands(i)?;
        let d = self.dst(d, ty)?;
        let within = self.low_word(address, ty)?;
        let rank = self.src(rank, Ty::U32)?;
        let (place, number, mapped) = (self.fresh(Ty::U32), self.fresh(Ty::U32), self.fresh(Ty::U32));
        let one = 1 << CTA_SHARED_BITS;
        self.emit(Op::Logic(Logic::And, Ty::B32), &[VDst::Reg(place)], &[within, constant(one - 1)]);
        let shifted = Op::Mad { part: Part::Lo, ty: Ty::U32, sat: false };
        self.emit(shifted, &[VDst::Reg(number)], &[rank, constant(one), constant(one)]);
        let parts = [VSrc::Reg(place, false), VSrc::Reg(number, false)];
        if ty == Ty::U32 {
            self.emit(Op::Logic(Logic::Or, Ty::B32), &[d], &parts);
            return Ok(());
        }
        self.emit(Op::Logic(Logic::Or, Ty::B32), &[VDst::Reg(mapped)], &parts);
        let wide = self.fresh(Ty::U64);
        let widen = Op::Cvt { to: Ty::U64, from: Ty::U32, mode: FloatMode::DEFAULT };
        self.emit(widen, &[VDst::Reg(wide)], &[VSrc::Reg(mapped, false)]);
        let window = constant(if is_shared { 0 } else { window::SHARED });
        self.emit(Op::Int(IntOp::Add, Ty::U64), &[d], &[VSrc::Reg(wide, false), window]);
        Ok(())
    }

    /// `getctarank`: the CTA that an address in the cluster's shared memory is of.
    pub(super) fn cta_rank(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        m.pick(&[CLUSTER]);
        let ty = m.ty(&[Ty::U32, Ty::U64])?;
        m.finish()?;
        let [d, address] = operands(i)?;
        let d = self.dst(d, Ty::U32)?;
        let low = self.low_word(address, ty)?;
        let (number, own, rank) = (self.fresh(Ty::U32), self.fresh(Ty::U32), self.fresh(Ty::U32));
        let shift = constant(CTA_SHARED_BITS.into());
        self.emit(Op::Shr(Ty::U32), &[VDst::Reg(number)], &[low, shift]);
        let number = VSrc::Reg(number, false);
        let names_one = self.fresh(Ty::Pred);
        let differs = Op::Setp { cmp: Compare::Ne, ty: Ty::U32, combine: None, ftz: false };
        self.emit(differs, &[VDst::Reg(names_one)], &[number, constant(0)]);
        self.emit(Op::ReadSpecial(Special::ClusterCtarank), &[VDst::Reg(own)], &[]);
        self.emit(Op::Int(IntOp::Sub, Ty::U32), &[VDst::Reg(rank)], &[number, constant(1)]);
        let sources = [VSrc::Reg(rank, false), VSrc::Reg(own, false), VSrc::Reg(names_one, false)];
        self.emit(Op::Select(Ty::U32), &[d], &sources);
        Ok(())
    }

    /// The low word of an address, a variable's included.
    fn low_word(&mut self, operand: &Operand, ty: Ty) -> Result<VSrc, Fail> {
        let address = self.src(operand, ty)?;
        if ty == Ty::U32 {
            return Ok(address);
        }
        let low = self.fresh(Ty::U32);
        let narrow = Op::Cvt { to: Ty::U32, from: Ty::U64, mode: FloatMode::DEFAULT };
        self.emit(narrow, &[VDst::Reg(low)], &[address]);
        Ok(VSrc::Reg(low, false))
    }

    /// `st.async`: a store in the cluster's shared memory, whose bytes a barrier counts.
    pub(super) fn store_async(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        m.require(&[("async", ())])?;
        if m.contains("mmio") || m.contains("release") || m.contains("relaxed") {
            return Err(self.unsupported(i, "this store"));
        }
        m.flag("weak");
        m.pick(&[CLUSTER]);
        m.require(&[("mbarrier::complete_tx::bytes", ())])?;
        let vector = m.pick(&[("v2", 2), ("v4", 4)]).unwrap_or(1);
        let ty = m.ty(&[Ty::B32, Ty::U32, Ty::S32, Ty::F32, Ty::B64, Ty::U64, Ty::S64, Ty::F64])?;
        m.finish()?;
        let [to, value, barrier] = operands(i)?;
        let bytes = ty.bytes() * usize::from(vector);
        let mode = shared_mode(ty, vector);
        let (base, offset) = self.address(to, Space::Shared)?;
        let mut src = vec![base];
        for element in self.elements(value, vector)? {
            src.push(self.src(&element, ty)?);
        }
        self.emit(Op::Store(mode), &[], &src).offset = offset;
        self.counted(barrier, bytes)
    }

    /// `red.async`: a reduction in the cluster's shared memory, whose bytes a barrier counts.
    pub(super) fn reduce_async(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        m.require(&[("async", ())])?;
        if m.contains("mmio") || m.contains("release") {
            return Err(self.unsupported(i, "this reduction"));
        }
        m.flag("relaxed");
        m.flag("cluster");
        m.pick(&[CLUSTER]);
        m.require(&[("mbarrier::complete_tx::bytes", ())])?;
        let op = m.require(&REDUCTIONS)?;
        let ty = m.ty(match op {
            AtomicOp::Add => &[Ty::U32, Ty::S32, Ty::U64],
            AtomicOp::Min | AtomicOp::Max => &[Ty::U32, Ty::S32],
            AtomicOp::Inc | AtomicOp::Dec => &[Ty::U32],
            _ => &[Ty::B32],
        })?;
        m.finish()?;
        let [to, value, barrier] = operands(i)?;
        let (base, offset) = self.address(to, Space::Shared)?;
        let value = self.src(value, ty)?;
        let mode = MemoryMode { ordering: Ordering::Relaxed, ..shared_mode(ty, 1) };
        self.emit(Op::Reduce { op, mode }, &[], &[base, value]).offset = offset;
        self.counted(barrier, ty.bytes())
    }

    /// A barrier counts bytes that are where they belong: shared memory takes what it gets in order.
    fn counted(&mut self, barrier: &Operand, bytes: usize) -> Result<(), Fail> {
        let (base, offset) = self.address(barrier, Space::Shared)?;
        let op = Op::Mbarrier(Mbarrier { op: MbarrierOp::Complete, space: Space::Shared });
        self.emit(op, &[], &[base, constant(bytes as u64)]).offset = offset;
        Ok(())
    }
}

const fn shared_mode(ty: Ty, vector: u8) -> MemoryMode {
    MemoryMode {
        space: Space::Shared,
        ty,
        vector,
        cache: CacheOp::All,
        ordering: Ordering::Weak,
        scope: Scope::Cta,
    }
}
