//! The matches, line by line.

use crate::suite::prelude::*;

/// Where the lines that are `keyword` begin.
pub(super) fn matches(text: &[u8], keyword: &[u8]) -> Vec<i32> {
    let mut at = 0;
    let mut matches = vec![];
    for line in text.split_inclusive(|&c| c == b'\n') {
        if line.strip_suffix(b"\n") == Some(keyword) {
            matches.push(int(at));
        }
        at += line.len();
    }
    matches
}

#[cfg(test)]
mod tests {
    use super::super::Sm;
    use super::*;

    #[test]
    fn whole_lines_match() {
        assert_eq!(matches(b"be\nbeb\nbe\nabe\nbe\n", b"be"), [0, 7, 14]);
    }

    #[test]
    fn pieces_end_with_lines_and_cover_the_text() {
        let sm = Sm { bytes: 5000, piece: 100 };
        let text = sm.text();
        let mut next = 0;
        for (offset, bytes) in sm.pieces(&text) {
            assert_eq!(offset, next);
            next += bytes;
            assert_eq!(text[next - 1], b'\n');
        }
        assert_eq!(next, text.len());
    }
}
