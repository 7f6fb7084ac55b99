//! The victim tags of a warp: lines that it brought into the L1D and that left for others.

use strata_memory::LineAddress;

/// A small set-associative array of tags without data, of which the least recently entered is replaced.
#[derive(Clone, Debug)]
pub(super) struct VictimTags {
    ways: usize,
    /// By set, the tags, oldest first.
    sets: Vec<Vec<LineAddress>>,
}

impl VictimTags {
    /// An empty array of `tags` tags in sets of `ways`.
    pub fn new(tags: usize, ways: usize) -> VictimTags {
        VictimTags { ways, sets: vec![Vec::with_capacity(ways); tags / ways] }
    }

    fn set_of(&mut self, line: LineAddress) -> &mut Vec<LineAddress> {
        let set = line.0 % self.sets.len() as u64;
        &mut self.sets[set as usize]
    }

    /// Enters a line that left the L1D.
    pub fn enter(&mut self, line: LineAddress) {
        let ways = self.ways;
        let set = self.set_of(line);
        set.retain(|tag| *tag != line);
        if set.len() == ways {
            set.remove(0);
        }
        set.push(line);
    }

    /// Whether a line that missed is here. It comes back into the L1D, so its tag leaves.
    pub fn take(&mut self, line: LineAddress) -> bool {
        let set = self.set_of(line);
        let before = set.len();
        set.retain(|tag| *tag != line);
        set.len() < before
    }

    /// Forgets all lines.
    pub fn clear(&mut self) {
        self.sets.iter_mut().for_each(Vec::clear);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_tag_of_a_set_is_replaced() {
        // Two sets of two: even lines and odd ones.
        let mut tags = VictimTags::new(4, 2);
        [2, 4, 3, 6].into_iter().for_each(|line| tags.enter(LineAddress(line)));
        let mut found = [2, 4, 3, 6, 8].map(|line| tags.take(LineAddress(line)));
        assert_eq!(found, [false, true, true, true, false], "6 replaced 2");
        found = [2, 4, 3, 6, 8].map(|line| tags.take(LineAddress(line)));
        assert_eq!(found, [false; 5], "a tag that was found has left");
        // A line that leaves again is the youngest.
        [2, 4, 2, 6].into_iter().for_each(|line| tags.enter(LineAddress(line)));
        assert_eq!([2, 4, 6].map(|line| tags.take(LineAddress(line))), [true, false, true]);
        tags.enter(LineAddress(2));
        tags.clear();
        assert!(!tags.take(LineAddress(2)));
    }
}
