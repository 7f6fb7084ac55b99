//! Moves: registers, special registers, packing, selection, addresses between spaces.

use super::lanewise::{predicate_source, unary, wide_source, write_lanes, write_predicate};
use super::memory::of_cluster;
use super::{Operands, WarpContext, bits};
use crate::ir::window;
use crate::isa::{Axis, Dst, Instruction, Space, Special, Ty};
use crate::lanes::{ALL_LANES, LaneMask, Row, WARP_LANES};

/// `mov`.
#[inline(always)]
pub(super) fn copy(ty: Ty, o: &mut impl Operands, lanes: LaneMask) {
    match ty {
        Ty::U16 | Ty::B16 | Ty::F16 | Ty::Bf16 | Ty::U8 | Ty::B8 => bits::copy::<u16>(o, lanes),
        Ty::S16 | Ty::S8 => bits::copy::<i16>(o, lanes),
        _ => {
            for half in 0..ty.rows() {
                let row = *o.source(0, half);
                o.write(0, half, lanes, &row);
            }
        }
    }
}

/// The register of an array of so many that an index picks: the low 8 bits that the first of `lanes` has, modulo their number.
/// A warp has one register of a number, so lanes cannot pick different ones (Morpheus, MICRO 2022, 4.3.2).
///
/// # Panics
/// When there are no lanes or no registers.
#[inline]
pub fn picked_element(index: &Row, registers: u8, lanes: LaneMask) -> usize {
    usize::from(index.0[lanes.trailing_zeros() as usize] as u8 % registers)
}

/// `mov.indirect` from an array.
pub(super) fn from_array(registers: u8, o: &mut impl Operands, lanes: LaneMask) {
    let row = *o.element(1, picked_element(o.source(0, 0), registers, lanes));
    o.write(0, 0, lanes, &row);
}

/// `mov.indirect` to an array.
pub(super) fn to_array(registers: u8, o: &mut impl Operands, lanes: LaneMask) {
    let index = picked_element(o.source(0, 0), registers, lanes);
    let row = *o.source(1, 0);
    o.write(0, index, lanes, &row);
}

/// `mov.b64 d, {a, b}`: pieces joined from the low end.
pub(super) fn pack(whole: Ty, pieces: u8, o: &mut impl Operands, lanes: LaneMask) {
    let bytes = whole.bytes() / usize::from(pieces);
    if bytes >= 4 {
        // Whole words change place: every word is read before the first is written.
        let words: [Row; 4] = std::array::from_fn(|word| {
            if word < whole.rows() { *o.source(word * 4 / bytes, word % (bytes / 4)) } else { Row::ZERO }
        });
        for (half, word) in words.iter().enumerate().take(whole.rows()) {
            o.write(0, half, lanes, word);
        }
        return;
    }
    let piece_mask = (1u64 << (8 * bytes)) - 1;
    let joined = |lane: usize| {
        (0..usize::from(pieces)).fold(0u64, |joined, piece| {
            joined | (u64::from(o.source(piece, 0).0[lane]) & piece_mask) << (8 * bytes * piece)
        })
    };
    let (mut lo, mut hi) = (Row::ZERO, Row::ZERO);
    for lane in 0..WARP_LANES {
        let value = joined(lane);
        (lo.0[lane], hi.0[lane]) = (value as u32, (value >> 32) as u32);
    }
    o.write(0, 0, lanes, &lo);
    if whole.rows() == 2 {
        o.write(0, 1, lanes, &hi);
    }
}

/// `mov.b64 {a, b}, s`: pieces taken from the low end.
pub(super) fn unpack(whole: Ty, pieces: u8, o: &mut impl Operands, lanes: LaneMask) {
    let bytes = whole.bytes() / usize::from(pieces);
    let words: [Row; 4] =
        std::array::from_fn(|word| if word < whole.rows() { *o.source(0, word) } else { Row::ZERO });
    if bytes >= 4 {
        for (word, row) in words.iter().enumerate().take(whole.rows()) {
            o.write(word * 4 / bytes, word % (bytes / 4), lanes, row);
        }
        return;
    }
    for piece in 0..usize::from(pieces) {
        let (word, shift) = (piece * bytes / 4, 8 * (piece * bytes % 4));
        let row = Row(words[word].0.map(|value| value >> shift & ((1 << (8 * bytes)) - 1)));
        o.write(piece, 0, lanes, &row);
    }
}

/// dst0 = mask ? src0 : src1, whole values of `ty`.
#[inline(always)]
fn choose(ty: Ty, first: LaneMask, o: &mut impl Operands, lanes: LaneMask) {
    for half in 0..ty.rows().max(1) {
        let mut row = *o.source(1, half);
        row.merge(first, o.source(0, half));
        o.write(0, half, lanes, &row);
    }
}

/// `selp`.
#[inline(always)]
pub(super) fn select(instruction: &Instruction, ty: Ty, o: &mut impl Operands, lanes: LaneMask) {
    let first = predicate_source(instruction, o, 2);
    choose(ty, first, o, lanes);
}

/// `slct`: by the sign of src2; NaN chooses src1.
pub(super) fn select_by_sign(ty: Ty, test: Ty, ftz: bool, o: &mut impl Operands, lanes: LaneMask) {
    let first = o.source(2, 0).0.iter().enumerate().fold(0, |mask, (lane, bits)| {
        let chosen = if test == Ty::F32 {
            let magnitude = bits & 0x7fff_ffff;
            let is_zero = magnitude == 0 || (ftz && magnitude < 0x80_0000);
            magnitude <= 0x7f80_0000 && (is_zero || bits >> 31 == 0)
        } else {
            bits >> 31 == 0
        };
        mask | u32::from(chosen) << lane
    });
    choose(ty, first, o, lanes);
}

