//! Storage for the bytes of a channel.

use crate::address::{LINE_BYTES, LineAddress};
use crate::line::{ByteMask, Line};

/// Lines of a page: 256 KiB. A machine has gigabytes, of which most programs touch little.
const PAGE_LINES: usize = 2048;

/// The bytes behind a DRAM channel, by channel-local line; zero until written.
#[derive(Clone, Debug, Default)]
pub struct Storage {
    /// None: nothing has been written.
    pages: Vec<Option<Box<[u8]>>>,
}

impl Storage {
    /// Backs the lines below `lines` with storage.
    pub fn ensure(&mut self, lines: u64) {
        let pages = lines.div_ceil(PAGE_LINES as u64) as usize;
        if self.pages.len() < pages {
            self.pages.resize(pages, None);
        }
    }

    /// Copies the bytes of a line that `bytes` selects into `into`.
    #[inline]
    pub fn read(&self, line: LineAddress, bytes: ByteMask, into: &mut Line) {
        let (page, place) = self.find(line);
        let Some(page) = &self.pages[page] else {
            into.merge(bytes, &Line::ZERO);
            return;
        };
        let stored = &page[place..place + LINE_BYTES];
        if bytes == ByteMask::ALL {
            into.0.copy_from_slice(stored);
        } else {
            let mut whole = Line::ZERO;
            whole.0.copy_from_slice(stored);
            into.merge(bytes, &whole);
        }
    }

    /// Writes the bytes of a line that `bytes` selects.
    #[inline]
    pub fn write(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        let (page, place) = self.find(line);
        let page =
            self.pages[page].get_or_insert_with(|| vec![0; PAGE_LINES * LINE_BYTES].into_boxed_slice());
        let stored = &mut page[place..place + LINE_BYTES];
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_wrote_is_zero_and_takes_no_room() {
        const LINES: u64 = (64 << 30) / LINE_BYTES as u64;
        let mut storage = Storage::default();
        storage.ensure(LINES);
        storage.ensure(1);
        let mut read = Line([7; LINE_BYTES]);
        storage.read(LineAddress(LINES - 1), ByteMask::range(0, 4), &mut read);
        assert_eq!((&read.0[..4], &read.0[4..8]), (&[0; 4][..], &[7; 4][..]));
        storage.write(LineAddress(LINES - 1), ByteMask::range(2, 3), &Line([9; LINE_BYTES]));
        storage.read(LineAddress(LINES - 1), ByteMask::ALL, &mut read);
        assert_eq!((&read.0[..6], &read.0[6..]), (&[0, 0, 9, 9, 9, 0][..], &[0; LINE_BYTES - 6][..]));
        assert_eq!(storage.pages.iter().flatten().count(), 1);
    }
}
