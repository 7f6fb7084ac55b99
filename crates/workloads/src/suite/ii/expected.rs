//! The index, by searching the text for links and sorting them.

use super::html::Html;
use crate::mapreduce::{firsts, hash_text};
use crate::suite::prelude::*;

/// Links in their sorted order.
#[derive(Debug)]
pub(super) struct Index {
    /// Each link's offset in the text and its hash.
    pub(super) keys: Vec<i32>,
    /// The documents that hold them.
    pub(super) documents: Vec<i32>,
    /// Where each address begins among them.
    pub(super) firsts: Vec<i32>,
    /// The text with a zero byte after each link.
    pub(super) text: Vec<u8>,
}

impl Html {
    pub(super) fn index(&self) -> Index {
        const TAG: &str = "<a href=\"";
        let text = std::str::from_utf8(&self.text).expect("generated texts are ASCII");
        let mut links: Vec<(i32, &str, usize)> = text
            .match_indices(TAG)
            .map(|(at, _)| {
                let start = at + TAG.len();
                let (link, _) = text[start..].split_once('"').expect("links are closed");
                (hash_text(link.as_bytes()), link, start)
            })
            .collect();
        links.sort_unstable();

        let mut ended = self.text.clone();
        links.iter().for_each(|&(_, link, start)| ended[start + link.len()] = 0);
        let document = |start: usize| self.documents.partition_point(|&first| first <= start) - 1;
        let addresses: Vec<&str> = links.iter().map(|&(_, link, _)| link).collect();
        Index {
            keys: links.iter().flat_map(|&(hash, _, start)| [int(start), hash]).collect(),
            documents: links.iter().map(|&(_, _, start)| int(document(start))).collect(),
            firsts: firsts(&addresses),
            text: ended,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_links_by_hand() {
        let text = b"x <a href=\"b\">1\n</a><a name=\"q\"><a href=\"a\">\n<a href=\"b\">".to_vec();
        let index = Html { text, documents: vec![0, 45] }.index();
        // The hash of one letter is the letter and its length shifted: 'a' < 'b'.
        assert_eq!(index.keys, [41, 16 ^ 0x61, 11, 16 ^ 0x62, 54, 16 ^ 0x62]);
        assert_eq!(index.documents, [0, 0, 1]);
        assert_eq!(index.firsts, [0, 1]);
        assert_eq!((index.text[12], index.text[42], index.text[55]), (0, 0, 0));
    }
}
