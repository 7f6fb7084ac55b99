//! The matrix: bicubic finite elements on a square, stored by jagged diagonals.

use crate::random::Random;

/// Rows of a warp, which share one length.
const WARP: usize = 32;

/// A square sparse matrix, row by row.
#[derive(Debug)]
pub(super) struct Matrix {
    /// The columns of each row, ascending, with their values.
    pub(super) rows: Vec<Vec<(usize, f32)>>,
}

/// A matrix by jagged diagonals, as the kernel reads it.
#[derive(Debug, Default)]
pub(super) struct Jds {
    /// Which row each sorted row is.
    pub(super) row_of: Vec<i32>,
    /// Entries of a row, for each warp; shorter rows are padded with zeros.
    pub(super) warp_length: Vec<i32>,
    /// Where each diagonal begins.
    pub(super) diagonal: Vec<i32>,
    pub(super) columns: Vec<i32>,
    pub(super) values: Vec<f32>,
}

impl Matrix {
    /// The unknowns of `elements` x `elements` square elements with four points to a side, the rim excluded,
    /// numbered row by row: with 128 x 128 the rows, row lengths and entries of Dubcova3, up to 6 of 3.6 million
    /// entries. Two points share an entry when they share an element. The values are random.
    pub(super) fn bicubic(elements: usize, seed: u64) -> Self {
        let side = 3 * elements - 1;
        // The points that share an element with point i of a line; points 2, 5, 8, ... belong to two elements.
        let reach = |i: usize| {
            let element = (i + 1) / 3;
            let first = if (i + 1).is_multiple_of(3) { element - 1 } else { element };
            (3 * first).max(1) - 1..(3 * element + 3).min(side)
        };
        let mut random = Random::new(seed);
        let mut rows = Vec::with_capacity(side * side);
        for row in 0..side * side {
            let (across, down) = (reach(row % side), reach(row / side));
            let points = down.flat_map(|y| across.clone().map(move |x| y * side + x));
            rows.push(points.map(|column| (column, random.signed())).collect());
        }
        Self { rows }
    }

    /// The longest rows first, in the order of the matrix among equals.
    pub(super) fn to_jds(&self) -> Jds {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by_key(|&row| std::cmp::Reverse(self.rows[row].len()));
        let lengths: Vec<usize> = order.chunks(WARP).map(|warp| self.rows[warp[0]].len()).collect();

        let mut jds = Jds {
            row_of: order.iter().map(|&row| row as i32).collect(),
            warp_length: lengths.iter().map(|&length| length as i32).collect(),
            ..Jds::default()
        };
        for k in 0..lengths[0] {
            jds.diagonal.push(i32::try_from(jds.values.len()).expect("entries fit an int"));
            let warps = lengths.partition_point(|&length| length > k);
            for sorted in 0..WARP * warps {
                let entry = order.get(sorted).and_then(|&row| self.rows[row].get(k));
                let (column, value) = entry.copied().unwrap_or_default();
                jds.columns.push(column as i32);
                jds.values.push(value);
            }
        }
        jds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_128_elements_it_is_dubcova3() {
        let matrix = Matrix::bicubic(128, 1);
        let lengths = || matrix.rows.iter().map(Vec::len);
        assert_eq!((matrix.rows.len(), lengths().sum()), (146_689, 3_636_649));
        assert_eq!((lengths().min(), lengths().max()), (Some(9), Some(49)));
    }

    #[test]
    fn two_elements_make_a_line_of_five() {
        // 0 1 belong to the first element, 2 to both, 3 4 to the second.
        let matrix = Matrix::bicubic(2, 1);
        let columns = |row: usize| matrix.rows[row].iter().map(|&(column, _)| column).collect::<Vec<_>>();
        assert_eq!(columns(0), [0, 1, 2, 5, 6, 7, 10, 11, 12]);
        assert_eq!(columns(4), [2, 3, 4, 7, 8, 9, 12, 13, 14]);
        assert_eq!(columns(12).len(), 25);
    }

    #[test]
    fn diagonals_of_a_small_matrix() {
        let rows = vec![vec![(0, 1.0)], vec![(0, 2.0), (1, 3.0)]];
        let jds = Matrix { rows }.to_jds();
        assert_eq!((jds.row_of, jds.warp_length, jds.diagonal), (vec![1, 0], vec![2], vec![0, 32]));
        assert_eq!((&jds.values[..3], &jds.values[32..35]), (&[2.0, 1.0, 0.0][..], &[3.0, 0.0, 0.0][..]));
        assert_eq!((jds.columns[0], jds.columns[32]), (0, 1));
    }
}
