//! Starting accesses: ports, waiting in an MSHR, and counting.

use strata_engine::Cycle;
use strata_memory::cache::FrameId;
use strata_memory::doors::{Access, Completion, Refusal};
use strata_memory::mshr::MshrId;
use strata_memory::{ByteMask, LineAddress};

use super::{Chassis, Store};

/// The accesses that started in the current cycle.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Port {
    cycle: Cycle,
    used: u32,
    /// Bit n: bank n was used.
    banks: u64,
}

/// What an access found in the cache, for the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// It found all bytes that it needed.
    Hit,
    /// It did not find its line.
    Miss,
    /// It found its line, but not all its bytes.
    Partial,
    /// It found a fetch of its line in flight.
    Merge,
    /// It goes past the cache.
    Past,
}

impl<S: Store> Chassis<S> {
    /// Checks that an access can start in this cycle: no flush is in progress, a port and the line's bank are
    /// free, and there is room for the completion of a hit.
    ///
    /// # Errors
    /// Returns what prevents it.
    #[inline]
    pub fn port_is_free(&mut self, access: &Access, now: Cycle) -> Result<(), Refusal> {
        self.port_is_free_for(access.line, now)
    }

    /// As [`Chassis::port_is_free`], for what names a line and may be no access.
    ///
    /// # Errors
    /// Returns what prevents it.
    #[inline]
    pub fn port_is_free_for(&mut self, line: LineAddress, now: Cycle) -> Result<(), Refusal> {
        if self.flush.is_some() {
            return Err(Refusal::Flush);
        }
        if self.port.cycle != now {
            self.port = Port { cycle: now, used: 0, banks: 0 };
        }
        if self.port.used == self.parameters.accesses_per_cycle || self.hits.is_full() {
            return Err(Refusal::Port);
        }
        if self.port.banks >> self.bank(line) & 1 == 1 {
            return Err(Refusal::Bank);
        }
        Ok(())
    }

    /// Whether another access could have started in the cycle before this one, in which none has started yet.
    #[inline]
    pub fn port_was_free(&self, now: Cycle) -> bool {
        self.port.cycle.next() < now || self.port.used < self.parameters.accesses_per_cycle
    }

    /// Accesses that can start in a cycle.
    pub fn accesses_per_cycle(&self) -> u32 {
        self.parameters.accesses_per_cycle
    }

    /// Takes a port and the line's bank for an access that starts in this cycle.
    #[inline]
    pub fn use_port(&mut self, access: &Access) {
        self.use_port_for(access.line);
    }

    /// As [`Chassis::use_port`], for what names a line and may be no access.
    #[inline]
    pub fn use_port_for(&mut self, line: LineAddress) {
        self.port.used += 1;
        self.port.banks |= 1 << self.bank(line);
    }

    #[inline]
    fn bank(&self, line: LineAddress) -> u64 {
        match self.bank_mask {
            Some(mask) => line.0 & mask,
            None => line.0 % self.parameters.banks,
        }
    }

    /// The bytes to fetch for an access whose line's `frame` is waiting for `mshr`; pass them to
    /// [`Chassis::merge`]. Nothing is fetched ahead of an access that goes past the cache.
    ///
    /// # Errors
    /// Returns why it cannot wait there: the MSHR is full, or there is no room for a request.
    pub fn route_merge(
        &self,
        access: &Access,
        mshr: MshrId,
        frame: FrameId,
    ) -> Result<(MshrId, ByteMask), Refusal> {
        if !self.cache.mshrs.can_merge(mshr) {
            return Err(Refusal::Merge);
        }
        let fetch = self.cache.mshrs.state(mshr);
        if fetch.rest > 0 || self.goes_past(access) {
            return Ok((mshr, ByteMask::NONE));
        }
        let early = self.wanted(access, self.cache.frames().valid(frame) | fetch.requested);
        if !early.is_empty() && !self.network_room_for_new(1) {
            return Err(Refusal::Network);
        }
        Ok((mshr, early))
    }

    /// Whether the queue to the network has room for `packets` packets of a new access. An access in an MSHR
    /// that waits for such room goes first.
    pub fn network_room_for_new(&self, packets: usize) -> bool {
        packets == 0 || !self.replay_stalled && self.network_room(packets)
    }

    /// Whether a new access can send `writes` writes, each a packet with a tray. An access in an MSHR that
    /// waits for such room goes first.
    pub fn write_room_for_new(&self, writes: usize) -> bool {
        writes == 0 || !self.replay_stalled && self.write_room(writes)
    }

    /// Completes an access that hit, at cycle `done`. [`Chassis::port_is_free`] has checked for room.
    pub fn complete_hit(&mut self, completion: Completion, done: Cycle) {
        self.hits.push(done, completion).expect("room in the pipeline was checked");
    }

    /// Allocates an MSHR for the access, pins the frame and fetches the bytes `wanted`. An MSHR must be free,
    /// and the queue to the network must have room for a packet.
    pub fn wait_for(&mut self, access: Access, frame: FrameId, wanted: ByteMask, now: Cycle) {
        let (line, origin) = (access.line, access.origin());
        let (mshr, tray) = self.cache.miss(line, frame, wanted, access);
        self.send_read(line, wanted, mshr, (origin, tray), now);
    }

    /// Adds the access to an MSHR, and fetches the bytes `early` for it.
    pub fn merge(&mut self, access: Access, mshr: MshrId, early: ByteMask, now: Cycle) {
        if self.goes_past(&access) {
            self.cache.mshrs.state_mut(mshr).rest += 1;
        }
        if !early.is_empty() {
            self.send_fetch(mshr, early, access.origin(), now);
        }
        self.cache.join(mshr, access);
    }

    /// Counts an accepted access. An access that asked to bypass the cache is counted separately; one that
    /// the design sends past the cache by itself counts as a miss.
    #[inline]
    pub fn count(&mut self, access: &Access, found: Found) {
        let past = self.goes_past(access);
        self.statistics.count(access, past, found);
    }
}
