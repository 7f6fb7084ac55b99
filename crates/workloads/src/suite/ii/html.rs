//! Random HTML documents.

use crate::mapreduce::text::{Zipf, url, word};
use crate::random::Random;

const VOCABULARY: usize = 5_000;
const WORDS_PER_LINE: u64 = 8;
const LINES_PER_DOCUMENT: u64 = 40;

/// Documents, one after the other in one text.
#[derive(Debug)]
pub(super) struct Html {
    pub(super) text: Vec<u8>,
    /// Where each document begins.
    pub(super) documents: Vec<usize>,
}

/// Whole lines of one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) offset: usize,
    pub(super) bytes: usize,
    pub(super) document: usize,
}

impl Html {
    /// Documents that hold `links` links to `pages` pages together, one word of `words_per_link` a link.
    pub(super) fn random(links: usize, pages: usize, words_per_link: u64, seed: u64) -> Self {
        let mut writer = Writer {
            random: Random::new(seed),
            words: Zipf::new(VOCABULARY),
            pages: Zipf::new(pages),
            links_left: links,
            words_per_link,
            text: String::new(),
        };
        let mut documents = vec![];
        while writer.links_left > 0 {
            documents.push(writer.text.len());
            writer.document();
        }
        Self { text: writer.text.into_bytes(), documents }
    }

    /// Cuts documents into pieces of at least `least` bytes that end with a line.
    pub(super) fn pieces(&self, least: usize) -> Vec<Piece> {
        let mut pieces = vec![];
        let ends = self.documents[1..].iter().copied().chain([self.text.len()]);
        for (document, (&start, end)) in self.documents.iter().zip(ends).enumerate() {
            let mut offset = start;
            while offset < end {
                let last = (offset + least).min(end - 1);
                let line_feed =
                    self.text[last..].iter().position(|&c| c == b'\n').expect("the last line ends");
                let bytes = last + line_feed + 1 - offset;
                pieces.push(Piece { offset, bytes, document });
                offset += bytes;
            }
        }
        pieces
    }
}

struct Writer {
    random: Random,
    words: Zipf,
    pages: Zipf,
    links_left: usize,
    words_per_link: u64,
    text: String,
}

impl Writer {
    fn document(&mut self) {
        let title = self.word();
        self.text += &format!("<html>\n<head><title>{title}</title></head>\n<body>\n");
        for _ in 0..LINES_PER_DOCUMENT / 2 + self.random.below(LINES_PER_DOCUMENT) {
            let words = WORDS_PER_LINE / 2 + self.random.below(WORDS_PER_LINE);
            let line: Vec<String> = (0..words).map(|_| self.item()).collect();
            self.text += &line.join(" ");
            self.text.push('\n');
            if self.links_left == 0 {
                break;
            }
        }
        self.text += "</body>\n</html>\n";
    }

    fn word(&mut self) -> String {
        word(self.words.draw(&mut self.random))
    }

    /// A word, bare or in tags.
    fn item(&mut self) -> String {
        let word = self.word();
        if self.random.below(self.words_per_link) == 0 && self.links_left > 0 {
            self.links_left -= 1;
            return format!("<a href=\"{}\">{word}</a>", url(self.pages.draw(&mut self.random)));
        }
        match self.random.below(32) {
            0 => format!("<b>{word}</b>"),
            1 => format!("<p>{word}"),
            2 => format!("<img src=\"{word}.gif\">"),
            3 => format!("<a name=\"{word}\">"),
            _ => word,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_lines_and_cover_the_documents() {
        let html = Html::random(500, 50, 8, 1);
        assert!(html.documents.len() > 2);
        let mut next = 0;
        for piece in html.pieces(200) {
            assert_eq!(piece.offset, next);
            assert!(piece.offset >= html.documents[piece.document]);
            next += piece.bytes;
            assert_eq!(html.text[next - 1], b'\n');
        }
        assert_eq!(next, html.text.len());
    }
}
