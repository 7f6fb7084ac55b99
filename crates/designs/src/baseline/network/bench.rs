//! A bench of senders and receivers for the tests of switches.

use strata_engine::{Cycle, Inlet, Island, Outlet, Window, link};
use strata_memory::address::LineAddress;
use strata_memory::doors::NetworkEnds;
use strata_memory::line::{ByteMask, Line};
use strata_memory::{Body, Client, Contents, Level, NodeId, Origin, Packet};

/// Latency of a hop, in cycles.
pub const HOP: u64 = 4;
/// Room of a buffer, in flits of 40 bytes.
pub const BUFFER: u32 = 8;
const SENDERS: usize = 15;

/// A write of `payload` bytes from a sender to a receiver of the bench.
pub fn packet(from: usize, to: usize, payload: usize, tag: u32) -> Packet {
    Packet::new(Contents {
        line: LineAddress(u64::from(tag)),
        bytes: ByteMask::range(0, payload),
        source: NodeId::from(from),
        destination: NodeId::from(SENDERS + to),
        client: Client::L1d,
        tag,
        origin: Origin::default(),
        level: Level::default(),
        body: Body::Write(Box::new(Line::ZERO)),
    })
}

fn flits(packet: &Packet) -> u32 {
    packet.wire_bytes().div_ceil(40)
}

/// A network with its senders and receivers, one window per cycle.
pub struct Bench<N> {
    pub network: N,
    senders: Vec<Outlet<Packet>>,
    receivers: Vec<Inlet<Packet>>,
    now: Cycle,
    pub ticks: u64,
}

impl<N: Island> Bench<N> {
    pub const SENDERS: usize = SENDERS;
    pub const RECEIVERS: usize = 12;

    /// A bench of the network that `make` puts between the ends.
    pub fn of(make: impl FnOnce(NetworkEnds) -> N) -> Bench<N> {
        let (senders, inlets) = (0..Self::SENDERS).map(|_| link(HOP, BUFFER)).unzip();
        let (outlets, receivers) = (0..Self::RECEIVERS).map(|_| link(HOP, BUFFER)).unzip();
        let network = make(NetworkEnds {
            first_input: NodeId(0),
            inlets,
            first_output: NodeId(Self::SENDERS as u16),
            outlets,
        });
        Bench { network, senders, receivers, now: Cycle::ZERO, ticks: 0 }
    }

    /// One cycle: `nodes` sends and receives, the network ticks.
    pub fn step(&mut self, mut nodes: impl FnMut(&mut [Outlet<Packet>], &mut [Inlet<Packet>], Cycle)) {
        let window = Window(self.now.0);
        self.senders.iter_mut().for_each(|sender| sender.collect(window));
        self.receivers.iter_mut().for_each(|receiver| receiver.collect(window));
        self.network.collect(window);
        nodes(&mut self.senders, &mut self.receivers, self.now);
        if self.network.next_event(self.now) <= self.now {
            self.network.tick(self.now);
            self.ticks += 1;
        }
        self.senders.iter_mut().for_each(|sender| {
            sender.flush(window);
        });
        self.receivers.iter_mut().for_each(|receiver| {
            receiver.flush(window);
        });
        self.network.flush(window);
        self.now = self.now.next();
    }
}

/// Receives everything that is there.
pub fn receive_all(receivers: &mut [Inlet<Packet>], now: Cycle, log: &mut Vec<(Cycle, Packet)>) {
    for receiver in receivers {
        while let Some(packet) = receiver.receive(now) {
            receiver.release(flits(&packet), now);
            log.push((now, packet));
        }
    }
}

/// Fills a receiver's buffer and sends one packet more. The receiver takes nothing before cycle 30, so its credit is back at 34 and the
/// last packet is there four cycles later.
pub fn last_of_three_for_a_late_receiver<N: Island>(bench: &mut Bench<N>) -> (Cycle, u32) {
    let mut log = Vec::new();
    for _ in 0..80 {
        bench.step(|senders, receivers, now| {
            if now == Cycle(0) || now == Cycle(4) {
                senders[0].send(packet(0, 0, 128, now.0 as u32), 4, now).unwrap();
            }
            if now == Cycle(12) {
                senders[0].send(packet(0, 0, 32, 12), 1, now).unwrap();
            }
            if now >= Cycle(30) {
                receive_all(receivers, now, &mut log);
            }
        });
    }
    log.last().map(|(at, packet)| (*at, packet.tag)).expect("packets arrive")
}
