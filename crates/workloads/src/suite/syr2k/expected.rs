//! C = alpha (A B^T + B A^T) + beta C, in f64: a dot product of two rows each way for each element.

use super::{ALPHA, BETA, Syr2k};
use crate::suite::prelude::*;

impl Syr2k {
    /// The rows that C is given of.
    pub(super) fn expected(&self, a: &[f32], b: &[f32], c: &[f32]) -> Vec<Near> {
        let alpha = Bounded::from(ALPHA);
        let rows = |matrix: &[f32]| -> Vec<Vec<Bounded>> {
            matrix.chunks_exact(self.m).map(|row| row.iter().map(|&x| Bounded::from(x)).collect()).collect()
        };
        let scaled = |row: &[Bounded]| -> Vec<Bounded> { row.iter().map(|&x| alpha * x).collect() };
        let (a, b) = (rows(a), rows(b));

        let mut expected = Vec::with_capacity(c.len());
        for (row_c, (ai, bi)) in c.chunks_exact(self.n).zip(a.iter().zip(&b)) {
            let (alpha_ai, alpha_bi) = (scaled(ai), scaled(bi));
            for (&c, (aj, bj)) in row_c.iter().zip(a.iter().zip(&b)) {
                let ab = alpha_ai.iter().zip(bj).map(|(&ai, &bj)| ai * bj);
                let ba = alpha_bi.iter().zip(aj).map(|(&bi, &aj)| bi * aj);
                let start = Bounded::from(BETA) * Bounded::from(c);
                expected.push(ab.zip(ba).fold(start, |sum, (ab, ba)| sum + (ab + ba)).near());
            }
        }
        expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_update_by_hand() {
        let syr2k = Syr2k { n: 2, m: 2, rows: Part::All };
        let found =
            syr2k.expected(&[1.0, 2.0, 3.0, 4.0], &[1.0, 10.0, 100.0, 1000.0], &[4.0, 8.0, 12.0, 16.0]);
        let values: Vec<f64> = found.iter().map(|near| near.value).collect();
        // A B^T is [21, 2100; 43, 4300]; with its transpose added, [42, 2143; 2143, 8600].
        let expected = [3.0 + 1.5 * 42.0, 6.0 + 1.5 * 2143.0, 9.0 + 1.5 * 2143.0, 12.0 + 1.5 * 8600.0];
        assert_eq!(values, expected);
    }
}
