//! PolyBench ATAX: y = A^T (A x), first a thread per row of A, then a thread per column.

use super::{Body, Size, Workload, ctas, int};
use crate::check::{Near, RunningSum};
use crate::element::{alloc_with, alloc_zeroed};
use crate::random::Random;
use crate::{Arg, Comparison, Device, DeviceError, Outcome};

pub(super) const WORKLOAD: Workload = Workload {
    name: "atax",
    suite: "PolyBench",
    papers: &["fuse"],
    description: "y = A^T (A x): the first kernel's warps read A down a column, one line per lane, the second \
                  kernel's along a row; both write their sum in every step.",
    kernels: &["atax_rows", "atax_columns"],
    differences: &[
        "sizes are parameters of the kernels, not constants",
        "A and x are uniform random in [-1, 1)",
    ],
    inputs: ["A 600 x 400", "A 2048 x 2048", "A 10240 x 10240 (PolyBench: 4096 x 4096)"],
    ptx: include_str!("kernel.ptx"),
    build: |size| {
        Box::new(match size {
            Size::Test => Atax { nx: 600, ny: 400 },
            Size::Small => Atax { nx: 2048, ny: 2048 },
            Size::Paper => Atax { nx: 10_240, ny: 10_240 },
        })
    },
};

/// PolyBench's block.
const BLOCK: u32 = 256;

#[derive(Debug)]
struct Atax {
    nx: usize,
    ny: usize,
}

impl Atax {
    fn expected_tmp(&self, a: &[f32], x: &[f32]) -> Vec<Near> {
        let product = |row: &[f32]| {
            let mut sum = RunningSum::default();
            row.iter().zip(x).for_each(|(&a, &x)| sum.add(f64::from(a) * f64::from(x), 1));
            sum.near()
        };
        a.chunks_exact(self.ny).map(product).collect()
    }

    /// y, from the tmp that the device had: its rounding errors, once accepted, are an input like any other.
    fn expected_y(&self, a: &[f32], tmp: &[f32]) -> Vec<Near> {
        let mut sums = vec![RunningSum::default(); self.ny];
        for (row, &t) in a.chunks_exact(self.ny).zip(tmp) {
            for (sum, &a) in sums.iter_mut().zip(row) {
                sum.add(f64::from(a) * f64::from(t), 1);
            }
        }
        sums.iter().map(RunningSum::near).collect()
    }
}

impl Body for Atax {
    fn run(&self, device: &mut dyn Device) -> Result<Outcome, DeviceError> {
        let &Self { nx, ny } = self;
        let mut random = Random::new(0xa7a);
        let (a, x) = (random.signed_vec(nx * ny), random.signed_vec(ny));
        let d_a = alloc_with(device, "a", &a)?;
        let d_x = alloc_with(device, "x", &x)?;
        let d_tmp = alloc_zeroed(device, "tmp", 4 * nx as u64)?;
        let d_y = alloc_zeroed(device, "y", 4 * ny as u64)?;

        let sizes = [Arg::I32(int(nx)), Arg::I32(int(ny)), Arg::Ptr(d_a)];
        let rows = [&sizes[..], &[Arg::Ptr(d_x), Arg::Ptr(d_tmp)]].concat();
        device.launch("atax_rows", [ctas(nx, BLOCK), 1, 1], [BLOCK, 1, 1], 0, &rows)?;
        let columns = [&sizes[..], &[Arg::Ptr(d_y), Arg::Ptr(d_tmp)]].concat();
        device.launch("atax_columns", [ctas(ny, BLOCK), 1, 1], [BLOCK, 1, 1], 0, &columns)?;

        let mut outcome = Outcome::default();
        let tmp = outcome.download::<f32>(device, "tmp", d_tmp, nx)?;
        outcome.comparisons.push(Comparison::near("tmp", &tmp, &self.expected_tmp(&a, &x)));
        let y = outcome.download::<f32>(device, "y", d_y, ny)?;
        outcome.comparisons.push(Comparison::near("y", &y, &self.expected_y(&a, &tmp)));
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_product_by_hand() {
        let atax = Atax { nx: 2, ny: 3 };
        let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let values = |near: Vec<Near>| near.iter().map(|near| near.value).collect::<Vec<_>>();
        assert_eq!(values(atax.expected_tmp(&a, &[1.0, 0.0, -1.0])), [-2.0, -2.0]);
        assert_eq!(values(atax.expected_y(&a, &[1.0, 10.0])), [41.0, 52.0, 63.0]);
    }
}
