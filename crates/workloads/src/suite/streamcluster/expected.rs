//! What a candidate saves and costs, in integers.

use super::points::Points;
use super::solution::Solution;

/// The kernel's results for one candidate.
#[derive(Debug)]
pub(super) struct Costs {
    /// A row per point, and one more that no thread writes: per open center what the point loses when it closes,
    /// and last what the point gains, below zero.
    pub(super) savings: Vec<f32>,
    /// Which points would move to the candidate.
    pub(super) moves: Vec<u8>,
}

/// All values are integers below 2^24, so f32 holds them exactly.
pub(super) fn costs(points: &Points, solution: &Solution, candidate: usize) -> Costs {
    let centers = solution.centers();
    let stride = centers.len() + 1;
    let mut savings = vec![0.0; (points.len() + 1) * stride];
    let mut moves = vec![0; points.len()];
    for (point, row) in savings.chunks_exact_mut(stride).take(points.len()).enumerate() {
        let more = points.squared_distance(point, candidate) - solution.cost[point];
        let own = centers.binary_search(&solution.center[point]).expect("a point's center is open");
        if more < 0 {
            row[centers.len()] = more as f32;
            moves[point] = 1;
        } else {
            // The kernel adds zero minus `more`, which is never minus zero.
            row[own] = (-more) as f32;
        }
    }
    Costs { savings, moves }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_center_itself_loses_its_distance_to_the_candidate() {
        let points = Points::random(60, 4);
        let solution = Solution::with_ten_centers(&points);
        let candidate = solution.candidates(1)[0];
        let center = solution.center[candidate];
        let costs = costs(&points, &solution, candidate);
        let stride = solution.centers().len() + 1;
        let own = solution.centers().iter().position(|&open| open == center).unwrap();
        assert_eq!(costs.savings[center * stride + own], -(solution.cost[candidate] as f32));
        assert_eq!(costs.savings[candidate * stride + stride - 1], -(solution.cost[candidate] as f32));
        assert_eq!((costs.moves[center], costs.moves[candidate]), (0, 1));
    }
}
