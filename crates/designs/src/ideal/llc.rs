//! A slice of the last-level cache that always hits.
//!
//! It keeps no lines. A request is performed on the bytes behind the slice, past DRAM's queue, and answered after the latency of a hit,
//! so no request waits for DRAM, an MSHR or a way. Everything else costs what it costs in a conventional slice: one look-up a cycle,
//! the latencies before and after it, the cycles that atomics and wide data occupy the slice, and the queue of replies.

use schemars::JsonSchema;
use serde::Deserialize;
use strata_engine::statistics::{Group, Statistics};
use strata_engine::{Cited, Cycle, DelayLine};
use strata_memory::doors::{Design, DramPort, HOST_ITEM_BYTES, Llc, LlcDesign, LlcSite};
use strata_memory::prefetch::Prefetching;
use strata_memory::{Body, ByteMask, LINE_BYTES, Line, LineAddress, Packet, ParameterError};

use crate::chassis::llc::{L2Statistics, conflicts};

/// The parameters of one slice, in cycles of its own clock; their meanings are those of `llc.conventional`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdealLlcConfig {
    /// Number of requests that can wait, beyond those within the ROP latency.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "requests"))]
    pub request_queue: Cited<usize>,
    /// Cycles from the arrival of a request to its look-up.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "cycles"))]
    pub rop_latency_cycles: Cited<u64>,
    /// Cycles from a look-up, all of which hit, to the reply.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "cycles"))]
    pub hit_latency_cycles: Cited<u64>,
    /// Number of replies that can wait for the network, beyond those within the hit latency.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "replies"))]
    pub reply_queue: Cited<usize>,
    /// Cycles that each operation of an atomic takes on one address; operations on different addresses of a line proceed in
    /// parallel.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "cycles"))]
    pub atomic_cycles: Cited<u64>,
    /// Bytes of a line that the slice reads or writes in a cycle; without this key, all of it.
    #[serde(default)]
    #[schemars(range(min = 1, max = LINE_BYTES), extend("unit" = "B"))]
    pub data_bytes_per_cycle: Option<Cited<u32>>,
}

#[cfg(test)]
pub(super) const EXAMPLE: &str = r#"
[llc.ideal]
request_queue = { value = 8, source = "test" }
rop_latency_cycles = { value = 6, source = "test" }
hit_latency_cycles = { value = 3, source = "test" }
reply_queue = { value = 2, source = "test" }
atomic_cycles = { value = 2, source = "test" }
data_bytes_per_cycle = { value = 64, source = "test" }
"#;

impl IdealLlcConfig {
    fn reply_room(&self) -> usize {
        *self.reply_queue + *self.hit_latency_cycles as usize
    }

    fn data_bytes(&self) -> u32 {
        self.data_bytes_per_cycle.as_ref().map_or(LINE_BYTES as u32, |bytes| **bytes)
    }
}

impl Design for IdealLlcConfig {
    fn check(&self) -> Result<(), ParameterError> {
        let bounds = [
            ("request_queue", *self.request_queue as u64, 4096),
            ("rop_latency_cycles", *self.rop_latency_cycles, 4096),
            ("hit_latency_cycles", *self.hit_latency_cycles, 4096),
            ("reply_queue", *self.reply_queue as u64, 4096),
            ("atomic_cycles", *self.atomic_cycles, 4096),
            ("data_bytes_per_cycle", u64::from(self.data_bytes()), LINE_BYTES as u64),
        ];
        for (field, value, most) in bounds {
            if !(1..=most).contains(&value) {
                return Err(ParameterError::new(field, format!("must be 1 to {most}, found {value}")));
            }
        }
        Ok(())
    }

    fn outline(&self) -> String {
        format!("ideal: always hits, in {} cycles", *self.rop_latency_cycles + *self.hit_latency_cycles)
    }

    fn host_bytes(&self) -> u64 {
        let items = *self.request_queue + *self.rop_latency_cycles as usize + self.reply_room();
        items as u64 * HOST_ITEM_BYTES
    }
}

impl LlcDesign for IdealLlcConfig {
    /// It keeps none of its own: what it answers with are the bytes behind it.
    fn capacity_bytes(&self) -> u64 {
        0
    }

    fn never_misses(&self) -> bool {
        true
    }

    fn build(&self, site: LlcSite) -> Result<Box<dyn Llc>, ParameterError> {
        self.check()?;
        Ok(Box::new(IdealSlice {
            number: site.slice,
            requests: DelayLine::new(*self.request_queue + *self.rop_latency_cycles as usize),
            replies: DelayLine::new(self.reply_room()),
            last_reply: Cycle::ZERO,
            busy_until: Cycle::ZERO,
            waits_since: None,
            rop_latency: *self.rop_latency_cycles,
            hit_latency: *self.hit_latency_cycles,
            atomic_cycles: *self.atomic_cycles,
            data_bytes: self.data_bytes(),
            hints: None,
            statistics: L2Statistics::default(),
        }))
    }
}

