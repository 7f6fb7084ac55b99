//! Rodinia's LUD: LU decomposition by tiles of 16 x 16, three kernels for each tile of the diagonal.

mod expected;

use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "lud",
    suite: "Rodinia",
    papers: &["stash"],
    description: "LU decomposition in place: a single small CTA for a diagonal tile, then a row and a column \
                  of tiles, then a tiled product for the rest, all through shared memory; each step has less \
                  to do.",
    kernels: &[
        kernel("lud_diagonal", "lud_diagonal"),
        kernel("lud_perimeter", "lud_perimeter"),
        kernel("lud_internal", "lud_internal"),
    ],
    differences: &[
        "the matrix is random in [-1, 1) with a dominant diagonal, so that errors stay bounded without \
         pivoting; Rodinia's is 10 exp(-|i - j| / 1000)",
        "divisions round to the nearest; Rodinia compiles with -use_fast_math",
    ],
    inputs: &[
        input(Size::Test, "80 x 80", || Box::new(Lud { n: 80 })),
        input(Size::Small, "320 x 320", || Box::new(Lud { n: 320 })),
        input(Size::Paper, "1024 x 1024 (Rodinia: 256 to 2048)", || Box::new(Lud { n: 1024 })),
        input(Size::Stash, "256 x 256", || Box::new(Lud { n: 256 })),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// The kernels' TILE, which divides n.
const TILE: usize = 16;

#[derive(Debug)]
struct Lud {
    n: usize,
}

impl Lud {
    /// A matrix in which every diagonal element exceeds the rest of its row and of its column.
    fn matrix(&self) -> Vec<f32> {
        let n = self.n;
        let mut matrix = Random::new(0x1d).signed_vec(n * n);
        for i in 0..n {
            matrix[i * n + i] = n as f32;
        }
        matrix
    }
}

impl Body for Lud {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        const SIDE: u32 = TILE as u32;
        let n = self.n;
        let matrix = self.matrix();
        let d_matrix = host.buffer("matrix", &matrix)?;

        for offset in (0..n).step_by(TILE) {
            let args = args![d_matrix, int(n), int(offset)];
            host.launch("lud_diagonal", [1, 1, 1], [SIDE, 1, 1], args)?;
            let left = ctas(n - offset, SIDE) - 1;
            if left > 0 {
                host.launch("lud_perimeter", [left, 1, 1], [2 * SIDE, 1, 1], args)?;
                host.launch("lud_internal", [left, left, 1], [SIDE, SIDE, 1], args)?;
            }
        }

        host.near::<f32>("matrix", d_matrix, self.expected(&matrix))?;
        Ok(())
    }
}
