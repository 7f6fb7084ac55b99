//! Pannotia's PageRank in its SpMV form: every vertex gathers from its neighbours, nothing is atomic.

mod expected;

use self::expected::{Expected, expected};
use super::prelude::*;
use crate::input::graph::Graph;

pub(super) const WORKLOAD: Workload = Workload {
    name: "pagerank",
    suite: "Pannotia",
    papers: &["morpheus"],
    description: "Ranks of the vertices of a network with a few vertices of very high degree: a thread per vertex \
                  walks its edges, which diverges, and gathers ranks from anywhere.",
    kernels: &[
        kernel("pagerank_init", "inibuffer"),
        kernel("pagerank_weights", "inicsr"),
        kernel("pagerank_spmv", "spmv_csr_scalar_kernel"),
        kernel("pagerank_damp", "pagerank2"),
    ],
    differences: &[
        "pagerank_spmv of the suite's two programs; the other adds floats by atomics, in any order",
        "CUDA C in place of OpenCL",
        "the graph is made up: it grows by preferential attachment to the size of coAuthorsDBLP, and its vertices \
         are numbered at random; at size morpheus it is uniformly random with three edges per vertex, since on a \
         grown one of that size most time goes to the warps of the vertices of highest degree",
        "f32 throughout: no division is done in f64",
    ],
    inputs: &[
        input(Size::Test, "800 vertices, 2 iterations", || {
            Box::new(PageRank { network: Network::Grown, vertices: 800, iterations: 2 })
        }),
        input(Size::Small, "20,000 vertices, 5 iterations", || {
            Box::new(PageRank { network: Network::Grown, vertices: 20_000, iterations: 5 })
        }),
        input(Size::Paper, "299,067 vertices, 20 iterations", || {
            Box::new(PageRank { network: Network::Grown, vertices: 299_067, iterations: 20 })
        }),
        input(Size::Morpheus, "a random graph of 300,000 vertices, 1 iteration", || {
            Box::new(PageRank { network: Network::Random, vertices: 300_000, iterations: 1 })
        }),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// Pannotia's work-group.
const BLOCK: u32 = 64;

#[derive(Debug)]
struct PageRank {
    network: Network,
    vertices: usize,
    iterations: usize,
}

#[derive(Debug)]
enum Network {
    /// By preferential attachment.
    Grown,
    /// Uniformly random, three edges per vertex.
    Random,
}

impl Network {
    fn graph(&self, vertices: usize) -> Graph {
        match self {
            Self::Grown => Graph::preferential(vertices, 0x9a6e),
            Self::Random => Graph::uniform(vertices, 1..=2, 0x9a6e),
        }
    }
}

impl Body for PageRank {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let graph = self.network.graph(self.vertices);
        let degrees: Vec<i32> = (0..self.vertices).map(|v| int(graph.degree(v))).collect();
        let row_start = host.buffer("row_start", &graph.row_start)?;
        let columns = host.buffer("columns", &graph.edges)?;
        let degree = host.buffer("degree", &degrees)?;
        let weights = host.zeros::<f32>("weights", graph.edges.len())?;
        let rank = host.zeros::<f32>("rank", self.vertices)?;
        let sum = host.zeros::<f32>("sum", self.vertices)?;

        let n = int(self.vertices);
        let (grid, block) = ([ctas(self.vertices, BLOCK), 1, 1], [BLOCK, 1, 1]);
        host.launch("pagerank_init", grid, block, args![rank, sum, n])?;
        host.launch("pagerank_weights", grid, block, args![row_start, columns, weights, degree, n])?;
        for _ in 0..self.iterations {
            host.launch("pagerank_spmv", grid, block, args![n, row_start, columns, weights, rank, sum])?;
            host.launch("pagerank_damp", grid, block, args![rank, sum, n])?;
        }

        let Expected { weights: shares, rank: ranks } = expected(&graph, self.iterations);
        host.near::<f32>("weights", weights, shares)?;
        host.near::<f32>("rank", rank, ranks)?;
        Ok(())
    }
}
