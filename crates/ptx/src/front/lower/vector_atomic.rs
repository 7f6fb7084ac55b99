//! `atom` and `red` of vectors: each element is an atomic of its own (PTX ISA: atomicity holds for each element by itself).

use super::atomic::atomic_mode;
use super::builder::Builder;
use super::memory::hints;
use super::operand::count;
use crate::front::ast::Instruction;
use crate::front::check::Modifiers;
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::ir::{VDst, VSrc};
use crate::isa::{AtomicOp, Op, Space, Ty};

impl<'a> Builder<'a> {
    /// `atom` and `red` with `.v2`, `.v4` or `.v8`.
    pub(super) fn vector_atomic(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let returns = self.text(i.opcode) == "atom";
        if m.contains("min") || m.contains("max") {
            return Err(self.unsupported(i, "minimum or maximum of 16-bit floating-point numbers in memory"));
        }
        let place = m.place();
        let mode = atomic_mode(m);
        if !matches!(mode.space, Space::Generic | Space::Global) {
            return Err(Diagnostic::invalid(place, "vector atomic in this state space")
                .expected("`.global` or a generic address"));
        }
        m.require(&[("add", ())])?;
        let noftz = m.flag("noftz");
        let policy = hints(m);
        let vector = m.require(&[("v2", 2u8), ("v4", 4), ("v8", 8)])?;
        let ty = m.ty(&[Ty::F32, Ty::F16, Ty::Bf16, Ty::F16x2, Ty::Bf16x2])?;
        m.finish()?;
        if noftz == (ty == Ty::F32) || usize::from(vector) * ty.bytes() > 16 {
            return Err(Diagnostic::invalid(place, "vector atomic that does not exist")
                .found(self.name_of(i))
                .expected("f32 without or 16-bit floating-point numbers with `.noftz`, 16 bytes at most"));
        }
        let first = usize::from(returns);
        if i.operands.len() != first + 2 + usize::from(policy) {
            return Err(count(i, &(first + 2 + usize::from(policy)).to_string()));
        }
        let mode = crate::isa::MemoryMode { ty, ..mode };
        let (base, offset) = self.address(&i.operands[first], mode.space)?;
        let values = self.fragment(&i.operands[first + 1], vector.into(), ty)?;
        let dst = if returns { self.fragment_dst(&i.operands[0], vector.into(), ty)? } else { Vec::new() };
        let mut old = Vec::new();
        for (n, value) in values.iter().enumerate() {
            let at = offset.wrapping_add((n * ty.bytes()) as i64);
            if returns {
                // A destination may be an operand of a later element.
                let result = self.fresh(ty);
                let op = Op::Atomic { op: AtomicOp::Add, mode };
                self.emit(op, &[VDst::Reg(result)], &[base, *value]).offset = at;
                old.push(VSrc::Reg(result, false));
            } else {
                let op = Op::Reduce { op: AtomicOp::Add, mode };
                self.emit(op, &[], &[base, *value]).offset = at;
            }
        }
        for (to, from) in dst.iter().zip(old) {
            self.emit(Op::Mov(ty), &[*to], &[from]);
        }
        Ok(())
    }
}
