//! Copies of a loop's body, one after another.
//!
//! A pointer or counter that each round moves on by a constant is moved on once for all copies: what the text reads of it
//! in between is the register with a constant, which an address takes as its offset. The same goes for sums, shifts and
//! products of such registers that are nothing but addresses.

use super::super::body::{Body, definitions, instruction};
use super::counted::{Counted, increment, reads_first};
use crate::ir::{Constant, VDst, VInst, VReg, VSrc};
use crate::isa::{IntOp, Op, Order, Part, Space, Ty};
use std::collections::{HashMap, HashSet};

/// What is known of the registers of a loop's body.
pub(super) struct Copies {
    /// The body without test and branch, with what each instruction moves on in place.
    code: Vec<(VInst, Option<(VReg, i64)>)>,
    /// Registers that a round moves on, in the order of the text, and by how much.
    moved: Vec<(VReg, i64)>,
    /// Addresses that need computing once, and by how much they grow a round.
    addresses: HashMap<VReg, i64>,
}

impl Copies {
    pub fn new(body: &Body, counted: &Counted, live_out: &[u32]) -> Copies {
        let whole = &body.code[counted.range.clone()];
        let mut writes: HashMap<VReg, usize> = HashMap::new();
        whole.iter().flat_map(definitions).for_each(|reg| *writes.entry(reg).or_default() += 1);
        let moves = |inst: &VInst| {
            let [VDst::Reg(reg)] = inst.dst[..] else { return None };
            let step = increment(inst, reg).filter(|_| writes[&reg] == 1)?;
            (body.ty(reg).bytes() >= 4).then_some((reg, step))
        };
        let mut code: Vec<_> = whole.iter().map(|inst| (inst.clone(), moves(inst))).collect();
        let mut steps: HashMap<VReg, i64> = code.iter().filter_map(|(_, moved)| *moved).collect();
        let moved = code.iter().filter_map(|(_, moved)| *moved).collect();
        let mut derived = Vec::new();
        for inst in whole {
            let [VDst::Reg(reg)] = inst.dst[..] else { continue };
            let own =
                writes[&reg] == 1 && !reads_first(whole, reg) && live_out.binary_search(&reg.0).is_err();
            if !own || inst.guard.is_some() || steps.contains_key(&reg) {
                continue;
            }
            let step = growth(body, inst, |source| match steps.get(&source) {
                Some(step) => Some(*step),
                None => (!writes.contains_key(&source)).then_some(0),
            });
            if let Some(step) = step {
                steps.insert(reg, step);
                derived.push(reg);
            }
        }
        let addresses =
            only_addresses(body, whole, &derived).into_iter().map(|reg| (reg, steps[&reg])).collect();
        code.pop();
        code.remove(counted.test - counted.range.start);
        Copies { code, moved, addresses }
    }

    /// Appends so many copies to `out`, and moves on what they move on.
    pub fn append(&self, body: &mut Body, times: u64, out: &mut Vec<VInst>) {
        let mut ahead: HashMap<VReg, i64> = HashMap::new();
        // Registers that hold a moved one with a constant.
        let mut sums: HashMap<(VReg, i64), VReg> = HashMap::new();
        for copy in 0..times {
            for (inst, moved) in &self.code {
                if let Some((reg, step)) = moved {
                    let by = ahead.entry(*reg).or_default();
                    *by = by.wrapping_add(*step);
                    continue;
                }
                let computed = |reg: VReg| self.addresses.contains_key(&reg);
                if copy > 0 && definitions(inst).any(computed) {
                    continue;
                }
                let mut inst = inst.clone();
                let address = address(body, &inst);
                for slot in 0..inst.src.len() {
                    let VSrc::Reg(reg, _) = inst.src[slot] else { continue };
                    if let Some(step) = self.addresses.get(&reg).filter(|_| address == Some(slot)) {
                        inst.offset = inst.offset.wrapping_add(step.wrapping_mul(copy as i64));
                        continue;
                    }
                    let Some(by) = ahead.get(&reg).copied().filter(|by| *by != 0) else { continue };
                    if address == Some(slot) {
                        inst.offset = inst.offset.wrapping_add(by);
                        continue;
                    }
                    let sum = *sums.entry((reg, by)).or_insert_with(|| {
                        let sum = body.fresh(body.ty(reg));
                        out.push(add(body, sum, reg, by, inst.line));
                        sum
                    });
                    inst.src[slot] = VSrc::Reg(sum, false);
                }
                out.push(inst);
            }
        }
        for (reg, _) in &self.moved {
            let line = self
                .code
                .iter()
                .find(|(_, moved)| moved.is_some_and(|(of, _)| of == *reg))
                .map_or(0, |(inst, _)| inst.line);
            out.push(add(body, *reg, *reg, ahead[reg], line));
        }
    }

