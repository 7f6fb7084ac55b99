//! Rodinia's BFS: level-synchronous, two kernels per level, the host stops when a level found nothing.

mod expected;

use std::ops::RangeInclusive;

use self::expected::expected;
use super::prelude::*;
use crate::input::graph::Graph;

pub(super) const WORKLOAD: Workload = Workload {
    name: "bfs",
    suite: "Rodinia",
    papers: &["hi-end", "morpheus", "tinycache"],
    description: "Distances from one vertex of a random graph: coalesced scans of byte flags, divergent reads of \
                  edge lists, scattered writes, and one word that many threads write.",
    kernels: &[kernel("bfs_expand", "Kernel"), kernel("bfs_advance", "Kernel2")],
    differences: &[
        "the graph's row starts are one array, not pairs of start and degree",
        "unreached vertices keep the cost -1",
        "the search begins at vertex 0",
        "at size morpheus the graph has 48 edges per vertex, not Rodinia's 6, with which memory is busy only on much \
         larger graphs",
    ],
    inputs: &[
        input(Size::Test, "2,500 vertices", || Box::new(Bfs::whole(2500))),
        input(Size::Small, "2^17 vertices", || Box::new(Bfs::whole(1 << 17))),
        input(Size::Paper, "3 x 2^20 vertices (Rodinia: 2^20)", || Box::new(Bfs::whole(3 << 20))),
        suite_input(
            "1,000,000 vertices with 6 edges each",
            "Rodinia 3.1, data/bfs/graph1MW_6.txt, which ESESC's conf/gpu.conf runs too",
            Piece::Launches("the first 9 levels: 18 launches"),
            || Box::new(Bfs { levels: Part::First(9), ..Bfs::whole(1_000_000) }),
        ),
        input(Size::Morpheus, "32,000 vertices with 48 edges each", || {
            Box::new(Bfs { partners: 22..=26, ..Bfs::whole(32_000) })
        }),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// Rodinia's block.
const BLOCK: u32 = 512;
const SOURCE: usize = 0;
/// What Rodinia's generator draws: six edges per vertex.
const PARTNERS: RangeInclusive<u64> = 2..=4;

#[derive(Debug)]
struct Bfs {
    vertices: usize,
    /// How many others a vertex draws to join: half of its edges on average.
    partners: RangeInclusive<u64>,
    /// The levels that are searched.
    levels: Part,
}

impl Bfs {
    fn whole(vertices: usize) -> Self {
        Self { vertices, partners: PARTNERS, levels: Part::All }
    }
}

impl Body for Bfs {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let graph = Graph::uniform(self.vertices, self.partners.clone(), 0xbf5);
        let mut at_source = vec![0_u8; self.vertices];
        at_source[SOURCE] = 1;
        let mut cost = vec![-1_i32; self.vertices];
        cost[SOURCE] = 0;

        let row_start = host.buffer("row_start", &graph.row_start)?;
        let edges = host.buffer("edges", &graph.edges)?;
        let frontier = host.buffer("frontier", &at_source)?;
        let marked = host.buffer("marked", &vec![0_u8; self.vertices])?;
        let visited = host.buffer("visited", &at_source)?;
        let d_cost = host.buffer("cost", &cost)?;
        let again = host.zeros::<i32>("again", 1)?;

        let (grid, block) = ([ctas(self.vertices, BLOCK), 1, 1], [BLOCK, 1, 1]);
        let n = Arg::I32(int(self.vertices));
        let expand = [row_start, edges, frontier, marked, visited, d_cost].map(Arg::Ptr);
        let expand = [&[n], &expand[..]].concat();
        let advance = [frontier, marked, visited, again].map(Arg::Ptr);
        let advance = [&[n], &advance[..]].concat();
        // A graph has fewer levels than vertices; a device that keeps asking for more computes wrongly.
        let levels = self.levels.of(self.vertices);
        for _ in 0..levels {
            host.fill(again, 0, 4)?;
            host.launch("bfs_expand", grid, block, &expand)?;
            host.launch("bfs_advance", grid, block, &advance)?;
            if host.read::<i32>(again, 1)? == [0] {
                break;
            }
        }

        host.exact("cost", d_cost, &expected(&graph, levels))?;
        Ok(())
    }
}
