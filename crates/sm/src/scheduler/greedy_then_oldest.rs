//! Greedy then oldest.

use schemars::JsonSchema;
use serde::Deserialize;
use strata_memory::bits::members;

use super::policy::{View, WarpScheduler};
use crate::slots::Slots;

/// Greedy then oldest: keeps issuing from one warp while it is ready, then picks the ready warp that started first (Rogers,
/// O'Connor, Aamodt: "Cache-Conscious Wavefront Scheduling", MICRO 2012).
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GreedyThenOldest {
    /// Mask of the warp that issued last; 0 when there is none.
    #[serde(skip)]
    greedy: u64,
    /// Resident warps.
    #[serde(skip)]
    resident: u64,
    /// For each resident warp, those that are older.
    #[serde(skip)]
    older: Box<Slots<u64>>,
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
        let mut warp = ready.trailing_zeros() as usize;
        loop {
            let older = ready & self.older[warp];
            if older == 0 {
                break;
            }
            warp = older.trailing_zeros() as usize;
        }
        self.greedy = 1 << warp;
        Some(warp)
    }

    /// Adds a starting warp as the youngest.
    fn add(&mut self, warp: usize) {
        self.older[warp] = self.resident;
        self.resident |= 1 << warp;
    }

    fn remove(&mut self, warp: usize) {
        let others = !(1 << warp);
        self.resident &= others;
        self.greedy &= others;
        members(self.resident).for_each(|other| self.older[other] &= others);
    }
}

#[cfg(test)]
mod tests {
    use strata_engine::seed::Stream;

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

    #[test]
    fn as_a_list_by_age() {
        let (mut scheduler, mut by_age, mut greedy) = (GreedyThenOldest::default(), Vec::new(), None);
        let mut stream = Stream::new(39, "greedy then oldest");
        for _ in 0..20_000 {
            let warp = stream.below(64) as usize;
            match by_age.iter().position(|other| *other == warp) {
                Some(place) if stream.below(4) == 0 => {
                    by_age.remove(place);
                    greedy = greedy.filter(|other| *other != warp);
                    scheduler.remove(warp);
                }
                Some(_) => {}
                None => {
                    by_age.push(warp);
                    scheduler.add(warp);
                }
            }
            let is_ready: Vec<usize> = by_age.iter().copied().filter(|_| stream.below(3) == 0).collect();
            let mask = is_ready.iter().fold(0, |mask, warp| mask | 1 << warp);
            let expected = greedy.filter(|last| is_ready.contains(last)).or(is_ready.first().copied());
            assert_eq!(scheduler.pick(View { ready: mask, waiting: 0 }), expected);
            greedy = expected.or(greedy);
        }
    }
}
