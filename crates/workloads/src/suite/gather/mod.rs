//! Divergent gather: independent random reads of single words from a large table.

use super::{Body, Size, Workload, ctas};
use crate::element::{alloc_with, alloc_zeroed};
use crate::random::Random;
use crate::{Arg, Comparison, Device, DeviceError, Outcome};

pub(super) const WORKLOAD: Workload = Workload {
    name: "gather",
    suite: "none",
    papers: &[],
    description: "Every thread adds up words at hashed places of a table: 32 lines per warp-load, no locality.",
    kernels: &["gather"],
    differences: &[],
    inputs: [
        "2,000 threads, 4 loads each from 1 MiB",
        "2^16 threads, 4 loads each from 64 MiB",
        "2^20 threads, 96 loads each from 64 MiB",
    ],
    ptx: include_str!("kernel.ptx"),
    build: |size| {
        Box::new(match size {
            Size::Test => Gather { threads: 2000, loads: 4, table_words: 1 << 18 },
            Size::Small => Gather { threads: 1 << 16, loads: 4, table_words: 1 << 24 },
            Size::Paper => Gather { threads: 1 << 20, loads: 96, table_words: 1 << 24 },
        })
    },
};

const BLOCK: u32 = 256;

#[derive(Debug)]
struct Gather {
    threads: u32,
    loads: u32,
    /// A power of two.
    table_words: u32,
}

/// The kernel's hash.
fn scatter(z: u32) -> u32 {
    let z = (z ^ (z >> 16)).wrapping_mul(0x7feb_352d);
    let z = (z ^ (z >> 15)).wrapping_mul(0x846c_a68b);
    z ^ (z >> 16)
}

impl Gather {
    fn expected(&self, table: &[u32]) -> Vec<u32> {
        let word = |number: u32| table[(scatter(number) & (self.table_words - 1)) as usize];
        let sum = |thread: u32| {
            (0..self.loads).fold(0_u32, |sum, k| sum.wrapping_add(word(k * self.threads + thread)))
        };
        (0..self.threads).map(sum).collect()
    }
}

impl Body for Gather {
    fn run(&self, device: &mut dyn Device) -> Result<Outcome, DeviceError> {
        let mut random = Random::new(0x6a7);
        let table: Vec<u32> = (0..self.table_words).map(|_| random.bits() as u32).collect();
        let d_table = alloc_with(device, "table", &table)?;
        let d_out = alloc_zeroed(device, "out", 4 * u64::from(self.threads))?;

        let args = [
            Arg::U32(self.threads),
            Arg::U32(self.loads),
            Arg::U32(self.table_words - 1),
            Arg::Ptr(d_table),
            Arg::Ptr(d_out),
        ];
        let threads = self.threads as usize;
        device.launch("gather", [ctas(threads, BLOCK), 1, 1], [BLOCK, 1, 1], 0, &args)?;

        let mut outcome = Outcome::default();
        let found = outcome.download::<u32>(device, "out", d_out, threads)?;
        outcome.comparisons.push(Comparison::exact("out", &found, &self.expected(&table)));
        Ok(outcome)
    }
}
