//! Which frame holds a line: an exact index over all banks, for the host.
//!
//! Hardware compares tags. `approximation.rs` models how long that takes, from the filters and the tags that
//! would be compared. The result is the same as that of a look-up here.

use strata_memory::LineAddress;
use strata_memory::cache::FrameId;

/// Marks an empty slot: no line has this number.
const EMPTY: u64 = u64::MAX;

/// A hash table of fixed size with linear probing, at most half full.
#[derive(Clone, Debug)]
pub(super) struct Directory {
    /// Line number and frame of each slot.
    slots: Vec<(u64, FrameId)>,
    /// 64 minus the binary logarithm of the number of slots.
    shift: u32,
    len: usize,
}

impl Directory {
    /// Makes an empty index for `lines` lines.
    pub fn new(lines: usize) -> Directory {
        let slots = (2 * lines).next_power_of_two().max(2);
        let shift = 64 - slots.trailing_zeros();
        Directory { slots: vec![(EMPTY, FrameId(0)); slots], shift, len: 0 }
    }

    #[inline]
    fn home(&self, line: u64) -> usize {
        // Fibonacci hashing: neighbours spread over the table.
        (line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    #[inline]
    fn position(&self, line: u64) -> Result<usize, usize> {
        let mask = self.slots.len() - 1;
        let mut at = self.home(line);
        loop {
            match self.slots[at].0 {
                found if found == line => return Ok(at),
                EMPTY => return Err(at),
                _ => at = (at + 1) & mask,
            }
        }
    }

    /// The frame of a line.
    #[inline]
    pub fn get(&self, line: LineAddress) -> Option<FrameId> {
        self.position(line.0).ok().map(|at| self.slots[at].1)
    }

    /// Records the frame of a line.
    ///
    /// # Panics
    /// Panics if the line already has a frame: there is only one copy of a line.
    #[inline]
    pub fn insert(&mut self, line: LineAddress, frame: FrameId) {
        let Err(at) = self.position(line.0) else { panic!("a line has one place at a time") };
        assert!(2 * self.len < self.slots.len(), "the index has room for all frames");
        self.slots[at] = (line.0, frame);
        self.len += 1;
    }

    /// Removes a line.
    ///
    /// # Panics
    /// Panics if the line has no frame.
    #[inline]
    pub fn remove(&mut self, line: LineAddress) {
        let Ok(mut hole) = self.position(line.0) else { panic!("a line that leaves was somewhere") };
        let mask = self.slots.len() - 1;
        let mut at = hole;
        // Later entries of the run move up, unless that would put them before their home slot.
        loop {
            at = (at + 1) & mask;
            let (line, frame) = self.slots[at];
            if line == EMPTY {
                break;
            }
            let home = self.home(line);
            if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(hole) & mask) {
                self.slots[hole] = (line, frame);
                hole = at;
            }
        }
        self.slots[hole].0 = EMPTY;
        self.len -= 1;
    }

    /// Removes all lines from the index.
    pub fn clear(&mut self) {
        self.slots.fill((EMPTY, FrameId(0)));
        self.len = 0;
    }

    /// Makes room for `lines` lines.
    pub fn grow(&mut self, lines: usize) {
        let old = std::mem::replace(self, Directory::new(lines));
        for (line, frame) in old.slots.into_iter().filter(|(line, _)| *line != EMPTY) {
            self.insert(LineAddress(line), frame);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use strata_engine::seed::Stream;

    use super::*;

    #[test]
    fn it_answers_as_a_map_does() {
        let mut stream = Stream::new(1, "directory");
        let mut directory = Directory::new(64);
        let mut map = BTreeMap::new();
        for step in 0..50_000_u32 {
            let line = stream.below(200);
            match map.remove(&line) {
                Some(_) => directory.remove(LineAddress(line)),
                None if map.len() < 64 => {
                    map.insert(line, step);
                    directory.insert(LineAddress(line), FrameId(step));
                }
                None => {}
            }
            let line = stream.below(200);
            assert_eq!(directory.get(LineAddress(line)), map.get(&line).map(|step| FrameId(*step)));
        }
    }

    #[test]
    #[should_panic(expected = "one place at a time")]
    fn a_second_copy_is_refused() {
        let mut directory = Directory::new(4);
        directory.insert(LineAddress(1), FrameId(0));
        directory.insert(LineAddress(1), FrameId(1));
    }
}
