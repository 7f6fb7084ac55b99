//! Lines, as many at a time as an SM can ask for: the bandwidth of the last-level cache.

mod expected;

use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "lines-stream",
    suite: "Strata",
    papers: &[],
    description: "All warps read the same lines again and again, past the L1D: the bandwidth of the last-level cache.",
    kernels: &[kernel("lines_stream", "lines_stream")],
    differences: &[],
    inputs: &[
        input(Size::Test, "12 CTAs, 400 lines, 4 passes", || {
            Box::new(Stream { ctas: 12, lines: 400, passes: 4 })
        }),
        input(Size::Small, "120 CTAs, 4,000 lines, 40 passes", || {
            Box::new(Stream { ctas: 120, lines: 4000, passes: 40 })
        }),
        input(Size::Paper, "120 CTAs, 4,000 lines, 400 passes", || {
            Box::new(Stream { ctas: 120, lines: 4000, passes: 400 })
        }),
        input(Size::Morpheus, "125 CTAs, 1,000 lines, 100 passes", || {
            Box::new(Stream { ctas: 125, lines: 1000, passes: 100 })
        }),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

const BLOCK: u32 = 256;

#[derive(Debug)]
struct Stream {
    ctas: u32,
    lines: usize,
    passes: u32,
}

impl Body for Stream {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let mut random = Random::new(0x57);
        let words: Vec<u32> = (0..32 * self.lines).map(|_| random.bits() as u32).collect();
        let d_words = host.buffer("words", &words)?;
        let d_sums = host.zeros::<u32>("sums", (self.ctas * BLOCK) as usize)?;
        let args = args![d_words, d_sums, self.lines as u32, self.passes];
        host.launch("lines_stream", [self.ctas, 1, 1], [BLOCK, 1, 1], args)?;
        host.exact("sums", d_sums, &self.expected(&words))?;
        Ok(())
    }
}
