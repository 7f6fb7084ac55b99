//! Barriers and fences.

use super::builder::Builder;
use super::memory::SCOPES;
use super::operand::{count, operands};
use crate::front::ast::Instruction;
use crate::front::check::Modifiers;
use crate::front::diagnostic::Fail;
use crate::ir::{Constant, VSrc};
use crate::isa::{Barrier, Op, Ordering, Scope, Space, Ty};

/// A thread count that stands for all threads of the CTA.
const ALL_THREADS: VSrc = VSrc::Const(Constant::Bits(0));

/// What a barrier instruction does.
#[derive(Clone, Copy)]
enum Form {
    Sync,
    Arrive,
    Reduce,
}

impl<'a> Builder<'a> {
    /// `bar` and `barrier`.
    pub(super) fn bar(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let plain = self.text(i.opcode) == "bar";
        if !plain && m.flag("cluster") {
            return self.cluster_barrier(i, m);
        }
        if plain && m.flag("warp") {
            m.require(&[("sync", ())])?;
            m.finish()?;
            let [mask] = operands(i)?;
            let mask = self.src(mask, Ty::U32)?;
            self.emit(Op::WarpSync, &[], &[mask]);
            return Ok(());
        }
        m.flag("cta");
        let form = m.require(&[("sync", Form::Sync), ("arrive", Form::Arrive), ("red", Form::Reduce)])?;
        match form {
            Form::Reduce => self.bar_red(i, m, plain),
            Form::Sync | Form::Arrive => {
                if !plain {
                    m.flag("aligned");
                }
                m.finish()?;
                let mut src = Vec::new();
                for operand in &i.operands {
                    src.push(self.src(operand, Ty::U32)?);
                }
                match (form, src.len()) {
                    (Form::Sync, 1) => src.push(ALL_THREADS),
                    (_, 2) => {}
                    (Form::Sync, _) => return Err(count(i, "1 or 2")),
                    _ => return Err(count(i, "2")),
                }
                let barrier = if matches!(form, Form::Sync) { Barrier::Sync } else { Barrier::Arrive };
                self.emit(Op::Barrier(barrier), &[], &src);
                Ok(())
            }
        }
    }

    fn bar_red(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>, plain: bool) -> Result<(), Fail> {
        let barrier =
            m.require(&[("popc", Barrier::RedPopc), ("and", Barrier::RedAnd), ("or", Barrier::RedOr)])?;
        if !plain {
            m.flag("aligned");
        }
        let ty = m.ty(if barrier == Barrier::RedPopc { &[Ty::U32] } else { &[Ty::Pred] })?;
        m.finish()?;
        let (d, a, b, p) = match i.operands.as_slice() {
            [d, a, p] => (d, a, None, p),
            [d, a, b, p] => (d, a, Some(b), p),
            _ => return Err(count(i, "3 or 4")),
        };
        let (d, a) = (self.dst(d, ty)?, self.src(a, Ty::U32)?);
        let b = b.map_or(Ok(ALL_THREADS), |b| self.src(b, Ty::U32))?;
        let p = self.src(p, Ty::Pred)?;
        self.emit(Op::Barrier(barrier), &[d], &[a, b, p]);
        Ok(())
    }

    /// `membar`, `fence`.
    pub(super) fn fence(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let special = ["sync_restrict::shared::cta", "sync_restrict::shared::cluster"];
        if special.iter().any(|word| m.contains(word)) {
            return Err(self.unsupported(i, "this fence"));
        }
        if m.contains("mbarrier_init") || m.contains("proxy") {
            return self.special_fence(i, m);
        }
        let (ordering, scope) = if self.text(i.opcode) == "membar" {
            // PTX ISA: `membar` is `fence.sc` of the same scope; `.gl` is its word for `.gpu`.
            let scope = m.require(&[("cta", Scope::Cta), ("gl", Scope::Gpu), ("sys", Scope::Sys)])?;
            (Ordering::SeqCst, scope)
        } else {
            let ordering = m.pick(&[
                ("sc", Ordering::SeqCst),
                ("acq_rel", Ordering::AcqRel),
                ("acquire", Ordering::Acquire),
                ("release", Ordering::Release),
            ]);
            (ordering.unwrap_or(Ordering::AcqRel), m.require(&SCOPES)?)
        };
        m.finish()?;
        let [] = operands(i)?;
        self.emit(Op::Fence { ordering, scope }, &[], &[]);
        Ok(())
    }

    /// `fence.mbarrier_init` and `fence.proxy`. Memory has one proxy here: a fence between two of them orders accesses
    /// like any other, as wide as it must be for the memory that it speaks of.
    fn special_fence(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let scope = if m.flag("mbarrier_init") {
            m.require(&[("release", ())])?;
            m.require(&[("cluster", ())])?;
            Scope::Cta
        } else {
            m.require(&[("proxy", ())])?;
            let is_tensor_map = m.pick(&[("tensormap::generic", ())]).is_some();
            if is_tensor_map {
                m.require(&[("acquire", ()), ("release", ())])?;
                m.require(&SCOPES)?
            } else {
                m.require(&[("alias", ()), ("async", ())])?;
                let spaces =
                    [("global", Scope::Gpu), ("shared::cta", Scope::Cta), ("shared::cluster", Scope::Cta)];
                m.pick(&spaces).unwrap_or(Scope::Gpu)
            }
        };
        m.finish()?;
        match i.operands.as_slice() {
            [] => {}
            // Of an acquire from the proxy of tensor maps: which bytes it is of.
            [address, size] if m.contains("tensormap::generic") && m.contains("acquire") => {
                self.address(address, Space::Generic)?;
                self.src(size, Ty::U32)?;
            }
            _ => return Err(count(i, "none")),
        }
        self.emit(Op::Fence { ordering: Ordering::AcqRel, scope }, &[], &[]);
        Ok(())
    }
}
