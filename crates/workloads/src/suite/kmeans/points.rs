//! Random points of a few kinds, and their averages.

use crate::random::Random;

/// Features are integers below this.
const LEVELS: u64 = 64;
/// Kinds of points, each half as frequent as the one before.
const KINDS: usize = 12;

/// Points, a row of features each.
#[derive(Debug)]
pub(super) struct Points {
    pub(super) features: usize,
    pub(super) values: Vec<u8>,
}

impl Points {
    /// As in network logs, most points are of few kinds, and about half of a kind's features are zero. A quarter of
    /// a point's features differ from the kind's, by little.
    pub(super) fn random(count: usize, features: usize) -> Self {
        let mut random = Random::new(0x3a5);
        let kinds: Vec<u8> = (0..KINDS * features)
            .map(|_| if random.below(2) == 0 { 0 } else { random.below(LEVELS) as u8 })
            .collect();
        let mut values = Vec::with_capacity(count * features);
        for _ in 0..count {
            let kind = (random.bits().trailing_zeros() as usize).min(KINDS - 1);
            for &usual in &kinds[kind * features..][..features] {
                let off = if random.below(4) == 0 { random.below(13) as i32 - 6 } else { 0 };
                values.push((i32::from(usual) + off).clamp(0, LEVELS as i32 - 1) as u8);
            }
        }
        Self { features, values }
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = &[u8]> {
        self.values.chunks_exact(self.features)
    }

    /// A row per point.
    pub(super) fn as_f32(&self) -> Vec<f32> {
        self.values.iter().map(|&value| f32::from(value)).collect()
    }

    /// A row per feature.
    pub(super) fn by_feature(&self) -> Vec<f32> {
        let column = |feature| self.rows().map(move |row: &[u8]| f32::from(row[feature]));
        (0..self.features).flat_map(column).collect()
    }

    /// The first points as centroids, in eighths.
    pub(super) fn first_eighths(&self, clusters: usize) -> Vec<i32> {
        self.values[..clusters * self.features].iter().map(|&value| 8 * i32::from(value)).collect()
    }

    /// Makes every centroid the average of its points, rounded to eighths; one without points stays.
    pub(super) fn average_eighths(&self, membership: &[i32], centroids: &mut [i32]) {
        for (cluster, centroid) in centroids.chunks_exact_mut(self.features).enumerate() {
            let (mut count, mut sums) = (0_u64, vec![0_u64; self.features]);
            for (row, _) in self.rows().zip(membership).filter(|&(_, &m)| usize::try_from(m) == Ok(cluster)) {
                count += 1;
                sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum += u64::from(value));
            }
            if count > 0 {
                let average = |sum: u64| ((16 * sum + count) / (2 * count)) as i32;
                centroid.iter_mut().zip(sums).for_each(|(place, sum)| *place = average(sum));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_are_rounded_to_eighths() {
        let points = Points { features: 1, values: vec![1, 2, 2, 40] };
        let mut centroids = vec![0, 0, 56];
        points.average_eighths(&[0, 0, 0, 1], &mut centroids);
        // 5/3 is 13.3 eighths; the third centroid has no points.
        assert_eq!(centroids, [13, 320, 56]);
    }

    #[test]
    fn columns_become_rows() {
        let points = Points { features: 2, values: vec![1, 2, 3, 4] };
        assert_eq!(points.by_feature(), [1.0, 3.0, 2.0, 4.0]);
    }
}
