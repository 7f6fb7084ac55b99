//! The bytes of a channel.

use crate::address::{LINE_BYTES, LineAddress};
use crate::line::{ByteMask, Line};

/// Lines of a page: a megabyte, which the operating system gives only when it is touched.
const PAGE_LINES: usize = 8192;

/// The bytes behind a DRAM channel, by channel-local line; zero until written.
#[derive(Clone, Debug, Default)]
pub struct Storage {
    pages: Vec<Box<[u8]>>,
}

impl Storage {
    /// Makes room for lines below `lines`.
    pub fn ensure(&mut self, lines: u64) {
        while ((self.pages.len() * PAGE_LINES) as u64) < lines {
            self.pages.push(vec![0; PAGE_LINES * LINE_BYTES].into_boxed_slice());
        }
    }

    /// Copies the bytes in `bytes` of a line into `into`.
    #[inline]
    pub fn read(&self, line: LineAddress, bytes: ByteMask, into: &mut Line) {
        let (page, place) = self.find(line);
        let stored = &self.pages[page][place..place + LINE_BYTES];
        if bytes == ByteMask::ALL {
            into.0.copy_from_slice(stored);
        } else {
            let mut whole = Line::ZERO;
            whole.0.copy_from_slice(stored);
            into.merge(bytes, &whole);
        }
    }

    /// Writes the bytes in `bytes` of a line.
    #[inline]
    pub fn write(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        let (page, place) = self.find(line);
        let stored = &mut self.pages[page][place..place + LINE_BYTES];
        if bytes == ByteMask::ALL {
            stored.copy_from_slice(&data.0);
        } else {
            let mut whole = Line::ZERO;
            whole.0.copy_from_slice(stored);
            whole.merge(bytes, data);
            stored.copy_from_slice(&whole.0);
        }
    }

    #[inline]
    fn find(&self, line: LineAddress) -> (usize, usize) {
        let (page, place) = (line.0 as usize / PAGE_LINES, line.0 as usize % PAGE_LINES);
        assert!(page < self.pages.len(), "a request to DRAM lies in memory that the host has allocated");
        (page, place * LINE_BYTES)
    }
}
