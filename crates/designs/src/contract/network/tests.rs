//! Crossbar, butterflies and meshes under the contract, and planted bugs that it must catch.

use strata_engine::statistics::Group;
use strata_engine::{Cited, Inlet, Outlet, link};
use strata_memory::doors::Design;
use strata_memory::{Body, FlitSize, Packet, ParameterError};

use super::*;
use crate::baseline::{Arbitration, MeshConfig, MultistageConfig, Placement, Switching, Topology};

const TOPOLOGIES: [Topology; 5] = [
    Topology::Crossbar,
    Topology::Butterfly { radix: 27, stages: 1 },
    Topology::Butterfly { radix: 3, stages: 3 },
    Topology::Butterfly { radix: 6, stages: 2 },
    Topology::Butterfly { radix: 2, stages: 5 },
];

fn design(
    topology: Topology,
    arbitration: Arbitration,
    flit: u32,
    hop: u64,
    buffer: u32,
) -> MultistageConfig {
    MultistageConfig {
        topology: Cited::new(topology, "test"),
        flit_bytes: Cited::new(flit, "test"),
        hop_latency_cycles: Cited::new(hop, "test"),
        buffer_flits: Cited::new(buffer, "test"),
        arbitration: Cited::new(arbitration, "test"),
    }
}

fn counter(outcome: &Outcome, direction: usize, name: &str) -> u64 {
    let group = &outcome.statistics[direction][0];
    let place = group.definitions.iter().position(|definition| definition.name == name);
    group.values[place.expect("the network counts it")]
}

#[test]
fn the_contract_holds_for_crossbar_and_butterflies() {
    for (seed, topology) in TOPOLOGIES.into_iter().enumerate() {
        for arbitration in [Arbitration::RoundRobin, Arbitration::OldestFirst] {
            for (flit, hop, buffer) in [(40, 4, 14), (32, 1, 18), (136, 9, 8)] {
                let design = design(topology, arbitration, flit, hop, buffer);
                let contract = Contract { packets: 80, ..Contract::crowded(seed as u64) };
                let outcome = check_with_skips(&contract, &design);
                let outcome = outcome.unwrap_or_else(|fault| panic!("{fault}\n{contract:?}\n{design:?}"));
                for direction in [0, 1] {
                    for name in ["wait_credit_cycles", "wait_output_cycles"] {
                        assert!(counter(&outcome, direction, name) > 0, "{name} of {design:?}");
                    }
                }
            }
        }
        let design = design(topology, Arbitration::RoundRobin, 40, 6, 20);
        let contract = Contract::sparse(seed as u64);
        if let Err(fault) = check_with_skips(&contract, &design) {
            panic!("{fault}\n{contract:?}\n{design:?}");
        }
    }
}

/// A mesh of columns and rows.
fn mesh(columns: usize, rows: usize, switching: Switching, channels: usize, buffer: u32) -> MeshConfig {
    fn cited<T>(value: T) -> Cited<T> {
        Cited::new(value, "test")
    }
    MeshConfig {
        columns: cited(columns),
        rows: cited(rows),
        placement: cited(Placement::InOrder),
        flit_bytes: cited(40),
        switching: cited(switching),
        virtual_channels: cited(channels),
        buffer_flits: cited(buffer),
        routing_cycles: cited(0),
        vc_allocation_cycles: cited(1),
        switch_cycles: cited(2),
        link_cycles: cited(1),
        credit_cycles: cited(2),
        interface_cycles: cited(3),
        interface_flits: cited(20),
    }
}

