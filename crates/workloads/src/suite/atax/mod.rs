//! PolyBench ATAX: y = A^T (A x), first a thread per row of A, then a thread per column.

use super::{Body, Size, Workload, ctas, int};
use crate::check::{Near, gamma};
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
    /// tmp and y. The second product works on the device's own tmp, so tmp's error enters y's bound.
    fn expected(&self, a: &[f32], x: &[f32]) -> (Vec<Near>, Vec<Near>) {
        let bound = gamma(self.ny + 1);
        let tmp: Vec<Near> = a
            .chunks_exact(self.ny)
            .map(|row| {
                let products = || row.iter().zip(x).map(|(&a, &x)| f64::from(a) * f64::from(x));
                Near { value: products().sum(), bound: bound * products().map(f64::abs).sum::<f64>() }
            })
            .collect();

        let bound = gamma(self.nx + 1);
        let mut y = vec![Near { value: 0.0, bound: 0.0 }; self.ny];
        for (row, t) in a.chunks_exact(self.ny).zip(&tmp) {
            for (y, &a) in y.iter_mut().zip(row) {
                let a = f64::from(a);
                y.value += a * t.value;
                y.bound += a.abs() * (t.bound + bound * (t.value.abs() + t.bound));
            }
        }
        (tmp, y)
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

        let (tmp, y) = self.expected(&a, &x);
        let mut outcome = Outcome::default();
        let found = outcome.download::<f32>(device, "tmp", d_tmp, nx)?;
        outcome.comparisons.push(Comparison::near("tmp", &found, &tmp));
        let found = outcome.download::<f32>(device, "y", d_y, ny)?;
        outcome.comparisons.push(Comparison::near("y", &found, &y));
        Ok(outcome)
    }
}
