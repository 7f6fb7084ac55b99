//! Costs, by a queue.

use std::collections::VecDeque;

use super::{BLACK, INFINITE, WHITE};
use crate::input::graph::Graph;

/// The costs and the colours at the end: black what is reached.
pub(super) fn expected(graph: &Graph, source: usize) -> (Vec<i32>, Vec<i32>) {
    let mut cost = vec![INFINITE; graph.vertices()];
    cost[source] = 0;
    let mut queue = VecDeque::from([source]);
    while let Some(v) = queue.pop_front() {
        for &neighbour in graph.neighbours(v) {
            let neighbour = neighbour as usize;
            if cost[neighbour] == INFINITE {
                cost[neighbour] = cost[v] + 1;
                queue.push_back(neighbour);
            }
        }
    }
    let colour = cost.iter().map(|&cost| if cost == INFINITE { WHITE } else { BLACK }).collect();
    (cost, colour)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_and_a_lone_vertex() {
        // 0 - 1 - 2, 3 alone.
        let graph = Graph { row_start: vec![0, 1, 3, 4, 4], edges: vec![1, 0, 2, 1] };
        let (cost, colour) = expected(&graph, 2);
        assert_eq!(cost, [2, 1, 0, INFINITE]);
        assert_eq!(colour, [BLACK, BLACK, BLACK, WHITE]);
    }

    /// A road network is as deep as it is wide, where a random graph of that size has about ten levels.
    #[test]
    fn roads_are_long() {
        let graph = Graph::roads(100, 100, 1);
        let (cost, _) = expected(&graph, 50 * 100 + 50);
        assert!((100..250).contains(cost.iter().max().unwrap()));
    }
}
