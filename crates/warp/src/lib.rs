//! The values of a warp: lanes, lane masks, rows and register names.
//!
//! The PTX executor, the SM and the register files use these types for operands.

/// Number of lanes in a warp.
pub const WARP_LANES: usize = 32;

/// A set of lanes: bit n stands for lane n.
pub type LaneMask = u32;

/// The mask of all 32 lanes.
pub const ALL_LANES: LaneMask = u32::MAX;

/// A warp register: 32 lanes of 32 bits, contiguous and aligned for host vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub struct Row(pub [u32; WARP_LANES]);

impl Row {
    /// A row with zero in every lane.
    pub const ZERO: Row = Row([0; WARP_LANES]);

    /// A row with `value` in every lane.
    #[inline]
    pub const fn splat(value: u32) -> Row {
        Row([value; WARP_LANES])
    }

    /// Copies the lanes in `lanes` from `other`.
    #[inline]
    pub fn merge(&mut self, lanes: LaneMask, other: &Row) {
        if lanes == ALL_LANES {
            *self = *other;
            return;
        }
        for lane in 0..WARP_LANES {
            let keep = (lanes >> lane & 1).wrapping_sub(1);
            self.0[lane] = (self.0[lane] & keep) | (other.0[lane] & !keep);
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
