//! A synthetic photograph.

use crate::random::Random;

/// Pixels of three bytes, row by row.
#[derive(Debug)]
pub(super) struct Image {
    pub(super) bytes: Vec<u8>,
}

impl Image {
    /// A shaded background, sixteen discs of one colour each, stripes across the middle third, and a little noise.
    pub(super) fn synthetic(columns: usize, rows: usize) -> Self {
        let mut random = Random::new(0xd27);
        let (width, height) = (columns as i64, rows as i64);
        let mut below = |bound: i64| random.below(bound as u64) as i64;
        let discs: Vec<[i64; 6]> = (0..16)
            .map(|_| [below(width), below(height), 2 + below(width / 8), below(256), below(256), below(256)])
            .collect();
        let mut bytes = Vec::with_capacity(3 * columns * rows);
        for y in 0..height {
            for x in 0..width {
                let disc =
                    discs.iter().find(|[cx, cy, r, ..]| (x - cx) * (x - cx) + (y - cy) * (y - cy) < r * r);
                let stripes =
                    if (height..2 * height).contains(&(3 * y)) { (x + 2 * y) / 6 % 2 * 24 } else { 0 };
                for colour in 0..3 {
                    let shade = match disc {
                        Some(disc) => disc[3 + colour],
                        None => (x * (40 + 30 * colour as i64) / width + y * 100 / height) + 20,
                    };
                    bytes.push((shade + stripes + below(5) - 2).clamp(0, 255) as u8);
                }
            }
        }
        Self { bytes }
    }

    /// One of the three colours, as integers around zero.
    pub(super) fn colour(&self, number: usize) -> Vec<i32> {
        self.bytes.iter().skip(number).step_by(3).map(|&byte| i32::from(byte) - 128).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_has_smooth_areas_and_edges() {
        let red = Image::synthetic(300, 200).colour(0);
        let steps: Vec<i32> = red.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
        let share = |test: fn(&&i32) -> bool| steps.iter().filter(test).count() as f64 / steps.len() as f64;
        assert!(share(|&&step| step <= 4) > 0.8);
        assert!((0.001..0.2).contains(&share(|&&step| step > 20)));
    }
}