#[test]
fn the_contract_holds_for_meshes() {
    use Switching::{VirtualCutThrough, Wormhole};
    let slow = |mut config: MeshConfig| {
        (config.routing_cycles.value, config.vc_allocation_cycles.value) = (2, 0);
        (config.link_cycles.value, config.credit_cycles.value) = (4, 9);
        (config.flit_bytes.value, config.placement.value) = (32, Placement::TopAndBottom);
        config
    };
    for (seed, design) in [
        mesh(4, 6, Wormhole, 4, 8),
        mesh(5, 5, VirtualCutThrough, 2, 14),
        mesh(3, 3, Wormhole, 1, 1),
        mesh(27, 1, Wormhole, 3, 2),
        mesh(1, 1, VirtualCutThrough, 1, 20),
        slow(mesh(4, 4, VirtualCutThrough, 3, 40)),
        slow(mesh(6, 5, Wormhole, 2, 3)),
    ]
    .into_iter()
    .enumerate()
    {
        let contracts =
            [Contract { packets: 80, ..Contract::crowded(seed as u64) }, Contract::sparse(seed as u64)];
        let [crowded, _] = contracts.map(|contract| {
            let outcome = check_with_skips(&contract, &design);
            outcome.unwrap_or_else(|fault| panic!("{fault}\n{contract:?}\n{design:?}"))
        });
        for direction in [0, 1] {
            assert!(counter(&crowded, direction, "wait_channel_cycles") > 0, "{design:?}");
            // Where outputs have one channel each and inputs too, whoever has a channel has the switch.
            let contends = *design.virtual_channels > 1 || *design.columns > 1;
            assert_eq!(counter(&crowded, direction, "wait_switch_cycles") > 0, contends, "{design:?}");
        }
    }
}

#[test]
fn links_too_small_for_the_largest_packet_are_refused() {
    let design = design(Topology::Crossbar, Arbitration::RoundRobin, 40, 4, 13);
    let fault = check(&Contract::crowded(1), &design).unwrap_err();
    assert!(fault.contains("buffer_flits: found 13, expected at least the 14 flits"), "{fault}");
}

/// What the wrapped network does wrong, most of them every twentieth time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bug {
    /// None: the wrapper itself is sound.
    Sound,
    PacketLost,
    PacketTwice,
    /// A packet goes to the next outlet.
    Misrouted,
    /// A packet leaves after the next one of its pair.
    Overtaken,
    PayloadChanged,
    MaskChanged,
    TagChanged,
    /// The sender gets one flit too few back, or one too many.
    CreditLost,
    CreditForged,
    /// A packet leaves with the credit of one flit.
    Undercharged,
    /// Packets leave as fast as credits allow.
    TooFast,
    /// A receiver is never served after a while.
    Starved,
    SkippedTooFar,
    /// Nobody tells it that packets have come.
    BellForgotten,
    /// It says that nothing of what it sent has an effect.
    FlushSilent,
    /// A packet leaves an inlet at the beginning of a window only.
    WindowSeen,
    NeverQuiet,
    NoProgress,
    OneNameForBoth,
    LawBroken,
}

const BUGS: [Bug; 20] = [
    Bug::PacketLost,
    Bug::PacketTwice,
    Bug::Misrouted,
    Bug::Overtaken,
    Bug::PayloadChanged,
    Bug::MaskChanged,
    Bug::TagChanged,
    Bug::CreditLost,
    Bug::CreditForged,
    Bug::Undercharged,
    Bug::TooFast,
    Bug::Starved,
    Bug::SkippedTooFar,
    Bug::BellForgotten,
    Bug::FlushSilent,
    Bug::WindowSeen,
    Bug::NeverQuiet,
    Bug::NoProgress,
    Bug::OneNameForBoth,
    Bug::LawBroken,
];

/// A network in front of and behind which a hop is added.
#[derive(Debug)]
struct PlantedDesign {
    inner: MultistageConfig,
    bug: Bug,
}

impl Design for PlantedDesign {
    fn check(&self) -> Result<(), ParameterError> {
        self.inner.check()
    }

    fn outline(&self) -> String {
        self.inner.outline()
    }

    fn host_bytes(&self) -> u64 {
        self.inner.host_bytes()
    }
}

impl NetworkDesign for PlantedDesign {
    fn flit_size(&self) -> Result<FlitSize, ParameterError> {
        self.inner.flit_size()
    }

    fn link_latency_cycles(&self) -> u64 {
        self.inner.link_latency_cycles()
    }

    fn link_flits(&self) -> u32 {
        self.inner.link_flits()
    }

