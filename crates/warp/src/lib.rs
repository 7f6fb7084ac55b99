//! The values of a warp: lanes, lane masks, rows and register names.
//!
//! The PTX executor, the SM and the register files use these types for operands.

use bytemuck::Zeroable;

/// Number of lanes in a warp.
pub const WARP_LANES: usize = 32;

/// A set of lanes: bit n stands for lane n.
pub type LaneMask = u32;

/// The mask of all 32 lanes.
pub const ALL_LANES: LaneMask = u32::MAX;

/// A warp register: 32 lanes of 32 bits, contiguous and aligned for host vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Zeroable)]
#[repr(C, align(64))]
pub struct Row(pub [u32; WARP_LANES]);

impl Row {
    /// A row with zero in every lane.
    pub const ZERO: Row = Row([0; WARP_LANES]);

    /// Rows of zeros. The host's memory is taken when a row is first written.
    pub fn zeros(count: usize) -> Vec<Row> {
        bytemuck::zeroed_vec(count)
    }

    /// A row with `value` in every lane.
    #[inline]
    pub const fn splat(value: u32) -> Row {
        Row([value; WARP_LANES])
    }

    /// The lanes whose value is `value`.
    #[inline]
    pub fn lanes_equal(&self, value: u32) -> LaneMask {
        mask_of(|lane| self.0[lane] == value)
    }

    /// Copies the lanes in `lanes` from `other`.
    #[inline(always)]
    pub fn merge(&mut self, lanes: LaneMask, other: &Row) {
        if lanes == ALL_LANES {
            *self = *other;
        } else {
            self.merge_some(lanes, other);
        }
    }

    fn merge_some(&mut self, lanes: LaneMask, other: &Row) {
        for lane in 0..WARP_LANES {
            // All ones for a lane to copy. Its bit goes to the top: the host's vectors have that shift, and choose by the sign.
            let copy = ((lanes << (31 - lane)).cast_signed() >> 31).cast_unsigned();
            self.0[lane] = (self.0[lane] & !copy) | (other.0[lane] & copy);
        }
    }
}

impl Default for Row {
    fn default() -> Self {
        Row::ZERO
    }
}

/// A physical 32-bit register of a thread. A 64-bit value occupies `(n, n + 1)`, with n even.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(pub u8);

/// The mask of the lanes for which `f` returns true.
#[inline(always)]
pub fn mask_of(f: impl Fn(usize) -> bool) -> LaneMask {
    // In two steps, so that the comparisons vectorise: first the flags, then the mask.
    let mut flags = [0u32; WARP_LANES];
    for (lane, flag) in flags.iter_mut().enumerate() {
        *flag = u32::from(f(lane)) << lane;
    }
    flags.iter().fold(0, |mask, flag| mask | flag)
}

/// Iterates over the lanes of a mask, lowest first.
#[inline]
pub fn lanes_of(mut mask: LaneMask) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let lane = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(lane)
    })
}
