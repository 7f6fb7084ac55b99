//! Accesses in flight at the L1D: what each is for.

use strata_ptx::lanes::LaneMask;

use super::entry::Place;
use super::words::Piece;

/// An access in flight at the L1D.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    /// The instruction's place; unused when `detached`.
    pub entry: Place,
    /// The instruction's warp slot.
    pub warp: u8,
    /// The instruction finishes without waiting for this access (`red`).
    pub detached: bool,
    /// What the access carries.
    pub part: Part,
}

/// The part of an instruction that an access carries.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// Words of some lanes.
    Words(Piece),
    /// An access of the lane path's own, by the path's token.
    Own(u32),
    /// The lanes' texels in the segment at address `segment`.
    Texels {
        /// Address of the segment.
        segment: u64,
        /// The lanes that read texels there.
        lanes: LaneMask,
    },
}

/// The accesses in flight, each named by a token. The token freed last is used first, so as many entries exist as
/// accesses were ever in flight together.
#[derive(Clone, Debug)]
pub struct PendingAccesses {
    entries: Vec<Pending>,
    free: Vec<u32>,
    capacity: usize,
}

impl PendingAccesses {
    /// No accesses, of at most `capacity`.
    pub fn new(capacity: usize) -> PendingAccesses {
        let (entries, free) = (Vec::with_capacity(capacity), Vec::with_capacity(capacity));
        PendingAccesses { entries, free, capacity }
    }

    /// Whether as many accesses are in flight as can be.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.len() == self.capacity
    }

    /// Number of accesses in flight.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Adds an access and returns its token. There must be room for it.
    #[inline]
    pub fn insert(&mut self, pending: Pending) -> u32 {
        debug_assert!(!self.is_full(), "an access is made while there is room for it");
        let Some(token) = self.free.pop() else {
            self.entries.push(pending);
            return self.entries.len() as u32 - 1;
        };
        self.entries[token as usize] = pending;
        token
    }

    /// Removes an access that is complete.
    #[inline]
    pub fn remove(&mut self, token: u32) -> Pending {
        debug_assert!(!self.free.contains(&token), "an access completes once");
        self.free.push(token);
        self.entries[token as usize]
    }
}
