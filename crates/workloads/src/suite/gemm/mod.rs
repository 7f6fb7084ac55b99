//! PolyBench GEMM: C = alpha A B + beta C, one thread per element of C, without tiling.

use super::{Body, Size, Workload, ctas, int};
use crate::check::{Near, RunningSum};
use crate::element::alloc_with;
use crate::random::Random;
use crate::{Arg, Comparison, Device, DeviceError, Outcome};

pub(super) const WORKLOAD: Workload = Workload {
    name: "gemm",
    suite: "PolyBench",
    papers: &["fuse", "morpheus"],
    description: "C = alpha A B + beta C, a thread per element of C: rows of A are broadcast, rows of B are \
                  coalesced, and C is written in every step of the inner loop.",
    kernels: &["gemm"],
    differences: &[
        "sizes are parameters of the kernel, not constants",
        "Morpheus runs Parboil's SGEMM, which tiles",
        "A, B and C are uniform random in [-1, 1), alpha = 1.5, beta = 0.75",
    ],
    inputs: ["C 60 x 72, depth 64", "C 256 x 256, depth 256", "C 640 x 640, depth 640 (PolyBench: 512 each)"],
    ptx: include_str!("kernel.ptx"),
    build: |size| {
        Box::new(match size {
            Size::Test => Gemm { ni: 60, nj: 72, nk: 64 },
            Size::Small => Gemm { ni: 256, nj: 256, nk: 256 },
            Size::Paper => Gemm { ni: 640, nj: 640, nk: 640 },
        })
    },
};

const ALPHA: f32 = 1.5;
const BETA: f32 = 0.75;
/// PolyBench's block.
const BLOCK: [u32; 3] = [32, 8, 1];

#[derive(Debug)]
struct Gemm {
    ni: usize,
    nj: usize,
    nk: usize,
}

impl Gemm {
    /// The kernel rounds beta c, alpha a, and, unless it fuses, alpha a times b.
    fn expected(&self, a: &[f32], b: &[f32], c: &[f32]) -> Vec<Near> {
        let mut expected = Vec::with_capacity(self.ni * self.nj);
        for (row_a, row_c) in a.chunks_exact(self.nk).zip(c.chunks_exact(self.nj)) {
            // One row of C, filled row of B by row of B.
            let mut sums = vec![RunningSum::default(); self.nj];
            for (sum, &c) in sums.iter_mut().zip(row_c) {
                sum.add(f64::from(BETA) * f64::from(c), 0);
            }
            for (&a, row_b) in row_a.iter().zip(b.chunks_exact(self.nj)) {
                let a = f64::from(ALPHA) * f64::from(a);
                for (sum, &b) in sums.iter_mut().zip(row_b) {
                    sum.add(a * f64::from(b), 2);
                }
            }
            expected.extend(sums.iter().map(RunningSum::near));
        }
        expected
    }
}

impl Body for Gemm {
    fn run(&self, device: &mut dyn Device) -> Result<Outcome, DeviceError> {
        let &Self { ni, nj, nk } = self;
        let mut random = Random::new(0x6e);
        let (a, b, c) = (random.signed_vec(ni * nk), random.signed_vec(nk * nj), random.signed_vec(ni * nj));
        let d_a = alloc_with(device, "a", &a)?;
        let d_b = alloc_with(device, "b", &b)?;
        let d_c = alloc_with(device, "c", &c)?;

        let grid = [ctas(nj, BLOCK[0]), ctas(ni, BLOCK[1]), 1];
        let args = [
            Arg::I32(int(ni)),
            Arg::I32(int(nj)),
            Arg::I32(int(nk)),
            Arg::F32(ALPHA),
            Arg::F32(BETA),
            Arg::Ptr(d_a),
            Arg::Ptr(d_b),
            Arg::Ptr(d_c),
        ];
        device.launch("gemm", grid, BLOCK, 0, &args)?;

        let mut outcome = Outcome::default();
        let found = outcome.download::<f32>(device, "c", d_c, ni * nj)?;
        outcome.comparisons.push(Comparison::near("c", &found, &self.expected(&a, &b, &c)));
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_product_by_hand() {
        let gemm = Gemm { ni: 2, nj: 1, nk: 2 };
        let found = gemm.expected(&[1.0, 2.0, 3.0, 4.0], &[10.0, 100.0], &[4.0, 8.0]);
        let values: Vec<f64> = found.iter().map(|near| near.value).collect();
        assert_eq!(values, [3.0 + 1.5 * 210.0, 6.0 + 1.5 * 430.0]);
    }
}
