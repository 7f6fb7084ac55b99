//! Semantics against expectations computed another way: 128-bit integers, exact products, tables.

mod bits;
mod compare;
mod conversion;
mod float;
mod half;
mod integer;
mod matrix;
mod memory;
mod moves;
mod oracles;
mod print;
mod sparse;
mod video;
mod warp;

use super::{OperandFamily, Operands, WarpContext, execute, routine};
use crate::isa::{Dst, Executor, Instruction, MAX_DST, MAX_SRC, Op, PredReg, Reg, Src, Traits, Width};
use crate::lanes::{ALL_LANES, LaneMask, Row};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Marks what no instruction wrote.
const UNTOUCHED: u32 = 0xdead_beef;

/// Operands by slot, without registers: sources are filled in, destinations read out.
#[derive(Clone)]
pub(super) struct Slots {
    instruction: Instruction,
    sources: [[Row; 4]; MAX_SRC],
    results: [[Row; 4]; MAX_DST],
    predicates: [LaneMask; 8],
}

/// [`Slots`] borrow from nothing.
struct OwnSlots;

impl OperandFamily for OwnSlots {
    type Of<'a> = Slots;
}

impl Operands for Slots {
    fn source(&self, slot: usize, half: usize) -> &Row {
        assert_ne!(self.instruction.src[slot], Src::None, "an absent source is asked for");
        &self.sources[slot][half]
    }
    fn write(&mut self, slot: usize, half: usize, lanes: LaneMask, value: &Row) {
        self.results[slot][half].merge(lanes, value);
    }
    fn predicate(&self, register: PredReg) -> LaneMask {
        self.predicates[usize::from(register.0)]
    }
    fn write_predicate(&mut self, register: PredReg, lanes: LaneMask, value: LaneMask) {
        let mine = &mut self.predicates[usize::from(register.0)];
        *mine = (*mine & !lanes) | (value & lanes);
    }
}

impl Slots {
    /// An instruction whose sources are not yet given.
    pub fn new(op: Op) -> Self {
        let instruction = Instruction { dst: [Dst::Reg(Reg(0)); MAX_DST], line: 1, ..Instruction::new(op) };
        Slots {
            instruction,
            sources: [[Row::ZERO; 4]; MAX_SRC],
            results: [[Row::splat(UNTOUCHED); 4]; MAX_DST],
            predicates: [0; 8],
        }
    }

    /// Gives every lane the same 64-bit value.
    pub fn source_value(mut self, slot: usize, value: u64) -> Self {
        self.instruction.src[slot] = Src::Reg(Reg(0));
        self.sources[slot][0] = Row::splat(value as u32);
        self.sources[slot][1] = Row::splat((value >> 32) as u32);
        self
    }

    /// Gives lane l the value `f(l)`.
    pub fn source_lanes(mut self, slot: usize, f: impl Fn(u32) -> u32) -> Self {
        self.instruction.src[slot] = Src::Reg(Reg(0));
        self.sources[slot][0] = Row(std::array::from_fn(|lane| f(lane as u32)));
        self
    }

    /// Makes predicate `4 + slot` a source with this value.
    pub fn source_predicate(mut self, slot: usize, value: LaneMask) -> Self {
        self.instruction.src[slot] = Src::Pred(PredReg(4 + slot as u8), false);
        self.predicates[4 + slot] = value;
        self
    }

    /// Makes predicate `slot` the destination `slot`.
    pub fn with_predicate(mut self, slot: usize) -> Self {
        self.instruction.dst[slot] = Dst::Pred(PredReg(slot as u8));
        self
    }

    pub fn run(self) -> Self {
        self.run_on(ALL_LANES, &WarpContext::default())
    }

    pub fn run_on(mut self, lanes: LaneMask, context: &WarpContext) -> Self {
        let instruction = self.instruction.clone();
        oracles::record(instruction.op);
        let mut by_routine = self.clone();
        execute(&instruction, &mut self, lanes, context);
        routine::<OwnSlots>(&instruction)(&instruction, &mut by_routine, lanes, context);
        assert_eq!(by_routine.results, self.results, "the routine of {:?}", instruction.op);
        assert_eq!(by_routine.predicates, self.predicates, "the routine of {:?}", instruction.op);
        self
    }

    /// The low word of destination 0 in every lane.
    pub fn words(&self) -> [u32; 32] {
        self.results[0][0].0
    }

