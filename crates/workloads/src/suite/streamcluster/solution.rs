//! A set of open centers with every point's own, and the host's side of the local search.

use super::points::Points;
use crate::random::Random;

/// The 32-bit words of a point's structure.
pub(super) const WORDS: usize = 8;

/// Which centers are open and who belongs to which.
#[derive(Debug)]
pub(super) struct Solution {
    /// What an open center costs.
    pub(super) facility: i64,
    /// Each point's center.
    pub(super) center: Vec<usize>,
    /// Each point's distance to its center; the weights are 1.
    pub(super) cost: Vec<i32>,
    is_center: Vec<bool>,
}

impl Solution {
    /// Points become centers with a probability that grows with their cost (Meyerson's online facility location).
    /// The facility cost begins with half of what one center would cost all points, and is halved until ten open.
    pub(super) fn with_ten_centers(points: &Points) -> Self {
        let all: i64 = (0..points.len()).map(|point| i64::from(points.squared_distance(point, 0))).sum();
        let mut random = Random::new(0x51);
        let mut facility = all / 2;
        loop {
            let solution = Self::online(points, facility, &mut random);
            if solution.centers().len() >= 10 || facility <= 1 {
                // The search closes centers much more readily, and should keep about as many.
                return Self { facility: facility / 8, ..solution };
            }
            facility /= 2;
        }
    }

    fn online(points: &Points, facility: i64, random: &mut Random) -> Self {
        let count = points.len();
        let cost = (0..count).map(|point| points.squared_distance(point, 0)).collect();
        let mut this = Self { facility, center: vec![0; count], cost, is_center: vec![false; count] };
        this.is_center[0] = true;
        for candidate in 1..count {
            if (random.below(facility as u64) as i64) < i64::from(this.cost[candidate]) {
                this.is_center[candidate] = true;
                for point in 0..count {
                    let distance = points.squared_distance(point, candidate);
                    if distance < this.cost[point] {
                        (this.cost[point], this.center[point]) = (distance, candidate);
                    }
                }
            }
        }
        this
    }

    /// The open centers in the order of their numbers.
    pub(super) fn centers(&self) -> Vec<usize> {
        (0..self.is_center.len()).filter(|&point| self.is_center[point]).collect()
    }

    /// Random points that are not centers yet.
    pub(super) fn candidates(&self, count: usize) -> Vec<usize> {
        let mut random = Random::new(0xca);
        let any = || Some(random.below(self.is_center.len() as u64) as usize);
        std::iter::from_fn(any).filter(|&point| !self.is_center[point]).take(count).collect()
    }

    /// For each center its number, for other points 0.
    pub(super) fn center_numbers(&self) -> Vec<i32> {
        let mut numbers = vec![0; self.is_center.len()];
        (0..).zip(self.centers()).for_each(|(number, center)| numbers[center] = number);
        numbers
    }

    /// The kernel's structures: weight, padding, a pointer, the center in two words, cost, padding.
    pub(super) fn as_structures(&self) -> Vec<u32> {
        let structure = |(&center, &cost): (&usize, &i32)| -> [u32; WORDS] {
            [1.0_f32.to_bits(), 0, 0, 0, center as u32, 0, (cost as f32).to_bits(), 0]
        };
        self.center.iter().zip(&self.cost).flat_map(structure).collect()
    }

    /// Opens the candidate, and closes the centers that then cost more than they save, if that is cheaper.
    pub(super) fn open_if_cheaper(
        &mut self,
        points: &Points,
        candidate: usize,
        savings: &[f32],
        moves: &[u8],
    ) {
        let centers = self.centers();
        let stride = centers.len() + 1;
        let sum = |column: usize| savings.iter().skip(column).step_by(stride).map(|&s| s as i64).sum::<i64>();
        let mut total = self.facility + sum(centers.len());
        let mut closes = vec![false; self.is_center.len()];
        for (number, &center) in centers.iter().enumerate() {
            let gain = self.facility + sum(number);
            if gain > 0 {
                closes[center] = true;
                total -= gain;
            }
        }
        if total >= 0 {
            return;
        }
        for point in 0..points.len() {
            if moves[point] != 0 || closes[self.center[point]] {
                self.cost[point] = points.squared_distance(point, candidate);
                self.center[point] = candidate;
            }
        }
        self.is_center.iter_mut().zip(closes).for_each(|(open, closes)| *open &= !closes);
        self.is_center[candidate] = true;
    }
}

#[cfg(test)]
mod tests {
    use super::super::expected;
    use super::*;

    /// Points at 0, 1, 10 and 11 with a center at 0: one at 10 saves 99 + 120 - 1 and leaves the first open.
    #[test]
    fn a_second_center_opens() {
        let points = Points { dimensions: 1, coordinates: vec![0, 1, 10, 11] };
        let start = || Solution {
            facility: 50,
            center: vec![0; 4],
            cost: vec![0, 1, 100, 121],
            is_center: vec![true, false, false, false],
        };
        let costs = expected::costs(&points, &start(), 2);
        let mut solution = start();
        solution.open_if_cheaper(&points, 2, &costs.savings, &costs.moves);
        assert_eq!((solution.centers(), solution.cost), (vec![0, 2], vec![0, 1, 0, 1]));

        let mut dear = Solution { facility: 1000, ..start() };
        dear.open_if_cheaper(&points, 2, &costs.savings, &costs.moves);
        // Then it is cheaper to have only the one at 10.
        assert_eq!((dear.centers(), dear.center), (vec![2], vec![2; 4]));
    }

    #[test]
    fn the_search_keeps_ten_to_twenty_centers() {
        let points = Points::random(1100, 24);
        let mut solution = Solution::with_ten_centers(&points);
        for candidate in solution.candidates(12) {
            let costs = expected::costs(&points, &solution, candidate);
            solution.open_if_cheaper(&points, candidate, &costs.savings, &costs.moves);
            assert!((10..=20).contains(&solution.centers().len()), "{:?}", solution.centers());
        }
    }

    #[test]
    fn structures_have_the_layout_of_the_kernel() {
        let points = Points::random(50, 8);
        let solution = Solution::with_ten_centers(&points);
        assert!(solution.centers().len() >= 10);
        let words = solution.as_structures();
        assert_eq!((words.len(), words[3 * 8 + 4]), (400, solution.center[3] as u32));
        assert_eq!(f32::from_bits(words[3 * 8 + 6]), solution.cost[3] as f32);
    }
}
