//! Moves constants out of address sums into the offsets of memory instructions.
//!
//! `add d, a, 16; ld [d]` becomes `ld [a+16]`, and `add b, a, 16; add d, b, i; ld [d]` becomes
//! `add d, a, i; ld [d+16]`, when every use of the sum is an address or again such a sum. The addition dies, and what
//! is left of neighbouring addresses is often the same sum.

use super::body::Body;
use super::facts::Facts;
use crate::ir::{Constant, VDst, VInst, VReg, VSrc};
use crate::isa::{IntOp, Op, Part, Space, Ty, Width};

/// Folds constants into offsets wherever that makes no register live on for its own sake.
pub fn fold(body: &mut Body, facts: &Facts<'_>) {
    let foldable = foldable(body, facts);
    // For each foldable register: the register and the constant that it is the sum of.
    let mut moved: Vec<Option<(VReg, i64)>> = vec![None; body.registers.len()];
    for block in &facts.cfg.order {
        for at in facts.cfg.block(*block).range() {
            let inst = &mut body.code[at];
            if let Some((reg, _)) = address_of(inst)
                && let Some((base, offset)) = moved[reg.0 as usize]
            {
                // The fold of an offset beyond 64 bits wraps as the sum would.
                inst.src[0] = VSrc::Reg(base, false);
                inst.offset = inst.offset.wrapping_add(offset);
            }
            let Some(sum) = Sum::of(inst).filter(|sum| foldable[sum.dst.0 as usize]) else { continue };
            let mut offset = sum.constant;
            let mut base = sum.dst;
            for slot in sum.slots.into_iter().flatten() {
                let VSrc::Reg(reg, _) = inst.src[slot] else { continue };
                let (from, more) = moved[reg.0 as usize].unwrap_or((reg, 0));
                inst.src[slot] = VSrc::Reg(from, false);
                offset = offset.wrapping_add(more);
                if sum.is_constant {
                    base = from;
                }
            }
            moved[sum.dst.0 as usize] = Some((base, offset));
        }
    }
}

/// The sums that only serve as addresses, directly or through other sums.
fn foldable(body: &Body, facts: &Facts<'_>) -> Vec<bool> {
    let mut foldable = vec![false; body.registers.len()];
    let mut needed = vec![false; body.registers.len()];
    // A 32-bit sum wraps at 32 bits; so do addresses in the windows, and no others.
    let mut wraps = vec![true; body.registers.len()];
    for block in facts.cfg.order.iter().rev() {
        for at in facts.cfg.block(*block).range().rev() {
            // A definition that dominates its uses comes after all of them in this order.
            let inst = &body.code[at];
            let sum = Sum::of(inst);
            let address = address_of(inst);
            if let Some((reg, space)) = address {
                wraps[reg.0 as usize] &= matches!(space, Space::Shared | Space::Local | Space::Param);
            }
            if let Some(sum) = &sum {
                let dst = sum.dst.0 as usize;
                foldable[dst] = !needed[dst]
                    && (wraps[dst] || body.registers[dst].bytes() == 8)
                    && facts.definition[dst] == Some(at);
            }
            let folds = sum.as_ref().is_some_and(|sum| foldable[sum.dst.0 as usize]);
            for (slot, src) in inst.src.iter().enumerate() {
                let VSrc::Reg(reg, _) = *src else { continue };
                let is_address = slot == 0 && address.is_some();
                let addend = sum.as_ref().filter(|sum| folds && sum.slots.contains(&Some(slot)));
                let same_width =
                    addend.is_none_or(|sum| Width::of(body.ty(reg)) == Width::of(body.ty(sum.dst)));
                if (is_address || addend.is_some()) && same_width && facts.holds_at(reg, at) {
                    if let Some(sum) = addend {
                        wraps[reg.0 as usize] &= wraps[sum.dst.0 as usize];
                    }
                    continue;
                }
                needed[reg.0 as usize] = true;
                // A base that changes, or has another width, cannot stand for the sum.
                if let Some(sum) = addend.filter(|sum| sum.is_constant) {
                    foldable[sum.dst.0 as usize] = false;
                }
            }
        }
    }
    foldable
}

/// The register and space of a memory instruction's address.
fn address_of(inst: &VInst) -> Option<(VReg, Space)> {
    let space = inst.op.traits().address?;
    match inst.src.first() {
        Some(VSrc::Reg(reg, _)) => Some((*reg, space)),
        _ => None,
    }
}

/// An addition of 32 or 64 bits.
struct Sum {
    dst: VReg,
    /// The source slots that are added.
    slots: [Option<usize>; 2],
    /// What is added besides.
    constant: i64,
    /// Whether it is a register plus a constant.
    is_constant: bool,
}

impl Sum {
    fn of(inst: &VInst) -> Option<Sum> {
        let &VDst::Reg(dst) = inst.dst.first()? else { return None };
        let plain = |slots| Sum { dst, slots, constant: 0, is_constant: false };
        let (op, ty) = match inst.op {
            Op::Int(op @ (IntOp::Add | IntOp::Sub), ty) => (op, ty),
            Op::Mad { part: Part::Lo, ty, sat: false } if ty.bytes() >= 4 => {
                return Some(plain([Some(2), None]));
            }
            Op::Mad { part: Part::Wide, ty: Ty::U32 | Ty::S32, .. } => return Some(plain([Some(2), None])),
            _ => return None,
        };
        if ty.bytes() < 4 {
            return None;
        }
        let number = |bits: u64| if ty.bytes() == 4 { i64::from(bits as i32) } else { bits as i64 };
        match (op, &inst.src[..]) {
            (IntOp::Add, [VSrc::Reg(..), VSrc::Reg(..)]) => Some(plain([Some(0), Some(1)])),
            (IntOp::Sub, [VSrc::Reg(..), VSrc::Reg(..)]) => Some(plain([Some(0), None])),
            (_, [VSrc::Reg(..), VSrc::Const(Constant::Bits(bits))]) => {
                let constant = if op == IntOp::Add { number(*bits) } else { number(*bits).wrapping_neg() };
                Some(Sum { dst, slots: [Some(0), None], constant, is_constant: true })
            }
            (IntOp::Add, [VSrc::Const(Constant::Bits(bits)), VSrc::Reg(..)]) => {
                Some(Sum { dst, slots: [Some(1), None], constant: number(*bits), is_constant: true })
            }
            // A parameter or the address of a variable plus an index: the index may carry a constant.
            (IntOp::Add, [VSrc::Reg(..), VSrc::Const(_)]) => Some(plain([Some(0), None])),
            (IntOp::Add, [VSrc::Const(_), VSrc::Reg(..)]) => Some(plain([Some(1), None])),
            _ => None,
        }
    }
}
