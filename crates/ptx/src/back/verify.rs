//! An independent check of an allocation: every use reads the value that the program means.
//!
//! The code is interpreted with sets instead of values: for each place (row, predicate, spill slot) the
//! registers whose current value it holds, on every path. It shares nothing with the analyses that made the
//! allocation. A register that no definition reached on a path may be anywhere on that path.

use super::allocate::Allocation;
use super::bits::BitSet;
use super::body::{copy, definitions};
use super::cfg::{BlockId, Cfg};
use super::color::NO_PLACE;
use crate::ir::{Constant, VDst, VInst, VReg, VSrc};
use crate::isa::{Op, Space, Width};

/// Where places of each kind begin.
const PREDICATES: usize = 256;
const SLOTS: usize = PREDICATES + 32;

/// Most places of all blocks together in a kernel that is checked, as what holds is kept for each; four times as many are
/// looked at.
const MAX_PLACES: usize = 1 << 22;

/// Word `part` of a register's value.
type Value = (u32, u8);

/// What every place holds at a point of the program.
#[derive(Clone, PartialEq)]
struct State {
    /// For each place, the values it holds, ascending.
    holds: Vec<Vec<Value>>,
    /// Registers that some definition may have reached.
    defined: BitSet,
}

/// Checks an allocation; the error says where it goes wrong. A kernel of very many blocks is not checked.
pub fn verify(allocation: &Allocation) -> Result<(), String> {
    let cfg = Cfg::new(&allocation.body);
    let places = SLOTS + allocation.slots.bytes().div_ceil(4) as usize;
    if cfg.blocks.len().saturating_mul(places + allocation.body.registers.len() / 64) > MAX_PLACES {
        return Ok(());
    }
    let mut checker = Checker { allocation, may_hold: vec![Vec::new(); allocation.body.registers.len()] };
    let mut states: Vec<Option<State>> = vec![None; cfg.blocks.len()];
    states[0] = Some(State {
        holds: vec![Vec::new(); places],
        defined: BitSet::new(allocation.body.registers.len()),
    });
    let mut work: std::collections::BTreeSet<(usize, BlockId)> = Default::default();
    let number: Vec<usize> = {
        let mut number = vec![0; cfg.blocks.len()];
        cfg.order.iter().enumerate().for_each(|(at, block)| number[block.index()] = at);
        number
    };
    work.insert((0, BlockId(0)));
    let mut visited = 0;
    while let Some((_, block)) = work.pop_first() {
        visited += places * (1 + cfg.block(block).successors.len());
        if visited > MAX_PLACES * 4 {
            return Ok(());
        }
        let mut state = states[block.index()].clone().expect("a block is queued once it has a state");
        for at in cfg.block(block).range() {
            checker.step(at, &mut state, &mut |_| ());
        }
        for successor in &cfg.block(block).successors {
            let changed = match &mut states[successor.index()] {
                Some(known) => meet(known, &state),
                unknown => {
                    *unknown = Some(state.clone());
                    true
                }
            };
            if changed {
                work.insert((number[successor.index()], *successor));
            }
        }
    }
    let mut first: Option<String> = None;
    for block in &cfg.order {
        let mut state = states[block.index()].clone().expect("every reachable block was visited");
        for at in cfg.block(*block).range() {
            checker.step(at, &mut state, &mut |what| {
                let line = allocation.body.code[at].line;
                first.get_or_insert(format!("instruction {at} (line {line}): {what}"));
            });
        }
    }
    first.map_or(Ok(()), Err)
}

/// Keeps in `known` what holds on both paths; true when that is less than before.
fn meet(known: &mut State, other: &State) -> bool {
    let mut changed = false;
    for (mine, theirs) in known.holds.iter_mut().zip(&other.holds) {
        if mine == theirs {
            continue;
        }
        let free_here: Vec<Value> =
            theirs.iter().filter(|value| !known.defined.contains(value.0 as usize)).copied().collect();
        let kept = |value: &Value| theirs.contains(value) || !other.defined.contains(value.0 as usize);
        let old = mine.clone();
        mine.retain(kept);
        mine.extend(free_here);
        mine.sort_unstable();
        mine.dedup();
        changed |= *mine != old;
    }
    changed |= known.defined.union_with(&other.defined);
    changed
}

struct Checker<'a> {
    allocation: &'a Allocation,
    /// For each register, the places that held its value at some point.
    may_hold: Vec<Vec<usize>>,
}

