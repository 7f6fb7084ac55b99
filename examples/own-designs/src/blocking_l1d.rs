//! A direct-mapped L1D that waits for each miss: write-through, one access under way.

use schemars::JsonSchema;
use serde::Deserialize;
use strata_designs::sram_area::{BankGeometry, sram_cache};
use strata_engine::statistics::{Group, Statistics};
use strata_engine::{Cited, Cycle, DelayLine};
use strata_memory::area::Component;
use strata_memory::doors::{
    Access, Action, Completion, Design, HOST_ITEM_BYTES, L1d, L1dDesign, L1dSite, Policy, Refusal,
};
use strata_memory::{
    Body, ByteMask, Client, Contents, LINE_BYTES, Level, Line, LineAddress, Origin, Packet, Packets,
    ParameterError, Tray,
};

/// Its section of a machine file: `[l1d.blocking]`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Lines of 128 bytes, a power of two.
    #[schemars(range(min = 1, max = 1 << 16), extend("unit" = "lines"))]
    pub lines: Cited<usize>,
    /// Cycles from an access that hits to its completion.
    #[schemars(range(min = 1, max = 1000), extend("unit" = "cycles"))]
    pub hit_latency_cycles: Cited<u64>,
    /// Stores that may be without acknowledgement.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "stores"))]
    pub write_buffer: Cited<usize>,
}

impl Design for Config {
    fn check(&self) -> Result<(), ParameterError> {
        let refuse = |field, found: &dyn std::fmt::Display, expected| {
            Err(ParameterError::new(field, format!("must be {expected}, found {found}")))
        };
        if !self.lines.is_power_of_two() || *self.lines > 1 << 16 {
            return refuse("lines", &*self.lines, "a power of two up to 65536");
        }
        if !(1..=1000).contains(&*self.hit_latency_cycles) {
            return refuse("hit_latency_cycles", &*self.hit_latency_cycles, "1 to 1000");
        }
        if !(1..=4096).contains(&*self.write_buffer) {
            return refuse("write_buffer", &*self.write_buffer, "1 to 4096");
        }
        Ok(())
    }

    fn outline(&self) -> String {
        format!("{} KB, direct-mapped, one miss at a time", self.capacity_bytes() / 1024)
    }

    fn host_bytes(&self) -> u64 {
        (*self.lines + 2 * *self.write_buffer) as u64 * HOST_ITEM_BYTES
    }

    fn area(&self) -> Vec<Component> {
        sram_cache(&BankGeometry::of_lines(*self.lines, 1))
    }
}

impl L1dDesign for Config {
    fn capacity_bytes(&self) -> u64 {
        (*self.lines * LINE_BYTES) as u64
    }

    fn build(&self, site: L1dSite) -> Result<Box<dyn L1d>, ParameterError> {
        self.check()?;
        Ok(Box::new(BlockingL1d {
            site,
            tags: vec![None; *self.lines],
            data: Line::zeros(*self.lines),
            latency: *self.hit_latency_cycles,
            started: None,
            under_way: None,
            answered: None,
            hits: DelayLine::new(*self.hit_latency_cycles as usize + 2),
            outgoing: DelayLine::new(*self.write_buffer + 1),
            packets: Packets::default(),
            trays: (0..*self.write_buffer).map(|_| Box::new(Line::ZERO)).collect(),
            writes: 0,
            flush: None,
            changes: 0,
            statistics: BlockingStatistics::default(),
        }))
    }
}

strata_engine::statistics! {
    /// What it counts; an `[energy]` mark asks a machine's energy section for a number.
    pub struct BlockingStatistics: "blocking_l1d" {
        /// Loads that found their line.
        hits: "loads" [energy],
        /// Loads that waited for their line.
        misses: "loads",
        /// Lines brought in.
        fills: "lines" [energy],
        /// Stores, all written through.
        stores: "stores" [energy],
        /// Atomics and accesses that asked to bypass.
        bypasses: "accesses",
    }
    laws {
        "fills = misses": |s| s.fills == s.misses,
    }
}

/// The cache of one SM.
struct BlockingL1d {
    site: L1dSite,
    tags: Vec<Option<LineAddress>>,
    data: Vec<Line>,
    latency: u64,
    /// The cycle in which the last access started: one port.
    started: Option<Cycle>,
    /// The token of the miss, bypassing load or atomic that everything waits for, and whether its line is kept.
    under_way: Option<(u32, bool)>,
    /// Its completion, until somebody takes it.
    answered: Option<(Cycle, Completion)>,
    hits: DelayLine<Completion>,
    outgoing: DelayLine<Packet>,
    /// Packets that have come back, for the next requests.
    packets: Packets,
    /// Trays in which stores travel.
    trays: Vec<Tray>,
    writes: usize,
    /// A flush under way, and whether it drops copies.
    flush: Option<bool>,
    /// Rises whenever something was freed.
    changes: u64,
    statistics: BlockingStatistics,
}

impl BlockingL1d {
    fn frame(&self, line: LineAddress) -> usize {
        (line.0 % self.tags.len() as u64) as usize
    }

    /// Why an access cannot start now, if so.
    fn obstacle(&self, access: &Access, now: Cycle) -> Option<Refusal> {
        let is_store = matches!(access.action, Action::Store(_));
        if self.flush.is_some() {
            Some(Refusal::Flush)
        } else if self.started == Some(now) || self.hits.is_full() {
            Some(Refusal::Port)
        } else if self.under_way.is_some() {
            Some(Refusal::Mshr)
        } else if self.outgoing.is_full() || is_store && self.trays.is_empty() {
            Some(Refusal::Network)
        } else {
            None
        }
    }

