//! Rodinia's BFS: level-synchronous, two kernels per level, the host stops when a level found nothing.

mod graph;

use std::collections::VecDeque;

use self::graph::Graph;
use super::{Body, Size, Workload, ctas, int};
use crate::element::alloc_with;
use crate::{Arg, Comparison, Device, DeviceError, Outcome};

pub(super) const WORKLOAD: Workload = Workload {
    name: "bfs",
    suite: "Rodinia",
    papers: &["hi-end", "morpheus", "tinycache"],
    description: "Distances from one vertex of a random graph: coalesced scans of byte flags, divergent reads of \
                  edge lists, scattered writes, and one word that many threads write.",
    kernels: &["bfs_expand", "bfs_advance"],
    differences: &[
        "the graph's row starts are one array, not pairs of start and degree",
        "unreached vertices keep the cost -1",
        "the search begins at vertex 0",
    ],
    inputs: ["2,500 vertices", "2^17 vertices", "3 x 2^20 vertices (Rodinia: 2^20)"],
    ptx: include_str!("kernel.ptx"),
    build: |size| {
        Box::new(match size {
            Size::Test => Bfs { vertices: 2500 },
            Size::Small => Bfs { vertices: 1 << 17 },
            Size::Paper => Bfs { vertices: 3 << 20 },
        })
    },
};

/// Rodinia's block.
const BLOCK: u32 = 512;
const SOURCE: usize = 0;

#[derive(Debug)]
struct Bfs {
    vertices: usize,
}

/// Distances by the textbook's queue; -1 where there is no path.
fn expected(graph: &Graph) -> Vec<i32> {
    let mut cost = vec![-1; graph.vertices()];
    cost[SOURCE] = 0;
    let mut queue = VecDeque::from([SOURCE]);
    while let Some(v) = queue.pop_front() {
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

impl Body for Bfs {
    fn run(&self, device: &mut dyn Device) -> Result<Outcome, DeviceError> {
        let graph = Graph::random(self.vertices, 0xbf5);
        let mut at_source = vec![0_u8; self.vertices];
        at_source[SOURCE] = 1;
        let mut cost = vec![-1_i32; self.vertices];
        cost[SOURCE] = 0;

        let row_start = alloc_with(device, "row_start", &graph.row_start)?;
        let edges = alloc_with(device, "edges", &graph.edges)?;
        let frontier = alloc_with(device, "frontier", &at_source)?;
        let marked = alloc_with(device, "marked", &vec![0_u8; self.vertices])?;
        let visited = alloc_with(device, "visited", &at_source)?;
        let d_cost = alloc_with(device, "cost", &cost)?;
        let again = device.alloc("again", 4)?;

        let (grid, block) = ([ctas(self.vertices, BLOCK), 1, 1], [BLOCK, 1, 1]);
        let n = Arg::I32(int(self.vertices));
        let expand = [row_start, edges, frontier, marked, visited, d_cost].map(Arg::Ptr);
        let expand = [&[n], &expand[..]].concat();
        let advance = [frontier, marked, visited, again].map(Arg::Ptr);
        let advance = [&[n], &advance[..]].concat();
        // A graph has fewer levels than vertices; a device that keeps asking for more computes wrongly.
        for _ in 0..self.vertices {
            device.fill(again, 0, 4)?;
            device.launch("bfs_expand", grid, block, 0, &expand)?;
            device.launch("bfs_advance", grid, block, 0, &advance)?;
            let mut flag = [0; 4];
            device.download(again, &mut flag)?;
            if flag == [0; 4] {
                break;
            }
        }

        let mut outcome = Outcome::default();
        let found = outcome.download::<i32>(device, "cost", d_cost, self.vertices)?;
        outcome.comparisons.push(Comparison::exact("cost", &found, &expected(&graph)));
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_and_a_lone_vertex() {
        // 0 - 1 - 2, 3 alone.
        let graph = Graph { row_start: vec![0, 1, 3, 4, 4], edges: vec![1, 0, 2, 1] };
        assert_eq!(expected(&graph), [0, 1, 2, -1]);
    }
}