    fn build(&self, site: NetworkSite) -> Result<Box<dyn Network>, ParameterError> {
        let NetworkSite { direction, coherence, ends } = site;
        let hop = || link(self.link_latency_cycles(), self.link_flits());
        let (to_inner, inlets) = ends.inlets.iter().map(|_| hop()).unzip();
        let (outlets, from_inner) = ends.outlets.iter().map(|_| hop()).unzip();
        let inner = NetworkEnds { inlets, outlets, ..ends };
        Ok(Box::new(Planted {
            inner: self.inner.build(NetworkSite { direction, coherence, ends: inner })?,
            bug: self.bug,
            flit: self.flit_size()?,
            count: 0,
            may_enter: false,
            overtaken: ends.outlets.iter().map(|_| None).collect(),
            free_at: vec![Cycle::ZERO; ends.outlets.len()],
            inlets: ends.inlets,
            to_inner,
            from_inner,
            outlets: ends.outlets,
        }))
    }
}

struct Planted {
    inner: Box<dyn Network>,
    bug: Bug,
    flit: FlitSize,
    count: u32,
    may_enter: bool,
    /// For each outlet, a packet that waits until another one of its sender has left, and whether one has.
    overtaken: Vec<Option<(Packet, bool)>>,
    /// When each outlet has moved its last packet.
    free_at: Vec<Cycle>,
    inlets: Vec<Inlet<Packet>>,
    to_inner: Vec<Outlet<Packet>>,
    from_inner: Vec<Inlet<Packet>>,
    outlets: Vec<Outlet<Packet>>,
}

impl Planted {
    /// Whether the bug strikes: every twentieth time.
    fn strikes(&mut self, bug: Bug) -> bool {
        if self.bug != bug {
            return false;
        }
        self.count += 1;
        self.count.is_multiple_of(20)
    }

    /// From the senders into the network.
    fn enter(&mut self, place: usize, now: Cycle) {
        let Some(packet) = self.inlets[place].front(now) else { return };
        let flits = self.flit.flits(packet.wire_bytes());
        let waits = self.bug == Bug::WindowSeen && !self.may_enter;
        if waits || self.to_inner[place].credits(now) < flits {
            return;
        }
        let mut packet = self.inlets[place].receive(now).expect("it was looked at");
        let back = if self.strikes(Bug::CreditLost) {
            flits - 1
        } else if self.strikes(Bug::CreditForged) {
            flits + 1
        } else {
            flits
        };
        if back > 0 {
            self.inlets[place].release(back, now);
        }
        if self.strikes(Bug::PacketLost) {
            return;
        }
        if self.strikes(Bug::TagChanged) {
            packet.tag ^= 1;
        }
        if self.strikes(Bug::MaskChanged) {
            packet.bytes.0 ^= 1 << 127;
        }
        if self.strikes(Bug::PayloadChanged) {
            match &mut packet.body {
                Body::Read(tray) | Body::ReadReply(tray) | Body::Write(tray) | Body::WriteAck(tray) => {
                    tray.0[77] ^= 1;
                }
                Body::Atomic(batch) | Body::AtomicReply(batch) => batch.a[0] ^= 1,
                Body::Owned(_, tray) => tray.iter_mut().for_each(|tray| tray.0[77] ^= 1),
                Body::Prefetch | Body::PrefetchAck | Body::Taken => {}
            }
        }
        // A mask that grew may not fit any more: then the packet is lost, which is as wrong.
        let flits = self.flit.flits(packet.wire_bytes());
        let _ = self.to_inner[place].send(packet, flits, now);
    }

    /// From the network to the receivers.
    fn leave(&mut self, place: usize, now: Cycle) {
        let overtaken = self.overtaken[place].take_if(|(_, free)| *free).map(|(packet, _)| packet);
        let Some(packet) = overtaken.as_ref().or(self.from_inner[place].front(now)) else { return };
        let flits = self.flit.flits(packet.wire_bytes());
        let starved = self.bug == Bug::Starved && place == 2 && now > Cycle(300);
        let busy = self.bug != Bug::TooFast && now < self.free_at[place] + u64::from(flits);
        if starved || busy || self.outlets[place].credits(now) < flits {
            self.overtaken[place] = overtaken.map(|packet| (packet, true)).or(self.overtaken[place].take());
            return;
        }
        let mut packet = overtaken.unwrap_or_else(|| {
            self.from_inner[place].release(flits, now);
            self.from_inner[place].receive(now).expect("it was looked at")
        });
        if let Some((held, free)) = &mut self.overtaken[place] {
            *free |= held.source == packet.source;
        } else if self.strikes(Bug::Overtaken) {
            self.overtaken[place] = Some((packet, false));
            return;
        }
        self.free_at[place] = now;
        let charged = if self.bug == Bug::Undercharged { 1 } else { flits };
        let mut to = place;
        if self.strikes(Bug::Misrouted) {
            to = (place + 1) % self.outlets.len();
        }
        if self.strikes(Bug::PacketTwice) {
            packet = match self.outlets[to].send(packet.clone(), charged, now) {
                Ok(()) | Err(_) => packet,
            };
        }
        let _ = self.outlets[to].send(packet, charged, now);
    }
}

