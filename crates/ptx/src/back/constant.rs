//! Results that are known when the kernel is loaded or launched.

use crate::ir::{Constant, VInst, VSrc, window};
use crate::isa::{IntOp, Op, Space, Ty};

/// The value of destination `slot` when all lanes and launches agree on it, or when it is a parameter.
pub fn evaluate(inst: &VInst, slot: usize) -> Option<VSrc> {
    let first = match inst.src.first() {
        Some(VSrc::Const(constant)) => *constant,
        Some(VSrc::PredConst(set)) => {
            return match inst.op {
                Op::PredMov => Some(VSrc::PredConst(*set)),
                Op::PredNot => Some(VSrc::PredConst(!*set)),
                _ => None,
            };
        }
        _ => return None,
    };
    let value = match inst.op {
        Op::Mov(ty) if ty.bytes() <= 8 => match first {
            Constant::Bits(bits) => Constant::Bits(truncate(bits, ty)),
            // An address or a parameter keeps its meaning only in full width.
            _ if ty.bytes() >= 4 => first,
            _ => return None,
        },
        Op::Cvta { space, to_generic } => rebase(first, space, to_generic)?,
        Op::Load(mode) => {
            let Constant::Bits(base) = first else { return None };
            let at = base.checked_add_signed(inst.offset)?;
            let at = match mode.space {
                Space::Param => at,
                Space::Generic => at.checked_sub(window::PARAM).filter(|at| *at < window::BYTES)?,
                _ => return None,
            };
            let bytes = mode.ty.bytes();
            if bytes != 4 && bytes != 8 {
                return None;
            }
            Constant::Param { offset: u32::try_from(at + (slot * bytes) as u64).ok()? }
        }
        Op::Int(op @ (IntOp::Add | IntOp::Sub), ty) => {
            let Some(VSrc::Const(second)) = inst.src.get(1) else { return None };
            add(op, first, *second, ty)?
        }
        Op::Cvt { to, from, .. } if is_integer(to) && is_integer(from) => {
            let Constant::Bits(bits) = first else { return None };
            let unused = 64 - 8 * from.bytes() as u32;
            let extended = if from.is_signed() {
                ((bits << unused) as i64 >> unused) as u64
            } else {
                bits << unused >> unused
            };
            // `.sat` and narrowing are left to the instruction.
            if to.bytes() <= from.bytes() || to.is_signed() != from.is_signed() {
                return None;
            }
            Constant::Bits(truncate(extended, to))
        }
        _ => return None,
    };
    Some(VSrc::Const(value))
}

fn is_integer(ty: Ty) -> bool {
    matches!(ty, Ty::U8 | Ty::U16 | Ty::U32 | Ty::U64 | Ty::S8 | Ty::S16 | Ty::S32 | Ty::S64)
}

fn truncate(bits: u64, ty: Ty) -> u64 {
    if ty.bytes() >= 8 { bits } else { bits & ((1 << (8 * ty.bytes())) - 1) }
}

/// The other view of an address: generic addresses of variables are their device addresses, the windows lie
/// at fixed places.
fn rebase(address: Constant, space: Space, to_generic: bool) -> Option<Constant> {
    let base = match space {
        Space::Global | Space::Const | Space::Generic => return Some(address),
        Space::Shared => window::SHARED,
        Space::Local => window::LOCAL,
        Space::Param => window::PARAM,
    };
    let Constant::Bits(bits) = address else { return None };
    Some(Constant::Bits(if to_generic { bits.wrapping_add(base) } else { bits.wrapping_sub(base) }))
}

fn add(op: IntOp, left: Constant, right: Constant, ty: Ty) -> Option<Constant> {
    let sign = |value: u64| if op == IntOp::Sub { value.wrapping_neg() } else { value };
    match (left, right) {
        (Constant::Bits(left), Constant::Bits(right)) => {
            Some(Constant::Bits(truncate(left.wrapping_add(sign(right)), ty)))
        }
        (Constant::Symbol { symbol, addend }, Constant::Bits(bits)) if ty.bytes() == 8 => {
            Some(Constant::Symbol { symbol, addend: addend.wrapping_add(sign(bits) as i64) })
        }
        (Constant::Bits(bits), Constant::Symbol { symbol, addend })
            if ty.bytes() == 8 && op == IntOp::Add =>
        {
            Some(Constant::Symbol { symbol, addend: addend.wrapping_add(bits as i64) })
        }
        _ => None,
    }
}

/// A constant as a key of ordered maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key {
    /// An immediate.
    Bits(u64),
    /// A variable and what is added to its address.
    Symbol(u32, i64),
    /// An offset in the parameter block.
    Param(u32),
    /// Where the stack begins.
    StackBase,
}

impl From<Constant> for Key {
    fn from(constant: Constant) -> Key {
        match constant {
            Constant::Bits(bits) => Key::Bits(bits),
            Constant::Symbol { symbol, addend } => Key::Symbol(symbol, addend),
            Constant::Param { offset } => Key::Param(offset),
            Constant::StackBase => Key::StackBase,
        }
    }
}
