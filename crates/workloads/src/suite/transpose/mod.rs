//! Matrix transpose through padded shared-memory tiles.

mod expected;

use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "transpose",
    suite: "CUDA SDK",
    papers: &["tinycache"],
    description: "Out = In^T in 32 x 32 tiles: coalesced reads and writes, shared memory read down a padded \
                  column without bank conflicts, one barrier.",
    kernels: &[kernel("transpose", "transposeNoBankConflicts")],
    differences: &["elements are words, not floats", "sizes need not be multiples of the tile"],
    inputs: &[
        input(Size::Test, "200 x 300", || Box::new(Transpose { rows: 200, columns: 300 })),
        input(Size::Small, "2048 x 2048", || Box::new(Transpose { rows: 2048, columns: 2048 })),
        input(Size::Paper, "2688 x 2688", || Box::new(Transpose { rows: 2688, columns: 2688 })),
        suite_input(
            "1024 x 1024",
            "CUDA samples, transpose.cu: MATRIX_SIZE_X, MATRIX_SIZE_Y",
            Piece::Launches("the first launch of transposeNoBankConflicts"),
            || Box::new(Transpose { rows: 1024, columns: 1024 }),
        ),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// The kernel's TILE and BLOCK_ROWS.
const TILE: u32 = 32;
const BLOCK: [u32; 3] = [TILE, 8, 1];

#[derive(Debug)]
struct Transpose {
    rows: usize,
    columns: usize,
}

impl Body for Transpose {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let elements = self.rows * self.columns;
        let mut random = Random::new(0x7a);
        let input: Vec<u32> = (0..elements).map(|_| random.bits() as u32).collect();
        let d_in = host.buffer("in", &input)?;
        let d_out = host.zeros::<u32>("out", elements)?;

        let grid = [ctas(self.columns, TILE), ctas(self.rows, TILE), 1];
        let args = args![int(self.rows), int(self.columns), d_in, d_out];
        host.launch("transpose", grid, BLOCK, args)?;

        host.exact("out", d_out, &self.expected(&input))?;
        Ok(())
    }
}
