//! Matrix transpose through padded shared-memory tiles.

use super::{Body, Size, Workload, ctas, int};
use crate::element::{alloc_with, alloc_zeroed};
use crate::random::Random;
use crate::{Arg, Comparison, Device, DeviceError, Outcome};

pub(super) const WORKLOAD: Workload = Workload {
    name: "transpose",
    suite: "CUDA samples",
    papers: &["tinycache"],
    description: "Out = In^T in 32 x 32 tiles: coalesced reads and writes, shared memory read down a padded \
                  column without bank conflicts, one barrier.",
    kernels: &["transpose"],
    differences: &["elements are words, not floats", "sizes need not be multiples of the tile"],
    inputs: ["200 x 300", "2048 x 2048", "8192 x 8192"],
    ptx: include_str!("kernel.ptx"),
    build: |size| {
        Box::new(match size {
            Size::Test => Transpose { rows: 200, columns: 300 },
            Size::Small => Transpose { rows: 2048, columns: 2048 },
            Size::Paper => Transpose { rows: 8192, columns: 8192 },
        })
    },
};

/// The kernel's TILE and BLOCK_ROWS.
const TILE: u32 = 32;
const BLOCK: [u32; 3] = [TILE, 8, 1];

#[derive(Debug)]
struct Transpose {
    rows: usize,
    columns: usize,
}

impl Transpose {
    fn expected(&self, input: &[u32]) -> Vec<u32> {
        (0..self.columns).flat_map(|column| input[column..].iter().step_by(self.columns).copied()).collect()
    }
}

impl Body for Transpose {
    fn run(&self, device: &mut dyn Device) -> Result<Outcome, DeviceError> {
        let elements = self.rows * self.columns;
        let mut random = Random::new(0x7a);
        let input: Vec<u32> = (0..elements).map(|_| random.bits() as u32).collect();
        let d_in = alloc_with(device, "in", &input)?;
        let d_out = alloc_zeroed(device, "out", 4 * elements as u64)?;

        let grid = [ctas(self.columns, TILE), ctas(self.rows, TILE), 1];
        let args = [Arg::I32(int(self.rows)), Arg::I32(int(self.columns)), Arg::Ptr(d_in), Arg::Ptr(d_out)];
        device.launch("transpose", grid, BLOCK, 0, &args)?;

        let mut outcome = Outcome::default();
        let found = outcome.download::<u32>(device, "out", d_out, elements)?;
        outcome.comparisons.push(Comparison::exact("out", &found, &self.expected(&input)));
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        let transpose = Transpose { rows: 2, columns: 3 };
        assert_eq!(transpose.expected(&[1, 2, 3, 4, 5, 6]), [1, 4, 2, 5, 3, 6]);
    }
}
