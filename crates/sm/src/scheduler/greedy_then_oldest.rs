//! Greedy then oldest (Rogers, O'Connor, Aamodt: "Cache-Conscious Wavefront Scheduling", MICRO 2012): keeps issuing
//! from one warp while it is ready, then picks the ready warp that started first.

/// State of a greedy-then-oldest scheduler.
#[derive(Clone, Debug, Default)]
pub struct GreedyThenOldest {
    /// Mask of the warp that issued last; 0 when there is none.
    greedy: u64,
    /// Resident warps, oldest first.
    by_age: Vec<u8>,
}

impl GreedyThenOldest {
    /// Picks the warp that issued last if it is ready, else the oldest ready warp.
    #[inline]
    pub fn pick(&mut self, ready: u64) -> Option<usize> {
        if ready & self.greedy != 0 {
            return Some(self.greedy.trailing_zeros() as usize);
        }
        if ready == 0 {
            return None;
        }
        let warp = self.by_age.iter().copied().find(|warp| ready >> warp & 1 == 1)?;
        self.greedy = 1 << warp;
        Some(warp as usize)
    }

    /// Adds a starting warp as the youngest.
    pub fn add(&mut self, warp: usize) {
        self.by_age.push(warp as u8);
    }

    /// Removes a warp that has exited.
    pub fn remove(&mut self, warp: usize) {
        self.by_age.retain(|other| *other as usize != warp);
        self.greedy &= !(1 << warp);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greedy_first_then_by_age() {
        let mut scheduler = GreedyThenOldest::default();
        [4, 2, 6].into_iter().for_each(|warp| scheduler.add(warp));
        let all = 1 << 4 | 1 << 2 | 1 << 6;
        assert_eq!(scheduler.pick(all), Some(4), "the oldest");
        assert_eq!(scheduler.pick(1 << 6), Some(6));
        assert_eq!(scheduler.pick(all), Some(6), "greedy");
        assert_eq!(scheduler.pick(0), None);
        scheduler.remove(6);
        scheduler.add(6);
        assert_eq!(scheduler.pick(1 << 2 | 1 << 6), Some(2), "a slot that is used again is young");
    }
}
