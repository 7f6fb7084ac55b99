//! Operations across the lanes of a warp: shuffles, votes, matches, reductions, election.

use super::Operands;
use super::float::{extremum_f32, finish_f32};
use super::lanewise::{members, predicate_source, wide_source, write_predicate};
use crate::isa::{AtomicOp, FloatMode, Instruction, Shuffle, Ty, Vote};
use crate::lanes::{ALL_LANES, LaneMask, Row, WARP_LANES, lanes_of};

/// `shfl` (PTX ISA, "shfl.sync": the pseudocode there). A source lane that does not take part is read all
/// the same; the ISA leaves that value open.
pub(super) fn shuffle(mode: Shuffle, instruction: &Instruction, o: &mut impl Operands, lanes: LaneMask) {
    let (mut result, mut in_range) = (Row::ZERO, 0);
    {
        let (value, b, c) = (o.source(0, 0), o.source(1, 0), o.source(2, 0));
        for lane in 0..WARP_LANES as u32 {
            let (operand, control) = (b.0[lane as usize] & 31, c.0[lane as usize]);
            let (clamp, segment) = (control & 31, control >> 8 & 31);
            let min_lane = lane & segment;
            let max_lane = min_lane | (clamp & !segment);
            let (from, inside) = match mode {
                // `up` compares as signed: its clamp is the lowest lane of the segment.
                Shuffle::Up => {
                    let from = lane as i32 - operand as i32;
                    (from as u32, from >= max_lane as i32)
                }
                Shuffle::Down => (lane + operand, lane + operand <= max_lane),
                Shuffle::Bfly => (lane ^ operand, lane ^ operand <= max_lane),
                Shuffle::Idx => {
                    let from = min_lane | (operand & !segment);
                    (from, from <= max_lane)
                }
            };
            let from = if inside { from } else { lane };
            result.0[lane as usize] = value.0[from as usize & 31];
            in_range |= u32::from(inside) << lane;
        }
    }
    o.write(0, 0, lanes, &result);
    write_predicate(instruction, o, 1, lanes, in_range);
}

/// `vote`.
pub(super) fn vote(mode: Vote, instruction: &Instruction, o: &mut impl Operands, lanes: LaneMask) {
    let members = members(instruction, o, 1, lanes);
    let ayes = predicate_source(instruction, o, 0) & members;
    let answer = match mode {
        Vote::Ballot => return o.write(0, 0, lanes, &Row::splat(ayes)),
        Vote::All => ayes == members,
        Vote::Any => ayes != 0,
        Vote::Uni => ayes == 0 || ayes == members,
    };
    write_predicate(instruction, o, 0, lanes, if answer { ALL_LANES } else { 0 });
}

/// `match.any` and `match.all`.
pub(super) fn match_values(
    ty: Ty,
    all: bool,
    instruction: &Instruction,
    o: &mut impl Operands,
    lanes: LaneMask,
) {
    let members = members(instruction, o, 1, lanes);
    let value = |lane: usize| {
        if ty.rows() == 2 { wide_source(o, 0, lane) } else { u64::from(o.source(0, 0).0[lane]) }
    };
    let mut result = Row::ZERO;
    let mut left = members;
    while left != 0 {
        let leader = value(left.trailing_zeros() as usize);
        let group =
            lanes_of(left).filter(|lane| value(*lane) == leader).fold(0, |mask, lane| mask | 1 << lane);
        for lane in lanes_of(group) {
            result.0[lane] = group;
        }
        left &= !group;
        if all {
            let agreed = group == members;
            o.write(0, 0, lanes, &Row::splat(if agreed { members } else { 0 }));
            return write_predicate(instruction, o, 1, lanes, if agreed { ALL_LANES } else { 0 });
        }
    }
    o.write(0, 0, lanes, &result);
}

/// `redux.sync`.
///
/// # Panics
/// On an operation that `redux` does not have: the front end refuses it.
pub(super) fn reduce(
    op: AtomicOp,
    ty: Ty,
    instruction: &Instruction,
    o: &mut impl Operands,
    lanes: LaneMask,
) {
    let members = members(instruction, o, 1, lanes);
    let values = o.source(0, 0);
    let fold = |f: fn(u32, u32) -> u32| lanes_of(members).map(|lane| values.0[lane]).reduce(f).unwrap_or(0);
    let result = match op {
        AtomicOp::Add => fold(u32::wrapping_add),
        AtomicOp::And => fold(|a, b| a & b),
        AtomicOp::Or => fold(|a, b| a | b),
        AtomicOp::Xor => fold(|a, b| a ^ b),
        AtomicOp::Min if ty.is_signed() => fold(|a, b| (a as i32).min(b as i32) as u32),
        AtomicOp::Max if ty.is_signed() => fold(|a, b| (a as i32).max(b as i32) as u32),
        AtomicOp::Min => fold(u32::min),
        AtomicOp::Max => fold(u32::max),
        AtomicOp::Inc | AtomicOp::Dec | AtomicOp::Exch | AtomicOp::Cas => {
            panic!("redux has no {op:?}: the front end refuses it")
        }
    };
    o.write(0, 0, lanes, &Row::splat(result));
}

/// `redux.sync` of f32: NaN is left out unless `nan`, and is canonical when nothing else is there.
pub(super) fn reduce_float(
    (largest, nan, abs): (bool, bool, bool),
    instruction: &Instruction,
    o: &mut impl Operands,
    lanes: LaneMask,
) {
    let members = members(instruction, o, 1, lanes);
    let values = o.source(0, 0);
    let magnitude = |value: f32| if abs { value.abs() } else { value };
    let result = lanes_of(members)
        .map(|lane| magnitude(f32::from_bits(values.0[lane])))
        .reduce(|a, b| extremum_f32(largest, nan, false, a, b));
    let result = finish_f32(FloatMode::DEFAULT, result.unwrap_or(0.0));
    o.write(0, 0, lanes, &Row::splat(result.to_bits()));
}

/// `activemask`.
pub(super) fn active_mask(o: &mut impl Operands, lanes: LaneMask) {
    o.write(0, 0, lanes, &Row::splat(lanes));
}

/// `elect.sync`: the lowest member is elected.
pub(super) fn elect(instruction: &Instruction, o: &mut impl Operands, lanes: LaneMask) {
    let members = members(instruction, o, 0, lanes);
    let leader = members.trailing_zeros().min(31);
    o.write(0, 0, lanes, &Row::splat(leader));
    write_predicate(instruction, o, 1, lanes, members & members.wrapping_neg());
}
