//! The frames of a bank that a line can take: sets, and the order in which their ways are evicted.

use strata_memory::LineAddress;
use strata_memory::cache::FrameId;
use strata_memory::tags::SetIndex;

/// The shape of a bank with any number of ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlacesShape {
    pub sets: usize,
    pub ways: usize,
    pub index: SetIndex,
    /// Whether a use of a line puts it last in the order of eviction (LRU), or only its arrival (FIFO).
    pub is_lru: bool,
}

/// For each set, a list of its ways from the first to be evicted to the last. Empty frames come first.
#[derive(Clone, Debug)]
pub(super) struct Places {
    shape: PlacesShape,
    bits: u32,
    /// The bank's first frame.
    first: u32,
    /// Per set, then per frame: neighbours in the set's ring. Node n < sets is the ring's own.
    next: Vec<u32>,
    before: Vec<u32>,
}

impl Places {
    pub fn new(shape: PlacesShape, first: u32) -> Places {
        let bits = if shape.sets.is_power_of_two() { shape.sets.trailing_zeros() } else { 0 };
        let nodes = shape.sets * (1 + shape.ways);
        let mut places = Places { shape, bits, first, next: vec![0; nodes], before: vec![0; nodes] };
        places.reset();
        places
    }

    /// Empties every frame, as at the start.
    pub fn reset(&mut self) {
        for (node, (next, before)) in self.next.iter_mut().zip(&mut self.before).enumerate() {
            (*next, *before) = (node as u32, node as u32);
        }
        for place in 0..self.frames() {
            self.link_last(place / self.shape.ways, place);
        }
    }

    /// Number of frames in the bank.
    #[inline]
    pub fn frames(&self) -> usize {
        self.shape.sets * self.shape.ways
    }

    /// Whether the frame belongs to the bank.
    #[inline]
    pub fn holds(&self, frame: FrameId) -> bool {
        frame.0.wrapping_sub(self.first) < self.frames() as u32
    }

    /// The frame's number within the bank.
    #[inline]
    pub fn place(&self, frame: FrameId) -> usize {
        (frame.0 - self.first) as usize
    }

    /// The set of a line.
    #[inline]
    pub fn set_of(&self, line: LineAddress) -> usize {
        self.shape.index.set_of(line, self.shape.sets, self.bits)
    }

    #[inline]
    fn link_last(&mut self, set: usize, place: usize) {
        let node = self.shape.sets + place;
        let last = self.before[set] as usize;
        self.next[last] = node as u32;
        self.before[node] = last as u32;
        self.next[node] = set as u32;
        self.before[set] = node as u32;
    }

    #[inline]
    fn unlink(&mut self, place: usize) {
        let node = self.shape.sets + place;
        let (before, next) = (self.before[node], self.next[node]);
        self.next[before as usize] = next;
        self.before[next as usize] = before;
    }

    /// The first frame of the line's set, in order of eviction, for which `may` returns true.
    #[inline]
    pub fn victim(&self, line: LineAddress, may: impl Fn(FrameId) -> bool) -> Option<FrameId> {
        let set = self.set_of(line);
        let mut node = self.next[set] as usize;
        while node != set {
            let frame = FrameId(self.first + (node - self.shape.sets) as u32);
            if may(frame) {
                return Some(frame);
            }
            node = self.next[node] as usize;
        }
        None
    }

    /// Notes that the frame was given another line.
    #[inline]
    pub fn filled(&mut self, frame: FrameId) {
        let place = self.place(frame);
        self.unlink(place);
        self.link_last(place / self.shape.ways, place);
    }

    /// Notes a use of the frame's line.
    #[inline]
    pub fn used(&mut self, frame: FrameId) {
        if self.shape.is_lru {
            self.filled(frame);
        }
    }

    /// Notes that the frame is empty, which puts it first in the order of eviction.
    #[inline]
    pub fn emptied(&mut self, frame: FrameId) {
        let place = self.place(frame);
        self.unlink(place);
        let (set, node) = (place / self.shape.ways, self.shape.sets + place);
        let first = self.next[set] as usize;
        self.next[set] = node as u32;
        self.before[node] = set as u32;
        self.next[node] = first as u32;
        self.before[first] = node as u32;
    }

    /// Doubles the ways of the only set; the new ones are empty.
    pub fn double(&mut self) {
        assert!(self.shape.sets == 1, "only a bank of one set grows");
        let old = self.shape.ways;
        self.shape.ways *= 2;
        self.next.resize(1 + self.shape.ways, 0);
        self.before.resize(1 + self.shape.ways, 0);
        // Highest first, each to the front: they are given out lowest first.
        for place in (old..self.shape.ways).rev() {
            let node = 1 + place;
            self.next[node] = node as u32;
            self.before[node] = node as u32;
            self.emptied(FrameId(self.first + place as u32));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn victims(is_lru: bool) -> Vec<u32> {
        let shape = PlacesShape { sets: 2, ways: 3, index: SetIndex::Bits, is_lru };
        let mut places = Places::new(shape, 10);
        let mut order = Vec::new();
        let line = LineAddress(1);
        for _ in 0..3 {
            let frame = places.victim(line, |_| true).unwrap();
            places.filled(frame);
            order.push(frame.0);
        }
        places.used(FrameId(13));
        order.push(places.victim(line, |_| true).unwrap().0);
        order.push(places.victim(line, |frame| frame.0 > 14).unwrap().0);
        places.emptied(FrameId(15));
        order.push(places.victim(line, |_| true).unwrap().0);
        assert_eq!(places.victim(line, |_| false), None);
        order
    }

    #[test]
    fn empty_frames_first_then_the_oldest() {
        assert_eq!(victims(true), [13, 14, 15, 14, 15, 15]);
        assert_eq!(victims(false), [13, 14, 15, 13, 15, 15]);
    }

    #[test]
    fn a_bank_that_grows_gives_out_its_new_frames() {
        let shape = PlacesShape { sets: 1, ways: 2, index: SetIndex::Modulo, is_lru: true };
        let mut places = Places::new(shape, 4);
        places.filled(FrameId(4));
        places.filled(FrameId(5));
        places.double();
        assert_eq!(places.victim(LineAddress(9), |_| true), Some(FrameId(6)));
        places.filled(FrameId(6));
        assert_eq!(places.victim(LineAddress(9), |_| true), Some(FrameId(7)));
        assert!(places.holds(FrameId(7)) && !places.holds(FrameId(8)));
    }
}
