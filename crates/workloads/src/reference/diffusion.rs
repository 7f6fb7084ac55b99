//! One time step of SRAD, as both of Rodinia's programs compute it.

use crate::check::Bounded;

/// An image: where its pixels lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Whether a column's pixels lie together, not a row's.
    pub(crate) by_columns: bool,
}

impl Layout {
    fn at(self, row: usize, column: usize) -> usize {
        if self.by_columns { column * self.rows + row } else { row * self.columns + column }
    }

    /// The pixel's index and those of its neighbours in the north, south, west and east; beyond the border lies
    /// the border's own pixel.
    fn neighbourhood(self, row: usize, column: usize) -> (usize, [usize; 4]) {
        let (south, east) = ((row + 1).min(self.rows - 1), (column + 1).min(self.columns - 1));
        let north = self.at(row.saturating_sub(1), column);
        let west = self.at(row, column.saturating_sub(1));
        (self.at(row, column), [north, self.at(south, column), west, self.at(row, east)])
    }

    fn pixels(self) -> impl Iterator<Item = (usize, [usize; 4])> {
        (0..self.rows)
            .flat_map(move |row| (0..self.columns).map(move |column| self.neighbourhood(row, column)))
    }
}

const ONE: Bounded = Bounded::exact(1.0);

/// The image one time step of length `lambda` later; `lambda` is a power of two.
pub(crate) fn step(layout: Layout, image: &[Bounded], q0sqr: Bounded, lambda: f64) -> Vec<Bounded> {
    let differences = |at: usize, around: [usize; 4]| around.map(|neighbour| image[neighbour] - image[at]);

    let mut coefficients = vec![Bounded::ZERO; image.len()];
    for (at, around) in layout.pixels() {
        coefficients[at] = coefficient(image[at], differences(at, around), q0sqr);
    }

    let mut next = vec![Bounded::ZERO; image.len()];
    for (at, around) in layout.pixels() {
        let here = coefficients[at];
        let [_, south, _, east] = around.map(|neighbour| coefficients[neighbour]);
        let flows = differences(at, around).into_iter().zip([here, south, here, east]);
        let divergence: Bounded = flows.map(|(difference, c)| c * difference).sum();
        next[at] = image[at] + divergence.scaled(0.25 * lambda);
    }
    next
}

/// How freely a pixel diffuses (Yu, Acton, "Speckle reducing anisotropic diffusion", IEEE TIP 2002, equations
/// 31 and 33). Where the kernels go over to f64 they round less often than this.
fn coefficient(here: Bounded, differences: [Bounded; 4], q0sqr: Bounded) -> Bounded {
    let gradient2 = differences.iter().map(|&d| d * d).sum::<Bounded>() / (here * here);
    let laplacian = differences.into_iter().sum::<Bounded>() / here;
    let numerator = gradient2.scaled(0.5) - (laplacian * laplacian).scaled(1.0 / 16.0);
    let denominator = ONE + laplacian.scaled(0.25);
    let qsqr = numerator / (denominator * denominator);
    let excess = (qsqr - q0sqr) / (q0sqr * (ONE + q0sqr));
    // Never below zero: qsqr is not, and so the excess is above -1.
    let c = ONE / (ONE + excess);
    match ONE.less(c) {
        Some(true) => ONE,
        _ => c.min(ONE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(image: &[Bounded]) -> Vec<f64> {
        image.iter().map(|pixel| pixel.value()).collect()
    }

    /// Two pixels, 2 and 4: of the first, gradient2 = 1, laplacian = 1, so qsqr = (1/2 - 1/16) / (5/4)^2 =
    /// 0.28; of the second, 1/4 and -1/2, so qsqr = (1/8 - 1/64) / (7/8)^2 = 1/7.
    #[test]
    fn two_pixels_by_hand() {
        let q0sqr = 0.2;
        let c = 1.0 / (1.0 + (0.28 - q0sqr) / (q0sqr * (1.0 + q0sqr)));
        let image = [2.0, 4.0].map(Bounded::exact);
        for (rows, columns, by_columns) in [(2, 1, true), (2, 1, false), (1, 2, true), (1, 2, false)] {
            let layout = Layout { rows, columns, by_columns };
            let next = step(layout, &image, Bounded::exact(q0sqr), 0.5);
            // The flow from the second to the first takes the second's coefficient, which is cut to 1, in both.
            let found = values(&next);
            assert!(c < 0.8 && (found[0] - 2.25).abs() < 1e-12, "{found:?}");
            // The second sees the first in the north or west and takes its own coefficient.
            assert!((found[1] - 3.75).abs() < 1e-12, "{found:?}");
            assert!(next.iter().all(|pixel| pixel.error() < 2e-6));
        }
    }

    #[test]
    fn a_flat_image_stays_and_edges_hold_better_than_speckle() {
        let layout = Layout { rows: 3, columns: 4, by_columns: true };
        let flat = step(layout, &[Bounded::exact(1.5); 12], Bounded::exact(0.01), 0.5);
        assert_eq!(values(&flat), [1.5; 12]);

        let moved = |height: f64| {
            let mut image = [Bounded::exact(1.0); 12];
            image[9..].fill(Bounded::exact(1.0 + height));
            let next = step(layout, &image, Bounded::exact(0.01), 0.5);
            (next[9].value() - image[9].value()).abs() / height
        };
        assert!(moved(1.0) < 0.5 * moved(0.05), "{} {}", moved(1.0), moved(0.05));
    }
}
