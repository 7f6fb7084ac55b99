//! The image before and after its diffusion, and the sums over it.

use super::BLOCK;
use crate::suite::prelude::*;

/// Grey values of 0 to 255 as values of 1 to e.
pub(super) fn extracted(greys: &[f32]) -> Vec<Bounded> {
    greys.iter().map(|&grey| (Bounded::from(grey) / Bounded::exact(255.0)).exp()).collect()
}

/// Grey values again.
pub(super) fn compressed(image: &[Bounded]) -> Vec<Near> {
    image.iter().map(|pixel| (pixel.ln() * Bounded::exact(255.0)).near()).collect()
}

/// How much the image varies, by its sums and its number of pixels: the variance over the squared mean, in f32.
///
/// A variance is above zero, whatever rounding makes of it.
pub(super) fn q0sqr(total: f32, total2: f32, pixels: usize) -> f32 {
    let mean = total / pixels as f32;
    let variance = total2 / pixels as f32 - mean * mean;
    (variance / (mean * mean)).max(f32::MIN_POSITIVE)
}

/// What the reduction leaves of the image's pixels and of their squares: at the head of each group of BLOCK the
/// group's sum, at the head of each group of such groups the sum of their sums, and the total in front.
pub(super) struct Sums {
    pub(super) sums: Vec<Bounded>,
    pub(super) sums2: Vec<Bounded>,
}

impl Sums {
    pub(super) fn new(image: &[Bounded]) -> Self {
        let sums = reduced(image.to_vec());
        let sums2 = reduced(image.iter().map(|&pixel| pixel * pixel).collect());
        Self { sums, sums2 }
    }

    /// As [`q0sqr`], with the error that the sums bring in.
    pub(super) fn q0sqr(&self) -> Bounded {
        let pixels = Bounded::exact(self.sums.len() as f64).rounded(1.0);
        let mean = self.sums[0] / pixels;
        let mean2 = mean * mean;
        (self.sums2[0] / pixels - mean2) / mean2
    }
}

fn reduced(mut terms: Vec<Bounded>) -> Vec<Bounded> {
    let group = BLOCK as usize;
    let mut stride = 1;
    while stride < terms.len() {
        for terms in terms.chunks_mut(stride * group) {
            terms[0] = sum(terms.iter().step_by(stride));
        }
        stride *= group;
    }
    terms
}

/// A sum of positive terms: as many as the greatest power of two go through a tree, the others are added one by
/// one.
fn sum<'a>(terms: impl ExactSizeIterator<Item = &'a Bounded>) -> Bounded {
    let tree_levels = terms.len().ilog2();
    let others = terms.len() - (1 << tree_levels);
    let (value, error) =
        terms.fold((0.0, 0.0), |(value, error), term| (value + term.value(), error + term.error()));
    Bounded::new(value, error + gamma(tree_levels as usize + others) * (value + error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grey_values_come_back() {
        let greys: Vec<f32> = (0..=255).map(|grey| grey as f32).collect();
        let image = extracted(&greys);
        assert_eq!((image[0].value(), image[255].value()), (1.0, std::f64::consts::E));
        for (near, grey) in compressed(&image).iter().zip(greys) {
            assert!((near.value - f64::from(grey)).abs() < 1e-12 && near.bound < 3e-4, "{near:?}");
        }
    }

    /// Far less than what one neighbour gives or takes.
    #[test]
    fn bounds_stay_small_from_one_comparison_to_the_next() {
        let srad = super::super::Srad { rows: 100, columns: 90, steps: 4 };
        let mut image = extracted(&super::super::image::ultrasound(100, 90, 3));
        let mut mean = 0.0;
        for _ in 0..4 {
            let before = image.clone();
            image = crate::reference::diffusion::step(srad.layout(), &image, Sums::new(&image).q0sqr(), 0.5);
            let moved = image.iter().zip(&before).map(|(new, old)| (new.value() - old.value()).abs());
            mean = moved.sum::<f64>() / 9000.0;
        }
        let mut bounds: Vec<f64> = image.iter().map(|pixel| pixel.error()).collect();
        bounds.sort_by(f64::total_cmp);
        let (median, widest) = (bounds[4500], bounds[8999]);
        assert!(median < 0.01 * mean && widest < 0.2 * mean, "{median}, {widest} of {mean}");
    }

    #[test]
    fn sums_of_two_levels() {
        let image: Vec<Bounded> = (0..1100).map(|i| Bounded::exact(f64::from(i % 3))).collect();
        let Sums { sums, sums2 } = Sums::new(&image);
        let (values, squares) = (sums.iter().map(|s| s.value()), sums2.iter().map(|s| s.value()));
        let heads: Vec<(f64, f64)> = values.zip(squares).step_by(512).collect();
        // 170 times 0, 1, 2 and once more 0, 1; 170 times 2, 0, 1 and once more 2, 0; 25 times 1, 2, 0 and once
        // more 1.
        assert_eq!(heads, [(511.0 + 512.0 + 76.0, 851.0 + 854.0 + 126.0), (512.0, 854.0), (76.0, 126.0)]);
        assert!(sums[1..512].iter().zip(&image[1..]).all(|(left, pixel)| left == pixel));
    }

    #[test]
    fn the_variation_of_two_pixels_by_hand() {
        // Mean 3, mean square 10.
        assert_eq!(q0sqr(6.0, 20.0, 2), 1.0 / 9.0);
        let sums = Sums::new(&[2.0, 4.0].map(Bounded::exact)).q0sqr();
        assert!((sums.value() - 1.0 / 9.0).abs() < 1e-15 && sums.error() < 1e-5);
    }
}
