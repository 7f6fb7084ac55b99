//! A network without contention: a packet takes the same time whatever others do.
//!
//! A packet comes as late as in an empty network of switches: the latency of the way, and a cycle for each flit behind its first. No
//! switch or buffer of the network makes it wait. Ports take a packet of any size in a cycle, and a node takes one: packets that are due
//! there at once come one after the other, in the order in which they were due, and so does what there is no room for. A packet
//! never passes another of its sender on the way to the same node.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

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
    /// Bytes of a packet that come in its first cycle, and in each further one.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "B"))]
    pub flit_bytes: Cited<u32>,
    /// Packets that can be under way on a link, or wait at its end.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "packets"))]
    pub room_packets: Cited<u32>,
}

#[cfg(test)]
pub(super) const EXAMPLE: &str = r#"
[network.ideal]
hop_latency_cycles = { value = 4, source = "test" }
inner_latency_cycles = { value = 3, source = "test" }
flit_bytes = { value = 40, source = "test" }
room_packets = { value = 8, source = "test" }
"#;

impl Design for IdealNetworkConfig {
    fn check(&self) -> Result<(), ParameterError> {
        let bounds = [
            ("hop_latency_cycles", *self.hop_latency_cycles, 1, 10_000),
            ("inner_latency_cycles", *self.inner_latency_cycles, 0, 1_000_000),
            ("flit_bytes", u64::from(*self.flit_bytes), 1, 4096),
            ("room_packets", u64::from(*self.room_packets), 1, 4096),
        ];
        for (field, value, least, most) in bounds {
            if !(least..=most).contains(&value) {
                return Err(ParameterError::new(field, format!("must be {least} to {most}, found {value}")));
            }
        }
        Ok(())
    }

    fn outline(&self) -> String {
        let latency = 2 * *self.hop_latency_cycles + *self.inner_latency_cycles;
        format!("ideal: no contention, {latency} cycles and one for each {} bytes", *self.flit_bytes)
    }

    /// What waits in it is bounded by what its senders have under way.
    fn host_bytes(&self) -> u64 {
        HOST_ITEM_BYTES * u64::from(*self.room_packets)
    }
}

impl NetworkDesign for IdealNetworkConfig {
    /// A port takes any packet at once.
    fn flit_size(&self) -> Result<FlitSize, ParameterError> {
        FlitSize::new(PORT_BYTES)
    }

    fn link_latency_cycles(&self) -> u64 {
        *self.hop_latency_cycles
    }

    fn link_flits(&self) -> u32 {
        *self.room_packets
    }

    fn link_flits_key(&self) -> &'static str {
        "room_packets"
    }

    fn build(&self, site: NetworkSite) -> Result<Box<dyn Network>, ParameterError> {
        self.check()?;
        let ends = site.ends;
        let out = |outlet| Out { outlet, under_way: BinaryHeap::new(), used: None };
        Ok(Box::new(IdealNetwork {
            direction: site.direction,
            first_output: ends.first_output.0,
            ins: ends.inlets.into_iter().map(|inlet| In { inlet, last_due: Cycle::ZERO }).collect(),
            outs: ends.outlets.into_iter().map(out).collect(),
            flit_bytes: *self.flit_bytes,
            inner: *self.inner_latency_cycles,
            next: Cycle::NEVER,
            statistics: NetworkStatistics::default(),
        }))
    }
}

/// Bytes that a port takes in a cycle: more than the largest packet has.
const PORT_BYTES: u32 = 4096;

/// A sender's end.
struct In {
    inlet: Inlet<Packet>,
    /// When the last of its packets is due.
    last_due: Cycle,
}

/// A receiver's end.
struct Out {
    outlet: Outlet<Packet>,
    /// Packets on their way to it, by when they are due.
    under_way: BinaryHeap<Reverse<Entry>>,
    /// The last cycle in which one left.
    used: Option<Cycle>,
}

/// A packet within the network.
struct Entry {
    due: Cycle,
    /// Which it is of all: of two that are due at once, the first leaves first.
    number: u64,
    came: Cycle,
    packet: Packet,
}

