//! The ranking, from exact integer products.

use super::Ss;
use crate::mapreduce::firsts;

/// Pairs of documents, the most similar first.
#[derive(Debug)]
pub(super) struct Ranking {
    pub(super) scores: Vec<f32>,
    /// Two documents for each score.
    pub(super) documents: Vec<i32>,
    /// Where each score begins among them.
    pub(super) firsts: Vec<i32>,
}

impl Ss {
    /// Products of vectors of small integers are integers that f32 holds, and roots, product and quotient round as
    /// IEEE 754 says: there is one right score, to the bit.
    pub(super) fn ranking(&self, matrix: &[f32]) -> Ranking {
        let counts: Vec<u32> = matrix.iter().map(|&count| count as u32).collect();
        let rows: Vec<&[u32]> = counts.chunks_exact(self.stride()).collect();
        let product = |a: &[u32], b: &[u32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<u32>();
        let lengths: Vec<f32> = rows.iter().map(|row| (product(row, row) as f32).sqrt()).collect();

        let mut ranking = Vec::with_capacity(rows.len() * rows.len() / 2);
        for [first, second] in self.pairs() {
            let (a, b) = (first as usize, second as usize);
            let product = product(rows[a], rows[b]);
            assert!(product < 1 << 24, "f32 holds no odd integer of that size");
            ranking.push((product as f32 / (lengths[a] * lengths[b]), [first, second]));
        }
        // The sort is stable: equal scores stay in the order of their documents.
        ranking.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let scores: Vec<f32> = ranking.iter().map(|&(score, _)| score).collect();
        let documents = ranking.iter().flat_map(|&(_, two)| two).collect();
        Ranking { firsts: firsts(&scores), scores, documents }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::prelude::Part;

    #[test]
    fn three_documents_by_hand() {
        let ss = Ss { documents: 3, features: 2, scored: Part::All };
        let ranking = ss.ranking(&[3.0, 4.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 4.0, 3.0, 0.0, 0.0]);
        assert_eq!(ranking.scores, [24.0 / 25.0, 0.8, 0.6]);
        assert_eq!(ranking.documents, [0, 2, 0, 1, 1, 2]);
        assert_eq!(ranking.firsts, [0, 1, 2]);
    }

    #[test]
    fn no_document_is_empty() {
        let ss = Ss { documents: 20, features: 30, scored: Part::All };
        assert!(ss.matrix().chunks_exact(32).all(|row| row.iter().any(|&count| count > 0.0)));
    }
}
