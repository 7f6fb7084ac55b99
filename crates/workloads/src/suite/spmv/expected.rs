//! y, row by row, in f64.

use super::matrix::Matrix;
use crate::suite::prelude::*;

pub(super) fn expected(matrix: &Matrix, x: &[f32]) -> Vec<Near> {
    (0..matrix.rows())
        .map(|row| {
            let products = || matrix.row(row).map(|(column, value)| f64::from(value) * f64::from(x[column]));
            // As many products as the row has; a warp adds zeros and five more sums to that.
            let bound = gamma(products().count() + 6);
            Near { value: products().sum(), bound: bound * products().map(f64::abs).sum::<f64>() }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_product_by_hand() {
        let matrix = Matrix { row_start: vec![0, 2, 2], columns: vec![0, 1], values: vec![2.0, 3.0] };
        let values: Vec<f64> = expected(&matrix, &[10.0, 100.0]).iter().map(|near| near.value).collect();
        assert_eq!(values, [320.0, 0.0]);
    }
}
