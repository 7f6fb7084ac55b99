//! Addresses: as values and as memory operands.

use super::builder::Builder;
use super::operand::Resolved;
use crate::front::ast::{Base, Name, Operand, OperandKind, Place};
use crate::front::check::word;
use crate::front::diagnostic::{Diagnostic, Fail};
use crate::ir::{Constant, VSrc, window};
use crate::isa::{Space, Ty};

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
            Resolved::Param { offset, .. } => (Space::Param, Constant::Bits(u64::from(offset))),
            Resolved::Function(_) => {
                return Err(
                    Diagnostic::unsupported(place, "address of a function").found(format!("`{text}`"))
                );
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

    /// A memory operand: base and byte offset. Addresses of shared, local and parameter space are 32 bits:
    /// the low word of a wider register counts.
    pub(super) fn address(&mut self, operand: &Operand, space: Space) -> Result<(VSrc, i64), Fail> {
        let OperandKind::Memory { base, offset } = operand.kind else {
            return Err(self.wrong_kind(operand, "an address in brackets"));
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
