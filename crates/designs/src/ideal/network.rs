//! A network without contention: a packet takes the same time whatever others do.
//!
//! A packet comes as late as in an empty network of switches: the latency of the way, and a cycle for each flit behind its first. No port,
//! switch or buffer of the network makes it wait. What a receiver has no room for waits in the network, and with it what comes
//! behind it from the same sender: a packet never passes another of its sender.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::Deserialize;
use strata_engine::statistics::Group;
use strata_engine::{Cited, Cycle, Doorbell, Inlet, Island, Outlet, Window};
use strata_memory::doors::{Design, Direction, HOST_ITEM_BYTES, Network, NetworkDesign, NetworkSite};
use strata_memory::{FlitSize, HEADER_BYTES, Packet, ParameterError};

use crate::baseline::NetworkStatistics;

/// The parameters of an ideal network, the same for both directions. Cycles are those of the network's clock.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdealNetworkConfig {
    /// Cycles between a node and the network, each way.
    #[schemars(range(min = 1, max = 10000), extend("unit" = "cycles"))]
    pub hop_latency_cycles: Cited<u64>,
    /// Further cycles within the network: those of all hops but the first and the last.
    #[schemars(range(min = 0, max = 1000000), extend("unit" = "cycles"))]
    pub inner_latency_cycles: Cited<u64>,
    /// Bytes of a flit. A packet of several comes a cycle later for each but the first.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "B"))]
    pub flit_bytes: Cited<u32>,
    /// Flits that can be under way to a receiver, or wait there.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "flits"))]
    pub buffer_flits: Cited<u32>,
}

#[cfg(test)]
pub(super) const EXAMPLE: &str = r#"
[network.ideal]
hop_latency_cycles = { value = 4, source = "test" }
inner_latency_cycles = { value = 3, source = "test" }
flit_bytes = { value = 40, source = "test" }
buffer_flits = { value = 64, source = "test" }
"#;

impl Design for IdealNetworkConfig {
    fn check(&self) -> Result<(), ParameterError> {
        let bounds = [
            ("hop_latency_cycles", *self.hop_latency_cycles, 1, 10_000),
            ("inner_latency_cycles", *self.inner_latency_cycles, 0, 1_000_000),
            ("buffer_flits", u64::from(*self.buffer_flits), 1, 4096),
        ];
        for (field, value, least, most) in bounds {
            if !(least..=most).contains(&value) {
                return Err(ParameterError::new(field, format!("must be {least} to {most}, found {value}")));
            }
        }
        self.flit_size().map(|_| ())
    }

    fn outline(&self) -> String {
        let latency = 2 * *self.hop_latency_cycles + *self.inner_latency_cycles;
        format!("ideal: no contention, {latency} cycles, flits of {} bytes", *self.flit_bytes)
    }

    /// What waits in it is bounded by what its senders have under way.
    fn host_bytes(&self) -> u64 {
        HOST_ITEM_BYTES * u64::from(*self.buffer_flits)
    }
}

impl NetworkDesign for IdealNetworkConfig {
    fn flit_size(&self) -> Result<FlitSize, ParameterError> {
        FlitSize::new(*self.flit_bytes)
    }

    fn link_latency_cycles(&self) -> u64 {
        *self.hop_latency_cycles
    }

    fn link_flits(&self) -> u32 {
        *self.buffer_flits
    }

    fn build(&self, site: NetworkSite) -> Result<Box<dyn Network>, ParameterError> {
        self.check()?;
        let ends = site.ends;
        Ok(Box::new(IdealNetwork {
            direction: site.direction,
            first_output: ends.first_output.0,
            ways: ends.inlets.into_iter().map(|inlet| Way { inlet, under_way: VecDeque::new() }).collect(),
            outlets: ends.outlets,
            flit_size: self.flit_size()?,
            inner: *self.inner_latency_cycles,
            next: Cycle::NEVER,
            statistics: NetworkStatistics::default(),
        }))
    }
}

/// What comes from one sender.
struct Way {
    inlet: Inlet<Packet>,
    /// Packets within the network, in the order in which they came: when they came, and when they leave.
    under_way: VecDeque<Entry>,
}

