//! What an assembler does before it allocates registers: fold constants and parameters into operands,
//! propagate copies, fold additions into memory offsets, drop what nobody needs.
//!
//! Only registers with a single unguarded definition are folded, and only at uses which that definition
//! dominates. No memory access other than a parameter load appears, disappears or changes its address.

use super::body::{Body, copy, definitions, uses};
use super::cfg::Cfg;
use super::constant;
use super::dominance::Dominators;
use super::shape::Width;
use crate::ir::{Constant, VDst, VInst, VReg, VSrc, is_stable};
use crate::isa::{IntOp, Op, Space, Ty};

/// Simplifies a body in place; all of its code is reachable ([`tidy_flow`]).
pub fn simplify(body: &mut Body) {
    let cfg = Cfg::new(body);
    let facts = Facts::new(body, &cfg);
    propagate(body, &facts);
    fold_offsets(body, &facts);
    sweep(body);
}

/// Drops branches to the next instruction and instructions that control never reaches.
pub fn tidy_flow(body: &mut Body) {
    loop {
        let cfg = Cfg::new(body);
        let mut reached = vec![false; cfg.blocks.len()];
        cfg.order.iter().for_each(|block| reached[block.index()] = true);
        let before = body.code.len();
        body.retain(|at, inst| {
            let stays = !matches!(inst.op, Op::Branch { .. }) || inst.target as usize != at + 1;
            stays && reached[cfg.block_of[at].index()]
        });
        if body.code.len() == before {
            return;
        }
    }
}

/// Single definitions and dominance.
struct Facts<'a> {
    cfg: &'a Cfg,
    dominators: Dominators,
    /// The only instruction that writes a register, when it is unguarded.
    definition: Vec<Option<usize>>,
}

impl Facts<'_> {
    fn new<'a>(body: &Body, cfg: &'a Cfg) -> Facts<'a> {
        let mut definition = vec![None; body.registers.len()];
        let mut count = vec![0; body.registers.len()];
        for (at, inst) in body.code.iter().enumerate() {
            for reg in definitions(inst) {
                count[reg.0 as usize] += 1;
                let only = count[reg.0 as usize] == 1 && inst.guard.is_none();
                definition[reg.0 as usize] = only.then_some(at);
            }
        }
        Facts { cfg, dominators: Dominators::new(cfg), definition }
    }

    /// Whether a register's only definition runs before instruction `at` on every path.
    fn holds_at(&self, reg: VReg, at: usize) -> bool {
        self.definition[reg.0 as usize]
            .is_some_and(|from| self.dominators.instruction_dominates(self.cfg, from, at))
    }
}

/// Replaces uses of copies and constants by what they stand for.
fn propagate(body: &mut Body, facts: &Facts<'_>) {
    let mut value: Vec<Option<VSrc>> = vec![None; body.registers.len()];
    // Definitions come before the uses that they dominate in this order, so values are final when used.
    for block in &facts.cfg.order {
        for at in facts.cfg.block(*block).range() {
            let inst = &mut body.code[at];
            for src in &mut inst.src {
                let VSrc::Reg(reg, negated) = *src else { continue };
                if let Some(known) = value[reg.0 as usize]
                    && facts.holds_at(reg, at)
                {
                    *src = match known {
                        VSrc::Reg(other, inverted) => VSrc::Reg(other, negated ^ inverted),
                        VSrc::PredConst(set) => VSrc::PredConst(set ^ negated),
                        constant => constant,
                    };
                }
            }
            if let Some((guard, negated)) = &mut inst.guard
                && let Some(VSrc::Reg(other, inverted)) = value[guard.0 as usize]
                && facts.holds_at(*guard, at)
            {
                *guard = other;
                *negated ^= inverted;
            }
            for slot in 0..body.code[at].dst.len() {
                let VDst::Reg(reg) = body.code[at].dst[slot] else { continue };
                if facts.definition[reg.0 as usize] == Some(at) {
                    value[reg.0 as usize] = meaning(body, facts, at, slot);
                }
            }
        }
    }
}

/// What destination `slot` of an instruction stands for, when that is a constant or another register.
fn meaning(body: &Body, facts: &Facts<'_>, at: usize, slot: usize) -> Option<VSrc> {
    let inst = &body.code[at];
    if let Some(constant) = constant::evaluate(inst, slot) {
        return Some(constant);
    }
    let (source, negated) = match (inst.op, inst.src.first()) {
        (Op::PredMov, Some(VSrc::Reg(src, negated))) => (*src, *negated),
        (Op::PredNot, Some(VSrc::Reg(src, negated))) => (*src, !negated),
        (Op::Cvta { space: Space::Global | Space::Const, .. }, Some(VSrc::Reg(src, _))) => (*src, false),
        (Op::Mov(_), _) => (copy(body, inst)?.1, false),
        _ => return None,
    };
    facts.holds_at(source, at).then_some(VSrc::Reg(source, negated))
}

/// `add d, a, 16; ld [d]` becomes `ld [a+16]` when every use of d is such an address or again such a sum, so
/// that the addition dies.
fn fold_offsets(body: &mut Body, facts: &Facts<'_>) {
    let foldable = foldable_sums(body, facts);
    let mut moved: Vec<Option<(VReg, i64)>> = vec![None; body.registers.len()];
    for block in &facts.cfg.order {
        for at in facts.cfg.block(*block).range() {
            let inst = &mut body.code[at];
            if let Some((reg, _)) = address_of(inst)
                && let Some((base, offset)) = moved[reg.0 as usize]
                && let Some(sum) = inst.offset.checked_add(offset)
            {
                inst.src[0] = VSrc::Reg(base, false);
                inst.offset = sum;
            }
            if let Some((dst, base, offset)) = addition(inst)
                && foldable[dst.0 as usize]
            {
                moved[dst.0 as usize] = Some(match moved[base.0 as usize] {
                    Some((further, more)) => (further, offset.wrapping_add(more)),
                    None => (base, offset),
                });
            }
        }
    }
}

