//! The lost-locality scores of an SM's warps, and which warps may load by them.

use strata_engine::Cycle;

use crate::slots::MOST_SLOTS;

/// A score for each warp, which falls by one a cycle to the base score and stays there.
#[derive(Clone, Debug)]
pub(super) struct Scores {
    base: u64,
    /// By warp slot: the first cycle in which the score is the base score again.
    base_at: [Cycle; MOST_SLOTS],
    /// The latest of them.
    all_at_base: Cycle,
    /// Warps on the SM, oldest first.
    warps: Vec<u8>,
}

impl Scores {
    /// No warps.
    pub fn new(base: u32) -> Scores {
        Scores {
            base: base.into(),
            base_at: [Cycle::ZERO; MOST_SLOTS],
            all_at_base: Cycle::ZERO,
            warps: Vec::with_capacity(MOST_SLOTS),
        }
    }

    /// A warp starts, with the base score.
    pub fn add(&mut self, warp: usize) {
        self.warps.push(warp as u8);
        self.base_at[warp] = Cycle::ZERO;
    }

    /// A warp has exited.
    pub fn remove(&mut self, warp: usize) {
        self.warps.retain(|other| usize::from(*other) != warp);
        self.base_at[warp] = Cycle::ZERO;
    }

    /// The sum up to which warps may load: the base score of all.
    pub fn cutoff(&self) -> u64 {
        self.warps.len() as u64 * self.base
    }

    /// Raises a warp's score, if it is lower.
    pub fn raise(&mut self, warp: usize, score: u64, now: Cycle) {
        let base_at = now + score.saturating_sub(self.base);
        self.base_at[warp] = self.base_at[warp].max(base_at);
        self.all_at_base = self.all_at_base.max(base_at);
    }

    /// A warp's score.
    pub fn of(&self, warp: usize, now: Cycle) -> u64 {
        self.base + self.base_at[warp].0.saturating_sub(now.0)
    }

    /// Of these warps, those that may load: with the scores in falling order, the older of two equal ones first, those up to
    /// whose score the sum is at most the cut-off. The first of all warps may in any case.
    pub fn may_load(&self, warps: u64, now: Cycle) -> u64 {
        if self.all_at_base <= now {
            return warps;
        }
        let mut order: Vec<(u64, u8)> =
            self.warps.iter().map(|warp| (self.of(usize::from(*warp), now), *warp)).collect();
        // Sorting is stable, so the oldest of equal ones stays first.
        order.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        let (cutoff, mut sum, mut may) = (self.cutoff(), 0, 0);
        for (place, (score, warp)) in order.into_iter().enumerate() {
            sum += score;
            if sum > cutoff && place > 0 {
                break;
            }
            may |= 1 << warp;
        }
        warps & may
    }

    /// The scores of these warps, for tests.
    #[cfg(test)]
    pub fn all(&self, warps: u64, now: Cycle) -> Vec<u64> {
        (0..MOST_SLOTS).filter(|warp| warps >> warp & 1 == 1).map(|warp| self.of(warp, now)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warps_beyond_the_cutoff_must_not_load() {
        let mut scores = Scores::new(100);
        [5, 1, 9, 3].into_iter().for_each(|warp| scores.add(warp));
        let all = 1 << 5 | 1 << 1 | 1 << 9 | 1 << 3;
        assert_eq!(scores.cutoff(), 400);
        assert_eq!(scores.may_load(all, Cycle(10)), all);
        // 9 has 250; in order: 9 (250), 5 (350), 1 (450), 3 (550).
        scores.raise(9, 250, Cycle(10));
        assert_eq!(scores.all(all, Cycle(10)), [100, 100, 100, 250]);
        assert_eq!(scores.may_load(all, Cycle(10)), 1 << 9 | 1 << 5);
        assert_eq!(scores.may_load(1 << 1 | 1 << 5, Cycle(10)), 1 << 5, "of those that are asked for");
        // After 50 cycles 9 has 200: 9 (200), 5 (300), 1 (400), which is the cut-off, 3 (500).
        assert_eq!(scores.may_load(all, Cycle(59)), 1 << 9 | 1 << 5, "201 and 100 and 100 are 401");
        assert_eq!(scores.may_load(all, Cycle(60)), 1 << 9 | 1 << 5 | 1 << 1);
        // After 150 all have the base score.
        assert_eq!(scores.may_load(all, Cycle(159)), 1 << 9 | 1 << 5 | 1 << 1);
        assert_eq!(scores.may_load(all, Cycle(160)), all);
    }

    #[test]
    fn a_score_is_raised_and_never_lowered() {
        let mut scores = Scores::new(100);
        scores.add(0);
        scores.raise(0, 180, Cycle(0));
        scores.raise(0, 120, Cycle(10));
        assert_eq!(scores.of(0, Cycle(10)), 170);
        scores.raise(0, 50, Cycle(90));
        assert_eq!(scores.of(0, Cycle(90)), 100, "no score is below the base score");
        // Another warp in the slot.
        scores.raise(0, 500, Cycle(90));
        scores.remove(0);
        assert_eq!(scores.cutoff(), 0);
        scores.add(0);
        assert_eq!(scores.of(0, Cycle(91)), 100);
    }

    #[test]
    fn the_first_may_load_whatever_its_score() {
        let mut scores = Scores::new(100);
        [0, 1].into_iter().for_each(|warp| scores.add(warp));
        scores.raise(1, 5000, Cycle(0));
        assert_eq!(scores.may_load(0b11, Cycle(0)), 0b10);
        assert_eq!(scores.may_load(0b01, Cycle(4000)), 0, "1 has 1000, and the cut-off is 200");
        assert_eq!(scores.may_load(0b11, Cycle(4900)), 0b11);
    }
}
