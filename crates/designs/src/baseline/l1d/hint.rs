//! Lines that the program wishes for.

use strata_engine::Cycle;
use strata_memory::doors::{Hint, Hinted, Refusal};
use strata_memory::prefetch::Prefetching;
use strata_memory::{Touch, TouchKind};

use super::store::SramStore;
use crate::chassis::Chassis;

impl Chassis<SramStore> {
    /// Looks up the line of a hint, by a port as an access would, and fetches what is not here of the bytes that it wishes for.
    /// With no MSHR or way for it the hint is dropped; it waits for the network.
    ///
    /// # Errors
    /// Returns what the hint has to wait for.
    pub(super) fn hint(&mut self, hint: &Hint, now: Cycle) -> Result<Hinted, Refusal> {
        let line = hint.line;
        self.port_is_free_for(line, now)?;
        let here = self.cache.store.sets.find(line).or_else(|| self.buffered(line));
        let is_coming = here.is_some_and(|frame| self.cache.frames().pinned(frame).is_some());
        let missing = match here {
            Some(frame) => hint.bytes & !self.cache.frames().valid(frame),
            None => hint.bytes,
        };
        let bytes = missing.to_sectors(self.parameters.sector_bytes);
        let is_redundant = is_coming || missing.is_empty();
        let may_fetch = !is_redundant && self.has_mshr();
        // Room for a dirty victim is required in any case: a victim that is chosen is taken.
        if may_fetch && !(self.network_room_for_new(2) && self.write_room_for_new(1)) {
            return Err(Refusal::Network);
        }
        self.use_port_for(line);
        self.statistics.tag_reads += 1;
        if is_redundant {
            self.account().skip_hint();
            return Ok(Hinted::Taken);
        }
        let touch = Touch { line, origin: hint.origin, node: self.node, kind: TouchKind::Prefetch };
        let in_buffer = self.cache.store.is_fetched_outside(|| touch);
        let takes_way = may_fetch && here.is_none() && !in_buffer;
        let victim = if takes_way { self.cache.store.sets.victim(line) } else { None };
        if !may_fetch || takes_way && victim.is_none() {
            self.account().drop_hint();
            return Ok(Hinted::Dropped);
        }
        let displaced = victim.and_then(|frame| self.cache.frames().line(frame));
        let frame = match here {
            Some(frame) => frame,
            None => self.make_room(&touch, victim, now),
        };
        let mshr = self.cache.allocate(line, frame);
        self.send_fetch(mshr, bytes, hint.origin, now);
        self.account().take_hint(frame, displaced);
        Ok(Hinted::Taken)
    }

    /// The account of prefetches. Without a policy there is none before the first hint.
    fn account(&mut self) -> &mut Prefetching {
        let frames = self.cache.frames().count();
        self.prefetching.get_or_insert_with(|| Box::new(Prefetching::of_program(frames)))
    }
}
