//! Operations across the lanes of a warp: shuffles, votes, matches, reductions, election.

use super::Operands;
use super::float_rules::{extremum_f32, finish_f32};
use super::lanewise::{predicate_source, write_predicate};
use crate::isa::{AtomicOp, FloatMode, Instruction, Members, Shuffle, Src, Ty, Vote};
use crate::lanes::{ALL_LANES, LaneMask, Row, WARP_LANES, lanes_of};

/// `shfl` (PTX ISA, "shfl.sync": the pseudocode there). A source lane that does not take part is read all
/// the same; the ISA leaves that value open.
pub(super) fn shuffle(mode: Shuffle, instruction: &Instruction, o: &mut impl Operands, lanes: LaneMask) {
    match mode {
        // `up` compares as signed: its clamp is the lowest lane of the segment.
        Shuffle::Up => pick(instruction, o, lanes, |lane, operand, (_, last), _| {
            let from = lane.cast_signed() - operand.cast_signed();
            (from.cast_unsigned(), from >= last.cast_signed())
        }),
        Shuffle::Down => pick(instruction, o, lanes, |lane, operand, (_, last), _| {
            (lane + operand, lane + operand <= last)
        }),
        Shuffle::Bfly => pick(instruction, o, lanes, |lane, operand, (_, last), _| {
            (lane ^ operand, lane ^ operand <= last)
        }),
        Shuffle::Idx => pick(instruction, o, lanes, |_, operand, (first, last), segment| {
            let from = first | (operand & !segment);
            (from, from <= last)
        }),
    }
}

/// A shuffle whose mode gives, for a lane, its operand, the first and the last lane of its segment and the segment's mask,
/// the lane that it reads and whether that is in range.
#[inline(always)]
fn pick(
    instruction: &Instruction,
    o: &mut impl Operands,
    lanes: LaneMask,
    mode: impl Fn(u32, u32, (u32, u32), u32) -> (u32, bool),
) {
    let (mut from, mut flags, mut result) = (Row::ZERO, Row::ZERO, Row::ZERO);
    {
        let (value, b, c) = (o.source(0, 0), o.source(1, 0), o.source(2, 0));
        for lane in 0..WARP_LANES {
            let (own, operand, control) = (lane as u32, b.0[lane] & 31, c.0[lane]);
            let (clamp, segment) = (control & 31, control >> 8 & 31);
            let first = own & segment;
            let (other, inside) = mode(own, operand, (first, first | (clamp & !segment)), segment);
            from.0[lane] = if inside { other } else { own };
            flags.0[lane] = u32::from(inside) << lane;
        }
        for lane in 0..WARP_LANES {
            result.0[lane] = value.0[from.0[lane] as usize % WARP_LANES];
        }
    }
    o.write(0, 0, lanes, &result);
    write_predicate(instruction, o, 1, lanes, flags.0.iter().fold(0, |mask, flag| mask | flag));
}

/// For each lane, those that an operation names as who executes it together with that lane.
pub fn members(instruction: &Instruction, o: &impl Operands) -> Row {
    match instruction.op.members() {
        Some(Members::Source(slot)) if instruction.src[slot] != Src::None => *o.source(slot, 0),
        Some(Members::All) => Row::splat(ALL_LANES),
        Some(Members::Source(_)) | None => Row::ZERO,
    }
}

/// The threads that execute an operation with one membermask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Group {
    /// Those that execute it: they get its result.
    executing: LaneMask,
    /// Of those, the ones that their mask names: they give its input.
    members: LaneMask,
}

/// The group of the lowest of `lanes`: the PTX ISA lets an operation with `.sync` join the threads that execute it with the
/// same membermask. The forms without a mask join all lanes.
///
/// The ISA leaves open what a thread gets whose own bit is missing from its mask. Here it gives nothing to its group and gets
/// the group's result all the same; `match.any` gives it 0.
#[inline]
fn group(instruction: &Instruction, o: &impl Operands, slot: usize, lanes: LaneMask) -> Group {
    let (executing, mask) = match instruction.src[slot] {
        Src::None => (lanes, lanes),
        Src::Const(_) => (lanes, o.source(slot, 0).0[0]),
        _ => {
            let masks = o.source(slot, 0);
            let mask = masks.0[lanes.trailing_zeros() as usize & 31];
            (lanes & masks.lanes_equal(mask), mask)
        }
    };
    Group { executing, members: executing & mask }
}

/// The groups among the lanes.
#[inline]
fn groups(
    instruction: &Instruction,
    o: &impl Operands,
    slot: usize,
    lanes: LaneMask,
) -> impl Iterator<Item = Group> {
    let mut left = lanes;
    std::iter::from_fn(move || {
        (left != 0).then(|| {
            let group = group(instruction, o, slot, left);
            left &= !group.executing;
            group
        })
    })
}