/// The registers that only serve as addresses and are another register plus a constant.
fn foldable_sums(body: &Body, facts: &Facts<'_>) -> Vec<bool> {
    let mut foldable = vec![false; body.registers.len()];
    let mut needed = vec![false; body.registers.len()];
    // A 32-bit sum wraps at 32 bits; so do addresses in the windows, and no others.
    let mut wraps = vec![true; body.registers.len()];
    for block in facts.cfg.order.iter().rev() {
        for at in facts.cfg.block(*block).range().rev() {
            // A definition that dominates its uses comes after all of them in this order.
            let inst = &body.code[at];
            if let Some((dst, base, _)) = addition(inst) {
                let (dst, same) = (dst.0 as usize, Width::of(body.ty(dst)) == Width::of(body.ty(base)));
                foldable[dst] = !needed[dst]
                    && (wraps[dst] || body.registers[dst].bytes() == 8)
                    && same
                    && facts.definition[dst] == Some(at)
                    && facts.holds_at(base, at);
                if foldable[dst] {
                    wraps[base.0 as usize] &= wraps[dst];
                } else {
                    needed[base.0 as usize] = true;
                }
                continue;
            }
            let address = address_of(inst).filter(|(reg, _)| facts.holds_at(*reg, at));
            if let Some((reg, space)) = address {
                wraps[reg.0 as usize] &= matches!(space, Space::Shared | Space::Local);
            }
            let guard = inst.guard.map(|(guard, _)| guard);
            let others = inst.src.iter().skip(usize::from(address.is_some())).filter_map(|src| match src {
                VSrc::Reg(reg, _) => Some(*reg),
                _ => None,
            });
            guard.into_iter().chain(others).for_each(|reg| needed[reg.0 as usize] = true);
        }
    }
    foldable
}

/// The register and space of a memory instruction's address.
fn address_of(inst: &VInst) -> Option<(VReg, Space)> {
    let space = match inst.op {
        Op::Load(mode) | Op::Store(mode) | Op::Atomic { mode, .. } | Op::Reduce { mode, .. } => mode.space,
        Op::Prefetch(space) => space,
        _ => return None,
    };
    match inst.src.first() {
        Some(VSrc::Reg(reg, _)) => Some((*reg, space)),
        _ => None,
    }
}

/// `dst = base + offset` of address width.
fn addition(inst: &VInst) -> Option<(VReg, VReg, i64)> {
    let Op::Int(op @ (IntOp::Add | IntOp::Sub), ty) = inst.op else { return None };
    let (VDst::Reg(dst), [left, right]) = (*inst.dst.first()?, inst.src.as_slice()) else { return None };
    let (base, bits) = match (op, *left, *right) {
        (_, VSrc::Reg(base, _), VSrc::Const(Constant::Bits(bits)))
        | (IntOp::Add, VSrc::Const(Constant::Bits(bits)), VSrc::Reg(base, _)) => (base, bits),
        _ => return None,
    };
    let offset = match ty {
        Ty::U32 | Ty::S32 | Ty::B32 => i64::from(bits as i32),
        Ty::U64 | Ty::S64 | Ty::B64 => bits as i64,
        _ => return None,
    };
    let offset = if op == IntOp::Sub { offset.wrapping_neg() } else { offset };
    Some((dst, base, offset))
}

/// Drops instructions without effect whose results no instruction with an effect depends on.
fn sweep(body: &mut Body) {
    let mut writers: Vec<Vec<u32>> = vec![Vec::new(); body.registers.len()];
    let mut work = Vec::new();
    let mut live = vec![false; body.code.len()];
    for (at, inst) in body.code.iter().enumerate() {
        definitions(inst).for_each(|reg| writers[reg.0 as usize].push(at as u32));
        if has_effect(inst) {
            live[at] = true;
            work.push(at);
        }
    }
    while let Some(at) = work.pop() {
        for reg in uses(&body.code[at]) {
            for writer in std::mem::take(&mut writers[reg.0 as usize]) {
                if !std::mem::replace(&mut live[writer as usize], true) {
                    work.push(writer as usize);
                }
            }
        }
    }
    body.retain(|at, _| live[at]);
}

/// Whether an instruction matters beyond its destinations. Loads do: an access is part of a program's cost.
fn has_effect(inst: &VInst) -> bool {
    match inst.op {
        Op::Load(mode) => mode.space != Space::Param,
        Op::ReadSpecial(special) => !is_stable(special),
        Op::Store(_)
        | Op::Atomic { .. }
        | Op::Reduce { .. }
        | Op::Prefetch(_)
        | Op::Branch { .. }
        | Op::BranchIndexed { .. }
        | Op::Exit
        | Op::Trap
        | Op::Barrier(_)
        | Op::WarpSync
        | Op::Fence { .. }
        | Op::Shfl(_)
        | Op::Vote(_)
        | Op::Match { .. }
        | Op::Redux { .. }
        | Op::Elect
        | Op::Print { .. }
        | Op::Nanosleep => true,
        _ => false,
    }
}
