//! Parboil's BFS: frontiers in queues, collected in shared memory; small frontiers stay in one CTA for many levels.

mod expected;

use self::expected::expected;
use super::prelude::*;
use crate::input::graph::Graph;

pub(super) const WORKLOAD: Workload = Workload {
    name: "parboil-bfs",
    suite: "Parboil",
    papers: &["morpheus"],
    description: "Distances from one vertex of a road network, hundreds of levels deep: a thread per vertex of the \
                  frontier, atomics on the costs and colours of neighbours, and queues that atomics fill, first in \
                  shared memory, then in global memory.",
    kernels: &[kernel("bfs_level", "BFS_kernel"), kernel("bfs_levels_of_a_cta", "BFS_in_GPU_kernel")],
    differences: &[
        "no BFS_kernel_multi_blk_inGPU, whose CTAs wait for each other in global memory: frontiers of 2 to 30 CTAs \
         also run BFS_kernel, a launch per level",
        "the first level runs BFS_kernel and the second begins BFS_in_GPU_kernel, whatever the frontier's size up \
         to then, and BFS_kernel has 4 CTAs at least",
        "the graph is made up: crossings of a map with 2.75 streets each, as many vertices as San Francisco Bay's; \
         the test has a random graph, as Parboil's 1M is, because it is wide at a small size",
        "vertices and edges are read through the read-only path, not through textures",
        "the colours of both levels alternate in all threads of BFS_in_GPU_kernel, not in the first only",
    ],
    inputs: &[
        input(Size::Test, "a random graph of 4,000 vertices", || {
            Box::new(Bfs { map: Map::Random { vertices: 4000 } })
        }),
        input(Size::Small, "roads between 400 x 400 crossings", || {
            Box::new(Bfs { map: Map::Roads { width: 400, height: 400 } })
        }),
        input(Size::Paper, "roads between 567 x 567 crossings, San Francisco Bay's 321,270", || {
            Box::new(Bfs { map: Map::Roads { width: 567, height: 567 } })
        }),
        input(Size::Morpheus, "a random graph of 100,000 vertices", || {
            Box::new(Bfs { map: Map::Random { vertices: 100_000 } })
        }),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// The kernels' THREADS.
const BLOCK: u32 = 512;
/// CTAs that a launch of `bfs_level` has at least; those that the frontier does not need leave at once.
const FEWEST_CTAS: u32 = 4;
/// Parboil's colours: not reached, in the frontier of an even and of an odd launch, done.
const WHITE: i32 = 16_677_217;
const GRAY: [i32; 2] = [16_677_219, 16_677_220];
const BLACK: i32 = 16_677_221;
/// The cost of what is not reached.
const INFINITE: i32 = i32::MAX;

#[derive(Debug)]
struct Bfs {
    map: Map,
}

#[derive(Debug)]
enum Map {
    Random { vertices: usize },
    Roads { width: usize, height: usize },
}

impl Map {
    /// The graph, and the vertex to begin at: on a map, in the middle.
    fn graph(&self) -> (Graph, usize) {
        match *self {
            Self::Random { vertices } => (Graph::random(vertices, 0x9bf5), 0),
            Self::Roads { width, height } => {
                (Graph::roads(width, height, 0x9bf5), height / 2 * width + width / 2)
            }
        }
    }
}

impl Body for Bfs {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let (graph, source) = self.map.graph();
        let vertices = graph.vertices();
        // Where a vertex's edges begin and how many there are; where an edge leads and what it costs.
        let node = |v: usize| [graph.row_start[v], int(graph.degree(v))];
        let nodes: Vec<i32> = (0..vertices).flat_map(node).collect();
        let edges: Vec<i32> = graph.edges.iter().flat_map(|&to| [to, 1]).collect();
        let mut cost = vec![INFINITE; vertices];
        cost[source] = 0;

        let nodes = host.buffer("nodes", &nodes)?;
        let edges = host.buffer("edges", &edges)?;
        let colour = host.buffer("colour", &vec![WHITE; vertices])?;
        let d_cost = host.buffer("cost", &cost)?;
        let mut frontier = host.unordered::<i32>("queue_0", vertices)?;
        let mut next = host.unordered::<i32>("queue_1", vertices)?;
        host.write(frontier, &[int(source)])?;
        let next_count = host.zeros::<i32>("next_count", 1)?;
        let overflow = host.zeros::<i32>("overflow", 1)?;

        let mut count = 1;
        // A graph has fewer levels than vertices; a device that keeps asking for more computes wrongly.
        for launch in 0..vertices {
            host.fill(next_count, 0, 4)?;
            let [gray, other] = [GRAY[launch % 2], GRAY[1 - launch % 2]];
            let wide = if launch < 2 { launch == 0 } else { count > BLOCK as usize };
            if wide {
                let grid = [ctas(count, BLOCK).max(FEWEST_CTAS), 1, 1];
                let args = args![
                    frontier,
                    next,
                    int(count),
                    nodes,
                    edges,
                    colour,
                    d_cost,
                    gray,
                    next_count,
                    overflow
                ];
                host.launch("bfs_level", grid, [BLOCK, 1, 1], args)?;
            } else {
                let args = args![
                    frontier,
                    next,
                    int(count),
                    nodes,
                    edges,
                    colour,
                    d_cost,
                    gray,
                    other,
                    next_count,
                    overflow
                ];
                host.launch("bfs_levels_of_a_cta", [1, 1, 1], [BLOCK, 1, 1], args)?;
            }
            let found = host.read::<i32>(next_count, 1)?[0];
            // A queue that ran over lost vertices: the costs are wrong, and will be found so.
            let lost = host.read::<i32>(overflow, 1)? != [0];
            count = usize::try_from(found).unwrap_or(0).min(vertices);
            if launch > 0 && (count == 0 || lost) {
                break;
            }
            std::mem::swap(&mut frontier, &mut next);
        }

        let (cost, colours) = expected(&graph, source);
        host.exact("cost", d_cost, &cost)?;
        host.exact("colour", colour, &colours)?;
        Ok(())
    }
}
