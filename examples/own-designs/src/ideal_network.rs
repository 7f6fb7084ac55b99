//! A network without switches: every packet reaches its receiver after the same time, if the receiver has room.

use serde::Deserialize;
use strata_engine::statistics::{Group, Statistics};
use strata_engine::{Cited, Cycle, Doorbell, Inlet, Island, Outlet, Window};
use strata_memory::doors::{Design, Direction, Network, NetworkDesign, NetworkSite};
use strata_memory::{FlitSize, Packet, ParameterError};

/// Its section of a machine file: `[network.ideal]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Cycles from a node to the network, and from the network to a node.
    pub latency_cycles: Cited<u64>,
    /// Flits of 32 bytes that can be under way to a receiver.
    pub room_flits: Cited<u32>,
}

/// Bytes of a flit: only rooms are counted in flits here.
const FLIT_BYTES: u32 = 32;

impl Design for Config {
    fn check(&self) -> Result<(), ParameterError> {
        if !(1..=10_000).contains(&*self.latency_cycles) {
            let message = format!("must be 1 to 10000, found {}", *self.latency_cycles);
            return Err(ParameterError::new("latency_cycles", message));
        }
        if !(1..=4096).contains(&*self.room_flits) {
            let message = format!("must be 1 to 4096, found {}", *self.room_flits);
            return Err(ParameterError::new("room_flits", message));
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
        *self.room_flits
    }

    fn build(&self, site: NetworkSite) -> Result<Box<dyn Network>, ParameterError> {
        self.check()?;
        let NetworkSite { direction, ends } = site;
        Ok(Box::new(IdealNetwork {
            direction,
            flit_size: self.flit_size()?,
            first_output: ends.first_output.0,
            inlets: ends.inlets,
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
        /// Flits delivered.
        flits: "flits" [energy],
    }
    laws {
        "flits >= packets": |s| s.flits >= s.packets,
    }
}

struct IdealNetwork {
    direction: Direction,
    flit_size: FlitSize,
    first_output: u16,
    inlets: Vec<Inlet<Packet>>,
    outlets: Vec<Outlet<Packet>>,
    next: Cycle,
    statistics: IdealStatistics,
}

impl IdealNetwork {
    /// Sends what has arrived at an inlet as far as there is room; the next cycle to look at it.
    fn forward(&mut self, inlet: usize, now: Cycle) -> Cycle {
        let inlet = &mut self.inlets[inlet];
        while let Some(packet) = inlet.front(now) {
            let outlet = &mut self.outlets[usize::from(packet.destination.0 - self.first_output)];
            let flits = self.flit_size.flits(packet.wire_bytes());
            if outlet.credits(now) < flits {
                return outlet.next_credit();
            }
            inlet.release(flits, now);
            let packet = inlet.receive(now).expect("it was looked at");
            outlet.send(packet, flits, now).expect("credit was looked at");
            self.statistics.packets += 1;
            self.statistics.flits += u64::from(flits);
        }
        inlet.next_arrival()
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
        self.next =
            (0..self.inlets.len()).map(|inlet| self.forward(inlet, now)).min().unwrap_or(Cycle::NEVER);
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
        vec![self.statistics.report()]
    }
}
