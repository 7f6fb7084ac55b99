//! The L2 slice: its parts, and its implementation of the LLC door.

use std::collections::VecDeque;

use strata_engine::seed::Stream;
use strata_engine::statistics::{Group, Statistics};
use strata_engine::{Cycle, DelayLine, Ring};

use super::config::L2Config;
use super::statistics::L2Statistics;
use strata_memory::address::{LINE_BYTES, LineAddress};
use strata_memory::doors::{Design, DramPort, DramRequest, Llc};
use strata_memory::line::{ByteMask, Line};
use strata_memory::mshr::{MshrFile, MshrId};
use strata_memory::packet::Packet;
use strata_memory::parameters::ParameterError;
use strata_memory::tags::{FrameId, TagArray};
use strata_memory::tray::Trays;

/// A conventional L2 slice.
///
/// It sees only its own lines, numbered without gaps, so all sets are used.
pub struct L2Slice {
    pub(super) parameters: Parameters,
    number: u16,
    pub(super) tags: TagArray,
    pub(super) data: Vec<Line>,
    /// Lines being fetched, each with the requests that wait for it.
    pub(super) mshrs: MshrFile<Packet, Fetch>,
    /// MSHRs whose oldest request may be able to proceed.
    pub(super) ready: Ring<MshrId>,
    pub(super) requests: DelayLine<Packet>,
    pub(super) replies: DelayLine<Packet>,
    /// Requests for the channel, oldest first.
    pub(super) to_dram: VecDeque<DramRequest>,
    /// Requests that the channel has accepted and not given back.
    pub(super) at_dram: usize,
    pub(super) fetch_trays: Trays,
    pub(super) write_trays: Trays,
    /// Whether the next request waits for room for its reply: then nothing but that changes what it finds.
    pub(super) awaits_reply: bool,
    /// The cycle until which atomics occupy the slice.
    pub(super) busy_until: Cycle,
    pub(super) statistics: L2Statistics,
}

/// The parameters of [`L2Config`] that are used while running.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameters {
    pub sector_bytes: usize,
    pub rop_latency: u64,
    pub hit_latency: u64,
    pub dram_queue: usize,
    pub atomic_cycles: u64,
}

/// The state of a line that is being fetched.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fetch {
    /// The frame that waits for it.
    pub frame: FrameId,
    /// Bytes requested that have not arrived yet.
    pub requested: ByteMask,
    /// Reads without an answer.
    pub in_flight: u8,
    /// Whether it is in [`L2Slice::ready`].
    pub ready: bool,
}

impl L2Slice {
    /// Makes an empty slice, called `number` in reports. `seed` starts the stream of random replacement.
    ///
    /// # Errors
    /// Names the first parameter that cannot be built.
    pub fn new(config: &L2Config, number: u16, seed: u64) -> Result<L2Slice, ParameterError> {
        config.check()?;
        let fetches = *config.mshr_entries * (LINE_BYTES / *config.sector_bytes);
        Ok(L2Slice {
            parameters: Parameters {
                sector_bytes: *config.sector_bytes,
                rop_latency: *config.rop_latency_cycles,
                hit_latency: *config.hit_latency_cycles,
                dram_queue: *config.dram_queue,
                atomic_cycles: *config.atomic_cycles,
            },
            number,
            tags: TagArray::new(config.geometry(), Stream::new(seed, &format!("l2 {number}"))),
            data: Line::zeros(*config.sets * *config.ways),
            mshrs: MshrFile::new(*config.mshr_entries, *config.mshr_merges),
            ready: Ring::new(*config.mshr_entries),
            requests: DelayLine::new(*config.request_queue + *config.rop_latency_cycles as usize),
            replies: DelayLine::new(*config.reply_queue + *config.hit_latency_cycles as usize),
            to_dram: VecDeque::with_capacity(*config.dram_queue),
            at_dram: 0,
            fetch_trays: Trays::new(fetches),
            write_trays: Trays::new(*config.write_buffer),
            awaits_reply: false,
            busy_until: Cycle::ZERO,
            statistics: L2Statistics::default(),
        })
    }
}

impl Llc for L2Slice {
    fn offer(&mut self, request: Packet, now: Cycle) -> Result<(), Packet> {
        let bytes = request.wire_bytes();
        let offered = self.requests.push(now + self.parameters.rop_latency, request);
        match offered {
            Ok(()) => self.statistics.bytes_in += u64::from(bytes),
            Err(_) => self.statistics.refused += 1,
        }
        offered
    }

    fn tick(&mut self, dram: &mut dyn DramPort, now: Cycle) {
        if self.at_dram > 0 {
            self.receive_from_dram(dram, now);
        }
        if !self.ready.is_empty() && now >= self.busy_until {
            self.replay(now);
        }
        if self.requests.next_ready() <= now && now >= self.busy_until {
            self.look_up(now);
        }
        if !self.to_dram.is_empty() {
            self.send_to_dram(dram, now);
        }
    }

    fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        let reply = self.replies.pop(now)?;
        self.statistics.bytes_out += u64::from(reply.wire_bytes());
        Some(reply)
    }

    fn outgoing_bytes(&self, now: Cycle) -> Option<u32> {
        self.replies.front(now).map(|packet| packet.wire_bytes())
    }

    fn next_outgoing(&self) -> Cycle {
        self.replies.next_ready()
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        if !self.to_dram.is_empty() {
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
            below.merge(self.tags.valid(frame), &self.data[frame.index()]);
        }
    }

    fn poke(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        if !self.to_dram.is_empty() {
            for write in self.to_dram.iter_mut().filter(|request| request.write && request.line == line) {
                write.tray.merge(write.bytes & bytes, data);
            }
        }
        if let Some(frame) = self.tags.find(line) {
            self.data[frame.index()].merge(self.tags.valid(frame) & bytes, data);
        }
    }

    fn waits(&self, report: &mut Vec<String>) {
        let slice = self.number;
        for (mshr, line) in self.mshrs.iter() {
            let line = line.0;
            let (requests, reads) = (self.mshrs.waiting(mshr), self.mshrs.state(mshr).in_flight);
            report.push(format!(
                "L2 slice {slice}: {requests} requests wait for its line {line}, {reads} DRAM reads under way"
            ));
        }
        let queues = [
            ("requests wait for their look-up", self.requests.len()),
            ("replies wait for the network", self.replies.len()),
            ("requests wait for the DRAM channel", self.to_dram.len()),
        ];
        for (what, count) in queues.into_iter().filter(|(_, count)| *count > 0) {
            report.push(format!("L2 slice {slice}: {count} {what}"));
        }
    }

    fn statistics(&self) -> Vec<Group> {
        vec![self.statistics.report()]
    }
}
