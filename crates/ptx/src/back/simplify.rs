//! What an assembler does before it allocates registers: fold constants and parameters into operands,
//! propagate copies, fold additions into memory offsets and negations into sums, join products with sums, drop what nobody
//! needs.
//!
//! Only registers with a single unguarded definition are folded, and only at uses which that definition
//! dominates. No memory access other than a parameter load appears, disappears or changes its address.

use super::body::{Body, copy, definitions, uses};
use super::cfg::Cfg;
use super::constant;
use super::facts::Facts;
use super::{common, fuse, narrow, offsets, signs, vectors};
use crate::ir::{Constant, VDst, VSrc};
use crate::isa::{Flow, IntOp, Op, Space, Width};

fn step(body: &mut Body, change: fn(&mut Body, &Facts<'_>)) {
    let cfg = Cfg::new(body);
    let facts = Facts::new(body, &cfg);
    change(body, &facts);
    sweep(body);
}

/// Only replaces uses of copies and constants by what they stand for; all of the code is reachable ([`tidy_flow`]).
pub fn settle(body: &mut Body) {
    step(body, propagate);
}

/// Simplifies a body in place; all of its code is reachable ([`tidy_flow`]).
pub fn simplify(body: &mut Body) {
    step(body, propagate);
    narrow::narrow(body);
    step(body, propagate);
    step(body, offsets::fold);
    step(body, common::share);
    step(body, propagate);
    step(body, signs::fold);
    let cfg = Cfg::new(body);
    fuse::fuse(body, &cfg);
    let cfg = Cfg::new(body);
    vectors::join(body, &cfg);
}

/// Drops branches to the next instruction and instructions that control never reaches.
pub fn tidy_flow(body: &mut Body) {
    let cfg = Cfg::new(body);
    let mut reached = vec![false; cfg.blocks.len()];
    cfg.order.iter().for_each(|block| reached[block.index()] = true);
    // For each instruction, the first from there on that stays: branches across what goes go to the next one too.
    let mut stays: Vec<usize> = (0..=body.code.len()).collect();
    for (at, inst) in body.code.iter().enumerate().rev() {
        let to_next = inst.op.traits().flow == Flow::Branch
            && inst.target as usize > at
            && stays[inst.target as usize] == stays[at + 1];
        if to_next || !reached[cfg.block_of[at].index()] {
            stays[at] = stays[at + 1];
        }
    }
    body.retain(|at, _| stays[at] == at);
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
    let stays = body.loads_parameters && matches!(inst.op, Op::Load(_));
    if !stays && let Some(constant) = constant::evaluate(inst, slot) {
        return Some(constant);
    }
    let (source, negated) = match (inst.op, inst.src.first()) {
        (Op::PredMov, Some(VSrc::Reg(src, negated))) => (*src, *negated),
        (Op::PredNot, Some(VSrc::Reg(src, negated))) => (*src, !negated),
        (Op::Cvta { space: Space::Global | Space::Const, .. }, Some(VSrc::Reg(src, _))) => (*src, false),
        (Op::Mov(_), _) => (copy(body, inst)?.1, false),
        (Op::Int(IntOp::Add, _), _) => match inst.src[..] {
            [VSrc::Const(Constant::Bits(0)), VSrc::Reg(src, _)]
            | [VSrc::Reg(src, _), VSrc::Const(Constant::Bits(0))] => {
                let VDst::Reg(dst) = inst.dst[slot] else { return None };
                if Width::of(body.ty(dst)) != Width::of(body.ty(src)) || body.ty(dst).bytes() < 4 {
                    return None;
                }
                (src, false)
            }
            _ => return None,
        },
        _ => return None,
    };
    facts.holds_at(source, at).then_some(VSrc::Reg(source, negated))
}

/// Drops instructions without effect whose results no instruction with an effect depends on.
fn sweep(body: &mut Body) {
    let live = needed(body);
    body.retain(|at, _| live[at]);
}

/// For each instruction, whether it has an effect or one with an effect depends on its result.
pub(super) fn needed(body: &Body) -> Vec<bool> {
    let mut writers: Vec<Vec<u32>> = vec![Vec::new(); body.registers.len()];
    let mut work = Vec::new();
    let mut live = vec![false; body.code.len()];
    for (at, inst) in body.code.iter().enumerate() {
        definitions(inst).for_each(|reg| writers[reg.0 as usize].push(at as u32));
        if inst.op.traits().has_effect {
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
    live
}
