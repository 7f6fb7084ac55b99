//! CTA slots: the resident CTAs and the resources they hold.
//!
//! While a kernel runs, slot n always maps to the same warp slots, register rows and shared memory. There are as many
//! slots as CTAs fit, so resources never fragment.

use crate::occupancy::Occupancy;

/// A CTA that is resident on the SM.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cta {
    /// Linear index in the grid; x varies fastest.
    pub index: u64,
    /// Coordinates in the grid: x, y, z.
    pub place: [u32; 3],
    /// Number of warps with lanes that have not exited.
    pub live: u32,
    /// Number of warps that still hold their slots: live, or with instructions in flight.
    pub holding: u32,
}

/// The CTA slots of an SM.
#[derive(Debug)]
pub struct Ctas {
    slots: Vec<Cta>,
    /// Mask of free slots.
    free: u32,
    /// Number of warps per CTA of the current launch.
    pub warps_per_cta: u32,
    /// Shared memory allocated per CTA, in bytes.
    pub shared_per_cta: u32,
}

impl Ctas {
    /// `count` slots, all unavailable until [`Ctas::prepare`].
    pub fn new(count: usize) -> Self {
        let slots = vec![Cta::default(); count];
        Ctas { slots, free: 0, warps_per_cta: 1, shared_per_cta: 0 }
    }

    /// Makes as many slots available as CTAs of the launch fit.
    pub fn prepare(&mut self, occupancy: &Occupancy, warps_per_cta: u32) {
        self.free = if occupancy.ctas >= 32 { u32::MAX } else { (1 << occupancy.ctas) - 1 };
        self.warps_per_cta = warps_per_cta;
        self.shared_per_cta = occupancy.shared_per_cta;
    }

    /// Puts a CTA into the lowest free slot and returns the slot.
    ///
    /// # Panics
    /// When no slot is free: the dispatcher knows how many CTAs an SM holds.
    pub fn start(&mut self, index: u64, place: [u32; 3]) -> usize {
        assert!(self.free != 0, "a CTA is sent to an SM with a free slot");
        let slot = self.free.trailing_zeros() as usize;
        self.free &= self.free - 1;
        let warps = self.warps_per_cta;
        self.slots[slot] = Cta { index, place, live: warps, holding: warps };
        slot
    }

    /// Frees a slot whose CTA has finished.
    pub fn finish(&mut self, slot: usize) {
        self.free |= 1 << slot;
    }

    /// The CTA in `slot`.
    #[inline]
    pub fn get(&self, slot: usize) -> &Cta {
        &self.slots[slot]
    }

    /// The CTA in `slot`, mutably.
    #[inline]
    pub fn get_mut(&mut self, slot: usize) -> &mut Cta {
        &mut self.slots[slot]
    }

    /// First warp slot that belongs to a CTA slot.
    #[inline]
    pub fn first_warp(&self, slot: usize) -> usize {
        slot * self.warps_per_cta as usize
    }

    /// Offset of a CTA slot's shared memory in the scratchpad, in bytes.
    #[inline]
    pub fn shared_base(&self, slot: usize) -> u32 {
        slot as u32 * self.shared_per_cta
    }
}
