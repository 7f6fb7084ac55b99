//! Mars's String Match: the lines of a text that are a keyword.

mod expected;

use super::prelude::*;
use crate::mapreduce::text::{Zipf, word};
use crate::mapreduce::{BLOCK, MAP, MapReduce, Shape, mars_differences};

pub(super) const WORKLOAD: Workload = Workload {
    name: "sm",
    suite: "Mars",
    papers: &["fuse"],
    description: "Finds a keyword among the lines of a text: each thread reads a kilobyte of its own byte by byte, \
                  twice, a kilobyte apart from its neighbours, and emits a pair for each match.",
    kernels: &MAP,
    differences: mars_differences![
        "the text is generated: one word a line, 20,000 words with Zipf's frequencies; the keyword is the 26th most \
         frequent",
        "a thread stops at the end of its piece; Mars leaves line feeds out of its count and reads on",
    ],
    inputs: &[
        input(Size::Test, "36,000 bytes, 48 a thread", || Box::new(Sm { bytes: 36_000, piece: 48 })),
        input(Size::Small, "3,000,000 bytes, 1024 a thread", || {
            Box::new(Sm { bytes: 3_000_000, piece: 1024 })
        }),
        input(Size::Paper, "68,000,000 bytes, 1024 a thread", || {
            Box::new(Sm { bytes: 68_000_000, piece: 1024 })
        }),
        suite_input(
            "68,000,000 bytes, 1024 a thread",
            "Mars, StringMatch/main.cu; the text of its SM_BIN/run.sh has 1 MiB, which only 4 CTAs search, and FUSE's runs have more than a billion instructions",
            Piece::Input("the first 11,900,000 bytes: some 45 of 257 CTAs of map, and what they emit"),
            || Box::new(Sm { bytes: 11_900_000, piece: 1024 }),
        ),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

const VOCABULARY: usize = 20_000;
/// The keyword's rank among the words.
const KEYWORD: usize = 25;

#[derive(Debug)]
struct Sm {
    bytes: usize,
    /// Bytes of a thread's piece of the text, at least; it ends with a line.
    piece: usize,
}

impl Sm {
    /// Words, one a line.
    fn text(&self) -> Vec<u8> {
        let mut random = Random::new(0x57);
        let zipf = Zipf::new(VOCABULARY);
        let words: Vec<String> = (0..VOCABULARY).map(word).collect();
        let mut text = Vec::with_capacity(self.bytes + 16);
        while text.len() < self.bytes {
            text.extend_from_slice(words[zipf.draw(&mut random)].as_bytes());
            text.push(b'\n');
        }
        text
    }

    /// Offsets and sizes of pieces that end with a line.
    fn pieces(&self, text: &[u8]) -> Vec<(usize, usize)> {
        let mut pieces = vec![];
        let mut start = 0;
        while start < text.len() {
            let least = (start + self.piece).min(text.len() - 1);
            let line_feed = text[least..].iter().position(|&c| c == b'\n').expect("the last line ends");
            let bytes = least + line_feed + 1 - start;
            pieces.push((start, bytes));
            start += bytes;
        }
        pieces
    }
}

impl Body for Sm {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let text = self.text();
        let mut keyword = word(KEYWORD).into_bytes();
        let matches = expected::matches(&text, &keyword);
        keyword.push(0);

        let d_text = host.buffer("text", &text)?;
        let d_keyword = host.buffer("keyword", &keyword)?;
        let job = MapReduce { label: "match", input: args![d_text, d_keyword], block: BLOCK };
        let pieces = self.pieces(&text);
        let values: Vec<i32> = pieces
            .iter()
            .flat_map(|&(offset, bytes)| [int(keyword.len()), int(offset), int(bytes)])
            .collect();
        let records = job.records(host, pieces.len(), &[], &values)?;
        let pairs = job.map(host, records, matches.len(), Shape { key_bytes: 4, value_bytes: 4 })?;

        let sizes = vec![int(keyword.len()); matches.len()];
        job.check(host, pairs, &matches, &sizes)
    }
}
