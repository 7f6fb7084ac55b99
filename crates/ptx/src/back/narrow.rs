//! Computes in 32 bits what is only looked at in 32 bits.
//!
//! Pointers are 64 bits wide in the text, but addresses of shared and local memory are offsets in windows of less
//! than 4 GiB: only their low words reach memory. Sums, products and shifts have low words that depend
//! on low words only, so the whole address computation shrinks, and with it half of its registers.

use super::body::{Body, definitions};
use super::occurrences::{Kind, Occurrences};
use crate::ir::{VDst, VInst, VReg, VSrc};
use crate::isa::{BitUnary, IntOp, IntUnary, Op, Part, Space, Ty, Width};

/// Narrows every 64-bit register of whose value only the low word matters.
pub fn narrow(body: &mut Body) {
    let narrow = low_words(body);
    for inst in &mut body.code {
        let reads_narrow = matches!(inst.src.first(), Some(VSrc::Reg(reg, _)) if narrow[reg.0 as usize])
            && takes_low_word(inst);
        if reads_narrow {
            let Op::Cvt { to, mode, .. } = inst.op else { unreachable!("only conversions take low words") };
            inst.op = if to.bytes() == 4 { Op::Mov(Ty::B32) } else { Op::Cvt { to, from: Ty::U32, mode } };
        } else if matches!(inst.dst.first(), Some(VDst::Reg(reg)) if narrow[reg.0 as usize]) {
            let (op, sources) = narrowed(inst).expect("a narrow register is written by what can be narrowed");
            inst.op = op;
            inst.src.truncate(sources);
        }
    }
    for (ty, _) in body.registers.iter_mut().zip(narrow).filter(|(_, narrow)| *narrow) {
        *ty = Ty::B32;
    }
}

/// The 64-bit registers of whose value only the low word matters.
fn low_words(body: &Body) -> Vec<bool> {
    // The greatest set that is consistent: begin with all and take out what needs its high word. What makes a
    // register that is taken out needs the high words of its operands.
    let mut narrow: Vec<bool> = body.registers.iter().map(|ty| Width::of(*ty) == Width::Rows(2)).collect();
    let occurrences = Occurrences::new(body);
    let mut wide: Vec<VReg> = Vec::new();
    let mut widen = |reg: VReg, wide: &mut Vec<VReg>| {
        if std::mem::replace(&mut narrow[reg.0 as usize], false) {
            wide.push(reg);
        }
    };
    let needed_whole = |inst: &VInst, each: &mut dyn FnMut(VReg)| {
        for (slot, src) in inst.src.iter().enumerate() {
            let VSrc::Reg(reg, _) = *src else { continue };
            if body.source_width(inst, slot) != Width::Rows(1) && !takes_low_word(inst) {
                each(reg);
            }
        }
    };
    for inst in &body.code {
        let is_pair = |reg: VReg| Width::of(body.ty(reg)) == Width::Rows(2);
        if narrowed(inst).is_none() {
            definitions(inst).for_each(|reg| widen(reg, &mut wide));
            needed_whole(inst, &mut |reg| widen(reg, &mut wide));
        } else if !definitions(inst).all(is_pair) {
            needed_whole(inst, &mut |reg| widen(reg, &mut wide));
        }
    }
    while let Some(reg) = wide.pop() {
        for occurrence in occurrences.of(reg.0 as usize).iter().filter(|of| of.kind != Kind::Read) {
            needed_whole(&body.code[occurrence.at as usize], &mut |reg| widen(reg, &mut wide));
        }
    }
    narrow
}

/// A conversion that drops the high word of its operand.
fn takes_low_word(inst: &VInst) -> bool {
    matches!(inst.op, Op::Cvt { to, from, mode }
        if is_integer(to) && is_integer(from) && from.bytes() == 8 && to.bytes() <= 4 && !mode.sat)
}

fn is_integer(ty: Ty) -> bool {
    !ty.is_float() && ty != Ty::Pred && ty != Ty::B128
}

/// The 32-bit type in the place of a 64-bit one.
fn half(ty: Ty) -> Option<Ty> {
    match ty {
        Ty::U64 => Some(Ty::U32),
        Ty::S64 => Some(Ty::S32),
        Ty::B64 => Some(Ty::B32),
        _ => None,
    }
}

/// The operation that computes the low word of a 64-bit result from the low words of its operands, and how many
/// operands it has.
fn narrowed(inst: &VInst) -> Option<(Op, usize)> {
    let op =
        match inst.op {
            Op::Mov(ty) => Op::Mov(half(ty)?),
            Op::Select(ty) => Op::Select(half(ty)?),
            Op::Int(op @ (IntOp::Add | IntOp::Sub), ty) => Op::Int(op, half(ty)?),
            Op::IntUnary(IntUnary::Neg, ty) => Op::IntUnary(IntUnary::Neg, half(ty)?),
            Op::Logic(op, ty) => Op::Logic(op, half(ty)?),
            Op::Bit(BitUnary::Not, ty) => Op::Bit(BitUnary::Not, half(ty)?),
            Op::Shl(ty) => Op::Shl(half(ty)?),
            Op::Mul(Part::Lo, ty) => Op::Mul(Part::Lo, half(ty)?),
            Op::Mad { part: Part::Lo, ty, sat: false } => {
                Op::Mad { part: Part::Lo, ty: half(ty)?, sat: false }
            }
            Op::Mul(Part::Wide, ty @ (Ty::U32 | Ty::S32)) => Op::Mul(Part::Lo, ty),
            Op::Mad { part: Part::Wide, ty: ty @ (Ty::U32 | Ty::S32), sat: false } => {
                Op::Mad { part: Part::Lo, ty, sat: false }
            }
            // The windows begin at multiples of 4 GiB.
            Op::Cvta { space: Space::Shared | Space::Local | Space::Param, .. } => Op::Mov(Ty::B32),
            Op::Cvt { to, from, mode }
                if is_integer(to) && is_integer(from) && !mode.sat && from.bytes() <= 4 =>
            {
                if from.bytes() == 4 { Op::Mov(Ty::B32) } else { Op::Cvt { to: half(to)?, from, mode } }
            }
            Op::Pack { whole: Ty::B64, pieces: 2 } => return Some((Op::Mov(Ty::B32), 1)),
            _ => return None,
        };
    Some((op, inst.src.len()))
}
