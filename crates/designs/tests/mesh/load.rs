//! Load and latency of a mesh by itself: open-loop traffic from every node to every node, as in Dally and Towles,
//! Principles and Practices of Interconnection Networks, chapter 23.

use std::collections::VecDeque;

use strata_designs::baseline::{MeshConfig, MeshNetwork};
use strata_engine::seed::Stream;
use strata_engine::{Cycle, Inlet, Island, Outlet, Window, link};
use strata_memory::doors::{Direction, Network, NetworkDesign, NetworkEnds};
use strata_memory::{
    Body, ByteMask, Client, Contents, HEADER_BYTES, Level, Line, LineAddress, NodeId, Origin, Packet,
};

/// Which node a packet goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// Any node, its own included.
    Uniform,
    /// From column x and row y to column y and row x.
    Transpose,
}

/// Traffic of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub pattern: Pattern,
    /// Flits of each packet.
    pub flits: u32,
    /// Flits that each node offers per cycle.
    pub offered: f64,
    pub seed: u64,
    /// Cycles before the packets that count, and cycles in which these are made.
    pub warm_up: u64,
    pub measured: u64,
    /// Whether it goes on until those packets have come, which takes for ever beyond saturation.
    pub waits: bool,
}

impl Load {
    pub const fn new(pattern: Pattern, flits: u32, offered: f64) -> Load {
        Load { pattern, flits, offered, seed: 1, warm_up: 3_000, measured: 10_000, waits: true }
    }

    /// As much as the network takes.
    pub const fn saturating(pattern: Pattern, flits: u32) -> Load {
        Load { waits: false, ..Load::new(pattern, flits, 1.0) }
    }
}

/// What a measurement finds.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// Cycles from the making of a packet to its delivery, on average; none if some had not come in the end.
    pub latency: Option<f64>,
    /// Cycles of that for which a whole packet waited at its receiver's interface, as far as counted.
    pub interface_wait: f64,
    /// Flits that came to each node per cycle.
    pub accepted: f64,
}

/// Senders and receivers around a mesh.
struct Bench<'a> {
    load: &'a Load,
    columns: usize,
    network: MeshNetwork,
    senders: Vec<Outlet<Packet>>,
    receivers: Vec<Inlet<Packet>>,
    /// Packets that are made and not sent: cycle and receiver.
    queues: Vec<VecDeque<(u32, u16)>>,
    stream: Stream,
    flits_received: u64,
    made: u64,
    arrived: u64,
    cycles: u64,
}

/// Measures one point of a curve: a mesh in which each router has a node that sends and one that receives.
pub fn measure(config: &MeshConfig, load: &Load) -> Point {
    let nodes = *config.columns * *config.rows;
    let links = |latency| (0..nodes).map(move |_| link(latency, config.link_flits()));
    // BookSim 2 takes a cycle more from a packet's making to its arrival at the router than a link has.
    let (senders, inlets) = links(config.link_latency_cycles() + 1).unzip();
    let (outlets, receivers) = links(config.link_latency_cycles()).unzip();
    let ends = NetworkEnds { first_input: NodeId(0), inlets, first_output: NodeId::from(nodes), outlets };
    let mut bench = Bench {
        load,
        columns: *config.columns,
        network: MeshNetwork::new(Direction::Request, config, ends).expect("the mesh can be built"),
        senders,
        receivers,
        queues: (0..nodes).map(|_| VecDeque::new()).collect(),
        stream: Stream::new(load.seed, "load"),
        flits_received: 0,
        made: 0,
        arrived: 0,
        cycles: 0,
    };
    bench.run(nodes)
}

impl Bench<'_> {
    fn run(&mut self, nodes: usize) -> Point {
        let end = self.load.warm_up + self.load.measured;
        let mut now = 0;
        let mut accepted = 0.0;
        while now < end
            || (self.load.waits && self.arrived < self.made && now < end + 10 * self.load.measured)
        {
            self.cycle(now);
            now += 1;
            if now == self.load.warm_up {
                self.flits_received = 0;
            }
            if now == end {
                accepted = self.flits_received as f64 / (nodes as u64 * self.load.measured) as f64;
            }
        }
        let counters = &self.network.statistics()[0];
        let count = |name| counters.get(name).expect("the mesh counts it") as f64;
        let interface_wait = count("wait_interface_cycles") / count("packets_out").max(1.0);
        let all = self.arrived == self.made && self.made > 0;
        Point { latency: all.then(|| self.cycles as f64 / self.arrived as f64), interface_wait, accepted }
    }

    fn counts(&self, made: u32) -> bool {
        (self.load.warm_up..self.load.warm_up + self.load.measured).contains(&u64::from(made))
    }

    fn cycle(&mut self, now: u64) {
        let window = Window(now);
        self.senders.iter_mut().for_each(|sender| sender.collect(window));
        self.receivers.iter_mut().for_each(|receiver| receiver.collect(window));
        self.network.collect(window);
        for node in 0..self.senders.len() {
            self.make(node, now as u32);
            self.send(node, Cycle(now));
            self.receive(node, now);
        }
        if self.network.next_event(Cycle(now)) <= Cycle(now) {
            self.network.tick(Cycle(now));
        }
        self.senders.iter_mut().for_each(|sender| {
            sender.flush(window);
        });
        self.receivers.iter_mut().for_each(|receiver| {
            receiver.flush(window);
        });
        self.network.flush(window);
    }

    fn make(&mut self, node: usize, now: u32) {
        let scale = 1u64 << 32;
        let packets = self.load.offered / f64::from(self.load.flits);
        if self.stream.below(scale) >= (packets * scale as f64) as u64 {
            return;
        }
        let to = match self.load.pattern {
            Pattern::Uniform => self.stream.below(self.senders.len() as u64) as usize,
            Pattern::Transpose => node % self.columns * self.columns + node / self.columns,
        };
        self.queues[node].push_back((now, to as u16));
        self.made += u64::from(self.counts(now));
    }

    fn send(&mut self, node: usize, now: Cycle) {
        let flits = self.load.flits;
        while self.senders[node].credits(now) >= flits
            && let Some((made, to)) = self.queues[node].pop_front()
        {
            let packet = Packet::new(Contents {
                line: LineAddress(0),
                bytes: ByteMask::range(0, payload(flits)),
                source: NodeId::from(node),
                destination: NodeId::from(self.senders.len() + usize::from(to)),
                client: Client::L1d,
                tag: made,
                origin: Origin::default(),
                level: Level::default(),
                body: Body::Write(Box::new(Line::ZERO)),
            });
            self.senders[node].send(packet, flits, now).expect("there is credit");
        }
    }

    fn receive(&mut self, node: usize, now: u64) {
        while let Some(packet) = self.receivers[node].receive(Cycle(now)) {
            self.receivers[node].release(self.load.flits, Cycle(now));
            self.flits_received += u64::from(self.load.flits);
            if self.counts(packet.tag) {
                self.arrived += 1;
                self.cycles += now - u64::from(packet.tag);
            }
        }
    }
}

/// Bytes of a flit in these measurements: a line and a header are four.
pub const FLIT_BYTES: u32 = 34;

fn payload(flits: u32) -> usize {
    ((flits * FLIT_BYTES - HEADER_BYTES) as usize).min(128)
}
