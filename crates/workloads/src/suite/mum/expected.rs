//! Matches, each looked up from the root.

use super::dna::opposite_strand;
use super::tree::{NONE, ROOT, Tree, code};

/// Forward or on the opposite strand: for every suffix of at least `shortest` letters of every read, the last node
/// that its match reaches and how many letters of the edge to it, 0 for all. Zeros where fewer than `shortest` letters
/// match.
pub(super) fn expected(
    tree: &Tree,
    reference: &[u8],
    reads: &[Vec<u8>],
    shortest: usize,
    opposite: bool,
) -> Vec<i32> {
    let mut matches = vec![];
    for read in reads {
        let read = if opposite { opposite_strand(read) } else { read.clone() };
        for first in 0..=read.len() - shortest {
            let (node, on_edge, letters) = longest_match(tree, reference, &read[first..]);
            let found = if letters >= shortest { [node as i32, on_edge as i32] } else { [0, 0] };
            matches.extend(found);
        }
    }
    matches
}

/// The node, the letters on the edge to it unless all, and all letters that match.
fn longest_match(tree: &Tree, reference: &[u8], word: &[u8]) -> (usize, usize, usize) {
    let (mut node, mut depth) = (ROOT, 0);
    while depth < word.len() {
        let child = tree.nodes[node].children[code(word[depth])];
        if child == NONE {
            break;
        }
        let edge = &reference[tree.nodes[child].begin..tree.nodes[child].end];
        let same = edge.iter().zip(&word[depth..]).take_while(|(a, b)| a == b).count();
        depth += same;
        if same < edge.len() {
            return (child, same, depth);
        }
        node = child;
    }
    (node, 0, depth)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn matches_in_a_short_text_by_hand() {
        let text = b"ACAT";
        let tree = Tree::new(text);
        // Nodes: 2 A, 3 CAT, 4 T, 5 ACAT, 6 AT.
        let reads = [b"ACG".to_vec(), b"CAT".to_vec()];
        assert_eq!(expected(&tree, text, &reads, 1, false), [5, 1, 3, 1, 0, 0, 3, 0, 6, 0, 4, 0]);
        // CGT and ATG.
        assert_eq!(expected(&tree, text, &reads, 2, true), [0, 0, 0, 0, 6, 0, 0, 0]);
    }

    #[test]
    fn a_match_is_as_long_as_a_search_of_the_text_finds() {
        let mut random = Random::new(9);
        let mut letters = |n: usize| (0..n).map(|_| b"ACGT"[random.below(4) as usize]).collect::<Vec<u8>>();
        let text = letters(300);
        let tree = Tree::new(&text);
        for _ in 0..300 {
            let word = letters(8);
            let occurs = |n: &usize| text.windows(*n).any(|window| window == &word[..*n]);
            let longest = (1..=8).take_while(occurs).last().unwrap_or(0);
            assert_eq!(longest_match(&tree, &text, &word).2, longest);
        }
    }
}
