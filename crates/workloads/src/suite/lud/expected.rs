//! L and U, row by row, without tiles.

use super::{Lud, TILE};
use crate::suite::prelude::*;

impl Lud {
    /// L below the diagonal, U on and above it.
    ///
    /// An element is what the matrix had there less k products of an element of L and one of U, for an element
    /// of L divided by the diagonal. However the kernels group these, a product is rounded once by itself, up
    /// to TILE times in the sum over its tile, and once for every tile and every product of the last tile that
    /// is subtracted after it. The errors of L and U themselves stay bounded because the diagonal dominates.
    pub(super) fn expected(&self, matrix: &[f32]) -> Vec<Near> {
        let n = self.n;
        let mut values: Vec<f64> = matrix.iter().map(|&value| f64::from(value)).collect();
        let mut errors = vec![0.0; n * n];
        // The sum of the sizes of all that an element of this row was added up from.
        let mut sizes = vec![0.0; n];
        for i in 0..n {
            let (done, rest) = values.split_at_mut(i * n);
            let (done_errors, rest_errors) = errors.split_at_mut(i * n);
            let (row, row_errors) = (&mut rest[..n], &mut rest_errors[..n]);
            sizes.iter_mut().zip(&*row).for_each(|(size, value)| *size = value.abs());

            for k in 0..i {
                let (upper, upper_errors) = (&done[k * n..][..n], &done_errors[k * n..][..n]);
                let dividend = rounded(row[k], row_errors[k], sizes[k], k);
                let l = dividend / Bounded::new(upper[k], upper_errors[k]);
                let (l, l_error) = (l.value(), l.error());
                (row[k], row_errors[k]) = (l, l_error);
                for j in k + 1..n {
                    let (u, u_error) = (upper[j], upper_errors[j]);
                    let product = l * u;
                    row[j] -= product;
                    row_errors[j] += l.abs() * u_error + u.abs() * l_error + l_error * u_error;
                    sizes[j] += product.abs();
                }
            }
            for j in i..n {
                row_errors[j] = rounded(row[j], row_errors[j], sizes[j], i).error();
            }
        }
        values.into_iter().zip(errors).map(|(value, bound)| Near { value, bound }).collect()
    }
}

/// What is left after `products` subtractions, with the roundings of f32.
fn rounded(value: f64, error: f64, size: f64, products: usize) -> Bounded {
    let roundings = if products == 0 { 0 } else { 1 + TILE + products / TILE + TILE };
    Bounded::new(value, error + gamma(roundings) * (size + error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_rows_by_hand() {
        let matrix = [4.0, 2.0, 0.0, 2.0, 5.0, 4.0, -1.0, 1.5, 6.0];
        let found = Lud { n: 3 }.expected(&matrix);
        let values: Vec<f64> = found.iter().map(|near| near.value).collect();
        assert_eq!(values, [4.0, 2.0, 0.0, 0.5, 4.0, 4.0, -0.25, 0.5, 4.0]);
    }

    #[test]
    fn the_product_of_the_factors_is_the_matrix() {
        let lud = Lud { n: 48 };
        let (n, matrix) = (lud.n, lud.matrix());
        let found = lud.expected(&matrix);
        for i in 0..n {
            for j in 0..n {
                let l = |k: usize| if k == i { 1.0 } else { found[i * n + k].value };
                let product: f64 = (0..=i.min(j)).map(|k| l(k) * found[k * n + j].value).sum();
                assert!((product - f64::from(matrix[i * n + j])).abs() < 1e-12, "{i}, {j}: {product}");
            }
        }
        let off_diagonal = found.iter().enumerate().filter(|(at, _)| at % (n + 1) != 0);
        let widest = off_diagonal.map(|(_, near)| near.bound).fold(0.0, f64::max);
        assert!(widest < 1e-2 / n as f64, "one product is about 1 / {n}, the bound {widest}");
    }
}
