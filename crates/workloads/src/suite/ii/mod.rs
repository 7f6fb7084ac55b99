//! Mars's Inverted Index: the links of HTML documents, by address.

mod expected;
mod html;

use self::html::Html;
use super::prelude::*;
use crate::mapreduce::{BLOCK, MAP_GROUP, MapReduce, Shape, mars_differences};

pub(super) const WORKLOAD: Workload = Workload {
    name: "ii",
    suite: "Mars",
    papers: &["fuse"],
    description: "Finds the links of HTML documents and sorts them by address: a state machine a thread reads its \
                  kilobyte of text byte by byte, twice; the sort compares hashes, and for equal ones texts that lie \
                  anywhere.",
    kernels: &MAP_GROUP,
    differences: mars_differences![
        "the documents are generated: words, tags and links with Zipf's frequencies, in one buffer; Mars's input is \
         1024 copies of three pages, 28 MB",
    ],
    inputs: &[
        input(Size::Test, "70 links, a line a thread, 32 threads per CTA", || {
            Box::new(Ii { links: 70, pages: 40, words_per_link: 8, piece: 1, block: 32 })
        }),
        input(Size::Small, "2,500 links, 1024 bytes a thread", || {
            Box::new(Ii { links: 2_500, pages: 1_000, words_per_link: 8, piece: 1024, block: BLOCK })
        }),
        input(Size::Paper, "100,000 links, 1024 bytes a thread", || {
            Box::new(Ii { links: 100_000, pages: 10_000, words_per_link: 8, piece: 1024, block: BLOCK })
        }),
        suite_input(
            "28 MB of documents, 54 links to 50 addresses in 28 KB, 1024 bytes a thread",
            "Mars, II_BIN/run.sh: 1,024 copies of sample/1.html, 2.html and 3.html",
            Piece::Input("the first 6,000 links: some 12 of 110 CTAs of map, and what they emit"),
            || Box::new(Ii { links: 6_000, pages: 50, words_per_link: 64, piece: 1024, block: BLOCK }),
        ),
    ],
    ptx: include_str!("kernel.ptx"),
    measured: include_str!("measured.toml"),
};

#[derive(Debug)]
struct Ii {
    links: usize,
    /// Pages that links lead to.
    pages: usize,
    /// One word of so many is a link.
    words_per_link: u64,
    /// Bytes of a thread's piece of a document, at least; it ends with a line.
    piece: usize,
    block: u32,
}

impl Body for Ii {
    fn run(&self, host: &mut Host<'_>) -> Result<(), DeviceError> {
        let html = Html::random(self.links, self.pages, self.words_per_link, 0x11);
        let index = html.index();

        let text = host.buffer("text", &html.text)?;
        let job = MapReduce { label: "links", input: args![text], block: self.block };
        let pieces = html.pieces(self.piece);
        let values: Vec<i32> =
            pieces.iter().flat_map(|piece| [piece.offset, piece.bytes, piece.document].map(int)).collect();
        let records = job.records(host, pieces.len(), &vec![0; 2 * pieces.len()], &values)?;
        let pairs = job.map(host, records, self.links, Shape { key_bytes: 8, value_bytes: 4 })?;
        let groups = job.group(host, pairs, index.firsts.len())?;

        job.check_groups(host, groups, &index.keys, &index.documents, &index.firsts)?;
        host.exact("text", text, &index.text)?;
        Ok(())
    }
}
