//! Random square sparse matrices with a long tail of row lengths.

use crate::random::Random;

/// A square matrix in CSR form, columns ascending in each row.
#[derive(Debug)]
pub(super) struct Matrix {
    /// Where each row begins; one more entry than rows.
    pub(super) row_start: Vec<i32>,
    pub(super) columns: Vec<i32>,
    pub(super) values: Vec<f32>,
}

/// Row lengths: every doubling is half as frequent, eight times, from 2 elements up.
const DOUBLINGS: u32 = 8;
/// Half of a row's columns lie this near to the diagonal, as in matrices of meshes.
const BAND: u64 = 256;

impl Matrix {
    /// About 18 elements in a row on average, from 2 to 767; a column may occur twice in a row.
    pub(super) fn random(rows: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut matrix = Self { row_start: vec![0], columns: vec![], values: vec![] };
        let n = rows as u64;
        for row in 0..n {
            let scale = 4_u64 << random.bits().trailing_zeros().min(DOUBLINGS - 1);
            let length = scale / 2 + random.below(scale);
            let begin = matrix.columns.len();
            for _ in 0..length {
                let column = if random.bits() & 1 == 0 {
                    (row + random.below(2 * BAND)).saturating_sub(BAND).min(n - 1)
                } else {
                    random.below(n)
                };
                matrix.columns.push(column as i32);
                matrix.values.push(random.signed());
            }
            matrix.columns[begin..].sort_unstable();
            matrix.row_start.push(i32::try_from(matrix.columns.len()).expect("elements fit an int"));
        }
        matrix
    }

    pub(super) fn rows(&self) -> usize {
        self.row_start.len() - 1
    }

    /// Columns and values of one row.
    pub(super) fn row(&self, row: usize) -> impl Iterator<Item = (usize, f32)> + '_ {
        let range = self.row_start[row] as usize..self.row_start[row + 1] as usize;
        let columns = self.columns[range.clone()].iter().map(|&column| column as usize);
        columns.zip(self.values[range].iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_lengths_have_a_long_tail() {
        let matrix = Matrix::random(10_000, 1);
        let mut lengths: Vec<usize> = (0..10_000).map(|row| matrix.row(row).count()).collect();
        lengths.sort_unstable();
        let mean = lengths.iter().sum::<usize>() as f64 / 10_000.0;
        assert!((16.0..20.0).contains(&mean), "mean {mean}");
        assert!((2..=8).contains(&lengths[5000]), "median {}", lengths[5000]);
        assert!((500..768).contains(&lengths[9999]), "longest {}", lengths[9999]);
    }

    #[test]
    fn columns_ascend_and_lie_inside() {
        let matrix = Matrix::random(100, 2);
        for row in 0..100 {
            let columns: Vec<usize> = matrix.row(row).map(|(column, _)| column).collect();
            assert!(columns.is_sorted() && *columns.last().unwrap() < 100);
        }
    }
}
