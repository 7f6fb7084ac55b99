//! The L1D's parts, and its door.

use strata_engine::seed::Stream;
use strata_engine::statistics::{Group, Statistics};
use strata_engine::{Cycle, DelayLine, Ring, Slab};
use strata_memory::doors::{Access, Action, Completion, L1d, Policy, Refusal};
use strata_memory::mshr::{MshrFile, MshrId};
use strata_memory::tags::{FrameId, TagArray};
use strata_memory::{
    Body, ByteMask, Client, LINE_BYTES, Line, LineAddress, NodeId, Packet, ParameterError, SliceMap, Tray,
};

use super::config::{SramL1dConfig, WriteMissPolicy, WritePolicy};
use super::flush::Flush;
use super::lookup::Port;
use super::statistics::L1dStatistics;

/// An SRAM set-associative L1D.
pub struct SramL1d {
    pub(super) parameters: Parameters,
    node: NodeId,
    slices: SliceMap,
    pub(super) tags: TagArray,
    pub(super) data: Vec<Line>,
    /// Lines being fetched, each with the accesses that wait for it.
    pub(super) mshrs: MshrFile<Access, Fetch>,
    /// Tokens of atomics and bypassing loads under way.
    pub(super) bypasses: Slab<u32>,
    /// MSHRs whose oldest access may be able to go on.
    pub(super) ready: Ring<MshrId>,
    /// Replies that brought something and have not been looked at.
    arrived: Ring<Packet>,
    pub(super) hits: DelayLine<Completion>,
    pub(super) served: DelayLine<Completion>,
    outgoing: DelayLine<Packet>,
    fetch_trays: Vec<Tray>,
    write_trays: Vec<Tray>,
    reads_in_flight: usize,
    pub(super) writes_in_flight: usize,
    /// An access in an MSHR waits for room in the queue to the network: it goes before new ones.
    pub(super) replay_stalled: bool,
    pub(super) flush: Option<Flush>,
    pub(super) port: Port,
    pub(super) statistics: L1dStatistics,
}

/// The numbers of [`SramL1dConfig`] that are needed while running.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameters {
    pub sector_bytes: usize,
    pub accesses_per_cycle: u32,
    pub banks: u64,
    pub hit_latency: u64,
    pub tag_latency: u64,
    pub fill_latency: u64,
    pub miss_queue: usize,
    pub write_back: bool,
    pub miss_policy: WriteMissPolicy,
    pub honours_bypass: bool,
}

/// The state of a line that is being fetched.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fetch {
    /// The frame that waits for it.
    pub frame: FrameId,
    /// Bytes asked for that are not here yet.
    pub requested: ByteMask,
    /// Read requests without a reply.
    pub in_flight: u8,
    /// Waiting accesses that go past the cache: nothing may be fetched ahead of them.
    pub barriers: u16,
    /// Whether it stands in [`SramL1d::ready`].
    pub ready: bool,
}

/// What a request of ours was, from the tag of its reply: a kind above, a name below.
pub(super) const TAG_FETCH: u32 = 0 << 24;
const TAG_BYPASS: u32 = 1 << 24;
const TAG_WRITE: u32 = 2 << 24;
const TAG_NAME: u32 = (1 << 24) - 1;

impl SramL1d {
    /// An empty cache at network node `node`. `seed` serves random replacement.
    ///
    /// # Errors
    /// When the configuration cannot be built.
    pub fn new(
        config: &SramL1dConfig,
        node: NodeId,
        slices: SliceMap,
        seed: u64,
    ) -> Result<SramL1d, ParameterError> {
        config.check()?;
        let trays = |count: usize| (0..count).map(|_| Box::new(Line::ZERO)).collect::<Vec<_>>();
        let fetches = *config.mshr_entries * (LINE_BYTES / *config.sector_bytes);
        let stream = Stream::new(seed, &format!("l1d {}", node.0));
        Ok(SramL1d {
            parameters: Parameters {
                sector_bytes: *config.sector_bytes,
                accesses_per_cycle: *config.accesses_per_cycle as u32,
                banks: *config.banks as u64,
                hit_latency: *config.hit_latency_cycles,
                tag_latency: *config.tag_latency_cycles,
                fill_latency: *config.fill_latency_cycles,
                miss_queue: *config.miss_queue,
                write_back: *config.write_policy == WritePolicy::WriteBack,
                miss_policy: *config.write_miss_policy,
                honours_bypass: *config.honours_bypass,
            },
            node,
            slices,
            tags: TagArray::new(config.geometry(), stream),
            data: vec![Line::ZERO; *config.sets * *config.ways],
            mshrs: MshrFile::new(*config.mshr_entries, *config.mshr_merges),
            bypasses: Slab::new(*config.bypass_entries),
            ready: Ring::new(*config.mshr_entries),
            arrived: Ring::new(fetches + *config.bypass_entries),
            // Two cycles more than the latency, for a reader who comes late once.
            hits: DelayLine::new((*config.hit_latency_cycles as usize + 2) * *config.accesses_per_cycle),
            served: DelayLine::new(*config.fill_latency_cycles as usize + 2),
            outgoing: DelayLine::new(*config.miss_queue),
            fetch_trays: trays(fetches),
            write_trays: trays(*config.write_buffer),
            reads_in_flight: 0,
            writes_in_flight: 0,
            replay_stalled: false,
            flush: None,
            port: Port::default(),
            statistics: L1dStatistics::default(),
        })
    }

