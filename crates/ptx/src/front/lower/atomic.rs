//! `atom` and `red`.

use super::builder::Builder;
use super::memory::{SCOPES, SPACES, hints};
use super::operand::count;
use crate::front::ast::Instruction;
use crate::front::check::{Modifiers, word};
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::isa::{AtomicOp, CacheOp, MemoryMode, Op, Ordering, Scope, Space, Ty};

pub(super) const OPERATIONS: [(&str, AtomicOp); 10] = [
    ("add", AtomicOp::Add),
    ("min", AtomicOp::Min),
    ("max", AtomicOp::Max),
    ("and", AtomicOp::And),
    ("or", AtomicOp::Or),
    ("xor", AtomicOp::Xor),
    ("inc", AtomicOp::Inc),
    ("dec", AtomicOp::Dec),
    ("exch", AtomicOp::Exch),
    ("cas", AtomicOp::Cas),
];

/// The types of `add.noftz`.
const HALVES: [Ty; 4] = [Ty::F16, Ty::F16x2, Ty::Bf16, Ty::Bf16x2];

/// The types of an operation (PTX ISA, "atom").
fn types(op: AtomicOp) -> &'static [Ty] {
    match op {
        AtomicOp::Add => &[Ty::U32, Ty::S32, Ty::U64, Ty::S64, Ty::F32, Ty::F64],
        AtomicOp::Min | AtomicOp::Max => &[Ty::U32, Ty::S32, Ty::U64, Ty::S64],
        AtomicOp::Inc | AtomicOp::Dec => &[Ty::U32],
        AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => &[Ty::B32, Ty::B64],
        AtomicOp::Exch => &[Ty::B32, Ty::B64, Ty::B128],
        AtomicOp::Cas => &[Ty::B16, Ty::B32, Ty::B64, Ty::B128],
    }
}

/// Ordering, scope and space of an atomic; its type is still to be read.
pub(super) fn atomic_mode(m: &mut Modifiers<'_>) -> MemoryMode {
    let ordering = m.pick(&[
        ("relaxed", Ordering::Relaxed),
        ("acquire", Ordering::Acquire),
        ("release", Ordering::Release),
        ("acq_rel", Ordering::AcqRel),
    ]);
    let scope = m.pick(&SCOPES).unwrap_or(Scope::Gpu);
    let space = m.pick(&SPACES).unwrap_or(Space::Generic);
    let ordering = ordering.unwrap_or(Ordering::Relaxed);
    MemoryMode { space, ty: Ty::B32, vector: 1, cache: CacheOp::All, ordering, scope }
}

impl<'a> Builder<'a> {
    pub(super) fn atomic(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let returns = self.text(i.opcode) == "atom";
        if m.contains("async") {
            return Err(self.unsupported(i, "this atomic"));
        }
        if ["v2", "v4", "v8"].iter().any(|word| m.contains(word)) {
            return self.vector_atomic(i, m);
        }
        let mode = atomic_mode(m);
        let space = mode.space;
        if !matches!(space, Space::Generic | Space::Global | Space::Shared) {
            return Err(Diagnostic::invalid(i.place, "atomic in this state space")
                .expected("`.global`, `.shared` or a generic address"));
        }
        let op = m.require(&OPERATIONS)?;
        if !returns && matches!(op, AtomicOp::Exch | AtomicOp::Cas) {
            return Err(Diagnostic::invalid(i.place, "`red` of an exchange").expected("`atom`"));
        }
        let noftz = op == AtomicOp::Add && m.flag("noftz");
        let policy = hints(m);
        let ty = m.ty(if noftz { &HALVES } else { types(op) }).map_err(|failure| match m.peek() {
            Some(found) => failure.found(format!("`.{found}`")),
            None => failure,
        })?;
        m.finish()?;
        let first = usize::from(returns);
        let values = if op == AtomicOp::Cas { 2 } else { 1 };
        let expected = first + 1 + values;
        if i.operands.len() != expected + usize::from(policy) {
            return Err(count(i, &format!("{} for `.{}`", expected + usize::from(policy), word(ty))));
        }
        let mode = MemoryMode { ty, ..mode };
        let mut dst = Vec::new();
        if returns {
            dst.push(self.dst_or_sink(&i.operands[0], ty)?);
        }
        let (base, offset) = self.address(&i.operands[first], space)?;
        let mut src = vec![base];
        for operand in &i.operands[first + 1..expected] {
            src.push(self.src(operand, ty)?);
        }
        let op = if returns { Op::Atomic { op, mode } } else { Op::Reduce { op, mode } };
        self.emit(op, &dst, &src).offset = offset;
        Ok(())
    }
}
