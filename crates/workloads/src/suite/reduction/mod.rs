//! Sum of a vector: trees in shared memory, launched again on the partial sums until one is left.

use super::{Body, Size, Workload, ctas};
use crate::element::{alloc_with, alloc_zeroed};
use crate::random::Random;
use crate::{Arg, Comparison, Device, DeviceError, Outcome};

pub(super) const WORKLOAD: Workload = Workload {
    name: "reduction",
    suite: "CUDA samples",
    papers: &[],
    description: "The sum of a vector: coalesced reads, then a tree in dynamic shared memory with a barrier per \
                  level and half of the threads leaving at each.",
    kernels: &["reduction"],
    differences: &["sums are modulo 2^32, so that every order of additions gives the same result"],
    inputs: ["40,000 words", "2^21 words", "2^25 words"],
    ptx: include_str!("kernel.ptx"),
    build: |size| {
        Box::new(match size {
            Size::Test => Reduction { n: 40_000 },
            Size::Small => Reduction { n: 1 << 21 },
            Size::Paper => Reduction { n: 1 << 25 },
        })
    },
};

const BLOCK: u32 = 256;

#[derive(Debug)]
struct Reduction {
    n: usize,
}

impl Body for Reduction {
    fn run(&self, device: &mut dyn Device) -> Result<Outcome, DeviceError> {
        let mut random = Random::new(0x4ed);
        let data: Vec<u32> = (0..self.n).map(|_| random.bits() as u32).collect();
        let mut from = alloc_with(device, "data", &data)?;

        let (mut left, mut pass) = (self.n, 0);
        while left > 1 {
            // Every thread begins with two elements.
            let grid = ctas(left, 2 * BLOCK);
            let to = alloc_zeroed(device, &format!("sums_{pass}"), 4 * u64::from(grid))?;
            let n = u32::try_from(left).expect("sizes fit an unsigned");
            let args = [Arg::U32(n), Arg::Ptr(from), Arg::Ptr(to)];
            device.launch("reduction", [grid, 1, 1], [BLOCK, 1, 1], 4 * BLOCK, &args)?;
            (from, left, pass) = (to, grid as usize, pass + 1);
        }

        let mut outcome = Outcome::default();
        let found = outcome.download::<u32>(device, "sum", from, 1)?;
        let expected = data.iter().fold(0, |sum: u32, &word| sum.wrapping_add(word));
        outcome.comparisons.push(Comparison::exact("sum", &found, &[expected]));
        Ok(outcome)
    }
}