struct Entry {
    came: Cycle,
    due: Cycle,
    flits: u32,
    packet: Packet,
}

struct IdealNetwork {
    direction: Direction,
    first_output: u16,
    ways: Vec<Way>,
    outlets: Vec<Outlet<Packet>>,
    flit_size: FlitSize,
    inner: u64,
    next: Cycle,
    statistics: NetworkStatistics,
}

impl IdealNetwork {
    /// Takes what has come from a sender, and sends on what is due; the next cycle to look at it.
    fn forward(&mut self, place: usize, now: Cycle) -> Cycle {
        let (way, statistics) = (&mut self.ways[place], &mut self.statistics);
        while let Some(packet) = way.inlet.receive(now) {
            let flits = self.flit_size.flits(packet.wire_bytes());
            way.inlet.release(flits, now);
            statistics.packets_in += 1;
            let before = way.under_way.back().map_or(Cycle::ZERO, |last| last.due);
            let due = (now + self.inner + u64::from(flits - 1)).max(before);
            way.under_way.push_back(Entry { came: now, due, flits, packet });
        }
        while let Some(Entry { due, flits, packet, .. }) = way.under_way.front() {
            if *due > now {
                return way.inlet.next_arrival().min(*due);
            }
            let outlet = &mut self.outlets[usize::from(packet.destination.0 - self.first_output)];
            if !outlet.has_credit(*flits, now) {
                return way.inlet.next_arrival().min(outlet.next_credit().max(now.next()));
            }
            let Some(Entry { came, due, flits, packet }) = way.under_way.pop_front() else { break };
            let bytes = u64::from(packet.wire_bytes());
            statistics.packets_out += 1;
            statistics.flits += u64::from(flits);
            statistics.flit_hops += u64::from(flits);
            statistics.output_busy_cycles += u64::from(flits);
            statistics.wire_bytes += bytes;
            statistics.payload_bytes += bytes - u64::from(HEADER_BYTES);
            statistics.wait_credit_cycles += now - due;
            statistics.latency_cycles += now + outlet.latency() - came;
            outlet.send(packet, flits, now).expect("credit was looked at");
        }
        way.inlet.next_arrival()
    }
}

impl Island for IdealNetwork {
    fn hang(&mut self, bell: &Doorbell) {
        self.ways.iter().for_each(|way| way.inlet.hang(bell));
        self.outlets.iter().for_each(|outlet| outlet.hang(bell));
    }

    fn collect(&mut self, window: Window) {
        self.outlets.iter_mut().for_each(|outlet| outlet.collect(window));
        // Room that has come may be what a packet waits for.
        self.next = Cycle::NEVER;
        for way in &mut self.ways {
            way.inlet.collect(window);
            let due = way.under_way.front().map_or(Cycle::NEVER, |entry| entry.due);
            self.next = self.next.min(way.inlet.next_arrival()).min(due);
        }
    }

    fn tick(&mut self, now: Cycle) {
        // Who is first goes round, so that nobody starves.
        let count = self.ways.len();
        let first = now.0 as usize % count.max(1);
        let mut next = Cycle::NEVER;
        for place in (first..count).chain(0..first) {
            next = next.min(self.forward(place, now));
        }
        self.next = next;
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        self.next.max(now)
    }

    fn flush(&mut self, window: Window) -> Cycle {
        let sent = self.outlets.iter_mut().map(|outlet| outlet.flush(window)).min();
        let released = self.ways.iter_mut().map(|way| way.inlet.flush(window)).min();
        sent.unwrap_or(Cycle::NEVER).min(released.unwrap_or(Cycle::NEVER))
    }

    fn progress(&self) -> u64 {
        self.statistics.packets_in + self.statistics.packets_out
    }

    fn waits(&self, report: &mut Vec<String>) {
        let under_way: usize = self.ways.iter().map(|way| way.under_way.len() + way.inlet.waiting()).sum();
        if under_way > 0 {
            report.push(format!(
                "{}: {under_way} packets are under way or wait for room",
                self.direction.group()
            ));
        }
    }
}

impl Network for IdealNetwork {
    fn statistics(&self) -> Vec<Group> {
        vec![self.statistics.report_as(self.direction)]
    }
}