/// First generic address of a space's window; global and constant memory have none.
const fn window_base(space: Space) -> u64 {
    match space {
        Space::Shared => window::SHARED,
        Space::Local => window::LOCAL,
        Space::Param => window::PARAM,
        Space::Generic | Space::Global | Space::Const => 0,
    }
}

/// `cvta`: addresses of global and constant memory are their own generic addresses.
pub(super) fn convert_address(space: Space, to_generic: bool, o: &mut impl Operands, lanes: LaneMask) {
    let base = window_base(space);
    if base == 0 {
        return copy(Ty::U64, o, lanes);
    }
    // A window is 4 GiB and its base a multiple of that: the offset is the low word.
    if to_generic {
        unary(o, lanes, |address: u64| (address & (window::BYTES - 1)) | base);
    } else {
        unary(o, lanes, |address: u64| address & (window::BYTES - 1));
    }
}

/// `isspacep`. Constant memory lies among global addresses, so that `.const` is answered like `.global`. Of shared memory `own`
/// leaves out that of the cluster's other CTAs.
pub(super) fn is_space(
    instruction: &Instruction,
    (space, own): (Space, bool),
    o: &mut impl Operands,
    lanes: LaneMask,
    context: &WarpContext,
) {
    let inside = (0..WARP_LANES).fold(0, |mask, lane| {
        let address = wide_source(o, 0, lane);
        let window_number = address / window::BYTES * window::BYTES;
        let windows = [window::SHARED, window::LOCAL, window::PARAM];
        let inside = match window_base(space) {
            0 => !windows.contains(&window_number),
            base => {
                let elsewhere = || of_cluster(address).0.is_some_and(|rank| rank != context.cluster_rank());
                window_number == base && !(own && elsewhere())
            }
        };
        mask | u32::from(inside) << lane
    });
    write_predicate(instruction, o, 0, lanes, inside);
}

/// `mov` from a special register.
pub(super) fn read_special(
    special: Special,
    instruction: &Instruction,
    o: &mut impl Operands,
    lanes: LaneMask,
    context: &WarpContext,
) {
    let axis = |axis: Axis, vector: &[u32; 3]| vector[axis as usize];
    let uniform = match special {
        Special::Tid(which) => return write_tid(which, o, lanes, context),
        Special::LaneId => return write_lanes(o, lanes, |lane| lane as u32),
        Special::LanemaskEq => return write_lanes(o, lanes, |lane| 1u32 << lane),
        Special::LanemaskLe => return write_lanes(o, lanes, |lane| ALL_LANES >> (31 - lane)),
        Special::LanemaskLt => return write_lanes(o, lanes, |lane| (1u32 << lane) - 1),
        Special::LanemaskGe => return write_lanes(o, lanes, |lane| ALL_LANES << lane),
        Special::LanemaskGt => return write_lanes(o, lanes, |lane| (ALL_LANES << lane) << 1),
        Special::Ntid(which) => axis(which, &context.ntid).into(),
        Special::Ctaid(which) => axis(which, &context.ctaid).into(),
        Special::Nctaid(which) => axis(which, &context.nctaid).into(),
        Special::ClusterId(which) => axis(which, &context.cluster_id()).into(),
        Special::NClusterId(which) => axis(which, &context.clusters()).into(),
        Special::ClusterCtaid(which) => axis(which, &context.place_in_cluster()).into(),
        Special::ClusterNctaid(which) => axis(which, &context.cluster_shape()).into(),
        Special::ClusterCtarank => context.cluster_rank().into(),
        Special::ClusterNctarank => context.cluster_shape().iter().product::<u32>().into(),
        Special::IsExplicitCluster => u64::from(context.cluster.is_some()),
        Special::WarpId => context.warp_slot.into(),
        Special::NWarpId => context.warp_slots.into(),
        Special::SmId => context.sm.into(),
        Special::NSmId => context.sms.into(),
        Special::GridId => context.grid,
        Special::Clock | Special::Clock64 => context.clock,
        Special::ClockHi => context.clock >> 32,
        Special::GlobalTimer | Special::GlobalTimerLo => context.nanoseconds,
        Special::GlobalTimerHi => context.nanoseconds >> 32,
        // Set by drivers for their own use; a driver that sets none leaves zero.
        Special::EnvReg(_) => 0,
        Special::Environment(value) => value.into(),
        Special::DynamicSmemSize => context.dynamic_shared.into(),
        Special::TotalSmemSize | Special::AggrSmemSize => context.total_shared.into(),
    };
    o.write(0, 0, lanes, &Row::splat(uniform as u32));
    if special.is_wide() && instruction.dst[0] != Dst::None {
        o.write(0, 1, lanes, &Row::splat((uniform >> 32) as u32));
    }
}

/// `%tid`: threads are numbered x fastest.
fn write_tid(axis: Axis, o: &mut impl Operands, lanes: LaneMask, context: &WarpContext) {
    let first = context.warp * WARP_LANES as u32;
    let [x, y, _] = context.ntid.map(|threads| threads.max(1));
    match axis {
        Axis::X if context.ntid[1] == 1 && context.ntid[2] == 1 => {
            write_lanes(o, lanes, |lane| first + lane as u32);
        }
        Axis::X => write_lanes(o, lanes, |lane| (first + lane as u32) % x),
        Axis::Y => write_lanes(o, lanes, |lane| (first + lane as u32) / x % y),
        Axis::Z => write_lanes(o, lanes, |lane| (first + lane as u32) / x / y),
    }
}
