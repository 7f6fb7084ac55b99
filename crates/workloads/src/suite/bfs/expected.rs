//! Distances, by a queue.

use std::collections::VecDeque;

use super::SOURCE;
use crate::input::graph::Graph;

/// Distances up to `levels` by the textbook's queue; -1 where there is no path so short.
pub(super) fn expected(graph: &Graph, levels: usize) -> Vec<i32> {
    let mut cost = vec![-1; graph.vertices()];
    cost[SOURCE] = 0;
    let mut queue = VecDeque::from([SOURCE]);
    while let Some(v) = queue.pop_front().filter(|&v| cost[v] < levels as i32) {
        for &neighbour in graph.neighbours(v) {
            let neighbour = neighbour as usize;
            if cost[neighbour] < 0 {
                cost[neighbour] = cost[v] + 1;
                queue.push_back(neighbour);
            }
        }
    }
    cost
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_and_a_lone_vertex() {
        // 0 - 1 - 2, 3 alone.
        let graph = Graph { row_start: vec![0, 1, 3, 4, 4], edges: vec![1, 0, 2, 1] };
        assert_eq!(expected(&graph, 4), [0, 1, 2, -1]);
        assert_eq!(expected(&graph, 1), [0, 1, -1, -1]);
    }
}
