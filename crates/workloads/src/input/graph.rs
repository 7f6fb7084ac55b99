//! Undirected graphs: uniformly random, road networks, and networks with a few vertices of very high degree.

use std::ops::RangeInclusive;

use crate::random::Random;

/// A graph in CSR form. Every edge is stored at both of its ends.
#[derive(Debug)]
pub(crate) struct Graph {
    /// Where each vertex's edges begin; one more entry than vertices.
    pub(crate) row_start: Vec<i32>,
    /// The vertices that edges lead to.
    pub(crate) edges: Vec<i32>,
}

impl Graph {
    /// Every vertex draws 2 to 4 partners and both ends keep the edge, as Rodinia's generator does: six edges
    /// per vertex on average, never fewer than two.
    pub(crate) fn random(vertices: usize, seed: u64) -> Self {
        Self::uniform(vertices, 2..=4, seed)
    }

    /// The same with as many partners as `partners` says, all numbers equally likely: twice their mean edges per
    /// vertex.
    pub(crate) fn uniform(vertices: usize, partners: RangeInclusive<u64>, seed: u64) -> Self {
        let (fewest, choices) = (*partners.start(), partners.end() - partners.start() + 1);
        let mut random = Random::new(seed);
        let mut pairs = Vec::with_capacity(*partners.end() as usize * vertices);
        for from in 0..vertices {
            for _ in 0..fewest + random.below(choices) {
                pairs.push((from, random.below(vertices as u64) as usize));
            }
        }
        Self::from_pairs(vertices, &pairs)
    }

    /// Streets on a map of `width` by `height` crossings, numbered row by row. Every crossing is reached from every
    /// other, and has 2.75 streets on average: as many as in the road networks of the DIMACS challenge, and paths
    /// as long as there.
    pub(crate) fn roads(width: usize, height: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut pairs = Vec::with_capacity(width * height * 11 / 8);
        for at in 0..width * height {
            let west = (at % width > 0).then(|| (at - 1, at));
            let north = (at >= width).then(|| (at - width, at));
            let (sure, maybe) = if random.bits() & 1 == 0 { (west, north) } else { (north, west) };
            // One street towards the first crossing joins everything; at the map's edges there is but one.
            let kept = sure.is_none() || random.below(8) < 3;
            pairs.extend(sure);
            pairs.extend(maybe.filter(|_| kept));
        }
        Self::from_pairs(width * height, &pairs)
    }

    /// A network that grew: each new vertex brings 3 or 4 edges, 3.25 on average, to vertices drawn by their degree
    /// (Barabasi, Albert, "Emergence of scaling in random networks", Science 1999). How many vertices have degree d
    /// falls like d^-3. The vertices' numbers say nothing of their age. A partner may be drawn twice.
    pub(crate) fn preferential(vertices: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut pairs = vec![(0, 1), (1, 2), (2, 0)];
        // Every edge's two ends: one of them, drawn at random, is a vertex drawn by its degree.
        let mut ends = vec![0, 1, 1, 2, 2, 0];
        for new in 3..vertices {
            let first = pairs.len();
            for _ in 0..3 + u64::from(random.below(4) == 0) {
                pairs.push((new, ends[random.below(ends.len() as u64) as usize]));
            }
            ends.extend(pairs[first..].iter().flat_map(|&(a, b)| [a, b]));
        }

        let mut number: Vec<usize> = (0..vertices).collect();
        for last in (1..vertices).rev() {
            number.swap(last, random.below(last as u64 + 1) as usize);
        }
        pairs.iter_mut().for_each(|(a, b)| (*a, *b) = (number[*a], number[*b]));
        Self::from_pairs(vertices, &pairs)
    }

    fn from_pairs(vertices: usize, pairs: &[(usize, usize)]) -> Self {
        let mut row_start = vec![0_i32; vertices + 1];
        for &(a, b) in pairs {
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
        for &(a, b) in pairs {
            put(a, b);
            put(b, a);
        }
        Self { row_start, edges }
    }

    pub(crate) fn vertices(&self) -> usize {
        self.row_start.len() - 1
    }

    pub(crate) fn neighbours(&self, v: usize) -> &[i32] {
        &self.edges[self.row_start[v] as usize..self.row_start[v + 1] as usize]
    }

    pub(crate) fn degree(&self, v: usize) -> usize {
        self.neighbours(v).len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn degrees(graph: &Graph) -> Vec<usize> {
        (0..graph.vertices()).map(|v| graph.degree(v)).collect()
    }

    fn mean(degrees: &[usize]) -> f64 {
        degrees.iter().sum::<usize>() as f64 / degrees.len() as f64
    }

    #[test]
    fn random_degrees_are_those_of_the_generator() {
        let degrees = degrees(&Graph::random(10_000, 1));
        assert!(degrees.iter().all(|&degree| degree >= 2));
        assert!(degrees.iter().any(|&degree| degree >= 10));
        assert!((5.9..6.1).contains(&mean(&degrees)));
    }

    #[test]
    fn degrees_follow_from_the_numbers_of_partners() {
        for (partners, edges) in [(1..=2, 3.0), (22..=26, 48.0)] {
            let fewest = *partners.start() as usize;
            let degrees = degrees(&Graph::uniform(10_000, partners, 1));
            assert!(degrees.iter().all(|&degree| degree >= fewest));
            assert!((mean(&degrees) / edges - 1.0).abs() < 0.02, "{}", mean(&degrees));
        }
    }

    #[test]
    fn every_edge_has_its_way_back() {
        let graphs = [
            Graph::random(200, 2),
            Graph::uniform(200, 1..=2, 2),
            Graph::roads(20, 10, 2),
            Graph::preferential(200, 2),
        ];
        for graph in graphs {
            for v in 0..200 {
                for &w in graph.neighbours(v) {
                    assert!(graph.neighbours(w as usize).contains(&(v as i32)), "{v} -> {w}");
                }
            }
        }
    }

    #[test]
    fn roads_join_everything_and_have_few_crossings_of_four() {
        let graph = Graph::roads(90, 100, 3);
        let degrees = degrees(&graph);
        assert!(degrees.iter().all(|&degree| (1..=4).contains(&degree)));
        assert!((2.65..2.80).contains(&mean(&degrees)), "{}", mean(&degrees));
        let mut reached = vec![false; graph.vertices()];
        let mut open = vec![0];
        while let Some(v) = open.pop() {
            if !std::mem::replace(&mut reached[v], true) {
                open.extend(graph.neighbours(v).iter().map(|&w| w as usize));
            }
        }
        assert!(reached.iter().all(|&reached| reached));
    }

    #[test]
    fn a_grown_network_has_a_long_tail_of_degrees() {
        let degrees = degrees(&Graph::preferential(10_000, 4));
        assert!((6.4..6.6).contains(&mean(&degrees)));
        let at_least = |least: usize| degrees.iter().filter(|&&degree| degree >= least).count();
        // Beyond d lies a share of about (3 / d)^2.
        assert!((300..1500).contains(&at_least(12)), "{}", at_least(12));
        assert!((10..100).contains(&at_least(60)), "{}", at_least(60));
        assert!(at_least(150) >= 1);
    }
}
