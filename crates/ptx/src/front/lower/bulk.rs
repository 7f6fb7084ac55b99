//! Bulk copies: `cp.async.bulk`, `cp.reduce.async.bulk`, with and without tensors.

use super::address::plus;
use super::builder::Builder;
use super::memory::hints;
use super::operand::{count, operands};
use crate::front::ast::{Instruction, Operand, OperandKind, Value};
use crate::front::check::Modifiers;
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::ir::{VDst, VSrc};
use crate::isa::{AtomicOp, BulkCopy, BulkPrefetch, BulkWay, FloatMode, IntOp, Op, Space, Ty};

const DIMENSIONS: [(&str, u8); 5] = [("1d", 1), ("2d", 2), ("3d", 3), ("4d", 4), ("5d", 5)];

const SHARED: [(&str, ()); 2] = [("shared::cluster", ()), ("shared::cta", ())];

/// What `cp.reduce.async.bulk` and `red.async` do with the bytes that are there.
pub(super) const REDUCTIONS: [(&str, AtomicOp); 8] = [
    ("add", AtomicOp::Add),
    ("min", AtomicOp::Min),
    ("max", AtomicOp::Max),
    ("inc", AtomicOp::Inc),
    ("dec", AtomicOp::Dec),
    ("and", AtomicOp::And),
    ("or", AtomicOp::Or),
    ("xor", AtomicOp::Xor),
];

/// Types that a reduction of plain bytes takes.
fn reduces(op: AtomicOp, ty: Ty, way: BulkWay) -> bool {
    let is_global = way == BulkWay::Store;
    match op {
        AtomicOp::Add => match ty {
            Ty::U32 | Ty::S32 | Ty::U64 => true,
            Ty::F32 | Ty::F64 | Ty::F16 | Ty::Bf16 => is_global,
            _ => false,
        },
        AtomicOp::Min | AtomicOp::Max => match ty {
            Ty::U32 | Ty::S32 => true,
            Ty::U64 | Ty::S64 | Ty::F16 | Ty::Bf16 => is_global,
            _ => false,
        },
        AtomicOp::Inc | AtomicOp::Dec => ty == Ty::U32,
        AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => ty == Ty::B32 || ty == Ty::B64 && is_global,
        _ => false,
    }
}

impl<'a> Builder<'a> {
    /// `cp.async.bulk` and `cp.reduce.async.bulk`.
    pub(super) fn bulk(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let is_reduction = m.flag("reduce");
        m.require(&[("async", ())])?;
        m.require(&[("bulk", ())])?;
        if m.flag("commit_group") {
            return self.bare(i, m, Op::BulkCommit);
        }
        if m.flag("wait_group") {
            return self.bulk_wait(i, m);
        }
        let is_prefetch = m.flag("prefetch");
        let dimensions = if m.flag("tensor") { m.require(&DIMENSIONS)? } else { 0 };
        if is_prefetch {
            return self.bulk_prefetch(i, m, dimensions);
        }
        let refused = ["cp_mask", "ignore_oob", "cta_group::1", "cta_group::2"];
        let modes =
            ["im2col", "im2col_no_offs", "im2col::w", "im2col::w::128", "tile::gather4", "tile::scatter4"];
        if refused.iter().chain(&modes).any(|word| m.contains(word)) {
            return Err(self.unsupported(i, "this copy"));
        }
        let to_global = m.pick(&[("global", ())]).is_some() && {
            // The first state space is where the bytes go.
            i.modifiers.iter().map(|word| self.text(word.name)).find(|word| is_space(word)) == Some("global")
        };
        let way = if to_global {
            m.require(&[("shared::cta", ())])?;
            m.require(&[("bulk_group", ())])?;
            BulkWay::Store
        } else {
            m.require(&SHARED)?;
            let across = !m.contains("global");
            if across {
                m.require(&[("shared::cta", ())])?;
            }
            m.require(&[("mbarrier::complete_tx::bytes", ())])?;
            if across { BulkWay::Across } else { BulkWay::Load }
        };
        if dimensions > 0 {
            m.flag("tile");
        }
        let multicast = way == BulkWay::Load && m.flag("multicast::cluster");
        let policy = usize::from(hints(m));
        let reduce = if is_reduction {
            let place = m.place();
            let op = m.require(&REDUCTIONS)?;
            let ty = if dimensions == 0 {
                m.flag("noftz");
                let types = [
                    Ty::U32,
                    Ty::S32,
                    Ty::B32,
                    Ty::U64,
                    Ty::S64,
                    Ty::B64,
                    Ty::F16,
                    Ty::Bf16,
                    Ty::F32,
                    Ty::F64,
                ];
                m.ty(&types)?
            } else {
                Ty::U32
            };
            if way == BulkWay::Load || dimensions == 0 && !reduces(op, ty, way) {
                return Err(Diagnostic::invalid(place, "reduction that does not exist")
                    .found(self.name_of(i))
                    .expected("an operation and type of the PTX ISA's table for `cp.reduce.async.bulk`"));
            }
            Some((op, ty))
        } else {
            None
        };
        m.finish()?;
        let copy = BulkCopy { way, dimensions, reduce, multicast };
        self.bulk_copy(i, copy, policy)
    }

