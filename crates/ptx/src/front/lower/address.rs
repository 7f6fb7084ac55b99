//! Addresses: as values and as memory operands.

use super::builder::Builder;
use super::operand::Resolved;
use crate::front::ast::{Base, Name, Operand, OperandKind, Place};
use crate::front::check::word;
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::ir::{Constant, VDst, VReg, VSrc, window};
use crate::isa::{FloatMode, IntOp, Op, Space, Ty};

impl Builder<'_> {
    /// The address of a variable as a value.
    pub(super) fn address_value(
        &mut self,
        name: Name,
        addend: i64,
        wanted: Ty,
        place: Place,
    ) -> Result<VSrc, Fail> {
        let text = self.text(name);
        let (space, constant) = match self.resolve(name, place)? {
            Resolved::Address { space, constant } => (space, constant),
            Resolved::Opaque(_, constant) if addend == 0 => (Space::Global, constant),
            Resolved::Param { offset, .. } => (Space::Param, Constant::Bits(u64::from(offset))),
            Resolved::Function(n) => (Space::Global, Constant::Bits(self.function_address(n, place)?)),
            Resolved::Frame { base, offset } => {
                if !matches!(wanted, Ty::U32 | Ty::S32 | Ty::B32 | Ty::U64 | Ty::S64 | Ty::B64) {
                    return Err(Diagnostic::invalid(place, "address in a value of the wrong type")
                        .found(format!("the address of `{text}`"))
                        .expected("a 32-bit or 64-bit integer"));
                }
                return Ok(self.frame_address(base, i64::from(offset).wrapping_add(addend), wanted));
            }
            Resolved::Argument(_) => {
                return Err(Diagnostic::unsupported(place, "address of a scalar call parameter")
                    .found(format!("`{text}`")));
            }
            Resolved::Inert(what) => {
                return Err(
                    Diagnostic::unsupported(place, format!("use of {what}")).found(format!("`{text}`"))
                );
            }
            _ => {
                return Err(Diagnostic::invalid(place, "operand of the wrong kind")
                    .found(format!("`{text}`"))
                    .expected("a register, a constant or the name of a variable"));
            }
        };
        let narrow = matches!(space, Space::Shared | Space::Local | Space::Param);
        let fits = wanted.bytes() == 8 || narrow && wanted.bytes() == 4;
        if wanted == Ty::Pred || wanted.is_float() || !fits {
            return Err(Diagnostic::invalid(place, "address in a value of the wrong type")
                .found(format!("the address of `{text}`"))
                .expected(if narrow { "a 32-bit or 64-bit integer" } else { "a 64-bit integer" }));
        }
        Ok(VSrc::Const(plus(constant, addend)))
    }

    /// An address in local memory that a register holds, some bytes further, as wide as wanted.
    pub(super) fn frame_address(&mut self, base: VReg, bytes: i64, wanted: Ty) -> VSrc {
        let sum = self.fresh(Ty::U32);
        let source = [VSrc::Reg(base, false), VSrc::Const(Constant::Bits(u64::from(bytes as u32)))];
        self.emit_always(Op::Int(IntOp::Add, Ty::U32), &[VDst::Reg(sum)], &source);
        if wanted.bytes() < 8 {
            return VSrc::Reg(sum, false);
        }
        let wide = self.fresh(Ty::U64);
        let widen = Op::Cvt { to: Ty::U64, from: Ty::U32, mode: FloatMode::DEFAULT };
        self.emit_always(widen, &[VDst::Reg(wide)], &[VSrc::Reg(sum, false)]);
        VSrc::Reg(wide, false)
    }

    /// A memory operand: base and byte offset. Addresses of shared, local and parameter space are 32 bits:
    /// the low word of a wider register counts.
    pub(super) fn address(&mut self, operand: &Operand, space: Space) -> Result<(VSrc, i64), Fail> {
        let (base, offset) = match operand.kind {
            OperandKind::Memory { base: Base::Absolute, offset } => (Base::Absolute, offset),
            ref kind => match kind.named_address() {
                Some((name, offset)) => (Base::Name(name), offset),
                None => return Err(self.wrong_kind(operand, "an address in brackets")),
            },
        };
        let Base::Name(name) = base else {
            return Ok((VSrc::Const(Constant::Bits(offset as u64)), 0));
        };
        let place = operand.place;
        let narrow = matches!(space, Space::Shared | Space::Local | Space::Param);
        match self.resolve(name, place)? {
            Resolved::Register(register) => {
                let ty = self.ty(register);
                let width = ty.bytes() == 8 || narrow && ty.bytes() == 4;
                if ty.is_float() || !width {
                    let bits = if narrow {
                        "a 32-bit or 64-bit integer register"
                    } else {
                        "a 64-bit integer register"
                    };
                    return Err(Diagnostic::invalid(place, "address of the wrong type")
                        .found(format!("`.{}` register `{}`", word(ty), self.text(name)))
                        .expected(bits));
                }
                Ok((VSrc::Reg(register, false), offset))
            }
            Resolved::Address { space: home, constant } => {
                if space == Space::Generic {
                    return Ok((VSrc::Const(plus(constant, window_of(home) as i64)), offset));
                }
                if home != space {
                    return Err(Diagnostic::invalid(place, "variable of another state space")
                        .found(format!("`{}` in `.{}`", self.text(name), space_word(home)))
                        .expected(format!("a variable or address in `.{}`", space_word(space))));
                }
                Ok((VSrc::Const(constant), offset))
            }
            Resolved::Frame { base, offset: start } if space == Space::Local => {
                Ok((VSrc::Reg(base, false), offset.wrapping_add(i64::from(start))))
            }
            Resolved::Frame { base, offset: start } if space == Space::Generic => {
                let local = self.frame_address(base, i64::from(start), Ty::U64);
                let generic = self.fresh(Ty::U64);
                let window = VSrc::Const(Constant::Bits(window::LOCAL));
                self.emit_always(Op::Int(IntOp::Add, Ty::U64), &[VDst::Reg(generic)], &[local, window]);
                Ok((VSrc::Reg(generic, false), offset))
            }
            Resolved::Param { offset: start, .. } if space == Space::Param => {
                Ok((VSrc::Const(Constant::Bits(u64::from(start))), offset))
            }
            Resolved::Inert(what) => Err(Diagnostic::unsupported(place, format!("use of {what}"))
                .found(format!("`{}`", self.text(name)))),
            _ => Err(Diagnostic::invalid(place, "address of the wrong kind")
                .found(format!("`{}`", self.text(name)))
                .expected(format!("a register or a variable in `.{}`", space_word(space)))),
        }
    }
}

/// A constant address some bytes further.
pub(super) fn plus(constant: Constant, bytes: i64) -> Constant {
    match constant {
        Constant::Bits(bits) => Constant::Bits(bits.wrapping_add_signed(bytes)),
        Constant::Symbol { symbol, addend } => {
            Constant::Symbol { symbol, addend: addend.wrapping_add(bytes) }
        }
        Constant::Param { offset } => Constant::Param { offset: offset.wrapping_add_signed(bytes as i32) },
        Constant::StackBase => unreachable!("no name stands for the stack"),
    }
}

/// Where the generic addresses of a space begin.
fn window_of(space: Space) -> u64 {
    match space {
        Space::Shared => window::SHARED,
        Space::Local => window::LOCAL,
        Space::Param => window::PARAM,
        Space::Generic | Space::Global | Space::Const => 0,
    }
}

/// PTX's word for a state space.
pub(super) fn space_word(space: Space) -> &'static str {
    match space {
        Space::Generic => "generic",
        Space::Global => "global",
        Space::Shared => "shared",
        Space::Local => "local",
        Space::Const => "const",
        Space::Param => "param",
    }
}
