//! DeNovo's L2 slice: its parts, and its implementation of the LLC door.

use std::collections::VecDeque;

use strata_engine::seed::Stream;
use strata_engine::statistics::{Group, Statistics};
use strata_engine::{Cycle, DelayLine, Ring};
use strata_memory::doors::{Design, DramPort, DramRequest, Llc};
use strata_memory::mshr::MshrFile;
use strata_memory::ownership::bytes_of;
use strata_memory::tags::{FrameId, TagArray};
use strata_memory::{ByteMask, Line, LineAddress, NodeId, Packet, ParameterError, Trays};

use super::{DenovoL2Config, RegistryStatistics};
use crate::baseline::L2Statistics;

/// Most packets of one request: one for each word, if each has an owner of its own, and one for those that have none.
pub(super) const MOST_PACKETS: usize = 33;

/// An L2 slice that is DeNovo's registry.
pub struct DenovoL2 {
    pub(super) parameters: Parameters,
    number: u16,
    /// Its node, as requests name it.
    pub(super) node: NodeId,
    pub(super) tags: TagArray,
    /// A line for each frame, whose words are data or the names of owners,
    pub(super) data: Vec<Line>,
    /// and which words are names.
    pub(super) owned: Vec<u32>,
    pub(super) mshrs: MshrFile<Packet, Fetch>,
    /// MSHRs whose lines are here, with all words that were recalled.
    pub(super) ready: Ring<strata_memory::mshr::MshrId>,
    pub(super) requests: DelayLine<Packet>,
    /// Packets for the network, and whether they are further ones ([`Llc::further`]).
    pub(super) replies: DelayLine<(Packet, bool)>,
    last_reply: Cycle,
    /// Those of them that have left.
    further: u64,
    /// What owners have said and is not taken up. The bound is what they can have under way.
    pub(super) said: VecDeque<Packet>,
    /// The frame that the next request needs, whose registered words are recalled.
    pub(super) evicting: Option<FrameId>,
    pub(super) to_dram: VecDeque<DramRequest>,
    pub(super) at_dram: usize,
    pub(super) fetch_trays: Trays,
    pub(super) write_trays: Trays,
    /// Until then an atomic occupies the slice.
    pub(super) busy_until: Cycle,
    pub(super) statistics: L2Statistics,
    pub(super) registry: RegistryStatistics,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Parameters {
    pub rop_latency: u64,
    pub hit_latency: u64,
    pub dram_queue: usize,
    pub atomic_cycles: u64,
    /// Capacity of the queue of packets for the network.
    pub reply_room: usize,
}

/// The state of a line that is being fetched or of which words are recalled, or whose requests are being served after that.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fetch {
    pub frame: FrameId,
    /// Whether memory has sent it.
    pub is_here: bool,
    /// Words that are recalled for a strong operation.
    pub recalled: u32,
}

impl DenovoL2 {
    /// Makes an empty slice, called `number` in reports. `seed` starts the stream of random replacement.
    ///
    /// # Errors
    /// Names the first parameter that cannot be built.
    pub fn new(config: &DenovoL2Config, number: u16, seed: u64) -> Result<DenovoL2, ParameterError> {
        config.check()?;
        let frames = *config.sets * *config.ways;
        let reply_room = *config.reply_queue + *config.hit_latency_cycles as usize + MOST_PACKETS;
        Ok(DenovoL2 {
            parameters: Parameters {
                rop_latency: *config.rop_latency_cycles,
                hit_latency: *config.hit_latency_cycles,
                dram_queue: *config.dram_queue,
                atomic_cycles: *config.atomic_cycles,
                reply_room,
            },
            number,
            node: NodeId(0),
            tags: TagArray::new(config.geometry(), Stream::new(seed, &format!("l2 {number}"))),
            data: Line::zeros(frames),
            owned: vec![0; frames],
            mshrs: MshrFile::new(*config.mshr_entries, *config.mshr_merges),
            ready: Ring::new(*config.mshr_entries),
            requests: DelayLine::new(*config.request_queue + *config.rop_latency_cycles as usize),
            replies: DelayLine::new(reply_room),
            last_reply: Cycle::ZERO,
            further: 0,
            said: VecDeque::new(),
            evicting: None,
            to_dram: VecDeque::with_capacity(*config.dram_queue),
            at_dram: 0,
            fetch_trays: Trays::new(*config.mshr_entries),
            write_trays: Trays::new(*config.write_buffer),
            busy_until: Cycle::ZERO,
            statistics: L2Statistics::default(),
            registry: RegistryStatistics::default(),
        })
    }