impl Ord for Entry {
    fn cmp(&self, other: &Entry) -> Ordering {
        (self.due, self.number).cmp(&(other.due, other.number))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

struct IdealNetwork {
    direction: Direction,
    first_output: u16,
    ins: Vec<In>,
    outs: Vec<Out>,
    flit_bytes: u32,
    inner: u64,
    next: Cycle,
    statistics: NetworkStatistics,
}

impl IdealNetwork {
    /// Takes what has come from a sender; when something comes next.
    fn take(&mut self, place: usize, now: Cycle) -> Cycle {
        let In { inlet, last_due } = &mut self.ins[place];
        while let Some(packet) = inlet.receive(now) {
            inlet.release(1, now);
            let flits = packet.wire_bytes().div_ceil(self.flit_bytes);
            let due = (now + self.inner + u64::from(flits - 1)).max(*last_due);
            *last_due = due;
            let out = &mut self.outs[usize::from(packet.destination.0 - self.first_output)];
            let number = self.statistics.packets_in;
            out.under_way.push(Reverse(Entry { due, number, came: now, packet }));
            self.statistics.packets_in += 1;
        }
        inlet.next_arrival()
    }
}

impl Out {
    /// Sends the next packet if it is due and there is room; when to look again.
    fn send(&mut self, statistics: &mut NetworkStatistics, now: Cycle) -> Cycle {
        let next = |under_way: &BinaryHeap<Reverse<Entry>>| {
            under_way.peek().map_or(Cycle::NEVER, |Reverse(first)| first.due.max(now.next()))
        };
        let is_due = self.under_way.peek().is_some_and(|Reverse(first)| first.due <= now);
        if !is_due || self.used == Some(now) {
            return next(&self.under_way);
        }
        if !self.outlet.has_credit(1, now) {
            return self.outlet.next_credit().max(now.next());
        }
        let Some(Reverse(Entry { due, came, packet, .. })) = self.under_way.pop() else {
            return Cycle::NEVER;
        };
        self.used = Some(now);
        let bytes = packet.wire_bytes();
        statistics.packets_out += 1;
        statistics.flits += 1;
        statistics.flit_hops += 1;
        statistics.output_busy_cycles += 1;
        statistics.wire_bytes += u64::from(bytes);
        statistics.payload_bytes += u64::from(bytes - HEADER_BYTES);
        statistics.wait_output_cycles += now - due;
        statistics.latency_cycles += now + self.outlet.latency() - came;
        self.outlet.send(packet, 1, now).expect("credit was looked at");
        next(&self.under_way)
    }
}

impl Island for IdealNetwork {
    fn hang(&mut self, bell: &Doorbell) {
        self.ins.iter().for_each(|end| end.inlet.hang(bell));
        self.outs.iter().for_each(|end| end.outlet.hang(bell));
    }

    fn collect(&mut self, window: Window) {
        self.next = Cycle::NEVER;
        for Out { outlet, under_way, .. } in &mut self.outs {
            outlet.collect(window);
            // Room that has come may be what a packet waits for.
            self.next = self.next.min(under_way.peek().map_or(Cycle::NEVER, |Reverse(first)| first.due));
        }
        for In { inlet, .. } in &mut self.ins {
            inlet.collect(window);
            self.next = self.next.min(inlet.next_arrival());
        }
    }

    fn tick(&mut self, now: Cycle) {
        // Who is first goes round, so that nobody is always last.
        let count = self.ins.len();
        let first = now.0 as usize % count.max(1);
        let arrivals = (first..count).chain(0..first).map(|place| self.take(place, now)).min();
        let departures = self.outs.iter_mut().map(|out| out.send(&mut self.statistics, now)).min();
        self.next = arrivals.unwrap_or(Cycle::NEVER).min(departures.unwrap_or(Cycle::NEVER));
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        self.next.max(now)
    }

    fn flush(&mut self, window: Window) -> Cycle {
        let sent = self.outs.iter_mut().map(|end| end.outlet.flush(window)).min();
        let released = self.ins.iter_mut().map(|end| end.inlet.flush(window)).min();
        sent.unwrap_or(Cycle::NEVER).min(released.unwrap_or(Cycle::NEVER))
    }

    fn progress(&self) -> u64 {
        self.statistics.packets_in + self.statistics.packets_out
    }

    fn waits(&self, report: &mut Vec<String>) {
        let on_links: usize = self.ins.iter().map(|end| end.inlet.waiting()).sum();
        let under_way: usize = self.outs.iter().map(|end| end.under_way.len()).sum();
        if on_links + under_way > 0 {
            let group = self.direction.group();
            report.push(format!("{group}: {} packets are under way or wait for room", on_links + under_way));
        }
    }
}

impl Network for IdealNetwork {
    fn statistics(&self) -> Vec<Group> {
        vec![self.statistics.report_as(self.direction)]
    }
}
