#![doc = include_str!("guide.md")]

mod bypass;
mod config;
mod flush;
pub mod llc;
mod merge;
mod network_side;
mod news;
mod parameters;
mod replay;
mod statistics;

use strata_engine::seed::Stream;
use strata_engine::{Cycle, DelayLine, Ring, Slab};
use strata_memory::cache::{Cache, Capacity, FrameId};
use strata_memory::doors::{Access, Action, Completion, Policy, Refusal};
use strata_memory::prefetch::Prefetching;
use strata_memory::{ByteMask, LINE_BYTES, NodeId, Packet, Packets, SliceMap};

pub use config::l1d_config;
use flush::Flush;
pub use merge::Found;
use merge::Port;
use news::News;
pub(crate) use parameters::check_policies;
pub use parameters::{Parameters, Rooms, WriteMissPolicy, check};
pub use statistics::L1dStatistics;
pub use strata_memory::cache::{ArrayUse, Home, Store};

/// The parts of an L1D that surround its store of lines.
pub struct Chassis<S> {
    /// Latencies, widths and policies.
    pub parameters: Parameters,
    /// Mask of a line's bank, if the banks are a power of two: a division is slow.
    bank_mask: Option<u64>,
    /// Network node from which its requests come.
    pub node: NodeId,
    slices: SliceMap,
    /// The frames and the lines in them, and those that are fetched. Of a fetch it knows how many of the accesses that wait go past
    /// the cache: nothing may be fetched ahead of them.
    pub cache: Cache<Access, S, u16>,
    /// Tokens of the atomics and bypassing loads in flight.
    bypasses: Slab<u32>,
    /// Replies with bytes that have not been processed.
    arrived: Ring<Packet>,
    pub(crate) hits: DelayLine<Completion>,
    served: DelayLine<Completion>,
    outgoing: DelayLine<Packet>,
    packets: Packets,
    reads_in_flight: usize,
    writes_in_flight: usize,
    /// Hints sent to the last-level cache that it has not looked at.
    hints_in_flight: usize,
    /// Whether an access in an MSHR waits for room in the queue to the network; it goes ahead of new
    /// accesses.
    replay_stalled: bool,
    flush: Option<Flush>,
    /// What it fetches before it is asked for, in designs that have a place for that.
    pub prefetching: Option<Box<Prefetching>>,
    news: News,
    port: Port,
    /// Counts for [`strata_memory::doors::L1d::changes`]: MSHRs and bypass entries freed; steps of accesses
    /// that waited in an MSHR; packets sent or received.
    freed: u64,
    served_count: u64,
    moved: u64,
    /// Counters of the group `l1d`. A design counts its evictions, tag writes and refusals here itself.
    pub statistics: L1dStatistics,
}

impl<S: Store> Chassis<S> {
    /// Makes the parts around a store, at network node `node`. The caller has [checked](check) the
    /// parameters.
    pub fn new(parameters: Parameters, rooms: Rooms, node: NodeId, slices: SliceMap, store: S) -> Chassis<S> {
        let fetches = rooms.mshr_entries * (LINE_BYTES / parameters.sector_bytes);
        let capacity = Capacity {
            mshr_entries: rooms.mshr_entries,
            mshr_merges: rooms.mshr_merges,
            sector_bytes: parameters.sector_bytes,
            writes: rooms.write_buffer,
        };
        Chassis {
            parameters,
            bank_mask: parameters.banks.is_power_of_two().then(|| parameters.banks - 1),
            node,
            slices,
            cache: Cache::new(store, capacity),
            bypasses: Slab::new(rooms.bypass_entries),
            arrived: Ring::new(fetches + rooms.bypass_entries),
            hits: DelayLine::new(rooms.hits),
            served: DelayLine::new(parameters.fill_latency as usize + 2),
            outgoing: DelayLine::new(parameters.miss_queue),
            packets: Packets::default(),
            reads_in_flight: 0,
            writes_in_flight: 0,
            hints_in_flight: 0,
            replay_stalled: false,
            flush: None,
            prefetching: None,
            news: None,
            port: Port::default(),
            freed: 0,
            served_count: 0,
            moved: 0,
            statistics: L1dStatistics::default(),
        }
    }

