//! ChgMap: new addresses, or another mode for the same ones (4.2).

use strata_engine::Cycle;

use super::error::{MappingError, Place, Why};
use super::port::{MappingRefusal, Pages, Refusal};
use super::stash_map::Entry;
use super::storage::Bits;
use super::unit::Stash;
use crate::denovo::{Action, Event, transition};
use strata_memory::tile::Mapping;

impl Stash {
    /// Changes the mapping that a CTA has at `index` of its row of the map index table.
    ///
    /// # Errors
    /// `Busy` while its words have something under way, or the VP-map is full; `Wrong` for a mapping that cannot be.
    pub fn change_map(
        &mut self,
        (cta, index): (u8, u8),
        mapping: &Mapping,
        pages: &dyn Pages,
        place: &Place,
        now: Cycle,
    ) -> Result<(), MappingRefusal> {
        self.outbox.begin();
        let wrong = |why| Refusal::Wrong(MappingError { place: place.clone(), why });
        let row = self.table.of(cta.into());
        let none = Why::NoSuchMap { index: index.into(), maps: row.len() };
        let map = *row.get(usize::from(index)).ok_or(wrong(none))?;
        let new = self.checked(cta, mapping, pages, Some(map)).map_err(wrong)?;
        let old = *self.entry(map);
        let is_same = old.stash_base == new.stash_base && old.maps_the_same(&new);
        let ready = self.chunks(&old).all(|chunk| self.can_leave(chunk))
            && if is_same {
                old.coherent || self.can_publish(map, &old)
            } else {
                self.make_pages(&new, Some(map), now)
            };
        if !ready {
            self.statistics.map_stalls += 1;
            return Err(Refusal::Busy);
        }
        if !is_same {
            self.remap(map, &old, new, now);
            self.drop_pages(map);
            self.translate(map, pages);
        } else if old.coherent && !new.coherent {
            self.hide(map, &old, now);
        } else if !old.coherent && new.coherent {
            self.publish(map, &old, now);
        }
        self.statistics.maps_changed += 1;
        Ok(())
    }

    /// New addresses: what is dirty under the old ones is written back, and nothing stays.
    fn remap(&mut self, map: u8, old: &Entry, new: Entry, now: Cycle) {
        for chunk in self.chunks(old) {
            if self.storage.chunks[chunk].dirty || self.storage.is_leaving(chunk) {
                self.write_back(chunk, Event::Evict, now);
            }
        }
        for word in old.words() {
            self.storage.bits[word] = Bits::Invalid;
        }
        self.map.forget(map);
        let reuse = self.replicated(&new, Some(map));
        *self.map.get_mut(map).expect("the mapping of a running thread block is valid") =
            Entry { reuse, ..new };
    }

    /// Coherent to non-coherent: others see what was written so far, and copies stay.
    fn hide(&mut self, map: u8, old: &Entry, now: Cycle) {
        for chunk in self.chunks(old) {
            let adopted = self.storage.is_leaving(chunk) && self.adopts(Some(map), chunk);
            if self.storage.chunks[chunk].dirty || adopted {
                self.write_back(chunk, Event::Clean, now);
            }
        }
        self.map.get_mut(map).expect("the mapping of a running thread block is valid").coherent = false;
    }

    /// Non-coherent to coherent: what was written is registered.
    fn publish(&mut self, map: u8, old: &Entry, now: Cycle) {
        self.map.get_mut(map).expect("the mapping of a running thread block is valid").coherent = true;
        for word in old.words() {
            if self.storage.bits[word] == Bits::Registered {
                self.claim(map, word, now);
            }
        }
    }

    fn can_publish(&mut self, map: u8, old: &Entry) -> bool {
        old.words().all(|word| {
            let address = self.physical(map, word);
            let (state, flight) = self.protocol(map, word, address);
            !matches!(transition(state, flight, Event::Store), None | Some((_, _, Action::Wait)))
        })
    }
}
