//! Starting accesses: ports, waiting in an MSHR, and what is counted.

use strata_engine::Cycle;
use strata_memory::ByteMask;
use strata_memory::doors::{Access, Action, Completion, Refusal};
use strata_memory::mshr::MshrId;
use strata_memory::tags::FrameId;

use super::{Chassis, Fetch, Store};

/// Which accesses started in the current cycle.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Port {
    cycle: Cycle,
    used: u32,
    /// Bit n: bank n was used.
    banks: u64,
}

/// What an access found, for the count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// All that it needed.
    Hit,
    /// No line.
    Miss,
    /// Its line, but not all its bytes.
    Partial,
    /// A fetch of its line under way.
    Merge,
    /// It goes past the cache.
    Past,
}

impl<S: Store> Chassis<S> {
    /// Whether an access can start in this cycle: no flush is under way, a port and the line's bank are free, and a hit
    /// would find room among the completions.
    ///
    /// # Errors
    /// What stands in the way.
    #[inline]
    pub fn port_is_free(&mut self, access: &Access, now: Cycle) -> Result<(), Refusal> {
        if self.flush.is_some() {
            return Err(Refusal::Flush);
        }
        if self.port.cycle != now {
            self.port = Port { cycle: now, used: 0, banks: 0 };
        }
        if self.port.used == self.parameters.accesses_per_cycle || self.hits.is_full() {
            return Err(Refusal::Port);
        }
        if self.port.banks >> self.bank(access) & 1 == 1 {
            return Err(Refusal::Bank);
        }
        Ok(())
    }

    /// Takes a port and the line's bank for an access that starts in this cycle.
    #[inline]
    pub fn use_port(&mut self, access: &Access) {
        self.port.used += 1;
        self.port.banks |= 1 << self.bank(access);
    }

    #[inline]
    fn bank(&self, access: &Access) -> u64 {
        access.line.0 % self.parameters.banks
    }

    /// What is fetched on behalf of an access that finds its line's `frame` waiting for `mshr`, to be handed to
    /// [`Chassis::merge`]. Nothing is fetched ahead of an access past the cache.
    ///
    /// # Errors
    /// Why it cannot wait there: the MSHR is full, or a request finds no room.
    pub fn route_merge(
        &self,
        access: &Access,
        mshr: MshrId,
        frame: FrameId,
    ) -> Result<(MshrId, ByteMask), Refusal> {
        if !self.mshrs.can_merge(mshr) {
            return Err(Refusal::Merge);
        }
        let fetch = self.mshrs.state(mshr);
        if fetch.barriers > 0 || self.goes_past(access) {
            return Ok((mshr, ByteMask::NONE));
        }
        let early = self.wanted(access, self.store.valid(frame) | fetch.requested);
        if !early.is_empty() && !self.network_room_for_new(1) {
            return Err(Refusal::Network);
        }
        Ok((mshr, early))
    }

    /// Whether `packets` of a new access fit into the queue to the network. An access in an MSHR that waits for room there
    /// goes first.
    pub fn network_room_for_new(&self, packets: usize) -> bool {
        packets == 0 || !self.replay_stalled && self.network_room(packets)
    }

    /// Whether `writes` of a new access can be sent: packets with a tray each. An access in an MSHR that waits for room
    /// goes first.
    pub fn write_room_for_new(&self, writes: usize) -> bool {
        writes == 0 || !self.replay_stalled && self.write_room(writes)
    }

    /// Lets an access that was performed at once complete at `done`. [`Chassis::port_is_free`] kept its room.
    pub fn complete_hit(&mut self, completion: Completion, done: Cycle) {
        self.hits.push(done, completion).expect("room in the pipeline was checked");
    }

    /// Takes an MSHR for the access, pins the frame and fetches the bytes `wanted`. An MSHR must be free, and the queue
    /// to the network must have room for a packet.
    pub fn wait_for(&mut self, access: Access, frame: FrameId, wanted: ByteMask, now: Cycle) {
        let mshr = self.mshrs.allocate(access.line).expect("a free MSHR was checked");
        *self.mshrs.state_mut(mshr) = Fetch { frame, ..Fetch::default() };
        self.store.pin(frame, mshr);
        self.send_fetch(mshr, wanted, now);
        self.mshrs.push(mshr, access).expect("an MSHR holds its first access");
    }

    /// Lets the access wait in an MSHR; `early` is fetched on its behalf.
    pub fn merge(&mut self, access: Access, mshr: MshrId, early: ByteMask, now: Cycle) {
        if self.goes_past(&access) {
            self.mshrs.state_mut(mshr).barriers += 1;
        }
        if !early.is_empty() {
            self.send_fetch(mshr, early, now);
        }
        self.mshrs.push(mshr, access).expect("room in the MSHR was checked");
        if self.mshrs.waiting(mshr) == 1 {
            self.make_ready(mshr);
        }
    }

    /// Counts an access that was taken. One that was asked to go past the cache is counted apart; one that the
    /// design sends there by itself is a miss.
    pub fn count(&mut self, access: &Access, found: Found) {
        let past = self.goes_past(access);
        let statistics = &mut self.statistics;
        statistics.accesses += 1;
        statistics.tag_reads += 1;
        let (total, [hits, misses, partial, merges]) = match access.action {
            Action::Atomic(_) => {
                statistics.atomics += 1;
                statistics.bypass_merges += u64::from(found == Found::Merge);
                return;
            }
            Action::Load(_) | Action::Store(_) if past => {
                statistics.bypass_merges += u64::from(found == Found::Merge);
                match access.action {
                    Action::Load(_) => statistics.bypass_loads += 1,
                    _ => statistics.bypass_stores += 1,
                }
                return;
            }
            Action::Load(_) => (
                &mut statistics.loads,
                [
                    &mut statistics.load_hits,
                    &mut statistics.load_misses,
                    &mut statistics.load_partial_hits,
                    &mut statistics.load_merges,
                ],
            ),
            Action::Store(_) => (
                &mut statistics.stores,
                [
                    &mut statistics.store_hits,
                    &mut statistics.store_misses,
                    &mut statistics.store_partial_hits,
                    &mut statistics.store_merges,
                ],
            ),
        };
        *total += 1;
        *match found {
            Found::Hit => hits,
            Found::Miss | Found::Past => misses,
            Found::Partial => partial,
            Found::Merge => merges,
        } += 1;
    }
}
