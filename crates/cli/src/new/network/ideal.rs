//! A network without switches: a packet takes the same time whatever others do, and a port moves a whole packet in a
//! cycle.

use schemars::JsonSchema;
use serde::Deserialize;
use strata_engine::statistics::{Group, Statistics};
use strata_engine::{Cited, Cycle, Doorbell, Inlet, Island, Outlet, Window};
use strata_memory::doors::{Design, Direction, Network, NetworkDesign, NetworkSite};
use strata_memory::{FlitSize, Packet, ParameterError};

/// Its section of a machine file: `[network.NAME]`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Cycles from a node to the network, and from the network to a node.
    #[schemars(range(min = 1, max = 10000), extend("unit" = "cycles"))]
    pub latency_cycles: Cited<u64>,
    /// Packets that can be under way to a receiver.
    #[schemars(range(min = 1, max = 4096), extend("unit" = "packets"))]
    pub room_packets: Cited<u32>,
}

/// Bytes that a port moves in a cycle: more than the largest packet has, so that each is one flit.
const FLIT_BYTES: u32 = 1024;

impl Design for Config {
    fn check(&self) -> Result<(), ParameterError> {
        if !(1..=10_000).contains(&*self.latency_cycles) {
            let message = format!("must be 1 to 10000, found {}", *self.latency_cycles);
            return Err(ParameterError::new("latency_cycles", message));
        }
        if !(1..=4096).contains(&*self.room_packets) {
            let message = format!("must be 1 to 4096, found {}", *self.room_packets);
            return Err(ParameterError::new("room_packets", message));
        }
        Ok(())
    }

    fn outline(&self) -> String {
        format!("ideal, {} cycles", 2 * *self.latency_cycles)
    }

    fn host_bytes(&self) -> u64 {
        // Its buffers are those of the links.
        4096
    }
}

impl NetworkDesign for Config {
    fn flit_size(&self) -> Result<FlitSize, ParameterError> {
        FlitSize::new(FLIT_BYTES)
    }

    fn link_latency_cycles(&self) -> u64 {
        *self.latency_cycles
    }

    fn link_flits(&self) -> u32 {
        *self.room_packets
    }

    fn build(&self, site: NetworkSite) -> Result<Box<dyn Network>, ParameterError> {
        self.check()?;
        let NetworkSite { direction, ends, .. } = site;
        Ok(Box::new(IdealNetwork {
            direction,
            first_output: ends.first_output.0,
            inlets: ends.inlets,
            used: vec![None; ends.outlets.len()],
            outlets: ends.outlets,
            next: Cycle::NEVER,
            statistics: IdealStatistics::default(),
        }))
    }
}

strata_engine::statistics! {
    /// What one direction counts.
    pub struct IdealStatistics: "ideal_network" {
        /// Packets delivered.
        packets: "packets",
        /// Bytes delivered, headers included.
        bytes: "bytes" [energy],
    }
    laws {
        "bytes >= packets": |s| s.bytes >= s.packets,
    }
}

struct IdealNetwork {
    direction: Direction,
    first_output: u16,
    inlets: Vec<Inlet<Packet>>,
    outlets: Vec<Outlet<Packet>>,
    /// The last cycle in which each outlet was used.
    used: Vec<Option<Cycle>>,
    next: Cycle,
    statistics: IdealStatistics,
}

impl IdealNetwork {
    /// Sends the packet at the head of an inlet, if its outlet is free and has room; the next cycle to look at it.
    fn forward(&mut self, inlet: usize, now: Cycle) -> Cycle {
        let inlet = &mut self.inlets[inlet];
        let Some(packet) = inlet.front(now) else { return inlet.next_arrival() };
        let to = usize::from(packet.destination.0 - self.first_output);
        let outlet = &mut self.outlets[to];
        if outlet.credits(now) == 0 {
            return outlet.next_credit();
        }
        if self.used[to] == Some(now) {
            return now.next();
        }
        self.used[to] = Some(now);
        inlet.release(1, now);
        let packet = inlet.receive(now).expect("it was looked at");
        self.statistics.packets += 1;
        self.statistics.bytes += u64::from(packet.wire_bytes());
        outlet.send(packet, 1, now).expect("credit was looked at");
        inlet.next_arrival().max(now.next())
    }
}

impl Island for IdealNetwork {
    fn hang(&mut self, bell: &Doorbell) {
        self.inlets.iter().for_each(|inlet| inlet.hang(bell));
        self.outlets.iter().for_each(|outlet| outlet.hang(bell));
    }

    fn collect(&mut self, window: Window) {
        self.outlets.iter_mut().for_each(|outlet| outlet.collect(window));
        self.next = Cycle::NEVER;
        for inlet in &mut self.inlets {
            inlet.collect(window);
            self.next = self.next.min(inlet.next_arrival());
        }
    }

    fn tick(&mut self, now: Cycle) {
        // Who is first goes round, so that nobody starves.
        let (count, first) = (self.inlets.len(), now.0 as usize % self.inlets.len().max(1));
        let nexts = (first..count).chain(0..first).map(|inlet| self.forward(inlet, now));
        self.next = nexts.min().unwrap_or(Cycle::NEVER);
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        self.next.max(now)
    }

    fn flush(&mut self, window: Window) -> Cycle {
        let sent = self.outlets.iter_mut().map(|outlet| outlet.flush(window)).min();
        let released = self.inlets.iter_mut().map(|inlet| inlet.flush(window)).min();
        sent.unwrap_or(Cycle::NEVER).min(released.unwrap_or(Cycle::NEVER))
    }

    fn progress(&self) -> u64 {
        self.statistics.packets
    }

    fn waits(&self, report: &mut Vec<String>) {
        let waiting: usize = self.inlets.iter().map(Inlet::waiting).sum();
        if waiting > 0 {
            report.push(format!("{}: {waiting} packets wait for room", self.direction.group()));
        }
    }
}

impl Network for IdealNetwork {
    fn statistics(&self) -> Vec<Group> {
        let name = match self.direction {
            Direction::Request => "ideal_network.request",
            Direction::Reply => "ideal_network.reply",
            Direction::Owner => "ideal_network.owner",
        };
        vec![Group { name, ..self.statistics.report() }]
    }
}
