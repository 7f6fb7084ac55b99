//! How many low bits of a register are zero whatever the program does.

use super::body::{Body, definitions};
use crate::ir::{Constant, VDst, VInst, VReg, VSrc};
use crate::isa::{IntOp, Logic, Op, Part, Ty};

/// Zero bits of a value of which everything is known to be zero.
const ALL: u32 = 64;

/// For each register, the number of low bits that every write of it leaves zero. A register that nothing writes has none.
pub fn zero_bits(body: &Body) -> Vec<u32> {
    let mut zeros = vec![ALL; body.registers.len()];
    let mut written = vec![false; body.registers.len()];
    body.code.iter().flat_map(definitions).for_each(|reg| written[reg.0 as usize] = true);
    zeros.iter_mut().zip(written).filter(|(_, written)| !written).for_each(|(zeros, _)| *zeros = 0);
    // From the best case down, until all writes agree. Each round lowers some register, by at least a bit.
    let mut again = true;
    while again {
        again = false;
        for inst in &body.code {
            let left = of_result(inst, &zeros);
            for VReg(reg) in definitions(inst) {
                let reg = &mut zeros[reg as usize];
                again |= left < *reg;
                *reg = left.min(*reg);
            }
        }
    }
    zeros
}

/// Zero bits of what an instruction writes, given those of registers.
fn of_result(inst: &VInst, zeros: &[u32]) -> u32 {
    let of = |slot: usize| match inst.src.get(slot) {
        Some(VSrc::Reg(reg, false)) => zeros[reg.0 as usize],
        Some(VSrc::Const(Constant::Bits(bits))) => bits.trailing_zeros(),
        _ => 0,
    };
    if !matches!(inst.dst[..], [VDst::Reg(_)]) {
        return 0;
    }
    match inst.op {
        Op::Mov(_) => of(0),
        Op::Int(IntOp::Add | IntOp::Sub, ty) if is_plain(ty) => of(0).min(of(1)),
        Op::Mul(Part::Lo | Part::Wide, _) => (of(0) + of(1)).min(ALL),
        Op::Mad { part: Part::Lo | Part::Wide, .. } => (of(0) + of(1)).min(of(2)),
        Op::Shl(_) => match inst.src[1] {
            VSrc::Const(Constant::Bits(by)) => of(0).saturating_add(by.min(64) as u32).min(ALL),
            _ => of(0),
        },
        Op::Logic(Logic::And, _) => of(0).max(of(1)),
        Op::Logic(Logic::Or | Logic::Xor, _) => of(0).min(of(1)),
        Op::Select(_) => of(0).min(of(1)),
        // What saturates becomes a bound, which is odd.
        Op::Cvt { to, from, mode } if is_plain(to) && is_plain(from) && !mode.sat => of(0),
        _ => 0,
    }
}

/// Whether a value of a type is one number of 32 or 64 bits.
const fn is_plain(ty: Ty) -> bool {
    matches!(ty, Ty::U32 | Ty::S32 | Ty::B32 | Ty::U64 | Ty::S64 | Ty::B64)
}
