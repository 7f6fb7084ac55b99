//! AddMap (4.2), and what it shares with ChgMap.

use strata_engine::Cycle;
use strata_memory::tile::{Mapping, Tile, TileError, WORD};

use super::error::{MappingError, Place, Why};
use super::port::{MappingRefusal, Pages, Refusal};
use super::stash_map::Entry;
use super::unit::Stash;
use crate::denovo::Event;

impl Stash {
    /// Adds a mapping of a CTA and returns its index in the CTA's row of the map index table.
    ///
    /// # Errors
    /// `Busy` while the entry that it takes still has dirty data, or the VP-map is full; `Wrong` for a mapping that cannot be.
    pub fn add_map(
        &mut self,
        cta: u8,
        mapping: &Mapping,
        pages: &dyn Pages,
        place: &Place,
        now: Cycle,
    ) -> Result<u8, MappingRefusal> {
        self.outbox.begin();
        let wrong = |why| Refusal::Wrong(MappingError { place: place.clone(), why });
        if !self.table.has_room(cta.into()) {
            return Err(wrong(Why::TooManyMaps { most: *self.config.maps_per_cta as usize }));
        }
        let mut entry = self.checked(cta, mapping, pages, None).map_err(wrong)?;
        let index = self.map.next();
        if !self.retire(index, now) || !self.make_pages(&entry, None, now) {
            self.statistics.map_stalls += 1;
            self.send_registrations();
            return Err(Refusal::Busy);
        }
        if let Some(old) = self.replicated(&entry, None)
            && !self.keeps_replica(&entry, old, now)
        {
            self.statistics.map_stalls += 1;
            self.send_registrations();
            return Err(Refusal::Busy);
        }
        // With its last dirty chunk, the older entry has become invalid.
        entry.reuse = self.replicated(&entry, None);
        self.map.put(index, entry);
        self.translate(index, pages);
        self.statistics.maps_added += 1;
        Ok(self.table.add(cta.into(), index) as u8)
    }

    /// The entry of a mapping, or why there cannot be one. `replaced` is the entry that it changes.
    pub(super) fn checked(
        &self,
        cta: u8,
        mapping: &Mapping,
        pages: &dyn Pages,
        replaced: Option<u8>,
    ) -> Result<Entry, Why> {
        let chunk = u64::from(*self.config.chunk_bytes);
        for (parameter, found, bytes) in
            [("stashBase", mapping.stash_base, chunk), ("globalBase", mapping.global_base, WORD)]
        {
            if !found.is_multiple_of(bytes) {
                return Err(Why::Misaligned { parameter, found, bytes });
            }
        }
        let tile = Tile::new(mapping)?;
        let stash = u64::from(*self.config.bytes);
        let end = mapping.stash_base.checked_add(tile.stash_bytes()).ok_or(Why::Tile(TileError::TooLarge))?;
        if end > stash {
            return Err(Why::OutsideStash { end, stash });
        }
        mapping.global_base.checked_add(tile.global_bytes()).ok_or(Why::Tile(TileError::TooLarge))?;
        let entry = Entry {
            stash_base: mapping.stash_base,
            global_base: mapping.global_base,
            tile,
            coherent: mapping.is_coherent,
            cta: Some(cta),
            dirty_chunks: 0,
            reuse: None,
        };
        self.check_overlap(&entry, replaced)?;
        self.check_pages(&entry, pages, replaced)?;
        Ok(entry)
    }

    fn check_overlap(&self, entry: &Entry, replaced: Option<u8>) -> Result<(), Why> {
        let mine = self.chunks(entry);
        for (index, other) in self.map.valid() {
            let its = self.chunks(other);
            let overlap = mine.start < its.end && its.start < mine.end;
            if other.cta.is_some() && Some(index) != replaced && overlap {
                let start = other.stash_base;
                return Err(Why::Overlap { start, end: start + other.tile.stash_bytes() });
            }
        }
        Ok(())
    }

    fn check_pages(&self, entry: &Entry, pages: &dyn Pages, replaced: Option<u8>) -> Result<(), Why> {
        let bytes = u64::from(*self.config.page_bytes);
        let most = *self.config.vp_entries as usize;
        let (mut count, mut outside) = (0, None);
        entry.tile.pages(entry.global_base, bytes, |page| {
            count += 1;
            if outside.is_none() && pages.physical(page).is_none() {
                outside = Some((page * bytes).max(entry.global_base));
            }
        });
        if let Some(address) = outside {
            return Err(Why::OutsideMemory { address });
        }
        let cta = usize::from(entry.cta.expect("a mapping is added by a thread block"));
        for map in self.table.of(cta).iter().filter(|map| Some(**map) != replaced) {
            let other = self.entry(*map);
            other.tile.pages(other.global_base, bytes, |_| count += 1);
        }
        if count > most { Err(Why::TooManyPages { pages: count, most }) } else { Ok(()) }
    }

