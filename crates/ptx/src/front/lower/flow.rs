//! Branches and ends.

use super::builder::Builder;
use super::operand::{Resolved, operands};
use super::scope::Label;
use crate::front::ast::{Instruction, Name, Operand, OperandKind, Place};
use crate::front::check::Modifiers;
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::isa::{Op, Ty};

impl<'a> Builder<'a> {
    /// A label by name.
    fn label_of(&mut self, name: Name, place: Place) -> Result<Label, Fail> {
        match self.resolve(name, place) {
            Ok(Resolved::Label(label)) => Ok(label),
            Ok(_) => Err(Diagnostic::invalid(place, "branch target is not a label")
                .found(format!("`{}`", self.text(name)))
                .expected("a label")),
            Err(failure) => Err(failure.expected("a label of this scope or one around it")),
        }
    }

    /// Jumps to a label, resolved when the kernel is complete.
    pub(super) fn jump(&mut self, label: Label, uniform: bool) {
        self.emit(Op::Branch { uniform }, &[], &[]).target = label.0;
    }

    /// `bra`.
    pub(super) fn bra(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let uniform = m.flag("uni");
        m.finish()?;
        let [target] = operands(i)?;
        let OperandKind::Name(name) = target.kind else { return Err(self.wrong_kind(target, "a label")) };
        let label = self.label_of(name, target.place)?;
        self.jump(label, uniform);
        Ok(())
    }

    /// `brx.idx`.
    pub(super) fn brx(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        m.require(&[("idx", ())])?;
        m.flag("uni");
        m.finish()?;
        let [index, list] = operands(i)?;
        let index = self.src(index, Ty::U32)?;
        let table = self.targets(list)?;
        self.emit(Op::BranchIndexed { table }, &[], &[index]);
        Ok(())
    }

    fn targets(&mut self, list: &Operand) -> Result<u32, Fail> {
        if let OperandKind::Name(name) = list.kind
            && let Resolved::Targets(table) = self.resolve(name, list.place)?
        {
            return Ok(table);
        }
        Err(self.wrong_kind(list, "the name of a `.branchtargets` list"))
    }

    /// Fills the list that its name was given before.
    pub(super) fn branch_targets(&mut self, name: Name, labels: &[(Name, Place)]) -> Result<(), Fail> {
        let mut targets = Vec::with_capacity(labels.len());
        for (label, place) in labels {
            targets.push(self.label_of(*label, *place)?.0);
        }
        if let Some((_, super::scope::Symbol::Targets(table))) = self.scopes.find(name) {
            self.out.branch_tables[*table as usize] = targets;
        }
        Ok(())
    }

    /// `ret`: the end of an expanded function, or of the thread.
    pub(super) fn ret(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let uniform = m.flag("uni");
        m.finish()?;
        let [] = operands(i)?;
        match self.frames.last().and_then(|frame| frame.end) {
            Some(end) => self.jump(end, uniform),
            None => {
                self.emit(Op::Exit, &[], &[]);
            }
        }
        Ok(())
    }

    /// An instruction without modifiers or operands.
    pub(super) fn bare(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>, op: Op) -> Result<(), Fail> {
        m.finish()?;
        let [] = operands(i)?;
        self.emit(op, &[], &[]);
        Ok(())
    }

    /// `nanosleep`.
    pub(super) fn nanosleep(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        let ty = m.ty(&[Ty::U32])?;
        m.finish()?;
        let [a] = operands(i)?;
        let a = self.src(a, ty)?;
        self.emit(Op::Nanosleep, &[], &[a]);
        Ok(())
    }

    /// `griddepcontrol`: a launch is complete when the next one begins, so there is nothing to let go early or to wait for.
    pub(super) fn grid_dependency(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        m.require(&[("launch_dependents", ()), ("wait", ())])?;
        self.bare(i, m, Op::GridDependency)
    }

    /// `pmevent`: hardware counters are none of the machine's.
    pub(super) fn pmevent(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        m.flag("mask");
        m.finish()?;
        let [a] = operands(i)?;
        self.src(a, Ty::U32)?;
        self.emit(Op::Nop, &[], &[]);
        Ok(())
    }
}
