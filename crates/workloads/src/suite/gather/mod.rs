//! Divergent gather: independent random reads of single words from a large table.

mod expected;

use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "gather",
    suite: "none",
    papers: &[],
    description: "Every thread adds up words at hashed places of a table: 32 lines per warp-load, no locality.",
    kernels: &[kernel("gather", "")],
    differences: &[],
    inputs: &[
        input(Size::Test, "2,000 threads, 4 loads each from 1 MiB", || {
            Box::new(Gather { threads: 2000, loads: 4, table_words: 1 << 18 })
        }),
        input(Size::Small, "2^16 threads, 4 loads each from 64 MiB", || {
            Box::new(Gather { threads: 1 << 16, loads: 4, table_words: 1 << 24 })
        }),
        input(Size::Paper, "2^20 threads, 96 loads each from 64 MiB", || {
            Box::new(Gather { threads: 1 << 20, loads: 96, table_words: 1 << 24 })
        }),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

const BLOCK: u32 = 256;

#[derive(Debug)]
struct Gather {
    threads: u32,
    loads: u32,
    /// A power of two.
    table_words: u32,
}

impl Body for Gather {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let mut random = Random::new(0x6a7);
        let table: Vec<u32> = (0..self.table_words).map(|_| random.bits() as u32).collect();
        let d_table = host.buffer("table", &table)?;
        let d_out = host.zeros::<u32>("out", self.threads as usize)?;

        let args = args![self.threads, self.loads, self.table_words - 1, d_table, d_out,];
        let threads = self.threads as usize;
        host.launch("gather", [ctas(threads, BLOCK), 1, 1], [BLOCK, 1, 1], args)?;

        host.exact("out", d_out, &self.expected(&table))?;
        Ok(())
    }
}