    /// What a round weighs.
    pub fn weight(&self) -> Weight {
        let mut weight = Weight { cost: 0, global_loads: 0, shared_loads: 0 };
        for (inst, _) in self.code.iter().filter(|(_, moved)| moved.is_none()) {
            weight.cost += match inst.op.traits().order {
                Order::Access(access) if access.writes => 2,
                Order::Access(access) if access.mode.space == Space::Shared => {
                    weight.shared_loads += 1;
                    1
                }
                Order::Access(access) if access.is_load() => {
                    weight.global_loads += 1;
                    2
                }
                _ => 1,
            };
        }
        weight
    }
}

/// What an assembler weighs of a loop before it unrolls it.
pub(super) struct Weight {
    /// Instructions that no round saves; an access of memory outside the SM and a store count twice.
    pub cost: u64,
    pub global_loads: u64,
    pub shared_loads: u64,
}

/// `to = from + by`.
pub(super) fn add(body: &Body, to: VReg, from: VReg, by: i64, line: u32) -> VInst {
    let ty = if body.ty(from).bytes() == 4 { Ty::U32 } else { Ty::U64 };
    let bits = if ty == Ty::U32 { u64::from(by as u32) } else { by as u64 };
    let src = vec![VSrc::Reg(from, false), VSrc::Const(Constant::Bits(bits))];
    instruction(Op::Int(IntOp::Add, ty), vec![VDst::Reg(to)], src, line)
}

/// The source that is an address and may have a constant moved into its offset: of 64 bits, or in a space whose addresses
/// wrap at 32.
fn address(body: &Body, inst: &VInst) -> Option<usize> {
    let space = inst.op.traits().address?;
    let VSrc::Reg(reg, _) = *inst.src.first()? else { return None };
    let wraps = matches!(space, Space::Shared | Space::Local | Space::Param);
    (wraps || body.ty(reg).bytes() == 8).then_some(0)
}

/// By how much a result grows a round, if its sources grow by constants.
fn growth(body: &Body, inst: &VInst, step: impl Fn(VReg) -> Option<i64>) -> Option<i64> {
    let [VDst::Reg(dst)] = inst.dst[..] else { return None };
    let bytes = body.ty(dst).bytes();
    let of = |src: &VSrc| match *src {
        VSrc::Reg(reg, false) if body.ty(reg).bytes() == bytes => step(reg),
        VSrc::Const(_) => Some(0),
        _ => None,
    };
    let bits = |src: &VSrc| match src {
        VSrc::Const(Constant::Bits(bits)) => Some(*bits as i64),
        _ => None,
    };
    let ty = match inst.op {
        Op::Int(IntOp::Add | IntOp::Sub, ty) | Op::Shl(ty) | Op::Mov(ty) => ty,
        Op::Mul(Part::Lo, ty) | Op::Mad { part: Part::Lo, ty, sat: false } => ty,
        _ => return None,
    };
    if ty.bytes() != bytes || bytes < 4 {
        return None;
    }
    match (inst.op, &inst.src[..]) {
        (Op::Int(IntOp::Add, _), [a, b]) => Some(of(a)?.wrapping_add(of(b)?)),
        (Op::Int(IntOp::Sub, _), [a, b]) => Some(of(a)?.wrapping_sub(of(b)?)),
        (Op::Mov(_), [a]) => of(a),
        (Op::Shl(_), [a, by]) => {
            let by = bits(by).filter(|by| (0..8 * bytes as i64).contains(by))?;
            Some(of(a)?.wrapping_shl(by as u32))
        }
        (Op::Mul(..), [a, by]) => Some(of(a)?.wrapping_mul(bits(by)?)),
        (Op::Mad { .. }, [a, by, c]) => Some(of(a)?.wrapping_mul(bits(by)?).wrapping_add(of(c)?)),
        _ => None,
    }
}

/// Of the registers that grow by constants, those that are read as addresses only, or in sums that are.
fn only_addresses(body: &Body, code: &[VInst], derived: &[VReg]) -> HashSet<VReg> {
    let mut only: HashSet<VReg> = derived.iter().copied().collect();
    for inst in code.iter().rev() {
        let passes = matches!(inst.dst[..], [VDst::Reg(dst)] if only.contains(&dst));
        let place = address(body, inst);
        for (slot, src) in inst.src.iter().enumerate() {
            if let VSrc::Reg(reg, _) = src
                && !passes
                && place != Some(slot)
            {
                only.remove(reg);
            }
        }
    }
    only
}
