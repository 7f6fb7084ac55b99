//! y, row by row, in f64.

use super::jds::Matrix;
use crate::suite::prelude::*;

/// Zeros that pad a row change nothing: the kernel adds a row's products from the first to the last.
pub(super) fn expected(matrix: &Matrix, x: &[f32]) -> Vec<Near> {
    let row = |entries: &Vec<(usize, f32)>| {
        let mut sum = RunningSum::default();
        entries.iter().for_each(|&(column, value)| sum.add(f64::from(value) * f64::from(x[column]), 1));
        sum.near()
    };
    matrix.rows.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_product_by_hand() {
        let matrix = Matrix { rows: vec![vec![(0, 2.0), (1, 3.0)], vec![(1, 5.0)]] };
        let values: Vec<f64> = expected(&matrix, &[10.0, 100.0]).iter().map(|near| near.value).collect();
        assert_eq!(values, [320.0, 500.0]);
    }
}
