//! One step of the whole image, and what the host computes for it.

use super::{LAMBDA, Srad, diffusion};
use crate::suite::prelude::*;

impl Srad {
    /// The image a step later.
    pub(super) fn expected(&self, image: &[f32], q0sqr: f32) -> Vec<Near> {
        let image: Vec<Bounded> = image.iter().map(|&pixel| pixel.into()).collect();
        let next = diffusion::step(self.layout(), &image, q0sqr.into(), f64::from(LAMBDA));
        next.into_iter().map(Bounded::near).collect()
    }
}

/// How much the image varies in its first `region` rows and columns: the variance over the squared mean.
pub(super) fn q0sqr(image: &[f32], columns: usize, region: usize) -> f32 {
    let pixels = image.chunks_exact(columns).take(region).flat_map(|row| &row[..region]);
    let (sum, sum2) = pixels.fold((0.0, 0.0), |(sum, sum2), &pixel| {
        let pixel = f64::from(pixel);
        (sum + pixel, sum2 + pixel * pixel)
    });
    let count = (region * region) as f64;
    let mean = sum / count;
    let variance = sum2 / count - mean * mean;
    (variance / (mean * mean)) as f32
}

/// e^x for x from 0 to 1 by its series, which comes out the same on every machine.
pub(super) fn exp(x: f64) -> f64 {
    (1..20).rev().fold(1.0, |sum, n| 1.0 + x * sum / f64::from(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_is_the_exponential() {
        for x in [0.0, 0.3, 0.75, 1.0] {
            assert!((exp(x) - x.exp()).abs() < 1e-15, "{x}");
        }
    }

    #[test]
    fn the_variation_of_a_corner_by_hand() {
        // The corner's mean is 3, its mean square 10.
        assert_eq!(q0sqr(&[2.0, 4.0, 99.0, 4.0, 2.0, 99.0], 3, 2), (1.0 / 9.0) as f32);
    }

    #[test]
    fn a_single_bright_pixel_loses_to_its_neighbours() {
        let srad = Srad { rows: 3, columns: 3, region: 3, steps: 1 };
        let mut image = [1.0; 9];
        image[4] = 1.25;
        let next = srad.expected(&image, q0sqr(&image, 3, 3));
        assert!(next[4].value < 1.25 && next[1].value > 1.0 && next[0].value == 1.0, "{next:?}");
        assert!(next.iter().all(|near| near.bound < 1e-5), "{next:?}");
    }
}
