//! Sum of a vector: trees in shared memory, launched again on the partial sums until one is left.

mod expected;

use self::expected::expected;
use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "reduction",
    suite: "CUDA SDK",
    papers: &[],
    description: "The sum of a vector: coalesced reads, then a tree in dynamic shared memory with a barrier per \
                  level and half of the threads leaving at each.",
    kernels: &[kernel("reduction", "reduce3")],
    differences: &["sums are modulo 2^32, so that every order of additions gives the same result"],
    inputs: &[
        input(Size::Test, "40,000 words", || Box::new(Reduction { n: 40_000 })),
        input(Size::Small, "2^21 words", || Box::new(Reduction { n: 1 << 21 })),
        input(Size::Paper, "2^25 words", || Box::new(Reduction { n: 1 << 25 })),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

const BLOCK: u32 = 256;

#[derive(Debug)]
struct Reduction {
    n: usize,
}

impl Body for Reduction {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let mut random = Random::new(0x4ed);
        let data: Vec<u32> = (0..self.n).map(|_| random.bits() as u32).collect();
        let mut from = host.buffer("data", &data)?;

        let (mut left, mut pass) = (self.n, 0);
        while left > 1 {
            // Every thread begins with two elements.
            let grid = ctas(left, 2 * BLOCK);
            let to = host.zeros::<u32>(&format!("sums_{pass}"), grid as usize)?;
            let n = u32::try_from(left).expect("sizes fit an unsigned");
            let args = args![n, from, to];
            host.launch_with_shared("reduction", [grid, 1, 1], [BLOCK, 1, 1], 4 * BLOCK, args)?;
            (from, left, pass) = (to, grid as usize, pass + 1);
        }

        host.exact("sum", from, &[expected(&data)])?;
        Ok(())
    }
}
