//! Histogram of bytes by atomics: in shared memory first, then straight in global memory.

mod expected;

use self::expected::expected;
use super::prelude::*;

pub(super) const WORKLOAD: Workload = Workload {
    name: "histogram",
    suite: "CUDA SDK",
    papers: &[],
    description: "Counts bytes in 256 bins: coalesced reads, shared-memory atomics with bank conflicts and one \
                  global atomic per bin and CTA; then the first eighth again with global atomics only.",
    kernels: &[kernel("histogram_shared", "histogram256Kernel"), kernel("histogram_global", "")],
    differences: &[
        "FUSE and Morpheus run Parboil's HISTO, which saturates its counts",
        "bytes are the bitwise and of two random bytes, so that low counts of set bits are frequent",
    ],
    inputs: &[
        input(Size::Test, "20,000 words", || Box::new(Histogram { words: 20_000, ctas: 8 })),
        input(Size::Small, "2^22 words", || Box::new(Histogram { words: 1 << 22, ctas: 128 })),
        input(Size::Paper, "3 x 2^24 words", || Box::new(Histogram { words: 3 << 24, ctas: 1024 })),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

const BLOCK: u32 = 256;
const BINS: usize = 256;

#[derive(Debug)]
struct Histogram {
    words: usize,
    ctas: u32,
}

impl Body for Histogram {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let mut random = Random::new(0x415);
        let skewed = |bits: u64| (bits >> 32) as u32 & bits as u32;
        let data: Vec<u32> = (0..self.words).map(|_| skewed(random.bits())).collect();
        let part = &data[..self.words / 8];
        let d_data = host.buffer("data", &data)?;

        for (kernel, name, data) in
            [("histogram_shared", "bins_shared", &data[..]), ("histogram_global", "bins_global", part)]
        {
            let bins = host.zeros::<u32>(name, BINS)?;
            let words = u32::try_from(data.len()).expect("sizes fit an unsigned");
            let args = args![words, d_data, bins];
            host.launch(kernel, [self.ctas, 1, 1], [BLOCK, 1, 1], args)?;
            host.exact(name, bins, &expected(data))?;
        }
        Ok(())
    }
}