    /// Both words of a destination in lane 0.
    pub fn result(&self, slot: usize) -> u64 {
        u64::from(self.results[slot][1].0[0]) << 32 | u64::from(self.results[slot][0].0[0])
    }
}

/// Destination 0 of an operation on these values; checked to be alike in all lanes.
pub(super) fn compute(op: Op, sources: &[u64]) -> u64 {
    let slots = sources
        .iter()
        .enumerate()
        .fold(Slots::new(op), |slots, (slot, value)| slots.source_value(slot, *value));
    let slots = slots.run();
    let [lo, hi] = [slots.results[0][0], slots.results[0][1]];
    assert_eq!((lo, hi), (Row::splat(lo.0[0]), Row::splat(hi.0[0])), "lanes with equal operands differ");
    slots.result(0)
}

/// As [`compute`], the low word.
pub(super) fn compute32(op: Op, sources: &[u32]) -> u32 {
    let wide: Vec<u64> = sources.iter().map(|value| u64::from(*value)).collect();
    compute(op, &wide) as u32
}

/// The low words of destination 0 for each of these low words of source 0, the other sources alike in all lanes.
pub(super) fn compute_each(op: Op, first: impl IntoIterator<Item = u32>, others: &[u32]) -> Vec<u32> {
    let mut results = Vec::new();
    let first: Vec<u32> = first.into_iter().collect();
    for chunk in first.chunks(32) {
        let slots = Slots::new(op).source_lanes(0, |lane| chunk.get(lane as usize).copied().unwrap_or(0));
        let slots = others
            .iter()
            .enumerate()
            .fold(slots, |slots, (n, value)| slots.source_value(n + 1, u64::from(*value)));
        results.extend_from_slice(&slots.run().words()[..chunk.len()]);
    }
    results
}

/// As [`compute`] on singles.
pub(super) fn compute_f32(op: Op, sources: &[f32]) -> f32 {
    let bits: Vec<u32> = sources.iter().map(|value| value.to_bits()).collect();
    f32::from_bits(compute32(op, &bits))
}

/// As [`compute`] on doubles.
pub(super) fn compute_f64(op: Op, sources: &[f64]) -> f64 {
    let bits: Vec<u64> = sources.iter().map(|value| value.to_bits()).collect();
    f64::from_bits(compute(op, &bits))
}

#[test]
fn inactive_lanes_keep_their_values() {
    let op = Op::Int(crate::isa::IntOp::Add, crate::isa::Ty::U64);
    let slots = Slots::new(op)
        .source_value(0, u64::MAX)
        .source_value(1, 1)
        .run_on(0x8000_0001, &WarpContext::default());
    for half in 0..2 {
        for (lane, word) in slots.results[0][half].0.iter().enumerate() {
            assert_eq!(*word, if lane == 0 || lane == 31 { 0 } else { UNTOUCHED }, "lane {lane}");
        }
    }
}

/// Operands that are all zero; nobody reads the results.
struct Zeros([Src; MAX_SRC]);

impl Operands for Zeros {
    fn source(&self, slot: usize, _half: usize) -> &Row {
        assert_ne!(self.0[slot], Src::None, "a source that the operation does not have");
        &Row::ZERO
    }
    fn write(&mut self, _slot: usize, _half: usize, _lanes: LaneMask, _value: &Row) {}
    fn predicate(&self, _register: PredReg) -> LaneMask {
        0
    }
    fn write_predicate(&mut self, _register: PredReg, _lanes: LaneMask, _value: LaneMask) {}
}

#[test]
fn what_is_executed_here_is_what_lanes_carry_out() {
    for op in crate::isa::samples() {
        let mut instruction = Instruction::new(op);
        let Traits { dst, src, .. } = op.traits();
        for slot in 0..dst.count() {
            let predicate = dst.width(slot) == Width::Predicate;
            instruction.dst[slot] = if predicate { Dst::Pred(PredReg(0)) } else { Dst::Reg(Reg(0)) };
        }
        for slot in 0..src.count() {
            let predicate = src.width(slot) == Width::Predicate;
            instruction.src[slot] = if predicate { Src::PredConst(true) } else { Src::Reg(Reg(0)) };
        }
        let mut operands = Zeros(instruction.src);
        let run = || execute(&instruction, &mut operands, ALL_LANES, &WarpContext::default());
        let computes = catch_unwind(AssertUnwindSafe(run)).is_ok();
        assert_eq!(computes, instruction.executor == Executor::Lanes, "{op:?}");
    }
}
