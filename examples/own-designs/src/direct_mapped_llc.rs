//! A direct-mapped slice of the last-level cache that writes through and serves one request at a time.

use schemars::JsonSchema;
use serde::Deserialize;
use strata_engine::statistics::{Group, Statistics};
use strata_engine::{Cited, Cycle, DelayLine};
use strata_memory::doors::{Design, DramPort, DramRequest, HOST_ITEM_BYTES, Llc, LlcDesign, LlcSite};
use strata_memory::{Body, ByteMask, LINE_BYTES, Line, LineAddress, Packet, ParameterError, Tray};

/// Its section of a machine file: `[llc.direct-mapped]`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Lines of 128 bytes of a slice, a power of two.
    #[schemars(range(min = 1, max = 1 << 20), extend("unit" = "lines"))]
    pub lines: Cited<usize>,
    /// Cycles from the arrival of a request to its look-up.
    #[schemars(range(min = 1, max = 1000), extend("unit" = "cycles"))]
    pub latency_cycles: Cited<u64>,
    /// Requests that wait, and replies that do.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "requests"))]
    pub queue: Cited<usize>,
}

impl Design for Config {
    fn check(&self) -> Result<(), ParameterError> {
        let bounds = [
            ("lines", *self.lines as u64, 1 << 20),
            ("latency_cycles", *self.latency_cycles, 1000),
            ("queue", *self.queue as u64, 4096),
        ];
        for (field, value, most) in bounds {
            if !(1..=most).contains(&value) {
                return Err(ParameterError::new(field, format!("must be 1 to {most}, found {value}")));
            }
        }
        if !self.lines.is_power_of_two() {
            return Err(ParameterError::new(
                "lines",
                format!("must be a power of two, found {}", *self.lines),
            ));
        }
        Ok(())
    }

    fn outline(&self) -> String {
        format!("{} KB, direct-mapped, write-through", self.capacity_bytes() / 1024)
    }

    fn host_bytes(&self) -> u64 {
        (*self.lines + 2 * *self.queue) as u64 * HOST_ITEM_BYTES
    }
}

impl LlcDesign for Config {
    fn capacity_bytes(&self) -> u64 {
        (*self.lines * LINE_BYTES) as u64
    }

    fn build(&self, site: LlcSite) -> Result<Box<dyn Llc>, ParameterError> {
        self.check()?;
        Ok(Box::new(DirectMappedLlc {
            slice: site.slice,
            tags: vec![None; *self.lines],
            data: Line::zeros(*self.lines),
            latency: *self.latency_cycles,
            requests: DelayLine::new(*self.queue),
            current: None,
            to_dram: None,
            spare: Some(Box::new(Line::ZERO)),
            replies: DelayLine::new(*self.queue),
            statistics: DirectMappedStatistics::default(),
        }))
    }
}

strata_engine::statistics! {
    /// What it counts.
    pub struct DirectMappedStatistics: "direct_mapped_llc" {
        /// Requests looked up.
        requests: "requests" [energy],
        /// Reads and atomics that found their line.
        hits: "requests",
        /// Reads and atomics whose line came from DRAM.
        fetches: "requests",
        /// Writes, and atomics' results, that went to DRAM.
        writes: "requests" [energy],
    }
    laws {
        "hits + fetches <= requests": |s| s.hits + s.fetches <= s.requests,
    }
}

/// A request that DRAM works for.
struct Current {
    request: Packet,
    /// Whether its line is on the way here; otherwise its bytes are on the way to DRAM.
    is_fetch: bool,
}

struct DirectMappedLlc {
    slice: u16,
    tags: Vec<Option<LineAddress>>,
    data: Vec<Line>,
    latency: u64,
    requests: DelayLine<Packet>,
    current: Option<Current>,
    /// What DRAM has not taken yet.
    to_dram: Option<DramRequest>,
    /// The tray that goes to DRAM and comes back.
    spare: Option<Tray>,
    replies: DelayLine<Packet>,
    statistics: DirectMappedStatistics,
}

impl DirectMappedLlc {
    fn frame(&self, line: LineAddress) -> usize {
        (line.0 % self.tags.len() as u64) as usize
    }

