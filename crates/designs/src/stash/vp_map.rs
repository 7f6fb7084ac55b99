//! The VP-map: TLB and RTLB in one structure (4.1.4; footnote 3).

/// A page's translation in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    virtual_page: u64,
    physical_page: u64,
    /// A stash-map entry that needs it: the latest, unless that has gone.
    map: u8,
}

/// The translations of every page that a valid mapping has words in.
#[derive(Debug)]
pub struct VpMap {
    entries: Vec<Entry>,
    most: usize,
    page_bytes: u64,
}

impl VpMap {
    /// No pages, of at most `most`.
    pub fn new(most: usize, page_bytes: u64) -> VpMap {
        VpMap { entries: Vec::with_capacity(most), most, page_bytes }
    }

    /// Entries that are free.
    pub fn free(&self) -> usize {
        self.most - self.entries.len()
    }

    /// The virtual pages that point to a stash-map entry.
    pub fn of(&self, map: u8) -> impl Iterator<Item = u64> {
        self.entries.iter().filter(move |entry| entry.map == map).map(|entry| entry.virtual_page)
    }

    /// Whether a page is here.
    pub fn has(&self, virtual_page: u64) -> bool {
        self.entries.iter().any(|entry| entry.virtual_page == virtual_page)
    }

    /// A mapping needs a page. There must be room for it.
    pub fn need(&mut self, (virtual_page, physical_page): (u64, u64), map: u8) {
        match self.entries.iter_mut().find(|entry| entry.virtual_page == virtual_page) {
            Some(entry) => entry.map = map,
            None => {
                assert!(self.entries.len() < self.most, "room is made before pages are added");
                self.entries.push(Entry { virtual_page, physical_page, map });
            }
        }
    }

    /// Another stash-map entry needs a page too: a pointer to `from` goes to `to`.
    pub fn pass(&mut self, virtual_page: u64, from: u8, to: u8) {
        for entry in &mut self.entries {
            if (entry.virtual_page, entry.map) == (virtual_page, from) {
                entry.map = to;
            }
        }
    }

    /// A stash-map entry is replaced: pages that point to it go.
    pub fn remove(&mut self, map: u8) {
        self.entries.retain(|entry| entry.map != map);
    }

    /// TLB: physical address of a virtual one.
    pub fn physical(&self, address: u64) -> Option<u64> {
        let page = address / self.page_bytes;
        let entry = self.entries.iter().find(|entry| entry.virtual_page == page)?;
        Some(entry.physical_page * self.page_bytes + address % self.page_bytes)
    }

    /// RTLB: virtual addresses of a physical one. More than one page may be mapped to it (a synonym).
    pub fn virtuals(&self, address: u64) -> impl Iterator<Item = u64> {
        let (page, rest) = (address / self.page_bytes, address % self.page_bytes);
        let found = self.entries.iter().filter(move |entry| entry.physical_page == page);
        found.map(move |entry| entry.virtual_page * self.page_bytes + rest)
    }
}
