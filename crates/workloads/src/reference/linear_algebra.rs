//! Products of matrices and vectors in f64, with a bound on what f32 arithmetic makes of them.

use crate::check::{Near, RunningSum};

/// A matrix, row-major.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix<'a> {
    elements: &'a [f32],
    columns: usize,
}

impl<'a> Matrix<'a> {
    /// The matrix of so many columns; the elements fill whole rows.
    pub(crate) fn new(elements: &'a [f32], columns: usize) -> Self {
        assert_eq!(elements.len() % columns, 0, "{} elements in rows of {columns}", elements.len());
        Self { elements, columns }
    }

    /// A vector as a matrix of one column.
    pub(crate) fn column(vector: &'a [f32]) -> Self {
        Self::new(vector, 1)
    }

    /// A vector as a matrix of one row: what x^T A takes.
    pub(crate) fn row(vector: &'a [f32]) -> Self {
        Self::new(vector, vector.len())
    }

    /// Its rows, from the first to the last.
    pub(crate) fn rows(self) -> impl ExactSizeIterator<Item = &'a [f32]> {
        self.elements.chunks_exact(self.columns)
    }
}

/// The elements of a matrix or a vector, each a sum that a device makes term by term in the order of the inner
/// index, beginning with the first.
#[derive(Clone, Debug)]
pub(crate) struct Sums(Vec<RunningSum>);

impl Sums {
    /// As many sums, zero so far.
    pub(crate) fn zeros(count: usize) -> Self {
        Self(vec![RunningSum::default(); count])
    }

    /// Sums that begin with `factor` times the values, rounded.
    pub(crate) fn scaled(factor: f32, values: &[f32]) -> Self {
        let mut sums = Self::zeros(values.len());
        for (sum, &value) in sums.0.iter_mut().zip(values) {
            sum.add(f64::from(factor) * f64::from(value), 0);
        }
        sums
    }

    /// Adds `factor` A B: in f32 the factor times an element of A is rounded, that times an element of B is rounded
    /// unless it is fused with the addition, and the addition is.
    pub(crate) fn plus(mut self, factor: f32, a: Matrix<'_>, b: Matrix<'_>) -> Self {
        assert_eq!(
            (a.columns, a.rows().len() * b.columns),
            (b.rows().len(), self.0.len()),
            "A B has other sizes"
        );
        // Multiplication by one rounds nothing.
        let roundings = if factor == 1.0 { 1 } else { 2 };
        for (sums, row_a) in self.0.chunks_exact_mut(b.columns).zip(a.rows()) {
            for (&a, row_b) in row_a.iter().zip(b.rows()) {
                let a = f64::from(factor) * f64::from(a);
                for (sum, &b) in sums.iter_mut().zip(row_b) {
                    sum.add(a * f64::from(b), roundings);
                }
            }
        }
        self
    }

    /// The values and their bounds.
    pub(crate) fn near(&self) -> Vec<Near> {
        self.0.iter().map(RunningSum::near).collect()
    }
}

/// A B.
pub(crate) fn product(a: Matrix<'_>, b: Matrix<'_>) -> Vec<Near> {
    Sums::zeros(a.rows().len() * b.columns).plus(1.0, a, b).near()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Comparison;
    use crate::random::Random;

    fn values(near: &[Near]) -> Vec<f64> {
        near.iter().map(|near| near.value).collect()
    }

    #[test]
    fn products_by_hand() {
        let a = Matrix::new(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3);
        let b = Matrix::new(&[1.0, 0.0, 0.0, 1.0, 10.0, 100.0], 2);
        assert_eq!(values(&product(a, b)), [31.0, 302.0, 64.0, 605.0]);
        assert_eq!(values(&product(a, Matrix::column(&[1.0, 0.0, -1.0]))), [-2.0, -2.0]);
        assert_eq!(values(&product(Matrix::row(&[1.0, 10.0]), a)), [41.0, 52.0, 63.0]);
        let sums = Sums::scaled(0.5, &[2.0, 4.0]).plus(3.0, a, Matrix::column(&[1.0, 1.0, 1.0]));
        assert_eq!(values(&sums.near()), [1.0 + 18.0, 2.0 + 45.0]);
    }

    /// A row of a product as f32 computes it, with and without fused multiply-adds; without its last term it is wrong.
    #[test]
    fn the_bound_holds_and_notices_a_missing_term() {
        const DEPTH: usize = 640;
        let mut random = Random::new(11);
        let (a, b) = (random.signed_vec(DEPTH), random.signed_vec(DEPTH * 20));
        let (factor, b) = (1.3_f32, Matrix::new(&b, 20));
        let near = Sums::zeros(20).plus(factor, Matrix::row(&a), b).near();
        let row = |terms: usize, fused: bool| -> Vec<f32> {
            let term = |sum: f32, a: f32, b: f32| if fused { a.mul_add(b, sum) } else { sum + a * b };
            let element = |j: usize| {
                let column = b.rows().map(|row| row[j]);
                a.iter().zip(column).take(terms).fold(0.0, |sum, (&a, b)| term(sum, factor * a, b))
            };
            (0..20).map(element).collect()
        };
        for fused in [false, true] {
            assert!(Comparison::near("whole", &row(DEPTH, fused), &near).passed());
            let wrong = Comparison::near("cut", &row(DEPTH - 1, fused), &near).mismatches;
            assert!(wrong >= 19, "{wrong} of 20 sums without their last term were noticed");
        }
    }
}
