//! Free address ranges between buffers.

use std::collections::BTreeMap;

/// Disjoint, non-adjacent ranges, keyed by their first address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holes(BTreeMap<u64, u64>);

impl Holes {
    /// Takes `bytes` bytes, aligned, from the lowest range that holds them.
    pub fn take(&mut self, bytes: u64, align: u64) -> Option<u64> {
        let (start, end, at) = self.0.iter().find_map(|(start, end)| {
            let at = start.checked_next_multiple_of(align)?;
            (at.checked_add(bytes)? <= *end).then_some((*start, *end, at))
        })?;
        self.0.remove(&start);
        if start < at {
            self.0.insert(start, at);
        }
        if at + bytes < end {
            self.0.insert(at + bytes, end);
        }
        Some(at)
    }

    /// Returns `[start, end)` to the free ranges. It must not overlap any of them.
    pub fn give(&mut self, mut start: u64, mut end: u64) {
        if start >= end {
            return;
        }
        if let Some((before, reach)) = self.0.range(..=start).next_back().map(|(at, reach)| (*at, *reach)) {
            assert!(reach <= start, "a range is given back that was not taken");
            if reach == start {
                start = before;
            }
        }
        if let Some(reach) = self.0.remove(&end) {
            end = reach;
        }
        self.0.insert(start, end);
    }

    /// Removes the range that ends at `end` and returns its first address.
    pub fn take_last(&mut self, end: u64) -> Option<u64> {
        let (start, reach) = self.0.last_key_value().map(|(start, reach)| (*start, *reach))?;
        (reach == end).then(|| {
            self.0.remove(&start);
            start
        })
    }

    /// Total size of all ranges in bytes.
    pub fn bytes(&self) -> u64 {
        self.0.iter().map(|(start, end)| end - start).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_become_one_and_the_lowest_fit_is_taken() {
        let mut holes = Holes::default();
        holes.give(0x100, 0x200);
        holes.give(0x300, 0x400);
        assert_eq!(holes.take(0x180, 1), None);
        holes.give(0x200, 0x300);
        assert_eq!(holes, Holes(BTreeMap::from([(0x100, 0x400)])));
        assert_eq!(holes.take(0x80, 0x80), Some(0x100));
        assert_eq!(holes.take(0x100, 0x100), Some(0x200), "aligned, and what lies before stays");
        assert_eq!(holes, Holes(BTreeMap::from([(0x180, 0x200), (0x300, 0x400)])));
        assert_eq!(holes.bytes(), 0x180);
        assert_eq!(holes.take_last(0x3ff), None);
        assert_eq!(holes.take_last(0x400), Some(0x300));
        assert_eq!(holes.take(u64::MAX, 1), None);
    }
}
