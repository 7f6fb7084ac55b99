//! Greedy then oldest.

use schemars::JsonSchema;
use serde::Deserialize;

use super::policy::{View, WarpScheduler};

/// Greedy then oldest: keeps issuing from one warp while it is ready, then picks the ready warp that started first (Rogers,
/// O'Connor, Aamodt: "Cache-Conscious Wavefront Scheduling", MICRO 2012).
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GreedyThenOldest {
    /// Mask of the warp that issued last; 0 when there is none.
    #[serde(skip)]
    greedy: u64,
    /// Resident warps, oldest first.
    #[serde(skip)]
    by_age: Vec<u8>,
}

impl WarpScheduler for GreedyThenOldest {
    /// Picks the warp that issued last if it is ready, else the oldest ready warp.
    #[inline]
    fn pick(&mut self, View { ready, .. }: View) -> Option<usize> {
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
    fn add(&mut self, warp: usize) {
        self.by_age.push(warp as u8);
    }

    fn remove(&mut self, warp: usize) {
        self.by_age.retain(|other| *other as usize != warp);
        self.greedy &= !(1 << warp);
    }
}

#[cfg(test)]
mod tests {
    use super::super::policy::ready;
    use super::*;

    #[test]
    fn greedy_first_then_by_age() {
        let mut scheduler = GreedyThenOldest::default();
        [4, 2, 6].into_iter().for_each(|warp| scheduler.add(warp));
        let all = ready(&[4, 2, 6]);
        assert_eq!(scheduler.pick(all), Some(4), "the oldest");
        assert_eq!(scheduler.pick(ready(&[6])), Some(6));
        assert_eq!(scheduler.pick(all), Some(6), "greedy");
        assert_eq!(scheduler.pick(ready(&[])), None);
        scheduler.remove(6);
        scheduler.add(6);
        assert_eq!(scheduler.pick(ready(&[2, 6])), Some(2), "a slot that is used again is young");
    }
}