    /// Sends a request to DRAM on behalf of a packet.
    fn ask(&mut self, request: Packet, bytes: ByteMask, is_fetch: bool) {
        let tray = self.spare.take().expect("one request is under way");
        let ask = DramRequest { line: request.line, bytes, write: !is_fetch, tag: 0, tray };
        self.to_dram = Some(ask);
        self.current = Some(Current { request, is_fetch });
    }

    /// Looks the next request up.
    fn look_up(&mut self, now: Cycle) {
        if self.current.is_some() || self.replies.is_full() {
            return;
        }
        let Some(request) = self.requests.pop(now) else { return };
        self.statistics.requests += 1;
        let frame = self.frame(request.line);
        let is_here = self.tags[frame] == Some(request.line);
        if matches!(request.body, Body::Write(_)) {
            self.perform(request, is_here, now);
        } else if is_here {
            self.statistics.hits += 1;
            self.perform(request, true, now);
        } else {
            self.statistics.fetches += 1;
            self.ask(request, ByteMask::ALL, true);
        }
    }

    /// Performs a request; what it wrote goes to DRAM before it is answered.
    fn perform(&mut self, mut request: Packet, is_here: bool, now: Cycle) {
        let frame = self.frame(request.line);
        match &mut request.body {
            Body::Prefetch => {
                self.replies.push(now.next(), request.into_reply()).expect("room was checked");
                return;
            }
            Body::Read(tray) => {
                tray.0 = self.data[frame].0;
                self.replies.push(now.next(), request.into_reply()).expect("room was checked");
                return;
            }
            Body::Write(tray) => {
                self.spare.as_mut().expect("DRAM is idle").0 = tray.0;
                if is_here {
                    self.data[frame].merge(request.bytes, tray);
                }
            }
            Body::Atomic(batch) => {
                batch.perform(&mut self.data[frame]);
                self.spare.as_mut().expect("DRAM is idle").0 = self.data[frame].0;
            }
            reply => unreachable!("a slice gets requests, not {reply:?}"),
        }
        self.statistics.writes += 1;
        let bytes = request.bytes;
        self.ask(request, bytes, false);
    }

    /// Takes DRAM's answer.
    fn receive(&mut self, dram: &mut dyn DramPort, now: Cycle) {
        let Some(answer) = dram.completed(now) else { return };
        let Current { request, is_fetch } = self.current.take().expect("DRAM answers what was asked");
        if is_fetch {
            let frame = self.frame(request.line);
            self.tags[frame] = Some(request.line);
            self.data[frame].0 = answer.tray.0;
        }
        self.spare = Some(answer.tray);
        if is_fetch {
            self.perform(request, true, now);
        } else {
            self.replies.push(now.next(), request.into_reply()).expect("room was checked");
        }
    }
}

impl Llc for DirectMappedLlc {
    fn offer(&mut self, request: Packet, now: Cycle) -> Result<(), Packet> {
        self.requests.push(now + self.latency, request)
    }

    fn tick(&mut self, dram: &mut dyn DramPort, now: Cycle) {
        self.receive(dram, now);
        self.look_up(now);
        if let Some(request) = self.to_dram.take() {
            self.to_dram = dram.offer(request, now).err();
        }
    }

    fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        self.replies.pop(now)
    }

    fn outgoing_bytes(&self, now: Cycle) -> Option<u32> {
        self.replies.front(now).map(|packet| packet.wire_bytes())
    }

    fn next_outgoing(&self) -> Cycle {
        self.replies.next_ready()
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        if self.to_dram.is_some() {
            return now;
        }
        let work = if self.current.is_some() { Cycle::NEVER } else { self.requests.next_ready() };
        work.max(now)
    }

    fn peek(&self, line: LineAddress, below: &mut Line) {
        let frame = self.frame(line);
        if self.tags[frame] == Some(line) {
            below.0 = self.data[frame].0;
        }
    }

    fn poke(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        let frame = self.frame(line);
        if self.tags[frame] == Some(line) {
            self.data[frame].merge(bytes, data);
        }
    }

    fn waits(&self, report: &mut Vec<String>) {
        if let Some(current) = &self.current {
            report.push(format!(
                "direct-mapped slice {}: line {} waits for DRAM, {} requests behind it",
                self.slice,
                current.request.line.0,
                self.requests.len()
            ));
        }
    }

    fn statistics(&self) -> Vec<Group> {
        vec![self.statistics.report()]
    }
}
