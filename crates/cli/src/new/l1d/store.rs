//! Where lines live: each way finds its lines by a hash of its own, so lines that meet in one way part in the others
//! (Seznec, ISCA 1993).

use strata_memory::LineAddress;
use strata_memory::cache::{FrameId, Frames, Store};

/// The frames of a skewed-associative cache.
pub struct Skewed {
    frames: Frames,
    sets: usize,
    ways: usize,
    /// When each frame was last used, in uses.
    used: Vec<u64>,
    uses: u64,
}

impl Skewed {
    /// An empty cache.
    pub fn new(sets: usize, ways: usize) -> Skewed {
        let count = sets * ways;
        Skewed { frames: Frames::new(count), sets, ways, used: vec![0; count], uses: 0 }
    }

    /// The frame for a line in a way.
    fn place(&self, line: LineAddress, way: usize) -> FrameId {
        let (low, high) = (line.0 % self.sets as u64, line.0 / self.sets as u64);
        // Way 0 is indexed as any cache; the others step on by the higher bits, each faster than the one before.
        let set = (low + (high % self.sets as u64) * way as u64) % self.sets as u64;
        FrameId((way * self.sets + set as usize) as u32)
    }

    /// The frames that a line can live in.
    fn places(&self, line: LineAddress) -> impl Iterator<Item = FrameId> + '_ {
        (0..self.ways).map(move |way| self.place(line, way))
    }

    /// The frame that holds a line, or waits for it.
    pub fn find(&self, line: LineAddress) -> Option<FrameId> {
        self.places(line).find(|frame| self.frames.line(*frame) == Some(line))
    }

    /// The frame to take for a line: an empty one, else the one that was not used for longest; `None` if all wait for fills.
    pub fn victim(&self, line: LineAddress) -> Option<FrameId> {
        let free = self.places(line).filter(|frame| self.frames.pinned(*frame).is_none());
        free.min_by_key(|frame| (self.frames.line(*frame).is_some(), self.used[frame.index()]))
    }

    /// Notes a use of a frame.
    pub fn touch(&mut self, frame: FrameId) {
        self.uses += 1;
        self.used[frame.index()] = self.uses;
    }
}

impl Store for Skewed {
    fn frames(&self) -> &Frames {
        &self.frames
    }

    fn frames_mut(&mut self) -> &mut Frames {
        &mut self.frames
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_meet_in_one_way_part_in_another() {
        let store = Skewed::new(16, 2);
        let (a, b) = (LineAddress(3), LineAddress(3 + 16));
        assert_eq!(store.place(a, 0), store.place(b, 0));
        assert_ne!(store.place(a, 1), store.place(b, 1));
    }

    #[test]
    fn the_frame_that_was_not_used_for_longest_goes() {
        let mut store = Skewed::new(1, 3);
        for line in [1, 2, 3] {
            let frame = store.victim(LineAddress(line)).unwrap();
            store.frames_mut().assign(frame, LineAddress(line));
            store.touch(frame);
        }
        store.touch(store.find(LineAddress(1)).unwrap());
        assert_eq!(store.victim(LineAddress(4)), store.find(LineAddress(2)));
    }
}