    /// Whether `packets` more fit into the queue to the network.
    #[inline]
    pub(super) fn network_room(&self, packets: usize) -> bool {
        self.outgoing.len() + packets <= self.parameters.miss_queue
    }

    /// Whether `writes` more can be sent.
    #[inline]
    pub(super) fn write_room(&self, writes: usize) -> bool {
        self.network_room(writes) && writes <= self.write_trays.len()
    }

    /// Whether the access goes past the cache.
    #[inline]
    pub(super) fn goes_past(&self, access: &Access) -> bool {
        matches!(access.action, Action::Atomic(_))
            || access.policy == Policy::Bypass && self.parameters.honours_bypass
    }

    /// Bytes that must come from below before a cached access to the frame's line can be performed: whole
    /// sectors.
    #[inline]
    pub(super) fn wanted(&self, access: &Access, valid: ByteMask) -> ByteMask {
        let sector = self.parameters.sector_bytes;
        match access.action {
            Action::Load(_) if valid.covers(access.bytes) => ByteMask::NONE,
            Action::Load(_) => (access.bytes & !valid).to_sectors(sector),
            Action::Store(_) if self.parameters.miss_policy == WriteMissPolicy::Fetch => {
                let rest = access.bytes.to_sectors(sector) & !access.bytes;
                (rest.to_sectors(sector) & !access.bytes & !valid).to_sectors(sector)
            }
            Action::Store(_) | Action::Atomic(_) => ByteMask::NONE,
        }
    }

    /// Performs a cached access on a frame that has the bytes it wants. For a store that is written through
    /// there must be room for a write.
    #[inline]
    pub(super) fn perform(&mut self, access: Access, frame: FrameId, now: Cycle) -> Completion {
        let data = &mut self.data[frame.index()];
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
                    self.tags.add_dirty(frame, access.bytes);
                    Action::Store(tray)
                } else {
                    self.tags.add_valid(frame, access.bytes);
                    Action::Store(self.send_through(access.line, access.bytes, tray, now))
                }
            }
            Action::Atomic(_) => unreachable!("atomics are performed where the line lives"),
        };
        Completion { token: access.token, action }
    }

    /// Sends the dirty bytes of a frame below, if it has any. There must be room for a write.
    pub(super) fn write_back(&mut self, frame: FrameId, now: Cycle) {
        let dirty = self.tags.dirty(frame);
        if dirty.is_empty() {
            return;
        }
        let line = self.tags.line(frame).expect("dirty bytes belong to a line");
        let mut tray = self.write_trays.pop().expect("room for a write was checked");
        tray.0 = self.data[frame.index()].0;
        self.tags.clean(frame);
        self.statistics.write_backs += 1;
        self.statistics.data_reads += 1;
        self.writes_in_flight += 1;
        self.send(line, dirty, TAG_WRITE, Body::Write(tray), now);
    }

    /// Sends a store's bytes below in its own tray and answers with another one.
    pub(super) fn send_through(
        &mut self,
        line: LineAddress,
        bytes: ByteMask,
        tray: Tray,
        now: Cycle,
    ) -> Tray {
        let other = self.write_trays.pop().expect("room for a write was checked");
        self.statistics.write_throughs += 1;
        self.writes_in_flight += 1;
        self.send(line, bytes, TAG_WRITE, Body::Write(tray), now);
        other
    }

    /// Asks for bytes of an MSHR's line. There must be room for a packet.
    pub(super) fn send_fetch(&mut self, mshr: MshrId, bytes: ByteMask, now: Cycle) {
        // The sectors asked for are disjoint, so that each MSHR has at most a line's worth of trays.
        let tray = self.fetch_trays.pop().expect("a fetch has its tray");
        let fetch = self.mshrs.state_mut(mshr);
        debug_assert!((fetch.requested & bytes).is_empty(), "no byte is asked for twice");
        fetch.requested |= bytes;
        fetch.in_flight += 1;
        self.statistics.fetches += 1;
        self.reads_in_flight += 1;
        self.send(self.mshrs.line(mshr), bytes, TAG_FETCH | u32::from(mshr.0), Body::Read(tray), now);
    }

    /// Sends an access past the cache under a name of its own. There must be room for it.
    pub(super) fn send_past(
        &mut self,
        line: LineAddress,
        bytes: ByteMask,
        token: u32,
        body: Body,
        now: Cycle,
    ) {
        let name = self.bypasses.insert(token).expect("room for a bypassing access was checked");
        self.reads_in_flight += 1;
        self.send(line, bytes, TAG_BYPASS | name, body, now);
    }

    fn send(&mut self, line: LineAddress, bytes: ByteMask, tag: u32, body: Body, now: Cycle) {
        let destination = self.slices.node_of(line);
        let packet = Packet { line, bytes, source: self.node, destination, client: Client::L1d, tag, body };
        self.statistics.bytes_out += u64::from(packet.wire_bytes());
        let full = self.outgoing.push(now + self.parameters.tag_latency, packet);
        full.expect("room in the queue to the network was checked");
    }

    /// Takes one reply into the array, or finishes the bypassing access that it answers.
    fn fill(&mut self, now: Cycle) {
        match self.arrived.front() {
            None => return,
            Some(reply) if reply.tag & !TAG_NAME == TAG_BYPASS && self.served.is_full() => return,
            Some(_) => {}
        }
        let Some(reply) = self.arrived.pop() else { return };
        let name = reply.tag & TAG_NAME;
        match (reply.tag & !TAG_NAME, reply.body) {
            (TAG_FETCH, Body::ReadReply(tray)) => {
                let mshr = MshrId(name as u16);
                let fetch = self.mshrs.state_mut(mshr);
                let frame = fetch.frame;
                fetch.requested &= !reply.bytes;
                fetch.in_flight -= 1;
                // Bytes that are valid already are as new or newer: stores went into them.
                let missing = reply.bytes & !self.tags.valid(frame);
                self.data[frame.index()].merge(missing, &tray);
                self.tags.add_valid(frame, missing);
                self.fetch_trays.push(tray);
                self.statistics.fills += 1;
                self.statistics.fill_bytes += u64::from(reply.bytes.count());
                self.statistics.data_writes += 1;
                self.make_ready(mshr);
            }
            (TAG_BYPASS, Body::ReadReply(tray)) => self.finish_past(name, Action::Load(tray), now),
            (TAG_BYPASS, Body::AtomicReply(batch)) => self.finish_past(name, Action::Atomic(batch), now),
            (tag, body) => unreachable!("the L1D never asked for this: tag {tag:#x}, {body:?}"),
        }
        self.reads_in_flight -= 1;
    }

    fn finish_past(&mut self, name: u32, action: Action, now: Cycle) {
        let token = self.bypasses.remove(name);
        let full = self.served.push(now + self.parameters.fill_latency, Completion { token, action });
        full.expect("room for a served access was checked");
    }

    /// The oldest access of an MSHR may be able to go on.
    pub(super) fn make_ready(&mut self, mshr: MshrId) {
        let fetch = self.mshrs.state_mut(mshr);
        if !fetch.ready {
            fetch.ready = true;
            self.ready.push(mshr).expect("each MSHR is ready once");
        }
    }
}

