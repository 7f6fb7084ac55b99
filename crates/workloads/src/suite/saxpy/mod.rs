//! SAXPY: y = a x + y, launched several times over one pair of vectors.

mod expected;

use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "saxpy",
    suite: "CUDA SDK",
    papers: &["tinycache"],
    description: "y = a x + y: streaming reads and writes, coalesced, without reuse inside a launch.",
    kernels: &[kernel("saxpy", "saxpy")],
    differences: &["the result replaces y instead of going to a third vector"],
    inputs: &[
        input(Size::Test, "2 launches over 10,000 elements", || Box::new(Saxpy { n: 10_000, launches: 2 })),
        input(Size::Small, "2 launches over 2^20 elements", || Box::new(Saxpy { n: 1 << 20, launches: 2 })),
        input(Size::Paper, "1 launch over 2^21 elements, 8 MB per vector", || {
            Box::new(Saxpy { n: 1 << 21, launches: 1 })
        }),
        suite_input(
            "2^20 elements",
            "M. Harris, An Easy Introduction to CUDA C and C++ (NVIDIA, 2012): N",
            Piece::All,
            || Box::new(Saxpy { n: 1 << 20, launches: 1 }),
        ),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

const A: f32 = 2.5;
const BLOCK: u32 = 256;

#[derive(Debug)]
struct Saxpy {
    n: usize,
    launches: usize,
}

impl Saxpy {
    fn inputs(&self) -> (Vec<f32>, Vec<f32>) {
        let mut random = Random::new(0x5a);
        (random.signed_vec(self.n), random.signed_vec(self.n))
    }
}

impl Body for Saxpy {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let (x, y) = self.inputs();
        let d_x = host.buffer("x", &x)?;
        let d_y = host.buffer("y", &y)?;

        let n = u32::try_from(self.n).expect("sizes fit an unsigned");
        let args = args![n, A, d_x, d_y];
        for _ in 0..self.launches {
            host.launch("saxpy", [ctas(self.n, BLOCK), 1, 1], [BLOCK, 1, 1], args)?;
        }

        host.near::<f32>("y", d_y, self.expected(&x, &y))?;
        Ok(())
    }
}
