//! The table of scores, row by row.

use super::PENALTY;
use super::blosum::BLOSUM62;
use super::proteins::Proteins;

/// The whole table, with its first row and column of gaps alone.
pub(super) fn expected(proteins: &Proteins) -> Vec<i32> {
    let Proteins { first, second } = proteins;
    let mut row: Vec<i32> = (0..).take(second.len() + 1).map(|gaps: i32| -PENALTY * gaps).collect();
    let mut table = row.clone();
    for &a in first {
        let mut next = vec![row[0] - PENALTY];
        for (&b, above) in second.iter().zip(row.windows(2)) {
            let gap = above[1].max(next[next.len() - 1]) - PENALTY;
            next.push(gap.max(above[0] + BLOSUM62[a][b]));
        }
        table.extend_from_slice(&next);
        row = next;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "AR" against "RW": A-R scores -1, A-W -3, R-R 5, R-W -3.
    #[test]
    fn two_residues_by_hand() {
        let (a, r, w) = (0, 1, 17);
        let found = expected(&Proteins { first: vec![a, r], second: vec![r, w] });
        assert_eq!(found, [0, -10, -20, /**/ -10, -1, -11, /**/ -20, -5, -4]);
    }
}