impl Network for Planted {
    fn statistics(&self) -> Vec<Group> {
        let mut groups = self.inner.statistics();
        match self.bug {
            Bug::OneNameForBoth => groups[0].name = "network",
            Bug::LawBroken => groups[0].broken = Some("packets_in = packets_out"),
            _ => {}
        }
        groups
    }
}

impl Island for Planted {
    fn hang(&mut self, bell: &Doorbell) {
        self.inner.hang(bell);
        self.to_inner.iter().for_each(|outlet| outlet.hang(bell));
        self.from_inner.iter().for_each(|inlet| inlet.hang(bell));
        self.outlets.iter().for_each(|outlet| outlet.hang(bell));
        if self.bug != Bug::BellForgotten {
            self.inlets.iter().for_each(|inlet| inlet.hang(bell));
        }
    }

    fn collect(&mut self, window: Window) {
        self.may_enter = true;
        self.inner.collect(window);
        self.inlets.iter_mut().for_each(|inlet| inlet.collect(window));
        self.to_inner.iter_mut().for_each(|outlet| outlet.collect(window));
        self.from_inner.iter_mut().for_each(|inlet| inlet.collect(window));
        self.outlets.iter_mut().for_each(|outlet| outlet.collect(window));
    }

    fn tick(&mut self, now: Cycle) {
        (0..self.inlets.len()).for_each(|place| self.enter(place, now));
        self.may_enter = false;
        self.inner.tick(now);
        (0..self.outlets.len()).for_each(|place| self.leave(place, now));
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        let inlets = self.inlets.iter().chain(&self.from_inner);
        let arrival = inlets.map(Inlet::next_arrival).min().unwrap_or(Cycle::NEVER);
        match arrival.min(self.inner.next_event(now)).max(now) {
            _ if self.bug == Bug::NeverQuiet => now,
            next if self.bug == Bug::SkippedTooFar => next + 1,
            next => next,
        }
    }

    fn flush(&mut self, window: Window) -> Cycle {
        let mut earliest = self.inner.flush(window);
        for outlet in self.to_inner.iter_mut().chain(&mut self.outlets) {
            earliest = earliest.min(outlet.flush(window));
        }
        for inlet in self.inlets.iter_mut().chain(&mut self.from_inner) {
            earliest = earliest.min(inlet.flush(window));
        }
        if self.bug == Bug::FlushSilent { Cycle::NEVER } else { earliest }
    }

    fn progress(&self) -> u64 {
        if self.bug == Bug::NoProgress { 0 } else { self.inner.progress() }
    }

    fn waits(&self, report: &mut Vec<String>) {
        self.inner.waits(report);
    }
}

fn run_planted(bug: Bug) -> Result<(), String> {
    let inner = design(Topology::Butterfly { radix: 3, stages: 3 }, Arbitration::RoundRobin, 40, 4, 28);
    let design = PlantedDesign { inner, bug };
    let contract = Contract { packets: 90, ..Contract::crowded(1) };
    check_with_skips(&contract, &design)?;
    check_with_skips(&Contract { packets: 45, ..Contract::sparse(1) }, &design).map(|_| ())
}

#[test]
fn every_planted_bug_is_caught_and_the_sound_one_passes() {
    run_planted(Bug::Sound).unwrap();
    for bug in BUGS {
        // Links have assertions of their own: an end that nobody looks at fails one of them.
        let caught = std::panic::catch_unwind(|| run_planted(bug));
        assert!(!matches!(caught, Ok(Ok(()))), "{bug:?} was not caught");
        println!("{bug:?}: {}", caught.map_or("an assertion failed".to_owned(), Result::unwrap_err));
    }
}
