//! Parboil's SGEMM: a register-tiled product of column-major matrices.

mod expected;

use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "sgemm",
    suite: "Parboil",
    papers: &["hi-end", "morpheus", "stash", "tinycache"],
    description: "C = alpha A B^T + beta C with 16 sums per thread in registers: columns of A are coalesced \
                  and read once per CTA, tiles of B are broadcast from shared memory between barriers.",
    kernels: &[kernel("sgemm_nt", "mysgemmNT")],
    differences: &[
        "A, B and C are uniform random in [-1, 1), where Parboil reads A and B from files and leaves C as it \
         finds it",
    ],
    inputs: &[
        input(Size::Test, "A 256 x 40, B 40 x 48", || Box::new(Sgemm::whole(256, 48, 40))),
        input(Size::Small, "A 384 x 320, B 320 x 320", || Box::new(Sgemm::whole(384, 320, 320))),
        input(Size::Paper, "A 1024 x 992, B 992 x 1056 (Parboil: medium)", || {
            Box::new(Sgemm::whole(1024, 1056, 992))
        }),
        suite_input(
            "A 1024 x 992, B 992 x 1056",
            "Parboil 2.5, sgemm, data set medium",
            Piece::Ctas("the first 192 of the 528 CTAs: 384 columns of C"),
            || Box::new(Sgemm { columns: Part::First(384), ..Sgemm::whole(1024, 1056, 992) }),
        ),
        input(Size::Stash, "A 128 x 96, B 96 x 160", || Box::new(Sgemm::whole(128, 160, 96))),
        input(Size::Morpheus, "A 1536 x 64, B 64 x 384", || Box::new(Sgemm::whole(1536, 384, 64))),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// Parboil's call.
const ALPHA: f32 = 1.0;
const BETA: f32 = 0.0;
/// The kernel's COLUMNS and DEPTH; its ROWS are the block's threads.
const BLOCK: [u32; 3] = [16, 8, 1];

#[derive(Debug)]
struct Sgemm {
    /// Rows of C, a multiple of 128.
    m: usize,
    /// Columns of C, a multiple of 16.
    n: usize,
    /// Columns of A and rows of B, a multiple of 8.
    depth: usize,
    /// The columns of C that are computed, a multiple of 16.
    columns: Part,
}

impl Sgemm {
    fn whole(m: usize, n: usize, depth: usize) -> Self {
        Self { m, n, depth, columns: Part::All }
    }
}

impl Body for Sgemm {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let &Self { m, n, depth, columns } = self;
        let columns = columns.of(n);
        let mut random = Random::new(0x5e44);
        let (a, b_transposed) = (random.signed_vec(m * depth), random.signed_vec(n * depth));
        let c = random.signed_vec(m * n);
        let d_a = host.buffer("a", &a)?;
        let d_b = host.buffer("b_transposed", &b_transposed)?;
        let d_c = host.buffer("c", &c)?;

        let grid = [ctas(m, BLOCK[0] * BLOCK[1]), ctas(columns, BLOCK[0]), 1];
        let args = args![int(depth), ALPHA, d_a, int(m), d_b, int(n), BETA, d_c, int(m)];
        host.launch("sgemm_nt", grid, BLOCK, args)?;

        let expected = self.expected(&a, &b_transposed, &c[..columns * m]);
        host.near::<f32>("c", d_c, then_as_before(expected, &c))?;
        Ok(())
    }
}
