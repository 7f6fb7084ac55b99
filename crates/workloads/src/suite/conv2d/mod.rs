//! PolyBench 2DCONV: a fixed 3x3 stencil over a matrix, one thread per element.

use super::{Body, Size, Workload, ctas, int};
use crate::check::{Near, gamma};
use crate::element::{alloc_with, alloc_zeroed};
use crate::random::Random;
use crate::{Arg, Comparison, Device, DeviceError, Outcome};

pub(super) const WORKLOAD: Workload = Workload {
    name: "conv2d",
    suite: "PolyBench",
    papers: &["fuse"],
    description: "B = A convolved with 3x3 weights: nine coalesced reads per thread, most of them of lines that \
                  neighbouring threads read too, and one write.",
    kernels: &["conv2d"],
    differences: &[
        "sizes are parameters of the kernel, not constants",
        "A is uniform random in [-1, 1)",
        "the border of B is set to zero",
    ],
    inputs: ["200 x 150", "1024 x 1024", "4608 x 4608 (PolyBench: 4096 x 4096)"],
    ptx: include_str!("kernel.ptx"),
    build: |size| {
        Box::new(match size {
            Size::Test => Conv2d { ni: 200, nj: 150 },
            Size::Small => Conv2d { ni: 1024, nj: 1024 },
            Size::Paper => Conv2d { ni: 4608, nj: 4608 },
        })
    },
};

/// PolyBench's block.
const BLOCK: [u32; 3] = [32, 8, 1];

/// PolyBench's weights, row above first.
const WEIGHTS: [[f32; 3]; 3] = [[0.2, -0.3, 0.4], [0.5, 0.6, 0.7], [-0.8, -0.9, 0.1]];

#[derive(Debug)]
struct Conv2d {
    ni: usize,
    nj: usize,
}

impl Conv2d {
    fn expected(&self, a: &[f32]) -> Vec<Near> {
        let bound = gamma(10);
        let mut expected = vec![Near { value: 0.0, bound: 0.0 }; self.ni * self.nj];
        for i in 1..self.ni - 1 {
            for j in 1..self.nj - 1 {
                let near = &mut expected[i * self.nj + j];
                for (di, weights) in WEIGHTS.iter().enumerate() {
                    let row = &a[(i + di - 1) * self.nj + j - 1..][..3];
                    for (&weight, &a) in weights.iter().zip(row) {
                        let product = f64::from(weight) * f64::from(a);
                        near.value += product;
                        near.bound += bound * product.abs();
                    }
                }
            }
        }
        expected
    }
}

impl Body for Conv2d {
    fn run(&self, device: &mut dyn Device) -> Result<Outcome, DeviceError> {
        let &Self { ni, nj } = self;
        let a = Random::new(0x2dc).signed_vec(ni * nj);
        let d_a = alloc_with(device, "a", &a)?;
        let d_b = alloc_zeroed(device, "b", 4 * (ni * nj) as u64)?;

        let grid = [ctas(nj, BLOCK[0]), ctas(ni, BLOCK[1]), 1];
        let args = [Arg::I32(int(ni)), Arg::I32(int(nj)), Arg::Ptr(d_a), Arg::Ptr(d_b)];
        device.launch("conv2d", grid, BLOCK, 0, &args)?;

        let mut outcome = Outcome::default();
        let found = outcome.download::<f32>(device, "b", d_b, ni * nj)?;
        outcome.comparisons.push(Comparison::near("b", &found, &self.expected(&a)));
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_impulse_gives_the_weights_reversed() {
        let conv2d = Conv2d { ni: 5, nj: 5 };
        let mut a = [0.0; 25];
        a[12] = 1.0;
        let found = conv2d.expected(&a);
        assert_eq!(found[6].value, f64::from(WEIGHTS[2][2]), "above and left sees it below and right");
        assert_eq!(found[13].value, f64::from(WEIGHTS[1][0]), "the right neighbour sees it on the left");
        assert_eq!(found[0], Near { value: 0.0, bound: 0.0 });
    }
}
