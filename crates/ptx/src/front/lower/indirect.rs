//! Arrays of registers and `mov.indirect`: the Indirect-MOV of Morpheus (Darabi et al., MICRO 2022, 4.3.2), which PTX does not
//! have. A text asks for it in its `.target`.

use super::builder::Builder;
use super::operand::operands;
use crate::front::ast::{self, Instruction, Name, Operand, OperandKind, Place};
use crate::front::check::Modifiers;
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::ir::{Constant, VDst, VReg, VSrc};
use crate::isa::{Op, Ty};

/// The word of `.target` that allows them.
pub(super) const OPTION: &str = "indirect_mov";

/// Most registers of an array: half of those that a thread can have.
const MAX_REGISTERS: u64 = 128;

/// Types of an array's registers and of a move from or to one.
const TYPES: [Ty; 4] = [Ty::B32, Ty::U32, Ty::S32, Ty::F32];

impl<'a> Builder<'a> {
    /// `.reg .b32 name[n];`
    pub(super) fn register_array(&mut self, variable: &ast::Variable, ty: Ty) -> Result<VReg, Fail> {
        let place = variable.place;
        if !self.has_arrays() {
            return Err(Diagnostic::invalid(place, "array of registers")
                .expected(format!("`;`, or `{OPTION}` in `.target`")));
        }
        let count = match variable.dims[..] {
            [Some(count)] if variable.vector == 1 && variable.range.is_none() && TYPES.contains(&ty) => count,
            _ => {
                return Err(Diagnostic::invalid(place, "malformed array of registers")
                    .expected("one dimension of `.b32`, `.u32`, `.s32` or `.f32`"));
            }
        };
        if !(1..=MAX_REGISTERS).contains(&count) {
            return Err(Diagnostic::invalid(place, "array of too few or too many registers")
                .found(count.to_string())
                .expected(format!("1 to {MAX_REGISTERS}")));
        }
        Ok(self.fresh(Ty::Array(count as u8)))
    }

    /// `mov.indirect.type d, array[i];` and `mov.indirect.type array[i], a;`
    pub(super) fn mov_indirect(&mut self, i: &'a Instruction, m: &mut Modifiers<'_>) -> Result<(), Fail> {
        if !self.has_arrays() {
            return Err(Diagnostic::unsupported(i.place, "instruction")
                .found(self.name_of(i))
                .expected(format!("`{OPTION}` in `.target`")));
        }
        m.require(&[("indirect", ())])?;
        let ty = m.ty(&TYPES)?;
        m.finish()?;
        let [d, a] = operands(i)?;
        if let Some((array, registers, index)) = self.element(d)? {
            let a = self.src(a, ty)?;
            self.emit(Op::MovToArray { registers }, &[VDst::Reg(array)], &[index, a]);
        } else if let Some((array, registers, index)) = self.element(a)? {
            let d = self.dst(d, ty)?;
            self.emit(Op::MovFromArray { registers }, &[d], &[index, VSrc::Reg(array, false)]);
        } else {
            return Err(self.wrong_kind(a, "`array[index]` as one of the operands"));
        }
        Ok(())
    }

    fn has_arrays(&self) -> bool {
        self.module.target.split(',').any(|part| part == OPTION)
    }

    /// The array that an operand picks from, how many registers it has, and the index.
    fn element(&mut self, operand: &Operand) -> Result<Option<(VReg, u8, VSrc)>, Fail> {
        match operand.kind {
            OperandKind::Element(array, index) => {
                let (array, registers) = self.array(array, operand.place)?;
                let index = Operand { place: operand.place, kind: OperandKind::Name(index) };
                Ok(Some((array, registers, self.src(&index, Ty::U32)?)))
            }
            OperandKind::Indexed { array, index: offset, .. } => {
                let (array, registers) = self.array(array, operand.place)?;
                if !(0..i64::from(registers)).contains(&offset) {
                    return Err(Diagnostic::invalid(operand.place, "no such register of the array")
                        .found(offset.to_string())
                        .expected(format!("0 to {}", registers - 1)));
                }
                Ok(Some((array, registers, VSrc::Const(Constant::Bits(offset as u64)))))
            }
            _ => Ok(None),
        }
    }

    fn array(&mut self, name: Name, place: Place) -> Result<(VReg, u8), Fail> {
        let register = self.register_named(name, place)?;
        match register.map(|register| (register, self.ty(register))) {
            Some((register, Ty::Array(registers))) => Ok((register, registers)),
            _ => Err(Diagnostic::invalid(place, "operand of the wrong kind")
                .found(format!("`{}`", self.text(name)))
                .expected("an array of registers")),
        }
    }
}
