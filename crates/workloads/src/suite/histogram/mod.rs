//! Histogram of bytes by atomics: in shared memory first, then straight in global memory.

use super::{Body, Size, Workload};
use crate::element::{alloc_with, alloc_zeroed};
use crate::random::Random;
use crate::{Arg, Comparison, Device, DeviceError, Outcome};

pub(super) const WORKLOAD: Workload = Workload {
    name: "histogram",
    suite: "CUDA samples",
    papers: &["fuse", "morpheus"],
    description: "Counts bytes in 256 bins: coalesced reads, shared-memory atomics with bank conflicts and one \
                  global atomic per bin and CTA; then the first eighth again with global atomics only.",
    kernels: &["histogram_shared", "histogram_global"],
    differences: &[
        "FUSE and Morpheus run Parboil's HISTO, which saturates its counts",
        "bytes are the bitwise and of two random bytes, so that low counts of set bits are frequent",
    ],
    inputs: ["20,000 words", "2^22 words", "3 x 2^24 words"],
    ptx: include_str!("kernel.ptx"),
    build: |size| {
        Box::new(match size {
            Size::Test => Histogram { words: 20_000, ctas: 8 },
            Size::Small => Histogram { words: 1 << 22, ctas: 128 },
            Size::Paper => Histogram { words: 3 << 24, ctas: 1024 },
        })
    },
};

const BLOCK: u32 = 256;
const BINS: usize = 256;

#[derive(Debug)]
struct Histogram {
    words: usize,
    ctas: u32,
}

fn expected(data: &[u32]) -> Vec<u32> {
    let mut bins = vec![0; BINS];
    for byte in data.iter().flat_map(|word| word.to_le_bytes()) {
        bins[usize::from(byte)] += 1;
    }
    bins
}

impl Body for Histogram {
    fn run(&self, device: &mut dyn Device) -> Result<Outcome, DeviceError> {
        let mut random = Random::new(0x415);
        let skewed = |bits: u64| (bits >> 32) as u32 & bits as u32;
        let data: Vec<u32> = (0..self.words).map(|_| skewed(random.bits())).collect();
        let part = &data[..self.words / 8];
        let d_data = alloc_with(device, "data", &data)?;

        let mut outcome = Outcome::default();
        for (kernel, name, data) in
            [("histogram_shared", "bins_shared", &data[..]), ("histogram_global", "bins_global", part)]
        {
            let bins = alloc_zeroed(device, name, 4 * BINS as u64)?;
            let words = u32::try_from(data.len()).expect("sizes fit an unsigned");
            let args = [Arg::U32(words), Arg::Ptr(d_data), Arg::Ptr(bins)];
            device.launch(kernel, [self.ctas, 1, 1], [BLOCK, 1, 1], 0, &args)?;
            let found = outcome.download::<u32>(device, name, bins, BINS)?;
            outcome.comparisons.push(Comparison::exact(name, &found, &expected(data)));
        }
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_a_word_counts() {
        let bins = expected(&[0xff00_0201, 0x0100_0000]);
        assert_eq!((bins[0], bins[1], bins[2], bins[255]), (4, 2, 1, 1));
    }
}
