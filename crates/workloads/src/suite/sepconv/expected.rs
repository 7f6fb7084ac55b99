//! Both convolutions, element by element, with the first one's errors carried into the second.

use super::{RADIUS, SepConv};
use crate::suite::prelude::*;

impl SepConv {
    /// The image after the rows' convolution, and after both.
    pub(super) fn expected(&self, image: &[f32], filter: &[f32]) -> (Vec<Near>, Vec<Near>) {
        let &Self { width, height } = self;
        let taps: Vec<Bounded> = filter.iter().map(|&tap| Bounded::from(tap)).collect();
        let image: Vec<Bounded> = image.iter().map(|&value| Bounded::from(value)).collect();

        let mut rows = Vec::with_capacity(image.len());
        for row in image.chunks_exact(width) {
            rows.extend((0..width).map(|column| convolve(&taps, column, width, |column| row[column])));
        }
        let mut result = Vec::with_capacity(image.len());
        for row in 0..height {
            let at = |column| convolve(&taps, row, height, |row| rows[row * width + column]);
            result.extend((0..width).map(|column| at(column).near()));
        }
        (rows.into_iter().map(Bounded::near).collect(), result)
    }
}

/// The convolution at `at` of a line of `length` values, zero outside.
fn convolve(taps: &[Bounded], at: usize, length: usize, value: impl Fn(usize) -> Bounded) -> Bounded {
    let first = at.saturating_sub(RADIUS);
    let last = (at + RADIUS).min(length - 1);
    (first..=last).map(|from| taps[at + RADIUS - from] * value(from)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_impulse_gives_the_taps_both_ways() {
        let sepconv = SepConv { width: 20, height: 18 };
        let filter: Vec<f32> = (1..=17).map(|tap| tap as f32).collect();
        let mut image = vec![0.0; 20 * 18];
        image[9 * 20 + 10] = 2.0;
        let (rows, result) = sepconv.expected(&image, &filter);
        assert_eq!(rows[9 * 20 + 10].value, 2.0 * 9.0);
        assert_eq!(rows[9 * 20 + 18].value, 2.0 * 17.0, "the last tap lies to the right of the impulse");
        assert_eq!(rows[9 * 20 + 19].value, 0.0);
        assert_eq!(rows[10 * 20 + 10].value, 0.0);
        assert_eq!(result[17 * 20 + 18].value, 2.0 * 17.0 * 17.0);
        assert_eq!(result[20 + 2].value, 2.0, "the first taps lie above and left");
        assert_eq!(result[10].value, 0.0, "nine rows up is too far");
    }
}