    fn send(&mut self, line: LineAddress, bytes: ByteMask, body: Body, now: Cycle) {
        let packet = self.packets.write(Contents {
            line,
            bytes,
            source: self.site.node,
            destination: self.site.slices.node_of(line),
            client: Client::L1d,
            tag: 0,
            origin: Origin::default(),
            level: Level::default(),
            body,
        });
        self.outgoing.push(now.next(), packet).expect("room was checked");
    }
}

impl L1d for BlockingL1d {
    fn offer(&mut self, access: Access, now: Cycle) -> Result<(), (Access, Refusal)> {
        if let Some(cause) = self.obstacle(&access, now) {
            return Err((access, cause));
        }
        self.started = Some(now);
        let (frame, token) = (self.frame(access.line), access.token);
        let is_here = self.tags[frame] == Some(access.line);
        let goes_past = access.policy == Policy::Bypass || matches!(access.action, Action::Atomic(_));
        if goes_past {
            self.statistics.bypasses += 1;
            // No copy is ever dirty: dropping it is enough.
            if is_here {
                self.tags[frame] = None;
            }
        }
        match access.action {
            Action::Load(mut tray) if is_here && !goes_past => {
                self.statistics.hits += 1;
                tray.0 = self.data[frame].0;
                let completion = Completion { token, action: Action::Load(tray) };
                self.hits.push(now + self.latency, completion).expect("room was checked");
            }
            Action::Load(tray) => {
                self.statistics.misses += u64::from(!goes_past);
                let bytes = if goes_past { access.bytes } else { ByteMask::ALL };
                self.under_way = Some((token, !goes_past));
                self.send(access.line, bytes, Body::Read(tray), now);
            }
            Action::Store(tray) => {
                self.statistics.stores += 1;
                if is_here && !goes_past {
                    self.data[frame].merge(access.bytes, &tray);
                }
                let mut copy = self.trays.pop().expect("a tray was checked");
                copy.0 = tray.0;
                self.writes += 1;
                self.send(access.line, access.bytes, Body::Write(copy), now);
                let completion = Completion { token, action: Action::Store(tray) };
                self.hits.push(now + self.latency, completion).expect("room was checked");
            }
            Action::Atomic(batch) => {
                self.under_way = Some((token, false));
                self.send(access.line, access.bytes, Body::Atomic(batch), now);
            }
        }
        Ok(())
    }

    fn changes(&self, cause: Refusal, now: Cycle) -> u64 {
        match cause {
            Refusal::Mshr | Refusal::Network => self.changes,
            _ => now.0,
        }
    }

    fn accept(&mut self, reply: Packet, now: Cycle) {
        let line = reply.line;
        let action = match self.packets.open(reply) {
            Body::WriteAck(tray) => {
                self.trays.push(tray);
                self.writes -= 1;
                self.changes += 1;
                return;
            }
            Body::ReadReply(tray) => {
                if self.under_way.is_some_and(|(_, kept)| kept) {
                    let frame = self.frame(line);
                    self.statistics.fills += 1;
                    self.tags[frame] = Some(line);
                    self.data[frame].0 = tray.0;
                }
                Action::Load(tray)
            }
            Body::AtomicReply(batch) => Action::Atomic(batch),
            request => unreachable!("an L1D gets replies, not {request:?}"),
        };
        let (token, _) = self.under_way.expect("a reply answers the access under way");
        self.answered = Some((now.next(), Completion { token, action }));
    }

    fn tick(&mut self, _now: Cycle) {
        if let Some(invalidate) = self.flush
            && self.under_way.is_none()
            && self.writes == 0
        {
            if invalidate {
                self.tags.fill(None);
            }
            self.flush = None;
        }
    }

    fn completed(&mut self, now: Cycle) -> Option<Completion> {
        if self.answered.as_ref().is_some_and(|(due, _)| *due <= now) {
            self.under_way = None;
            self.changes += 1;
            return self.answered.take().map(|(_, completion)| completion);
        }
        self.hits.pop(now)
    }

    fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        self.changes += 1;
        self.outgoing.pop(now)
    }

    fn outgoing_bytes(&self, now: Cycle) -> Option<u32> {
        self.outgoing.front(now).map(|packet| packet.wire_bytes())
    }

    fn begin_flush(&mut self, invalidate: bool, _now: Cycle) {
        self.flush = Some(invalidate || self.flush == Some(true));
    }

    fn is_flushed(&self) -> bool {
        self.flush.is_none() && self.writes == 0
    }

    fn outstanding(&self) -> usize {
        let is_open = self.under_way.is_some() && self.answered.is_none();
        self.writes + usize::from(is_open)
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        if self.flush.is_some() && self.under_way.is_none() && self.writes == 0 {
            return now;
        }
        let answer = self.answered.as_ref().map_or(Cycle::NEVER, |(due, _)| *due);
        answer.min(self.hits.next_ready()).min(self.outgoing.next_ready()).max(now)
    }

    fn waits(&self, report: &mut Vec<String>) {
        let node = self.site.node.0;
        if let Some((token, _)) = self.under_way {
            report.push(format!("blocking L1D {node}: access {token} waits for its reply"));
        }
        if self.writes > 0 {
            report.push(format!("blocking L1D {node}: {} stores are not acknowledged", self.writes));
        }
    }

    fn statistics(&self) -> Vec<Group> {
        vec![self.statistics.report()]
    }
}
