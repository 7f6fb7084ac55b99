//! The histogram by counting, and the ranges that a sample of the image spans.

use super::{Histo, PRESCAN_THREADS, RANGE_BINS};
use crate::suite::prelude::*;

impl Histo {
    /// Counts that stop at 255.
    pub(super) fn expected(&self, image: &[u32]) -> Vec<u8> {
        let mut counts = vec![0_u8; self.bin_count()];
        for &bin in image {
            let count = &mut counts[bin as usize];
            *count = count.saturating_add(1);
        }
        counts
    }

    /// The lowest and the highest range; both neighbours are allowed where rounding decides.
    ///
    /// Each sampler takes an eighth of its share of the input, of which a thread has every 512th pixel; the
    /// sampler's mean and deviation are the averages of its threads'. Adding these one after the other has a
    /// greater bound than the tree by which the device adds them.
    pub(super) fn expected_ranges(&self, padded: &[u32]) -> Vec<Near> {
        let threads = PRESCAN_THREADS as usize;
        let part = self.width * self.height / self.samplers as usize;
        let mut ends = [[f64::INFINITY; 2], [0.0; 2]];
        for share in padded.chunks_exact(part).take(self.samplers as usize) {
            let sample = &share[..part / 8];
            let (mut means, mut deviations) = (Bounded::ZERO, Bounded::ZERO);
            for thread in 0..threads {
                let own = || sample[thread..].iter().step_by(threads).map(|&bin| Bounded::from(bin as i32));
                let count = Bounded::exact(own().count() as f64);
                let mean = own().sum::<Bounded>() / count;
                let squares: Bounded = own().map(|bin| (bin - mean) * (bin - mean)).sum();
                means += mean;
                deviations += (squares / count).sqrt();
            }
            let threads = Bounded::exact(threads as f64);
            let (centre, width) = (means / threads, Bounded::exact(10.0) * (deviations / threads));
            let [lowest, highest] = [centre - width, centre + width].map(|end| {
                let range = |bin: f64| (bin.max(0.0) / RANGE_BINS as f64).floor();
                [range(end.value() - end.error()), range(end.value() + end.error())]
            });
            for i in 0..2 {
                ends[0][i] = ends[0][i].min(lowest[i]);
                ends[1][i] = ends[1][i].max(highest[i]);
            }
        }
        ends.map(|[low, high]| Near { value: (low + high) / 2.0, bound: (high - low) / 2.0 }).to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_saturate() {
        let histo = Histo { width: 303, height: 1, bins: [4, 1], samplers: 1, parts: 1, runs: 1 };
        let image = [vec![1; 300], vec![3, 0, 3]].concat();
        assert_eq!(histo.expected(&image), [1, 255, 0, 2]);
    }

    /// Every thread sees two pixels, 1,000 apart: a deviation of 500, and 5,000 to both sides of the mean.
    #[test]
    fn ranges_span_ten_deviations() {
        let histo = Histo { width: 8192, height: 1, bins: [1024, 1024], samplers: 1, parts: 1, runs: 1 };
        let mut image = vec![0; 8192];
        image[..512].fill(100_000);
        image[512..1024].fill(101_000);
        let found = histo.expected_ranges(&image);
        // 95,500 and 105,500 of ranges of 24,576.
        assert_eq!(found, [Near { value: 3.0, bound: 0.0 }, Near { value: 4.0, bound: 0.0 }]);
    }
}
