//! A stable sort of the samples, and each sample spread over the grid points around it.

use super::{Grid, Sample, WINDOW, beta};
use crate::suite::prelude::*;

/// The samples' indices by cell, in each cell as acquired, padded with zeros to a multiple of four; and where
/// each cell's samples begin, with the end of the last.
pub(super) fn sorted(grid: &Grid, samples: &[Sample]) -> (Vec<u32>, Vec<u32>) {
    let cell_of = |&i: &u32| grid.index(samples[i as usize].cell);
    let mut order: Vec<u32> = (0..samples.len() as u32).collect();
    order.sort_by_key(cell_of);
    let mut starts = vec![0; grid.cells() + 1];
    for i in &order {
        starts[cell_of(i) + 1] += 1;
    }
    for cell in 0..grid.cells() {
        starts[cell + 1] += starts[cell];
    }
    order.resize(samples.len().next_multiple_of(4), 0);
    (order, starts)
}

/// The grid's values, real and imaginary parts in turn, and how many samples each point has.
///
/// A point adds its samples in the order of their cells. Cells and points have whole coordinates, so
/// distances, and which of them are within the cutoff, are exact.
pub(super) fn gridded(grid: &Grid, samples: &[Sample], order: &[u32]) -> (Vec<Near>, Vec<f32>) {
    let mut sums = vec![[Bounded::ZERO; 2]; grid.cells()];
    let mut density = vec![0.0; grid.cells()];
    let window: Vec<Bounded> = (0..).take_while(|&squared| inside(squared)).map(window).collect();
    let reach = WINDOW as usize / 2;
    for &i in &order[..samples.len()] {
        let Sample { real, imaginary, cell: [kx, ky, kz], compensation } = samples[i as usize];
        if (real == 0.0 && imaginary == 0.0) || compensation == 0.0 {
            continue;
        }
        let near = |k: usize, axis: usize| k.saturating_sub(reach)..grid.size[axis].min(k + reach + 1);
        for z in near(kz, 2) {
            for y in near(ky, 1) {
                for x in near(kx, 0) {
                    let squared = x.abs_diff(kx).pow(2) + y.abs_diff(ky).pow(2) + z.abs_diff(kz).pow(2);
                    let Some(&window) = window.get(squared) else { continue };
                    let weight = window * Bounded::from(compensation);
                    let at = grid.index([x, y, z]);
                    sums[at][0] += weight * Bounded::from(real);
                    sums[at][1] += weight * Bounded::from(imaginary);
                    density[at] += 1.0;
                }
            }
        }
    }
    (sums.into_iter().flatten().map(Bounded::near).collect(), density)
}

/// Whether a distance whose square is this is below half the window's width.
fn inside(squared: usize) -> bool {
    4.0 * (squared as f32) < WINDOW * WINDOW
}

/// The window at a distance whose square is this.
fn window(squared: usize) -> Bounded {
    let cutoff = Bounded::from(WINDOW / 2.0);
    let inverse = Bounded::exact(1.0) / (cutoff * cutoff);
    let root = (Bounded::exact(1.0) - Bounded::exact(squared as f64) * inverse).sqrt();
    bessel_i0(Bounded::from(beta()) * root)
}

/// The quotient of polynomials that stands for the Bessel function, its coefficients rounded to f32.
fn bessel_i0(x: Bounded) -> Bounded {
    const TOP: [f64; 15] = [
        0.210_580_722_890_567e-22,
        0.380_715_242_345_326e-19,
        0.479_440_257_548_300e-16,
        0.435_125_971_262_668e-13,
        0.300_931_127_112_960e-10,
        0.160_224_679_395_361e-7,
        0.654_858_370_096_785e-5,
        0.202_591_084_143_397e-2,
        0.463_076_284_721_000e0,
        0.754_337_328_948_189e2,
        0.830_792_541_809_429e4,
        0.571_661_130_563_785e6,
        0.216_415_572_361_227e8,
        0.356_644_482_244_025e9,
        0.144_048_298_227_235e10,
    ];
    const BOTTOM: [f64; 4] =
        [1.0, -0.307_646_912_682_801e4, 0.347_626_332_405_882e7, -0.144_048_298_227_235e10];
    let z = x * x;
    let polynomial = |coefficients: &[f64]| {
        coefficients.iter().fold(Bounded::ZERO, |sum, &next| sum * z + Bounded::from(next as f32))
    };
    // __fdividef is right to 2 ulp (CUDA C++ Programming Guide, intrinsic functions): three roundoffs beyond
    // `/`.
    -(polynomial(&TOP) / polynomial(&BOTTOM)).rounded(3.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// I0 is the sum of (x/2)^2k / k!^2.
    #[test]
    fn the_quotient_is_the_bessel_function() {
        for x in [0.0, 0.5, 3.0, 9.0, 14.0] {
            let mut term = 1.0;
            let mut sum = 1.0;
            for k in 1..60 {
                term *= (x / 2.0 / f64::from(k)).powi(2);
                sum += term;
            }
            let found = bessel_i0(Bounded::exact(x));
            assert!((found.value() / sum - 1.0).abs() < 1e-5, "I0({x}) is {sum}, found {found:?}");
            assert!(found.error() < 1e-4 * sum, "{found:?}");
        }
    }

    #[test]
    fn samples_are_sorted_by_cell_and_then_by_age() {
        let grid = Grid { size: [2, 1, 2] };
        let sample = |cell| Sample { real: 1.0, imaginary: 0.0, cell, compensation: 1.0 };
        let samples = [[1, 0, 1], [0, 0, 0], [1, 0, 1], [1, 0, 0], [0, 0, 0]].map(sample);
        let (order, starts) = sorted(&grid, &samples);
        assert_eq!(order, [1, 4, 3, 0, 2, 0, 0, 0]);
        assert_eq!(starts, [0, 2, 3, 3, 5]);
    }

    #[test]
    fn one_sample_reaches_the_points_within_the_window() {
        let grid = Grid { size: [8, 4, 8] };
        let samples = [Sample { real: 2.0, imaginary: -1.0, cell: [3, 0, 7], compensation: 0.5 }];
        let (values, density) = gridded(&grid, &samples, &[0, 0, 0, 0]);
        // Squares of distances up to 6, to one side in y and in z. Along x there are 5 points where y and z
        // are off by at most 1, and 3 where one of them is off by 2 and the other by less.
        assert_eq!(density.iter().sum::<f32>(), 4.0 * 5.0 + 4.0 * 3.0);
        let at = grid.index([3, 0, 7]);
        let peak = window(0).value();
        assert_eq!((values[2 * at].value, values[2 * at + 1].value), (peak, -peak / 2.0));
        assert_eq!(density[grid.index([6, 0, 7])], 0.0);
    }
}
