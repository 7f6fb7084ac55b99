//! The L1D's parts, and its door.

use strata_engine::seed::Stream;
use strata_engine::statistics::{Group, Statistics};
use strata_engine::{Cycle, DelayLine, Ring, Slab};
use strata_memory::doors::{Access, Action, Completion, L1d, Policy, Refusal};
use strata_memory::mshr::{MshrFile, MshrId};
use strata_memory::tags::{FrameId, TagArray};
use strata_memory::{ByteMask, LINE_BYTES, Line, NodeId, Packet, ParameterError, SliceMap, Tray};

use super::config::{SramL1dConfig, WriteMissPolicy, WritePolicy};
use super::flush::Flush;
use super::lookup::Port;
use super::statistics::L1dStatistics;

/// An SRAM set-associative L1D.
pub struct SramL1d {
    pub(super) parameters: Parameters,
    pub(super) node: NodeId,
    pub(super) slices: SliceMap,
    pub(super) tags: TagArray,
    pub(super) data: Vec<Line>,
    /// Lines being fetched, each with the accesses that wait for it.
    pub(super) mshrs: MshrFile<Access, Fetch>,
    /// Tokens of atomics and bypassing loads under way.
    pub(super) bypasses: Slab<u32>,
    /// MSHRs whose oldest access may be able to go on.
    pub(super) ready: Ring<MshrId>,
    /// Replies that brought something and have not been looked at.
    pub(super) arrived: Ring<Packet>,
    pub(super) hits: DelayLine<Completion>,
    pub(super) served: DelayLine<Completion>,
    pub(super) outgoing: DelayLine<Packet>,
    pub(super) fetch_trays: Vec<Tray>,
    pub(super) write_trays: Vec<Tray>,
    pub(super) reads_in_flight: usize,
    pub(super) writes_in_flight: usize,
    /// An access in an MSHR waits for room in the queue to the network: it goes before new ones.
    pub(super) replay_stalled: bool,
    pub(super) flush: Option<Flush>,
    pub(super) port: Port,
    /// Counts for [`L1d::changes`]: MSHRs and bypass entries given back; steps of accesses that waited in an
    /// MSHR; packets that left or came.
    pub(super) freed: u64,
    pub(super) served_count: u64,
    moved: u64,
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
            freed: 0,
            served_count: 0,
            moved: 0,
            statistics: L1dStatistics::default(),
        })
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

    #[inline]
    fn changes(&self, cause: Refusal, now: Cycle) -> u64 {
        match cause {
            Refusal::Mshr | Refusal::Ways => self.freed,
            Refusal::Merge => self.served_count,
            Refusal::Network => self.moved + self.served_count,
            Refusal::Port | Refusal::Bank | Refusal::Flush => now.0,
        }
    }

    fn accept(&mut self, reply: Packet, _now: Cycle) {
        self.moved += 1;
        self.receive(reply);
    }

    #[inline]
    fn tick(&mut self, now: Cycle) {
        if self.ready.is_empty() && self.arrived.is_empty() && self.flush.is_none() {
            return;
        }
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
        self.moved += 1;
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
