//! A slice of the partition, between the network and DRAM.

use strata_engine::{Cycle, Inlet, Outlet};

use super::statistics::PartitionStatistics;
use crate::address_map::{AddressMap, Home};
use crate::doors::Llc;
use crate::dram::Port;
use crate::flit::FlitSize;
use crate::memory_cache::MemoryCache;
use crate::packet::Packet;

/// A slice with its links to the network.
pub struct SliceEnds {
    /// The LLC slice itself.
    pub llc: Box<dyn Llc>,
    /// A further cache between the slice and the channel, in machines that have one.
    pub cache: Option<Box<MemoryCache>>,
    /// Link from the request network.
    pub requests: Inlet<Packet>,
    /// Link to the reply network.
    pub replies: Outlet<Packet>,
    /// Link from the network of owners; `None` in machines whose words have no owners.
    pub owners: Option<Inlet<Packet>>,
}

/// A slice of the partition.
pub(super) struct Slice {
    pub number: u16,
    pub ends: SliceEnds,
    /// Earliest cycle at which the slice has work of its own or an answer of DRAM.
    pub due: Cycle,
    /// Earliest cycle at which a reply may leave, as far as is known.
    pub reply_due: Cycle,
    /// Earliest cycle at which it has either or a request to look at.
    pub next: Cycle,
    /// The request that the slice refused.
    pub held: Option<Held>,
    /// Since when a reply has been waiting for the network.
    pub reply_stalled: Option<Cycle>,
}

/// A request that a slice refused.
pub(super) struct Held {
    pub request: Packet,
    /// The cycle of its first refusal, and that of the last that is counted.
    pub since: Cycle,
    pub refused: Cycle,
}

impl Slice {
    /// Earliest cycle, not before `now`, in which the slice or the cache behind it does something by itself.
    #[inline]
    pub fn next_of_memory(&self, now: Cycle) -> Cycle {
        let next = self.ends.llc.next_event(now);
        match &self.ends.cache {
            Some(cache) if cache.has_answer() => now,
            Some(cache) => next.min(cache.next_event(now)),
            None => next,
        }
    }

    /// Has an answer of DRAM or room there from cycle `next` on.
    #[inline]
    pub fn expect_answer(&mut self, next: Cycle) {
        self.due = self.due.min(next);
        self.next = self.next.min(next);
    }

    /// Performs the cycle of the slice itself.
    #[inline]
    pub fn tick(&mut self, dram: &mut Port<'_>, now: Cycle) {
        match &mut self.ends.cache {
            Some(cache) => {
                cache.tick(dram, now);
                self.ends.llc.tick(&mut **cache, now);
            }
            None => self.ends.llc.tick(dram, now),
        }
        // A reply that has been waiting for the network leaves before any other.
        if self.reply_stalled.is_none() {
            self.reply_due = self.ends.llc.next_outgoing();
        }
    }

    /// Completes the counters for all cycles before `end`.
    pub fn settle(&mut self, dram: &mut Port<'_>, end: Cycle) {
        let SliceEnds { llc, cache, .. } = &mut self.ends;
        if let Some(held) = &mut self.held {
            held.count_refusals(&mut **llc, end);
        }
        match cache {
            Some(cache) => llc.settle(&mut **cache, end),
            None => llc.settle(dram, end),
        }
    }

    /// Sends the next reply if the network has room for it.
    #[inline]
    pub fn reply(
        &mut self,
        map: &AddressMap,
        flit_size: FlitSize,
        statistics: &mut PartitionStatistics,
        now: Cycle,
    ) {
        let bytes = self.ends.llc.outgoing_bytes(now).expect("a slice has the reply that it has announced");
        let flits = flit_size.flits(bytes);
        if !self.ends.replies.has_credit(flits, now) {
            self.reply_stalled.get_or_insert(now);
            self.reply_due = self.ends.replies.next_credit();
            return;
        }
        if let Some(since) = self.reply_stalled.take() {
            statistics.reply_stall_cycles += now - since;
        }
        let mut reply = self.ends.llc.outgoing(now).expect("a slice sends the reply that it has announced");
        reply.line = map.device_line(Home { slice: self.number, line: reply.line });
        self.ends.replies.send(reply, flits, now).expect("credit was looked at");
        self.reply_due = self.ends.llc.next_outgoing();
        statistics.replies += 1;
    }

    /// Takes what owners have said.
    #[inline(never)]
    pub fn hear_owners(&mut self, map: &AddressMap, flit_size: FlitSize, now: Cycle) {
        let Some(owners) = &mut self.ends.owners else { return };
        while let Some(mut packet) = owners.receive(now) {
            owners.release(flit_size.flits(packet.wire_bytes()), now);
            let home = map.home(packet.line);
            assert_eq!(home.slice, self.number, "an owner speaks to the slice that owns the line");
            packet.line = home.line;
            self.ends.llc.accept(packet, now);
            self.due = now;
        }
    }

    /// Offers the slice the request that it refused, or the next that has arrived. Returns the cycle in which there is something
    /// to take in again. A request that is refused is offered when the slice has room, which it gets only in its own cycles.
    #[inline]
    pub fn take_in(
        &mut self,
        map: &AddressMap,
        flit_size: FlitSize,
        statistics: &mut PartitionStatistics,
        now: Cycle,
    ) -> Cycle {
        if self.held.is_some() {
            if self.ends.llc.has_room() {
                self.offer_again(flit_size, statistics, now);
            }
        } else if self.ends.requests.next_arrival() <= now {
            self.intake(map, flit_size, statistics, now);
        }
        let next = match &self.held {
            None => self.ends.requests.next_arrival(),
            Some(_) if self.ends.llc.has_room() => now.next(),
            Some(_) => Cycle::NEVER,
        };
        match &self.ends.owners {
            Some(owners) => next.min(owners.next_arrival()),
            None => next,
        }
    }

    /// Offers the next request that has arrived to the slice.
    #[inline]
    fn intake(
        &mut self,
        map: &AddressMap,
        flit_size: FlitSize,
        statistics: &mut PartitionStatistics,
        now: Cycle,
    ) {
        let Some(mut request) = self.ends.requests.receive(now) else { return };
        let home = map.home(request.line);
        assert_eq!(home.slice, self.number, "a request comes to the slice that owns its line");
        request.line = home.line;
        let flits = flit_size.flits(request.wire_bytes());
        match self.ends.llc.offer(request, now) {
            Ok(()) => {
                self.ends.requests.release(flits, now);
                statistics.requests += 1;
            }
            Err(request) => {
                statistics.held_requests += 1;
                self.held = Some(Held { request, since: now, refused: now });
            }
        }
    }

    /// Offers the request that the slice refused.
    #[inline(never)]
    fn offer_again(&mut self, flit_size: FlitSize, statistics: &mut PartitionStatistics, now: Cycle) {
        let Some(mut held) = self.held.take() else { return };
        held.count_refusals(&mut *self.ends.llc, now);
        let Held { request, since, .. } = held;
        let flits = flit_size.flits(request.wire_bytes());
        match self.ends.llc.offer(request, now) {
            Ok(()) => {
                self.ends.requests.release(flits, now);
                statistics.requests += 1;
                statistics.held_cycles += now - since;
            }
            Err(request) => self.held = Some(Held { request, since, refused: now }),
        }
    }
}

impl Held {
    /// Has the slice count its refusals in the cycles before `end` in which it was not offered.
    pub fn count_refusals(&mut self, llc: &mut dyn Llc, end: Cycle) {
        let cycles = end.since(self.refused.next());
        llc.count_refusals(cycles);
        self.refused += cycles;
    }
}
