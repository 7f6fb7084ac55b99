//! Values by warp slot.

use std::ops::{Index, IndexMut};

/// Most warp slots of an SM: sets of them are masks of 64 bits.
pub const MOST_SLOTS: usize = 64;

/// A value for each warp slot. Its length is fixed, so that an index from a mask needs no check.
#[derive(Clone, Debug)]
pub struct Slots<T>([T; MOST_SLOTS]);

impl<T> Slots<T> {
    /// Slots with the value that `make` makes.
    pub fn new(make: impl Fn() -> T) -> Slots<T> {
        Slots(std::array::from_fn(|_| make()))
    }
}

impl<T: Default> Default for Slots<T> {
    fn default() -> Slots<T> {
        Slots::new(T::default)
    }
}

impl<T> Index<usize> for Slots<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, slot: usize) -> &T {
        debug_assert!(slot < MOST_SLOTS, "slot {slot} of {MOST_SLOTS}");
        &self.0[slot % MOST_SLOTS]
    }
}

impl<T> IndexMut<usize> for Slots<T> {
    #[inline(always)]
    fn index_mut(&mut self, slot: usize) -> &mut T {
        debug_assert!(slot < MOST_SLOTS, "slot {slot} of {MOST_SLOTS}");
        &mut self.0[slot % MOST_SLOTS]
    }
}
