//! Images whose pixels are bins of a two-dimensional histogram.

use super::Histo;
use crate::random::Random;

/// Patterns on the wafer, and the pixels of a die, in which they repeat.
const PATTERNS: usize = 8;
const DIE: [usize; 2] = [48, 32];
/// Pixels between dies, which are all alike.
const STREET: usize = 2;
/// One pixel of this many lies anywhere.
const STRAY: u64 = 250;

impl Histo {
    /// Like an image of a silicon wafer: the same dies over and over, each of some patterns with a mean of
    /// their own near the middle of the histogram, and uniform streets between them. Noise is normal, within
    /// a few rows and an eighth of a row.
    pub(super) fn image(&self) -> Vec<u32> {
        let [columns, rows] = self.bins.map(|n| n as i64);
        let mut random = Random::new(0x415);
        let means: Vec<[i64; 2]> = (0..PATTERNS)
            .map(|_| [columns / 2 + spread(&mut random, columns / 8), rows / 2 + spread(&mut random, 6)])
            .collect();
        let mut image = Vec::with_capacity(self.width * self.height);
        for y in 0..self.height {
            for x in 0..self.width {
                let (x, y) = (x % DIE[0], y % DIE[1]);
                let bin = if random.below(STRAY) == 0 {
                    random.below((columns * rows) as u64) as i64
                } else if x < STREET || y < STREET {
                    rows / 2 * columns + columns / 2
                } else {
                    let [column, row] = means[pattern(x, y)];
                    let column = (column + spread(&mut random, columns / 8)).clamp(0, columns - 1);
                    let row = (row + spread(&mut random, 6)).clamp(0, rows - 1);
                    row * columns + column
                };
                image.push(bin as u32);
            }
        }
        image
    }
}

/// The pattern of a pixel of a die: rectangles, the same in every die.
fn pattern(x: usize, y: usize) -> usize {
    (x / 12 + 3 * (y / 8)) % PATTERNS
}

/// Nearly normal, at most `width` from zero: the sum of four uniform numbers.
fn spread(random: &mut Random, width: i64) -> i64 {
    let quarter = 2 * width as u64 / 4 + 1;
    (0..4).map(|_| random.below(quarter) as i64).sum::<i64>() - 2 * (quarter as i64 - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_pixels_lie_in_the_middle_and_many_share_a_bin() {
        let histo = Histo { width: 200, height: 200, bins: [256, 1024], samplers: 1, parts: 1, runs: 1 };
        let image = histo.image();
        let rows = image.iter().map(|bin| bin / 256);
        let central = rows.filter(|row| (500..525).contains(row)).count();
        assert!((39_600..40_000).contains(&central), "{central} of 40,000");
        let mut bins = image;
        bins.sort_unstable();
        bins.dedup();
        assert!((1_000..8_000).contains(&bins.len()), "{} bins", bins.len());
    }

    #[test]
    fn spread_is_centred_and_bounded() {
        let mut random = Random::new(1);
        let values: Vec<i64> = (0..10_000).map(|_| spread(&mut random, 6)).collect();
        assert!(values.iter().all(|value| value.abs() <= 6));
        assert!(values.iter().sum::<i64>().abs() < 1_000);
    }
}