/// A value and flags for each group: the value in every lane of it, and those of the flags that are its lanes.
#[inline]
fn by_group(
    instruction: &Instruction,
    o: &impl Operands,
    slot: usize,
    lanes: LaneMask,
    f: impl Fn(LaneMask) -> (u32, LaneMask),
) -> (Row, LaneMask) {
    let (mut values, mut flags) = (Row::ZERO, 0);
    for Group { executing, members } in groups(instruction, o, slot, lanes) {
        let (value, flag) = f(members);
        if executing == lanes {
            values = Row::splat(value);
        } else {
            values.merge(executing, &Row::splat(value));
        }
        flags |= flag & executing;
    }
    (values, flags)
}

/// `vote`.
pub(super) fn vote(mode: Vote, instruction: &Instruction, o: &mut impl Operands, lanes: LaneMask) {
    let source = predicate_source(instruction, o, 0);
    let (ballots, answers) = by_group(instruction, o, 1, lanes, |members| {
        let ayes = source & members;
        let answer = match mode {
            Vote::Ballot => false,
            Vote::All => ayes == members,
            Vote::Any => ayes != 0,
            Vote::Uni => ayes == 0 || ayes == members,
        };
        (ayes, if answer { ALL_LANES } else { 0 })
    });
    match mode {
        Vote::Ballot => o.write(0, 0, lanes, &ballots),
        Vote::All | Vote::Any | Vote::Uni => write_predicate(instruction, o, 0, lanes, answers),
    }
}

/// `match.any` and `match.all`.
pub(super) fn match_values(
    ty: Ty,
    all: bool,
    instruction: &Instruction,
    o: &mut impl Operands,
    lanes: LaneMask,
) {
    if all {
        let (masks, agreed) = by_group(instruction, o, 1, lanes, |members| {
            let agreed = equals(ty, o, members) == members;
            if agreed { (members, ALL_LANES) } else { (0, 0) }
        });
        o.write(0, 0, lanes, &masks);
        return write_predicate(instruction, o, 1, lanes, agreed);
    }
    let mut masks = Row::ZERO;
    for Group { members, .. } in groups(instruction, o, 1, lanes) {
        let mut left = members;
        while left != 0 {
            let equal = equals(ty, o, left);
            for lane in lanes_of(equal) {
                masks.0[lane] = equal;
            }
            left &= !equal;
        }
    }
    o.write(0, 0, lanes, &masks);
}

/// Of some lanes, those whose source 0 equals the lowest one's.
fn equals(ty: Ty, o: &impl Operands, lanes: LaneMask) -> LaneMask {
    let lowest = lanes.trailing_zeros() as usize & 31;
    let half = |half: usize| {
        let row = o.source(0, half);
        row.lanes_equal(row.0[lowest])
    };
    lanes & half(0) & if ty.rows() == 2 { half(1) } else { ALL_LANES }
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
    let values = o.source(0, 0);
    let (results, _) = by_group(instruction, o, 1, lanes, |members| {
        let fold =
            |f: fn(u32, u32) -> u32| lanes_of(members).map(|lane| values.0[lane]).reduce(f).unwrap_or(0);
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
        (result, 0)
    });
    o.write(0, 0, lanes, &results);
}

/// `redux.sync` of f32: NaN is left out unless `nan`, and is canonical when nothing else is there.
pub(super) fn reduce_float(
    (largest, nan, abs): (bool, bool, bool),
    instruction: &Instruction,
    o: &mut impl Operands,
    lanes: LaneMask,
) {
    let values = o.source(0, 0);
    let magnitude = |value: f32| if abs { value.abs() } else { value };
    let (results, _) = by_group(instruction, o, 1, lanes, |members| {
        let result = lanes_of(members)
            .map(|lane| magnitude(f32::from_bits(values.0[lane])))
            .reduce(|a, b| extremum_f32(largest, nan, false, a, b));
        (finish_f32(FloatMode::DEFAULT, result.unwrap_or(0.0)).to_bits(), 0)
    });
    o.write(0, 0, lanes, &results);
}

/// `activemask`.
pub(super) fn active_mask(o: &mut impl Operands, lanes: LaneMask) {
    o.write(0, 0, lanes, &Row::splat(lanes));
}

/// `elect.sync`: the lowest member of each group is elected.
pub(super) fn elect(instruction: &Instruction, o: &mut impl Operands, lanes: LaneMask) {
    let (leaders, elected) = by_group(instruction, o, 0, lanes, |members| {
        (members.trailing_zeros().min(31), members & members.wrapping_neg())
    });
    o.write(0, 0, lanes, &leaders);
    write_predicate(instruction, o, 1, lanes, elected);
}
