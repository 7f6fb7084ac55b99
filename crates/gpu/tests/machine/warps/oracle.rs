//! What the PTX ISA says that each operation gives a thread, in its words: "Parallel Synchronization and Communication
//! Instructions" and, for `shfl`, "Data Movement". Nothing where the ISA leaves it open.

use super::case::{LANES, Round, set};

/// A result of a thread; nothing where any is right.
type Expected = fn(&Round, usize) -> Option<u32>;

/// The operations in the order in which the text executes them.
pub const OPERATIONS: &[(&str, Expected)] = &[
    ("membermask", |round, lane| Some(round.masks[lane])),
    ("activemask", |round, _| Some(round.executing)),
    ("vote.all", |round, lane| Some(u32::from(ayes(round, lane) == members(round, lane)))),
    ("vote.any", |round, lane| Some(u32::from(ayes(round, lane) != 0))),
    ("vote.uni", |round, lane| {
        Some(u32::from(ayes(round, lane) == 0 || ayes(round, lane) == members(round, lane)))
    }),
    ("vote.ballot", |round, lane| Some(ayes(round, lane))),
    ("match.any.b32", |round, lane| {
        Some(members(round, lane) & set(|other| round.draws[other].value == round.draws[lane].value))
    }),
    ("match.any.b64", |round, lane| {
        Some(members(round, lane) & set(|other| wide(round, other) == wide(round, lane)))
    }),
    ("match.all.b32", |round, lane| Some(if agreed(round, lane) { members(round, lane) } else { 0 })),
    ("match.all.b32's predicate", |round, lane| Some(u32::from(agreed(round, lane)))),
    ("redux.add.u32", |round, lane| values(round, lane).reduce(u32::wrapping_add)),
    ("redux.min.u32", |round, lane| values(round, lane).min()),
    ("redux.max.u32", |round, lane| values(round, lane).max()),
    ("redux.min.s32", |round, lane| signed(round, lane).min().map(|value| value as u32)),
    ("redux.max.s32", |round, lane| signed(round, lane).max().map(|value| value as u32)),
    ("redux.and.b32", |round, lane| values(round, lane).reduce(|a, b| a & b)),
    ("redux.or.b32", |round, lane| values(round, lane).reduce(|a, b| a | b)),
    ("redux.xor.b32", |round, lane| values(round, lane).reduce(|a, b| a ^ b)),
    ("redux.min.f32", |round, lane| {
        singles(round, lane).filter(|value| !value.is_nan()).min_by(f32::total_cmp).map_or(NAN, bits)
    }),
    ("redux.max.abs.NaN.f32", |round, lane| match singles(round, lane).any(f32::is_nan) {
        true => NAN,
        false => singles(round, lane).map(f32::abs).max_by(f32::total_cmp).and_then(bits),
    }),
    ("elect's leader", |round, lane| Some(leader(round, lane) as u32)),
    ("elect's predicate", |round, lane| Some(u32::from(leader(round, lane) == lane))),
    ("a load behind bar.warp.sync", |round, lane| Some(round.draws[leader(round, lane)].value)),
    ("shfl.idx from the leader", |round, lane| Some(round.draws[leader(round, lane)].value)),
    ("shfl.up", |round, lane| shuffled(round, lane, Mode::Up).0),
    ("shfl.up's predicate", |round, lane| Some(shuffled(round, lane, Mode::Up).1)),
    ("shfl.down", |round, lane| shuffled(round, lane, Mode::Down).0),
    ("shfl.down's predicate", |round, lane| Some(shuffled(round, lane, Mode::Down).1)),
    ("shfl.bfly", |round, lane| shuffled(round, lane, Mode::Bfly).0),
    ("shfl.idx", |round, lane| shuffled(round, lane, Mode::Idx).0),
];

/// The canonical NaN.
const NAN: Option<u32> = Some(0x7fff_ffff);

fn bits(value: f32) -> Option<u32> {
    Some(value.to_bits())
}

/// "All non-exited threads corresponding to membermask" that execute it "with the same qualifiers and same membermask value".
fn members(round: &Round, lane: usize) -> u32 {
    let same = set(|other| round.masks[other] == round.masks[lane]);
    round.masks[lane] & round.executing & same
}

fn of(set: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| set >> lane & 1 == 1)
}

fn ayes(round: &Round, lane: usize) -> u32 {
    members(round, lane) & set(|other| round.draws[other].aye)
}

fn values(round: &Round, lane: usize) -> impl Iterator<Item = u32> {
    of(members(round, lane)).map(|other| round.draws[other].value)
}

fn signed(round: &Round, lane: usize) -> impl Iterator<Item = i32> {
    values(round, lane).map(|value| value as i32)
}

fn singles(round: &Round, lane: usize) -> impl Iterator<Item = f32> {
    of(members(round, lane)).map(|other| f32::from_bits(round.draws[other].single))
}

/// What `match.any.b64` compares: two words that agree less often together than each.
fn wide(round: &Round, lane: usize) -> (u32, u32) {
    (round.draws[lane].label, round.draws[lane].value)
}

fn agreed(round: &Round, lane: usize) -> bool {
    values(round, lane).all(|value| value == round.draws[lane].value)
}

/// "Election of a leader thread happens deterministically"; here it is the lowest.
fn leader(round: &Round, lane: usize) -> usize {
    of(members(round, lane)).next().unwrap_or(lane)
}

#[derive(Clone, Copy)]
enum Mode {
    Up,
    Down,
    Bfly,
    Idx,
}

/// The ISA's pseudocode: the value, unless it comes from a thread that does not take part, and the predicate.
fn shuffled(round: &Round, lane: usize, mode: Mode) -> (Option<u32>, u32) {
    let at = lane as i32;
    let bval = (round.draws[lane].label & 31) as i32;
    let segmask = (32 - round.width) as i32;
    let cval = if matches!(mode, Mode::Up) { 0 } else { 31 };
    let max_lane = (at & segmask) | (cval & !segmask);
    let min_lane = at & segmask;
    let (j, pval) = match mode {
        Mode::Up => (at - bval, at - bval >= max_lane),
        Mode::Down => (at + bval, at + bval <= max_lane),
        Mode::Bfly => (at ^ bval, (at ^ bval) <= max_lane),
        Mode::Idx => {
            let j = min_lane | (bval & !segmask);
            (j, j <= max_lane)
        }
    };
    let from = if pval { j as usize } else { lane };
    let takes_part = members(round, lane) >> from & 1 == 1;
    (takes_part.then(|| round.draws[from].value), u32::from(pval))
}
