//! Ranks, by iterating the definition.

use crate::input::graph::Graph;
use crate::suite::prelude::*;

pub(super) struct Expected {
    /// The share that the vertex at the other end of each edge gives along it.
    pub(super) weights: Vec<Near>,
    pub(super) rank: Vec<Near>,
}

/// The ranks after `iterations`. All that is added is positive, so the bounds stay close.
pub(super) fn expected(graph: &Graph, iterations: usize) -> Expected {
    let vertices = Bounded::from(int(graph.vertices()));
    let one = Bounded::exact(1.0);
    let share = |v: usize| one / Bounded::from(int(graph.degree(v)));
    let base = Bounded::from(0.15_f32) / vertices;

    let mut rank = vec![one / vertices; graph.vertices()];
    for _ in 0..iterations {
        let given: Vec<Bounded> = (0..graph.vertices()).map(|v| share(v) * rank[v]).collect();
        let sum = |v: usize| graph.neighbours(v).iter().map(|&w| given[w as usize]).sum::<Bounded>();
        rank = (0..graph.vertices()).map(|v| base + Bounded::from(0.85_f32) * sum(v)).collect();
    }
    Expected {
        weights: graph.edges.iter().map(|&to| share(to as usize).near()).collect(),
        rank: rank.into_iter().map(Bounded::near).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_by_hand() {
        // 0 in the middle of 1 and 2.
        let graph = Graph { row_start: vec![0, 2, 3, 4], edges: vec![1, 2, 0, 0] };
        let Expected { weights, rank } = expected(&graph, 1);
        let close = |near: &Near, value: f64| (near.value - value).abs() < 1e-7 && near.bound < 1e-6;
        assert!(weights.iter().zip([1.0, 1.0, 0.5, 0.5]).all(|(near, value)| close(near, value)));
        let hand = [0.05 + 0.85 * 2.0 / 3.0, 0.05 + 0.85 / 6.0, 0.05 + 0.85 / 6.0];
        assert!(rank.iter().zip(hand).all(|(near, value)| close(near, value)), "{rank:?}");
    }

    #[test]
    fn ranks_sum_to_one() {
        let Expected { rank, .. } = expected(&Graph::preferential(500, 1), 5);
        let sum: f64 = rank.iter().map(|near| near.value).sum();
        assert!((sum - 1.0).abs() < 1e-6);
        assert!(rank.iter().all(|near| near.bound < 1e-4 * near.value));
    }
}