impl L1d for SramL1d {
    fn offer(&mut self, access: Access, now: Cycle) -> Result<(), (Access, Refusal)> {
        match self.route(&access, now) {
            Ok(route) => {
                self.take(access, route, now);
                Ok(())
            }
            Err(cause) => {
                self.statistics.refuse(cause);
                Err((access, cause))
            }
        }
    }

    fn accept(&mut self, reply: Packet, _now: Cycle) {
        debug_assert_eq!(reply.destination, self.node, "a reply comes back to the node that asked");
        self.statistics.bytes_in += u64::from(reply.wire_bytes());
        if reply.tag & !TAG_NAME == TAG_WRITE {
            let Body::WriteAck(tray) = reply.body else {
                unreachable!("a write is answered by its acknowledgement")
            };
            self.write_trays.push(tray);
            self.writes_in_flight -= 1;
        } else {
            self.arrived.push(reply).expect("room for a reply was kept when its request left");
        }
    }

    fn tick(&mut self, now: Cycle) {
        self.replay(now);
        self.fill(now);
        self.flush_step(now);
    }

    #[inline]
    fn completed(&mut self, now: Cycle) -> Option<Completion> {
        self.served.pop(now).or_else(|| self.hits.pop(now))
    }

    #[inline]
    fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        self.outgoing.pop(now)
    }

    #[inline]
    fn outgoing_bytes(&self, now: Cycle) -> Option<u32> {
        self.outgoing.front(now).map(Packet::wire_bytes)
    }

    fn begin_flush(&mut self, invalidate: bool, _now: Cycle) {
        self.start_flush(invalidate);
    }

    fn is_flushed(&self) -> bool {
        self.flush.is_none() && self.writes_in_flight == 0
    }

    fn outstanding(&self) -> usize {
        self.reads_in_flight + self.writes_in_flight
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        if !self.arrived.is_empty() || !self.ready.is_empty() || self.flush_can_go_on() {
            return now;
        }
        let completion = self.hits.next_ready().min(self.served.next_ready());
        completion.min(self.outgoing.next_ready()).max(now)
    }

    fn waits(&self, report: &mut Vec<String>) {
        let node = self.node.0;
        for (mshr, line) in self.mshrs.iter() {
            let fetch = self.mshrs.state(mshr);
            let (accesses, requests) = (self.mshrs.waiting(mshr), fetch.in_flight);
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
        if !self.outgoing.is_empty() {
            report.push(format!("L1D {node}: {} packets wait for the network", self.outgoing.len()));
        }
        if self.flush.is_some() {
            report.push(format!("L1D {node}: a flush is under way"));
        }
    }

    fn statistics(&self) -> Vec<Group> {
        vec![self.statistics.report()]
    }
}