/// A slice that always hits.
struct IdealSlice {
    number: u16,
    requests: DelayLine<Packet>,
    replies: DelayLine<Packet>,
    last_reply: Cycle,
    /// The cycle until which atomics and data occupy it.
    busy_until: Cycle,
    /// Since when the next request waits for room for its reply, as far as that is not counted.
    waits_since: Option<Cycle>,
    rop_latency: u64,
    hit_latency: u64,
    atomic_cycles: u64,
    data_bytes: u32,
    /// What became of the program's prefetches: each finds its line.
    hints: Option<Box<Prefetching>>,
    statistics: L2Statistics,
}

impl IdealSlice {
    /// Performs a request, and returns its reply and the cycle in which it is ready.
    fn perform(&mut self, mut request: Packet, dram: &mut dyn DramPort, now: Cycle) -> (Packet, Cycle) {
        let (line, bytes) = (request.line, request.bytes);
        let s = &mut self.statistics;
        s.tag_reads += 1;
        let mut occupied = u64::from(bytes.count().div_ceil(self.data_bytes));
        let mut at = now + self.hit_latency;
        match &mut request.body {
            Body::Prefetch => {
                self.hints.get_or_insert_with(|| Box::new(Prefetching::of_program(1))).skip_hint();
                return (request.into_reply(), at);
            }
            Body::Read(tray) => {
                dram.peek(line, tray);
                (s.reads, s.read_hits, s.data_reads) = (s.reads + 1, s.read_hits + 1, s.data_reads + 1);
            }
            Body::Write(tray) => {
                dram.poke(line, bytes, tray);
                (s.writes, s.write_hits, s.data_writes) = (s.writes + 1, s.write_hits + 1, s.data_writes + 1);
            }
            Body::Atomic(batch) => {
                let mut whole = Line::ZERO;
                dram.peek(line, &mut whole);
                batch.perform(&mut whole);
                dram.poke(line, bytes, &whole);
                occupied = self.atomic_cycles * conflicts(batch);
                at += occupied - 1;
                (s.atomics, s.atomic_hits) = (s.atomics + 1, s.atomic_hits + 1);
                (s.data_reads, s.data_writes) = (s.data_reads + 1, s.data_writes + 1);
                s.atomic_operations += u64::from(batch.count);
            }
            body => unreachable!("a slice gets requests only, not {body:?}"),
        }
        s.requests += 1;
        self.busy_until = self.busy_until.max(now + occupied);
        (request.into_reply(), at)
    }

    /// Counts the cycles before `end` in which the next request has waited for room for its reply.
    fn count_wait(&mut self, end: Cycle) {
        if let Some(since) = &mut self.waits_since {
            self.statistics.stalled_reply += end.since(*since);
            *since = end.max(*since);
        }
    }
}

impl Llc for IdealSlice {
    fn offer(&mut self, request: Packet, now: Cycle) -> Result<(), Packet> {
        let bytes = request.wire_bytes();
        let offered = self.requests.push(now + self.rop_latency, request);
        match offered {
            Ok(()) => self.statistics.bytes_in += u64::from(bytes),
            Err(_) => self.statistics.refused += 1,
        }
        offered
    }

    fn has_room(&self) -> bool {
        !self.requests.is_full()
    }

    fn count_refusals(&mut self, cycles: u64) {
        self.statistics.refused += cycles;
    }

    fn tick(&mut self, dram: &mut dyn DramPort, now: Cycle) {
        if now < self.busy_until || self.requests.next_ready() > now {
            return;
        }
        if self.replies.is_full() {
            self.waits_since.get_or_insert(now);
            return;
        }
        self.count_wait(now);
        self.waits_since = None;
        let Some(request) = self.requests.pop(now) else { return };
        let (reply, at) = self.perform(request, dram, now);
        self.last_reply = self.last_reply.max(at);
        self.replies.push(self.last_reply, reply).expect("room for a reply was checked");
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
        if self.waits_since.is_some() && self.replies.is_full() {
            return Cycle::NEVER;
        }
        self.requests.next_ready().max(self.busy_until).max(now)
    }

    // What it has stands behind it, where host copies look already.

    fn peek(&self, _line: LineAddress, _below: &mut Line) {}

    fn poke(&mut self, _line: LineAddress, _bytes: ByteMask, _data: &Line) {}

    fn settle(&mut self, _dram: &mut dyn DramPort, end: Cycle) {
        self.count_wait(end);
    }

    fn waits(&self, report: &mut Vec<String>) {
        let queues = [
            ("requests wait for their look-up", self.requests.len()),
            ("packets wait for the network", self.replies.len()),
        ];
        for (what, count) in queues.into_iter().filter(|(_, count)| *count > 0) {
            report.push(format!("ideal L2 slice {}: {count} {what}", self.number));
        }
    }

    fn statistics(&self) -> Vec<Group> {
        vec![self.statistics.report(), Prefetching::report_hints(self.hints.as_deref(), "l2_hints")]
    }
}
