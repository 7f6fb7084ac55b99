//! Random undirected graphs with the degrees of Rodinia's generator.

use crate::random::Random;

/// A graph in CSR form.
#[derive(Debug)]
pub(super) struct Graph {
    /// Where each vertex's edges begin; one more entry than vertices.
    pub(super) row_start: Vec<i32>,
    /// The vertices that edges lead to.
    pub(super) edges: Vec<i32>,
}

impl Graph {
    /// Every vertex draws 2 to 4 partners and both ends keep the edge, as Rodinia's generator does: six edges
    /// per vertex on average, never fewer than two.
    pub(super) fn random(vertices: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut pairs = Vec::with_capacity(3 * vertices);
        for from in 0..vertices {
            for _ in 0..2 + random.below(3) {
                pairs.push((from, random.below(vertices as u64) as usize));
            }
        }

        let mut row_start = vec![0_i32; vertices + 1];
        for &(a, b) in &pairs {
            row_start[a + 1] += 1;
            row_start[b + 1] += 1;
        }
        for v in 0..vertices {
            row_start[v + 1] += row_start[v];
        }
        let mut next = row_start.clone();
        let mut edges = vec![0; 2 * pairs.len()];
        let mut put = |from: usize, to: usize| {
            edges[next[from] as usize] = to as i32;
            next[from] += 1;
        };
        for &(a, b) in &pairs {
            put(a, b);
            put(b, a);
        }
        Self { row_start, edges }
    }

    pub(super) fn vertices(&self) -> usize {
        self.row_start.len() - 1
    }

    pub(super) fn neighbours(&self, v: usize) -> &[i32] {
        &self.edges[self.row_start[v] as usize..self.row_start[v + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degrees_are_those_of_the_generator() {
        let graph = Graph::random(10_000, 1);
        let degrees: Vec<usize> = (0..graph.vertices()).map(|v| graph.neighbours(v).len()).collect();
        assert!(degrees.iter().all(|&degree| degree >= 2));
        assert!(degrees.iter().any(|&degree| degree >= 10));
        let mean = degrees.iter().sum::<usize>() as f64 / degrees.len() as f64;
        assert!((5.9..6.1).contains(&mean), "mean degree {mean}");
    }

    #[test]
    fn every_edge_has_its_way_back() {
        let graph = Graph::random(200, 2);
        for v in 0..200 {
            for &w in graph.neighbours(v) {
                assert!(graph.neighbours(w as usize).contains(&(v as i32)), "{v} -> {w}");
            }
        }
    }
}
