//! SAXPY: y = a x + y, launched several times over one pair of vectors.

use super::{Body, Size, Workload, ctas};
use crate::check::{Near, gamma};
use crate::element::alloc_with;
use crate::random::Random;
use crate::{Arg, Comparison, Device, DeviceError, Outcome};

pub(super) const WORKLOAD: Workload = Workload {
    name: "saxpy",
    suite: "CUDA SDK",
    papers: &["tinycache"],
    description: "y = a x + y: streaming reads and writes, coalesced, without reuse inside a launch.",
    kernels: &["saxpy"],
    differences: &["the result replaces y instead of going to a third vector"],
    inputs: [
        "2 launches over 10,000 elements",
        "1 launch over 2^22 elements",
        "10 launches over 2^23 elements",
    ],
    ptx: include_str!("kernel.ptx"),
    build: |size| {
        Box::new(match size {
            Size::Test => Saxpy { n: 10_000, launches: 2 },
            Size::Small => Saxpy { n: 1 << 22, launches: 1 },
            Size::Paper => Saxpy { n: 1 << 23, launches: 10 },
        })
    },
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

    /// y + launches a x; each launch adds one product to the element's sum.
    fn expected(&self, x: &[f32], y: &[f32]) -> Vec<Near> {
        let bound = gamma(2 * self.launches);
        let scale = self.launches as f64 * f64::from(A);
        let element = |(&x, &y): (&f32, &f32)| {
            let (x, y) = (f64::from(x), f64::from(y));
            Near { value: y + scale * x, bound: bound * (y.abs() + scale * x.abs()) }
        };
        x.iter().zip(y).map(element).collect()
    }
}

impl Body for Saxpy {
    fn run(&self, device: &mut dyn Device) -> Result<Outcome, DeviceError> {
        let (x, y) = self.inputs();
        let d_x = alloc_with(device, "x", &x)?;
        let d_y = alloc_with(device, "y", &y)?;

        let n = u32::try_from(self.n).expect("sizes fit an unsigned");
        let args = [Arg::U32(n), Arg::F32(A), Arg::Ptr(d_x), Arg::Ptr(d_y)];
        for _ in 0..self.launches {
            device.launch("saxpy", [ctas(self.n, BLOCK), 1, 1], [BLOCK, 1, 1], 0, &args)?;
        }

        let mut outcome = Outcome::default();
        let found = outcome.download::<f32>(device, "y", d_y, self.n)?;
        outcome.comparisons.push(Comparison::near("y", &found, &self.expected(&x, &y)));
        Ok(outcome)
    }
}
