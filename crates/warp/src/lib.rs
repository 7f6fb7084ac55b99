//! The values of a warp: lanes, masks, rows and the names of registers.
//!
//! Everything that computes, moves or stores operands speaks in these types: the PTX executor, the SM, and any
//! register file behind its door.

/// Lanes of a warp.
pub const WARP_LANES: usize = 32;

/// One bit a lane, lane 0 in bit 0.
pub type LaneMask = u32;

/// All 32 lanes.
pub const ALL_LANES: LaneMask = u32::MAX;

/// A warp register: 32 lanes of 32 bits, contiguous and aligned to host vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub struct Row(pub [u32; WARP_LANES]);

impl Row {
    /// All lanes zero.
    pub const ZERO: Row = Row([0; WARP_LANES]);

    /// The same value in every lane.
    #[inline]
    pub const fn splat(value: u32) -> Row {
        Row([value; WARP_LANES])
    }

    /// The lanes that hold a value.
    #[inline]
    pub fn lanes_equal(&self, value: u32) -> LaneMask {
        mask_of(|lane| self.0[lane] == value)
    }

    /// Takes the lanes in `lanes` from `other`.
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

/// A physical 32-bit register of a thread. A 64-bit value lies in `(n, n + 1)` with n even.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(pub u8);

/// The lanes for which `f` holds.
#[inline(always)]
pub fn mask_of(f: impl Fn(usize) -> bool) -> LaneMask {
    // Two steps: the comparisons vectorise into bytes, the bytes are then gathered into bits.
    let mut flags = [0u32; WARP_LANES];
    for (lane, flag) in flags.iter_mut().enumerate() {
        *flag = u32::from(f(lane)) << lane;
    }
    flags.iter().fold(0, |mask, flag| mask | flag)
}

/// The lanes of a mask, lowest first.
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
