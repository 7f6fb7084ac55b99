//! Distinct lines and the views of each page, by sorting.

use super::log::{Line, Log};
use crate::mapreduce::{firsts, hash_text};
use crate::suite::prelude::*;

/// The views in their sorted order.
#[derive(Debug)]
pub(super) struct Views {
    /// Each view's offset in the text and its URL's hash.
    pub(super) keys: Vec<i32>,
    /// Where the addresses that viewed lie in the text.
    pub(super) addresses: Vec<i32>,
    /// Where each page begins among them.
    pub(super) firsts: Vec<i32>,
    /// The text with a zero byte after each URL and each address of a distinct line.
    pub(super) text: Vec<u8>,
}

impl Log {
    /// The first of each set of equal lines, sorted by hash and text.
    pub(super) fn distinct(&self) -> Vec<Line> {
        let mut lines = self.lines.clone();
        lines.sort_by_key(|&line| (hash_text(self.line(line)), self.line(line)));
        lines.dedup_by_key(|line| self.line(*line));
        lines
    }

    /// Distinct lines as pairs: offset and hash, size and the number of the phase that is next. The second MapReduce puts
    /// the hash of the line's URL in the place of the line's.
    pub(super) fn reduced(&self, distinct: &[Line]) -> (Vec<i32>, Vec<i32>) {
        let key = |line: &Line| [int(line.offset), hash_text(self.url(*line))];
        let value = |line: &Line| [int(line.bytes), 1];
        (distinct.iter().flat_map(key).collect(), distinct.iter().flat_map(value).collect())
    }

    fn url(&self, line: Line) -> &[u8] {
        self.line(line).split(|&c| c == b'\t').next().expect("a line begins with its URL")
    }

    /// Distinct lines by URL, those of one URL in the order of `distinct`.
    pub(super) fn views(&self, distinct: &[Line]) -> Views {
        let mut views: Vec<(&[u8], Line)> = distinct.iter().map(|&line| (self.url(line), line)).collect();
        views.sort_by_key(|&(url, _)| (hash_text(url), url));

        let mut text = self.text.clone();
        for &line in distinct {
            for c in &mut text[line.offset..line.offset + line.bytes] {
                if *c == b'\t' {
                    *c = 0;
                }
            }
        }
        let urls: Vec<&[u8]> = views.iter().map(|&(url, _)| url).collect();
        Views {
            keys: views.iter().flat_map(|&(url, line)| [int(line.offset), hash_text(url)]).collect(),
            addresses: views.iter().map(|&(url, line)| int(line.offset + url.len() + 1)).collect(),
            firsts: firsts(&urls),
            text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::log::Pages;
    use super::*;

    #[test]
    fn three_lines_by_hand() {
        let mut log = Log { text: vec![], lines: vec![] };
        for line in ["b\t1\t5", "a\t2\t5", "b\t1\t5", "b\t3\t5"] {
            log.push(line.as_bytes());
        }
        let distinct = log.distinct();
        let offsets: Vec<usize> = distinct.iter().map(|line| line.offset).collect();
        assert_eq!(offsets.len(), 3);
        assert!(!offsets.contains(&12), "the repeated line is dropped");

        let views = log.views(&distinct);
        assert_eq!(views.keys[..2], [6, 16 ^ 0x61]);
        assert_eq!((views.keys[3], views.keys[5]), (16 ^ 0x62, 16 ^ 0x62));
        assert_eq!(views.addresses[0], 8);
        assert_eq!(views.firsts, [0, 1]);
        assert_eq!(&views.text[..6], b"b\x001\x005\x00");
        assert_eq!(&views.text[12..18], b"b\t1\t5\x00");
    }

    #[test]
    fn lines_repeat() {
        let log = Log::random(1000, Pages::Popular(100), 1);
        assert!((850..900).contains(&log.distinct().len()));
    }

    #[test]
    fn lines_of_mars_name_pages_of_one_site() {
        let log = Log::random(2000, Pages::Uniform(16), 1);
        let distinct = log.distinct();
        assert_eq!(distinct.len(), 2000);
        assert_eq!(log.views(&distinct).firsts.len(), 16);
        assert!(log.line(log.lines[7]).starts_with(b"http://www.abcdefg.com/"));
    }
}
