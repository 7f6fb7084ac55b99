//! CTA slots: which CTAs are resident and what they hold.
//!
//! While a kernel runs, slot n always stands for the same warp slots, register rows and shared memory: as
//! many slots exist as CTAs fit, so nothing can be fragmented.

use crate::occupancy::Occupancy;

/// A resident CTA.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cta {
    /// Index in the grid, x fastest.
    pub index: u64,
    /// Place in the grid.
    pub place: [u32; 3],
    /// Warps with lanes that have not ended.
    pub live: u32,
    /// Warps that still hold their slots: live, or with instructions under way.
    pub holding: u32,
}

/// The CTA slots of an SM.
#[derive(Debug)]
pub struct Ctas {
    slots: Vec<Cta>,
    /// One bit a slot: free.
    free: u32,
    /// Warps of a CTA.
    pub warps_per_cta: u32,
    /// Bytes of shared memory given to a CTA.
    pub shared_per_cta: u32,
}

impl Ctas {
    /// `count` slots, none free before [`Ctas::prepare`].
    pub fn new(count: usize) -> Self {
        let slots = vec![Cta::default(); count];
        Ctas { slots, free: 0, warps_per_cta: 1, shared_per_cta: 0 }
    }

    /// Before a launch: as many slots as CTAs fit.
    pub fn prepare(&mut self, occupancy: &Occupancy, warps_per_cta: u32) {
        self.free = if occupancy.ctas >= 32 { u32::MAX } else { (1 << occupancy.ctas) - 1 };
        self.warps_per_cta = warps_per_cta;
        self.shared_per_cta = occupancy.shared_per_cta;
    }

    /// Takes the lowest free slot.
    ///
    /// # Panics
    /// When none is free: the dispatcher knows how many CTAs an SM can hold.
    pub fn start(&mut self, index: u64, place: [u32; 3]) -> usize {
        assert!(self.free != 0, "a CTA is sent to an SM with a free slot");
        let slot = self.free.trailing_zeros() as usize;
        self.free &= self.free - 1;
        let warps = self.warps_per_cta;
        self.slots[slot] = Cta { index, place, live: warps, holding: warps };
        slot
    }

    /// Frees a slot.
    pub fn finish(&mut self, slot: usize) {
        self.free |= 1 << slot;
    }

    /// The CTA in a slot.
    #[inline]
    pub fn get(&self, slot: usize) -> &Cta {
        &self.slots[slot]
    }

    /// The CTA in a slot, to change it.
    #[inline]
    pub fn get_mut(&mut self, slot: usize) -> &mut Cta {
        &mut self.slots[slot]
    }

    /// First warp slot of a CTA slot.
    #[inline]
    pub fn first_warp(&self, slot: usize) -> usize {
        slot * self.warps_per_cta as usize
    }

    /// First byte of a CTA slot's shared memory.
    #[inline]
    pub fn shared_base(&self, slot: usize) -> u32 {
        slot as u32 * self.shared_per_cta
    }
}