    /// Makes an entry invalid: writes back what is dirty. `false` until that is done, or while its thread block runs.
    fn retire(&mut self, map: u8, now: Cycle) -> bool {
        if let Some(entry) = self.map.get(map) {
            assert!(entry.cta.is_none(), "the entry of a running thread block stays");
            for chunk in 0..self.storage.chunks.len() {
                let is_its = self.storage.chunks[chunk].map == map;
                let holds = self.storage.chunks[chunk].dirty || self.storage.is_leaving(chunk);
                if is_its && holds && self.can_leave(chunk) {
                    self.write_back(chunk, Event::Evict, now);
                }
            }
        }
        // Without dirty data the entry is invalid already.
        let is_over = self.map.get(map).is_none() && !self.buffer.has(map);
        if is_over {
            self.drop_pages(map);
        }
        is_over
    }

    /// Removes from the VP-map the pages that only this entry needs.
    pub(super) fn drop_pages(&mut self, map: u8) {
        let Stash { map: stash_map, pages, config, .. } = self;
        for (other, entry) in stash_map.valid().filter(|(other, _)| *other != map) {
            let bytes = u64::from(*config.page_bytes);
            entry.tile.pages(entry.global_base, bytes, |page| pages.pass(page, map, other));
        }
        pages.remove(map);
    }

    /// Pages that only an entry needs which is about to map another tile.
    fn freed(&self, map: u8, new: &Entry) -> usize {
        let bytes = u64::from(*self.config.page_bytes);
        let needs = |entry: &Entry, page| {
            let mut found = false;
            entry.tile.pages(entry.global_base, bytes, |other| found |= other == page);
            found
        };
        let others = |page| self.map.valid().any(|(other, entry)| other != map && needs(entry, page));
        self.pages.of(map).filter(|page| !needs(new, *page) && !others(*page)).count()
    }

    /// Evicts entries, from the oldest on, until the VP-map has room for the pages of `entry`. `false` until it has. The
    /// pages of the entry that it replaces go with it.
    pub(super) fn make_pages(&mut self, entry: &Entry, replaced: Option<u8>, now: Cycle) -> bool {
        let bytes = u64::from(*self.config.page_bytes);
        let mut oldest = self.map.in_order();
        loop {
            let mut new = 0;
            entry.tile.pages(entry.global_base, bytes, |page| new += usize::from(!self.pages.has(page)));
            let freed = || replaced.map_or(0, |map| self.freed(map, entry));
            if new <= self.pages.free() || new <= self.pages.free() + freed() {
                return true;
            }
            let Some(map) = oldest.next() else { return false };
            let runs = self.map.get(map).is_some_and(|entry| entry.cta.is_some());
            if !runs && !self.retire(map, now) {
                return false;
            }
        }
    }

    /// Puts the translations of an entry's pages into the VP-map, which has room for them.
    pub(super) fn translate(&mut self, index: u8, pages: &dyn Pages) {
        let Stash { map, pages: vp_map, config, .. } = self;
        let entry = map.get(index).expect("the entry was added just now");
        entry.tile.pages(entry.global_base, u64::from(*config.page_bytes), |page| {
            let physical = pages.physical(page).expect("the pages were checked");
            vp_map.need((page, physical), index);
        });
    }

    /// The newest entry that maps the same addresses (4.5).
    pub(super) fn replicated(&self, entry: &Entry, but: Option<u8>) -> Option<u8> {
        let same = |(index, other): &(u8, &Entry)| Some(*index) != but && other.maps_the_same(entry);
        self.map.valid().filter(same).last().map(|(index, _)| index)
    }

    /// A non-coherent mapping that takes the place of a coherent one of the same addresses: the old one's data are written
    /// back and stay as copies (4.5). `false` while they cannot.
    fn keeps_replica(&mut self, entry: &Entry, old: u8, now: Cycle) -> bool {
        let other = *self.entry(old);
        if entry.coherent || !other.coherent || other.stash_base != entry.stash_base {
            return true;
        }
        let chunks = self.chunks(&other);
        if !chunks.clone().all(|chunk| self.can_leave(chunk)) {
            return false;
        }
        for chunk in chunks {
            if self.storage.chunks[chunk].map == old && self.storage.is_leaving(chunk) {
                self.write_back(chunk, Event::Clean, now);
            }
        }
        true
    }
}
