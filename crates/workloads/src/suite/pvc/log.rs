//! A random web log.

use crate::mapreduce::text::{Zipf, url};
use crate::random::Random;

/// One line of so many repeats one of the last [`RECENT`].
const LINES_PER_REPEAT: u64 = 8;
const RECENT: usize = 1000;

/// Which pages lines name.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pages {
    /// So many pages by Zipf's law, their addresses of several lengths; lines repeat.
    Popular(usize),
    /// So many pages of one site, all as often, as Mars's generator has it.
    Uniform(usize),
}

/// Lines "URL tab IP tab cookie", each ended by a zero byte.
#[derive(Debug)]
pub(super) struct Log {
    pub(super) text: Vec<u8>,
    pub(super) lines: Vec<Line>,
}

/// Where a line begins, and its bytes without the zero at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) offset: usize,
    pub(super) bytes: usize,
}

impl Log {
    pub(super) fn random(lines: usize, pages: Pages, seed: u64) -> Self {
        let random = Random::new(seed);
        match pages {
            Pages::Popular(pages) => Self::popular(lines, pages, random),
            Pages::Uniform(pages) => Self::uniform(lines, pages, random),
        }
    }

    fn popular(lines: usize, pages: usize, mut random: Random) -> Self {
        let zipf = Zipf::new(pages);
        let mut log = Self { text: vec![], lines: vec![] };
        for at in 0..lines {
            let line = if at > 0 && random.below(LINES_PER_REPEAT) == 0 {
                let earlier = at - 1 - random.below(at.min(RECENT) as u64) as usize;
                log.line(log.lines[earlier]).to_vec()
            } else {
                view(&url(zipf.draw(&mut random)), &mut random)
            };
            log.push(&line);
        }
        log
    }

    fn uniform(lines: usize, pages: usize, mut random: Random) -> Self {
        let mut log = Self { text: vec![], lines: vec![] };
        for _ in 0..lines {
            let url = format!("http://www.abcdefg.com/{}.html", random.below(pages as u64));
            log.push(&view(&url, &mut random));
        }
        log
    }

    pub(super) fn push(&mut self, line: &[u8]) {
        self.lines.push(Line { offset: self.text.len(), bytes: line.len() });
        self.text.extend_from_slice(line);
        self.text.push(0);
    }

    pub(super) fn line(&self, line: Line) -> &[u8] {
        &self.text[line.offset..line.offset + line.bytes]
    }
}

/// A line that names a page, someone's address and a cookie.
fn view(url: &str, random: &mut Random) -> Vec<u8> {
    let [a, b, c, d] = [(); 4].map(|()| random.below(256));
    format!("{url}\t{a}.{b}.{c}.{d}\t{}", random.below(1000)).into_bytes()
}