    fn bulk_copy(&mut self, i: &'a Instruction, copy: BulkCopy, policy: usize) -> Result<(), Fail> {
        let BulkCopy { way, dimensions, multicast, .. } = copy;
        let of_barrier = usize::from(way != BulkWay::Store);
        let wanted = 2 + usize::from(dimensions == 0) + of_barrier + usize::from(multicast) + policy;
        if i.operands.len() != wanted {
            return Err(count(i, &wanted.to_string()));
        }
        if policy == 1 {
            self.src(&i.operands[wanted - 1], Ty::B64)?;
        }
        let (to, from) = (&i.operands[0], &i.operands[1]);
        let rest = &i.operands[2..];
        let (outer, inner) = if way == BulkWay::Store { (to, from) } else { (from, to) };
        let mut src = Vec::new();
        let mut offset = 0;
        let coordinates = if way == BulkWay::Across {
            src.push(self.shared_operand(inner)?);
            src.push(self.shared_operand(outer)?);
            Vec::new()
        } else {
            let (base, by, coordinates) = self.global_side(outer, dimensions)?;
            src.push(base);
            offset = by;
            src.push(self.shared_operand(inner)?);
            coordinates
        };
        let (size, rest) = if dimensions == 0 { (Some(&rest[0]), &rest[1..]) } else { (None, rest) };
        if of_barrier == 1 {
            src.push(self.shared_operand(&rest[0])?);
        }
        match size {
            Some(size) => src.push(self.src(size, Ty::U32)?),
            None => src.extend(coordinates),
        }
        if multicast {
            let mask = self.src(&rest[1], Ty::U16)?;
            let wide = self.fresh(Ty::U32);
            let widen = Op::Cvt { to: Ty::U32, from: Ty::U16, mode: FloatMode::DEFAULT };
            self.emit_always(widen, &[VDst::Reg(wide)], &[mask]);
            src.push(VSrc::Reg(wide, false));
        }
        self.emit(Op::Bulk(copy), &[], &src).offset = offset;
        Ok(())
    }

    /// A global address, or a map's with coordinates.
    fn global_side(&mut self, operand: &Operand, dimensions: u8) -> Result<(VSrc, i64, Vec<VSrc>), Fail> {
        if dimensions == 0 {
            let (base, offset) = self.address(operand, Space::Global)?;
            return Ok((base, offset, Vec::new()));
        }
        let expected = format!("a map's address and a vector of {dimensions} coordinates in brackets");
        let OperandKind::Bracket(list) = &operand.kind else {
            return Err(self.wrong_kind(operand, &expected));
        };
        let [map, place] = list.as_slice() else {
            return Err(self.wrong_kind(operand, &expected));
        };
        let (base, offset) = self.address(map, Space::Generic)?;
        let mut coordinates = Vec::new();
        for element in self.elements(place, dimensions)? {
            coordinates.push(self.src(&element, Ty::S32)?);
        }
        Ok((base, offset, coordinates))
    }

    /// An address in shared memory as one value.
    fn shared_operand(&mut self, operand: &Operand) -> Result<VSrc, Fail> {
        let (base, offset) = self.address(operand, Space::Shared)?;
        let base = match base {
            VSrc::Const(constant) => return Ok(VSrc::Const(plus(constant, offset))),
            VSrc::Reg(register, _) if self.ty(register).bytes() == 8 => {
                let low = self.fresh(Ty::U32);
                let narrow = Op::Cvt { to: Ty::U32, from: Ty::U64, mode: FloatMode::DEFAULT };
                self.emit_always(narrow, &[VDst::Reg(low)], &[base]);
                VSrc::Reg(low, false)
            }
            base => base,
        };
        if offset == 0 {
            return Ok(base);
        }
        let sum = self.fresh(Ty::U32);
        let by = VSrc::Const(crate::ir::Constant::Bits(u64::from(offset as u32)));
        self.emit_always(Op::Int(IntOp::Add, Ty::U32), &[VDst::Reg(sum)], &[base, by]);
        Ok(VSrc::Reg(sum, false))
    }

    fn bulk_wait(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let reads = m.flag("read");
        m.finish()?;
        let [groups] = operands(i)?;
        let pending = match groups.kind {
            OperandKind::Value(Value::Int(value)) => u32::try_from(value).ok(),
            _ => None,
        };
        let Some(pending) = pending else {
            return Err(self.wrong_kind(groups, "a number of groups below 2^32"));
        };
        self.emit(Op::BulkWait { pending, reads }, &[], &[]);
        Ok(())
    }

    /// `cp.async.bulk.prefetch`, which changes no value.
    fn bulk_prefetch(
        &mut self,
        i: &'a Instruction,
        m: &mut Modifiers<'_>,
        dimensions: u8,
    ) -> Result<(), Fail> {
        m.require(&[("L2", ())])?;
        m.require(&[("global", ())])?;
        if dimensions > 0 {
            m.flag("tile");
        }
        let policy = usize::from(hints(m));
        m.finish()?;
        let wanted = 1 + usize::from(dimensions == 0) + policy;
        if i.operands.len() != wanted {
            return Err(count(i, &wanted.to_string()));
        }
        if policy == 1 {
            self.src(&i.operands[wanted - 1], Ty::B64)?;
        }
        let (base, offset, coordinates) = self.global_side(&i.operands[0], dimensions)?;
        let mut src = vec![base];
        if dimensions == 0 {
            src.push(self.src(&i.operands[1], Ty::U32)?);
        } else {
            src.extend(coordinates);
        }
        self.emit(Op::BulkPrefetch(BulkPrefetch { dimensions }), &[], &src).offset = offset;
        Ok(())
    }
}

/// Whether a modifier is the state space of one side of a copy.
fn is_space(word: &str) -> bool {
    matches!(word, "global" | "shared::cta" | "shared::cluster")
}
