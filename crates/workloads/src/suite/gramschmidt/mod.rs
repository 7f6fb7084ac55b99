//! PolyBench GRAMSCHM: A = Q R by modified Gram-Schmidt, three launches per column.

mod expected;

use self::expected::Factors;
use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "gramschmidt",
    suite: "PolyBench",
    papers: &["hi-end"],
    description: "A = Q R column by column: one thread sums a column's squares down the rows, threads far apart \
                  divide it, and a thread per remaining column subtracts its projection, twice through all of A.",
    kernels: &[
        kernel("column_norm", "gramschmidt_kernel1"),
        kernel("column_scale", "gramschmidt_kernel2"),
        kernel("project", "gramschmidt_kernel3"),
    ],
    differences: &[
        "sizes are parameters of the kernels, not constants",
        "only the first columns are factored, which keeps the shape of launches: all 2048 take some 70 billion \
         thread-instructions",
        "A is uniform random in [-1, 1): PolyBench's has rank 1, so that it divides what rounding left over",
        "Q and R are zero at first, and compared like A",
    ],
    inputs: &[
        input(Size::Test, "A 40 x 600, first 4 columns", || {
            Box::new(GramSchmidt { m: 40, n: 600, steps: 4 })
        }),
        input(Size::Small, "A 256 x 2048, first 8 columns", || {
            Box::new(GramSchmidt { m: 256, n: 2048, steps: 8 })
        }),
        input(Size::Paper, "A 2048 x 2048, first 32 columns (PolyBench: all)", || {
            Box::new(GramSchmidt { m: 2048, n: 2048, steps: 32 })
        }),
        suite_input(
            "A 2048 x 2048",
            "polybenchGpu, CUDA/GRAMSCHM/gramschmidt.cuh: M, N",
            Piece::Launches("the first 8 of 2,048 columns: 24 launches"),
            || Box::new(GramSchmidt { m: 2048, n: 2048, steps: 8 }),
        ),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

/// PolyBench's block.
const BLOCK: u32 = 256;

#[derive(Debug)]
struct GramSchmidt {
    m: usize,
    n: usize,
    steps: usize,
}

impl Body for GramSchmidt {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let &Self { m, n, steps } = self;
        let a = Random::new(0x96).signed_vec(m * n);
        let d_a = host.buffer("a", &a)?;
        let d_r = host.zeros::<f32>("r", n * n)?;
        let d_q = host.zeros::<f32>("q", m * n)?;

        let block = [BLOCK, 1, 1];
        for k in 0..steps {
            let args = args![int(m), int(n), d_a, d_r, d_q, int(k)];
            host.launch("column_norm", [1, 1, 1], block, args)?;
            host.launch("column_scale", [ctas(m, BLOCK), 1, 1], block, args)?;
            host.launch("project", [ctas(n, BLOCK), 1, 1], block, args)?;
        }

        let device = Factors { q: host.read(d_q, m * n)?, r: host.read(d_r, n * n)? };
        let (remainder, factors) = self.expected(&a, &device);
        host.near::<f32>("q", d_q, factors.q)?;
        host.near::<f32>("r", d_r, factors.r)?;
        host.near::<f32>("a", d_a, remainder)?;
        Ok(())
    }
}