    /// Sends a packet, after those before it. There must be room.
    pub(super) fn send(&mut self, packet: Packet, is_further: bool, at: Cycle) {
        self.last_reply = self.last_reply.max(at);
        let full = self.replies.push(self.last_reply, (packet, is_further));
        full.unwrap_or_else(|_| unreachable!("room for packets was looked at"));
    }

    /// The bytes of a frame that are data.
    fn plain(&self, frame: FrameId) -> ByteMask {
        self.tags.valid(frame) & !bytes_of(self.owned[frame.index()])
    }
}

impl Llc for DenovoL2 {
    fn offer(&mut self, request: Packet, now: Cycle) -> Result<(), Packet> {
        self.node = request.destination;
        let bytes = request.wire_bytes();
        let offered = self.requests.push(now + self.parameters.rop_latency, request);
        match offered {
            Ok(()) => self.statistics.bytes_in += u64::from(bytes),
            Err(_) => self.statistics.refused += 1,
        }
        offered
    }

    fn accept(&mut self, packet: Packet, _now: Cycle) {
        self.statistics.bytes_in += u64::from(packet.wire_bytes());
        self.said.push_back(packet);
    }

    fn tick(&mut self, dram: &mut dyn DramPort, now: Cycle) {
        if self.at_dram > 0 {
            self.receive_from_dram(dram, now);
        }
        if !self.said.is_empty() {
            self.take_said(now);
        }
        if now >= self.busy_until {
            self.replay(now);
        }
        if now >= self.busy_until {
            self.look_up(now);
        }
        self.send_to_dram(dram, now);
    }

    fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        let (packet, is_further) = self.replies.pop(now)?;
        self.further += u64::from(is_further);
        self.statistics.bytes_out += u64::from(packet.wire_bytes());
        Some(packet)
    }

    fn outgoing_bytes(&self, now: Cycle) -> Option<u32> {
        self.replies.front(now).map(|(packet, _)| packet.wire_bytes())
    }

    fn next_outgoing(&self) -> Cycle {
        self.replies.next_ready()
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        if !self.to_dram.is_empty() || !self.said.is_empty() {
            return now;
        }
        let work = if self.ready.is_empty() { self.requests.next_ready() } else { now };
        work.max(self.busy_until).max(now)
    }

    fn peek(&self, line: LineAddress, below: &mut Line) {
        for write in self.to_dram.iter().filter(|request| request.write && request.line == line) {
            below.merge(write.bytes, &write.tray);
        }
        if let Some(frame) = self.tags.find(line) {
            below.merge(self.plain(frame), &self.data[frame.index()]);
        }
    }

    fn poke(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        for write in self.to_dram.iter_mut().filter(|request| request.write && request.line == line) {
            write.tray.merge(write.bytes & bytes, data);
        }
        if let Some(frame) = self.tags.find(line) {
            let bytes = self.plain(frame) & bytes;
            self.data[frame.index()].merge(bytes, data);
        }
    }

    fn further(&self) -> u64 {
        self.further
    }

    fn waits(&self, report: &mut Vec<String>) {
        let slice = self.number;
        for (mshr, line) in self.mshrs.iter() {
            let (requests, fetch) = (self.mshrs.waiting(mshr), *self.mshrs.state(mshr));
            let state = if fetch.is_here { "is here" } else { "is fetched" };
            report.push(format!(
                "L2 slice {slice}: {requests} requests wait for its line {}, which {state}",
                line.0
            ));
            self.explain_recall(fetch.frame, fetch.recalled, report);
        }
        if let Some(frame) = self.evicting {
            self.explain_recall(frame, u32::MAX, report);
        }
        let queues = [
            ("requests wait for their look-up", self.requests.len()),
            ("packets wait for the network", self.replies.len()),
            ("packets of owners wait for their turn", self.said.len()),
            ("requests wait for the DRAM channel", self.to_dram.len()),
        ];
        for (what, count) in queues.into_iter().filter(|(_, count)| *count > 0) {
            report.push(format!("L2 slice {slice}: {count} {what}"));
        }
    }

    fn statistics(&self) -> Vec<Group> {
        vec![self.statistics.report(), self.registry.report()]
    }
}

impl DenovoL2 {
    fn explain_recall(&self, frame: FrameId, words: u32, report: &mut Vec<String>) {
        let line = self.tags.line(frame).map_or(0, |line| line.0);
        for (owner, words) in self.owners(frame, words) {
            let slice = self.number;
            report.push(format!(
                "L2 slice {slice}: words {words:#x} of its line {line} are recalled from {owner}"
            ));
        }
    }
}