    /// The random stream of an L1D, by its node.
    pub fn stream(node: NodeId, seed: u64) -> Stream {
        Stream::new(seed, &format!("l1d {}", node.0))
    }

    /// Whether an MSHR is free for another line.
    #[inline]
    pub fn has_mshr(&self) -> bool {
        !self.cache.mshrs.is_full()
    }

    /// Whether the access goes past the cache. An atomic always does; others do if they ask for it and the
    /// parameters honour that.
    #[inline]
    pub fn goes_past(&self, access: &Access) -> bool {
        matches!(access.action, Action::Atomic(_))
            || access.policy == Policy::Bypass && self.parameters.honours_bypass
    }

    /// Bytes, in whole sectors, that must be fetched before a cached access can be performed on a line with
    /// the bytes `valid`.
    #[inline]
    pub fn wanted(&self, access: &Access, valid: ByteMask) -> ByteMask {
        match access.action {
            Action::Load(_) if !valid.covers(access.bytes) => self.sectors(access.bytes & !valid),
            Action::Store(_) if self.parameters.miss_policy == WriteMissPolicy::Fetch => {
                let rest = self.sectors(access.bytes) & !access.bytes;
                self.sectors(self.sectors(rest) & !access.bytes & !valid)
            }
            _ => ByteMask::NONE,
        }
    }

    /// The sectors of some bytes. Out of line, because most accesses find all their bytes.
    #[inline(never)]
    fn sectors(&self, bytes: ByteMask) -> ByteMask {
        bytes.to_sectors(self.parameters.sector_bytes)
    }

    /// Performs a cached access on a frame that has the bytes it needs. A store that is written through also
    /// needs room for a write.
    #[inline(always)]
    pub fn perform(&mut self, access: Access, frame: FrameId, now: Cycle) -> Completion {
        let origin = access.origin();
        let data = self.cache.frames_mut().data_mut(frame);
        let action = match access.action {
            Action::Load(mut tray) => {
                tray.0 = data.0;
                self.statistics.data_reads += 1;
                Action::Load(tray)
            }
            Action::Store(tray) => {
                data.merge(access.bytes, &tray);
                self.statistics.data_writes += 1;
                if self.parameters.write_back {
                    self.cache.frames_mut().add_dirty(frame, access.bytes);
                    Action::Store(tray)
                } else {
                    self.cache.frames_mut().add_valid(frame, access.bytes);
                    Action::Store(self.send_through(access.line, access.bytes, tray, origin, now))
                }
            }
            Action::Atomic(_) => unreachable!("atomics are performed where the line lives"),
        };
        Completion { token: access.token, action }
    }
}

/// The methods of [`L1d`](strata_memory::doors::L1d) that are the same for all designs.
impl<S: Store> Chassis<S> {
    /// [`L1d::changes`](strata_memory::doors::L1d::changes) for refusals by the chassis.
    #[inline]
    pub fn changes(&self, cause: Refusal, now: Cycle) -> u64 {
        match cause {
            Refusal::Mshr | Refusal::Ways => self.freed,
            Refusal::Merge => self.served_count,
            Refusal::Network => self.moved + self.served_count,
            Refusal::Port | Refusal::Bank | Refusal::Flush => now.0,
        }
    }

    /// Takes a reply from the network. An acknowledgement frees its tray immediately; [`Chassis::fill`]
    /// processes all other replies later.
    pub fn accept(&mut self, reply: Packet) {
        self.moved += 1;
        self.receive(reply);
    }

