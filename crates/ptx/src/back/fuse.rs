//! Joins a multiplication and the addition that alone uses its product, as an assembler does.
//!
//! Only integers: the sum of a product is the same in one instruction or two. Floating-point contraction would
//! round differently, so it is left to the text.

use super::body::{Body, definitions, uses};
use super::cfg::Cfg;
use crate::ir::{VDst, VReg, VSrc};
use crate::isa::{IntOp, Op, Part, Ty};

/// Replaces `mul d, a, b; add e, d, c` within a block by `mad e, a, b, c`.
pub fn fuse(body: &mut Body, cfg: &Cfg) {
    let mut reads = vec![0u32; body.registers.len()];
    for inst in &body.code {
        uses(inst).for_each(|reg| reads[reg.0 as usize] += 1);
    }
    let mut dead = vec![false; body.code.len()];
    // For each register: the instruction of the block that last wrote it.
    let mut written: Vec<Option<usize>> = vec![None; body.registers.len()];
    for block in &cfg.order {
        let range = cfg.block(*block).range();
        for at in range.clone() {
            if let Some((product, addend)) = product_and_addend(body, at, |reg| {
                written[reg.0 as usize].filter(|from| range.contains(from) && reads[reg.0 as usize] == 1)
            }) {
                let unchanged = uses(&body.code[product])
                    .all(|reg| written[reg.0 as usize].is_none_or(|w| !range.contains(&w) || w < product));
                if unchanged {
                    let (part, ty) = match body.code[product].op {
                        Op::Mul(part, ty) => (part, ty),
                        _ => unreachable!("a product is made by a multiplication"),
                    };
                    let factors = body.code[product].src.clone();
                    let inst = &mut body.code[at];
                    inst.op = Op::Mad { part, ty, sat: false };
                    inst.src = vec![factors[0], factors[1], addend];
                    dead[product] = true;
                }
            }
            for reg in definitions(&body.code[at]) {
                written[reg.0 as usize] = Some(at);
            }
        }
    }
    body.retain(|at, _| !dead[at]);
}

/// For an addition: the multiplication that made one operand, and the other operand.
fn product_and_addend(
    body: &Body,
    at: usize,
    made_here: impl Fn(VReg) -> Option<usize>,
) -> Option<(usize, VSrc)> {
    let inst = &body.code[at];
    let Op::Int(IntOp::Add, ty) = inst.op else { return None };
    [(0, 1), (1, 0)].into_iter().find_map(|(one, other)| {
        let VSrc::Reg(reg, _) = inst.src[one] else { return None };
        let product = made_here(reg)?;
        let multiplication = &body.code[product];
        let fits = match multiplication.op {
            Op::Mul(Part::Lo, of) => of.bytes() == ty.bytes() && of.bytes() >= 4,
            Op::Mul(Part::Wide, of) => matches!(of, Ty::U32 | Ty::S32) && ty.bytes() == 8,
            _ => false,
        };
        let whole = multiplication.guard.is_none() && multiplication.dst.first() == Some(&VDst::Reg(reg));
        (fits && whole).then_some((product, inst.src[other]))
    })
}
