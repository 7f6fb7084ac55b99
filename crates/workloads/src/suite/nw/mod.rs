//! Rodinia's NW: Needleman-Wunsch alignment of two proteins over anti-diagonals of 16 x 16 tiles.

mod blosum;
mod expected;
mod proteins;

use self::blosum::BLOSUM62;
use self::expected::expected;
use self::proteins::Proteins;
use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "nw",
    suite: "Rodinia",
    papers: &["hi-end", "morpheus", "stash"],
    description: "A table of alignment scores: CTAs of half a warp fill 16 x 16 tiles in shared memory, a \
                  diagonal of cells between two barriers; each launch is one diagonal of tiles.",
    kernels: &[kernel("nw_grow", "needle_cuda_shared_1"), kernel("nw_shrink", "needle_cuda_shared_2")],
    differences: &[
        "the second protein is the first after mutations, over 20 amino acids; Rodinia's are both random, \
         over 10",
        "similarities of the table's first row and column, which nothing reads, are zero",
        "the traceback, which Rodinia's host does on demand, is left out",
    ],
    inputs: &[
        input(Size::Test, "112 x 112", || Box::new(Nw { length: 112 })),
        input(Size::Small, "768 x 768", || Box::new(Nw { length: 768 })),
        input(Size::Paper, "2048 x 2048", || Box::new(Nw { length: 2048 })),
        suite_input("2048 x 2048", "Rodinia 3.1, cuda/nw/run: needle 2048 10", Piece::All, || {
            Box::new(Nw { length: 2048 })
        }),
        input(Size::Stash, "512 x 512", || Box::new(Nw { length: 512 })),
        input(Size::Morpheus, "768 x 768", || Box::new(Nw { length: 768 })),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// The kernels' TILE, which divides the length.
const TILE: usize = 16;
/// What a gap costs, as in Rodinia's runs.
const PENALTY: i32 = 10;

#[derive(Debug)]
struct Nw {
    length: usize,
}

impl Body for Nw {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let columns = self.length + 1;
        let proteins = Proteins::related(self.length, 0x3b);
        let mut similarity = vec![0; columns * columns];
        for (row, &a) in similarity.chunks_exact_mut(columns).skip(1).zip(&proteins.first) {
            for (cell, &b) in row.iter_mut().skip(1).zip(&proteins.second) {
                *cell = BLOSUM62[a][b];
            }
        }
        // The first row and column: nothing but gaps.
        let mut score = vec![0; columns * columns];
        for i in 0..columns {
            score[i] = -PENALTY * int(i);
            score[i * columns] = -PENALTY * int(i);
        }
        let d_similarity = host.buffer("similarity", &similarity)?;
        let d_score = host.buffer("score", &score)?;

        let tiles = int(self.length / TILE);
        let block = [TILE as u32, 1, 1];
        for diagonal in 0..tiles {
            let args = args![d_similarity, d_score, int(columns), PENALTY, diagonal];
            host.launch("nw_grow", [diagonal as u32 + 1, 1, 1], block, args)?;
        }
        for length in (1..tiles).rev() {
            let args = args![d_similarity, d_score, int(columns), PENALTY, length, tiles];
            host.launch("nw_shrink", [length as u32, 1, 1], block, args)?;
        }

        host.exact("score", d_score, &expected(&proteins))?;
        Ok(())
    }
}