    /// Whether a tick of the chassis would do nothing.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        !self.cache.has_ready() && !self.has_wish() && self.arrived.is_empty() && self.flush.is_none()
    }

    /// One cycle of an L1D whose internal work is all the chassis's: replay, a fill, a flush. In most cycles, none of them.
    #[inline]
    pub fn step(&mut self, now: Cycle) {
        if self.cache.has_ready() {
            self.replay(now);
        }
        if !self.arrived.is_empty() {
            self.fill(now);
        }
        if self.flush.is_some() {
            self.flush_step(now);
        }
    }

    /// Takes the next access whose completion is due; accesses that waited for a fill go first.
    #[inline]
    pub fn completed(&mut self, now: Cycle) -> Option<Completion> {
        if self.served.next_ready() <= now { self.served.pop(now) } else { self.hits.pop(now) }
    }

    /// Takes the next packet for the network that is due.
    #[inline]
    pub fn take_outgoing(&mut self, now: Cycle) -> Option<Packet> {
        self.moved += 1;
        self.outgoing.pop(now)
    }

    /// The size on the wire of the packet that [`Chassis::take_outgoing`] would return, in bytes.
    #[inline]
    pub fn outgoing_bytes(&self, now: Cycle) -> Option<u32> {
        self.outgoing.front(now).map(|packet| packet.wire_bytes())
    }

    /// Whether a flush is in progress.
    #[inline]
    pub fn is_flushing(&self) -> bool {
        self.flush.is_some()
    }

    /// Whether no flush is in progress and every write sent has been acknowledged.
    pub fn is_flushed(&self) -> bool {
        self.flush.is_none() && self.writes_in_flight == 0
    }

    /// Number of requests of any kind that await their replies.
    pub fn outstanding(&self) -> usize {
        self.reads_in_flight + self.writes_in_flight + self.hints_in_flight
    }

    /// The earliest cycle in which a completion can be taken or a packet can leave.
    #[inline]
    pub fn next_departure(&self) -> Cycle {
        self.hits.next_ready().min(self.served.next_ready()).min(self.outgoing.next_ready())
    }

    /// The earliest cycle, not before `now`, in which replay, a fill, a flush, a completion or a packet could
    /// be due.
    #[inline]
    pub fn next_event(&self, now: Cycle) -> Cycle {
        if self.flush_can_go_on() {
            return now;
        }
        self.next_event_without_flush(now)
    }

    /// Like [`Chassis::next_event`], while a flush waits for work of the design itself.
    #[inline]
    pub fn next_event_without_flush(&self, now: Cycle) -> Cycle {
        if self.cache.has_ready() || self.has_wish() {
            return now;
        }
        self.next_departure().min(self.next_fill()).max(now)
    }

    /// Whether a line is wished for before it is asked for.
    #[inline]
    fn has_wish(&self) -> bool {
        self.prefetching.as_ref().is_some_and(|prefetching| prefetching.wish().is_some())
    }

    /// Appends to `report` one sentence for each thing that the chassis waits for.
    pub fn waits(&self, report: &mut Vec<String>) {
        let node = self.node.0;
        for (mshr, line) in self.cache.mshrs.iter() {
            let fetch = self.cache.mshrs.state(mshr);
            let (accesses, requests) = (self.cache.mshrs.waiting(mshr), fetch.in_flight);
            report.push(format!(
                "L1D {node}: {accesses} accesses wait for line {line}, {requests} requests under way"
            ));
        }
        if !self.bypasses.is_empty() {
            let count = self.bypasses.len();
            report.push(format!("L1D {node}: {count} atomics and bypassing loads wait for their replies"));
        }
        if self.writes_in_flight > 0 {
            report.push(format!("L1D {node}: {} writes are not acknowledged", self.writes_in_flight));
        }
        if self.hints_in_flight > 0 {
            report.push(format!("L1D {node}: {} hints are not acknowledged", self.hints_in_flight));
        }
        if !self.outgoing.is_empty() {
            report.push(format!("L1D {node}: {} packets wait for the network", self.outgoing.len()));
        }
        if self.flush.is_some() {
            report.push(format!("L1D {node}: a flush is under way"));
        }
    }
}