impl Checker<'_> {
    /// The register whose value a register carries.
    fn root(&self, reg: VReg) -> u32 {
        self.allocation.body.root(reg).0
    }

    /// The places of a register and which word of it each holds.
    fn places(&self, reg: VReg, rows: Option<usize>) -> Vec<(usize, Value)> {
        let body = &self.allocation.body;
        let at = usize::from(self.allocation.places[reg.0 as usize]);
        assert_ne!(at, usize::from(NO_PLACE), "a register that the code mentions has a place");
        match Width::of(body.ty(reg)) {
            Width::Predicate => vec![(PREDICATES + at, (self.root(reg), 0))],
            width => {
                let rows = rows.unwrap_or(width.rows());
                (0..rows).map(|part| (at + part, (self.root(reg), part as u8))).collect()
            }
        }
    }

    /// Interprets one instruction.
    fn step(&mut self, at: usize, state: &mut State, complain: &mut dyn FnMut(String)) {
        let inst = &self.allocation.body.code[at];
        self.check_uses(inst, state, complain);
        if let Some((slot, reg, is_load)) = self.spill_access(inst) {
            for (place, value) in self.places(reg, None) {
                let slot = slot + usize::from(value.1);
                if is_load {
                    let holds = state.holds[slot].contains(&value);
                    if !holds && state.defined.contains(value.0 as usize) {
                        complain(format!("spill slot {slot} does not hold register {}", value.0));
                    }
                    let values = state.holds[slot].clone();
                    self.put(state, place, values);
                } else {
                    self.put(state, slot, vec![value]);
                }
            }
            return;
        }
        if let Some((dst, src)) = self.predicate_access(inst) {
            let (from, to) = (self.places(src, None)[0], self.places(dst, None)[0]);
            self.put(state, to.0, vec![from.1]);
            return;
        }
        let moved = copy(&self.allocation.body, inst);
        let mut written: Vec<(usize, Vec<Value>)> = Vec::new();
        for reg in definitions(inst) {
            let fresh = !state.defined.contains(self.root(reg) as usize);
            for (place, value) in self.places(reg, None) {
                if written.iter().any(|(other, _)| *other == place) {
                    complain(format!("two results share place {place}"));
                }
                let stays = !inst.merges() || fresh || state.holds[place].contains(&value);
                let mut now: Vec<Value> = if stays { vec![value] } else { Vec::new() };
                if let Some((_, src)) = moved {
                    let (from, _) = self.places(src, None)[usize::from(value.1)];
                    // Every lane that has a defined value has the source's.
                    if inst.guard.is_none() || (fresh && from == place) {
                        now.extend(&state.holds[from]);
                    }
                }
                now.sort_unstable();
                now.dedup();
                written.push((place, now));
            }
        }
        for reg in definitions(inst) {
            let root = self.root(reg);
            for place in &self.may_hold[root as usize] {
                if !written.iter().any(|(other, _)| other == place) {
                    state.holds[*place].retain(|value| value.0 != root);
                }
            }
            state.defined.insert(root as usize);
        }
        for (place, values) in written {
            self.put(state, place, values);
        }
    }

    fn put(&mut self, state: &mut State, place: usize, values: Vec<Value>) {
        for (register, _) in &values {
            let places = &mut self.may_hold[*register as usize];
            if !places.contains(&place) {
                places.push(place);
            }
        }
        state.holds[place] = values;
    }

    fn check_uses(&self, inst: &VInst, state: &State, complain: &mut dyn FnMut(String)) {
        let mut check = |reg: VReg, rows: Option<usize>| {
            for (place, value) in self.places(reg, rows) {
                if state.defined.contains(value.0 as usize) && !state.holds[place].contains(&value) {
                    complain(format!("place {place} does not hold word {} of register {}", value.1, value.0));
                }
            }
        };
        if let Some((guard, _)) = inst.guard {
            check(guard, None);
        }
        for (slot, src) in inst.src.iter().enumerate() {
            if let VSrc::Reg(reg, _) = src {
                check(*reg, Some(self.allocation.body.source_width(inst, slot).rows()));
            }
        }
    }

    /// A move that spilling added between a predicate and the row that keeps it: destination, then source.
    fn predicate_access(&self, inst: &VInst) -> Option<(VReg, VReg)> {
        let body = &self.allocation.body;
        let [VDst::Reg(dst)] = inst.dst[..] else { return None };
        let mut sources = inst.src.iter().filter_map(|src| match src {
            VSrc::Reg(reg, _) => Some(*reg),
            _ => None,
        });
        let (src, None) = (sources.next()?, sources.next()) else { return None };
        let converts = Width::of(body.ty(dst)) != Width::of(body.ty(src));
        (converts && self.root(dst) == self.root(src)).then_some((dst, src))
    }

    /// The slot, the register and the direction of an access that spilling added.
    fn spill_access(&self, inst: &VInst) -> Option<(usize, VReg, bool)> {
        let (Op::Load(mode) | Op::Store(mode)) = inst.op else { return None };
        let Some(VSrc::Const(Constant::Bits(at))) = inst.src.first() else { return None };
        let slots = &self.allocation.slots;
        let first = u64::from(slots.end() - slots.bytes());
        // The program's own accesses lie below, or anywhere: at null, when it is wrong or never gets there.
        if mode.space != Space::Local || !(first..u64::from(slots.end())).contains(at) {
            return None;
        }
        let reg = match (inst.dst.first(), inst.src.get(1)) {
            (Some(VDst::Reg(reg)), _) | (None, Some(VSrc::Reg(reg, _))) => *reg,
            _ => return None,
        };
        let slot = SLOTS + (*at - first) as usize / 4;
        Some((slot, reg, matches!(inst.op, Op::Load(_))))
    }
}
