//! Requesters, both networks and the partitions of a small machine, with slices that hold nothing.

use std::path::Path;

use strata_engine::seed::Stream;
use strata_engine::{ClockRatio, RunOptions, Simulation, Slab, Stop, config, link};

use strata_designs::baseline::{MultistageConfig, MultistageNetwork};
use strata_engine::statistics::{Group, Statistics};
use strata_engine::{Cycle, DelayLine, Doorbell, Inlet, Island, Outlet, Window};
use strata_memory::doors::{Direction, DramPort, DramRequest, Llc, Network, NetworkDesign, NetworkEnds};
use strata_memory::dram::{Channel, DramParameters};
use strata_memory::partition::{PartitionIsland, SliceEnds};
use strata_memory::{
    AddressMap, Body, ByteMask, Client, Contents, FlitSize, Level, Line, LineAddress, NodeId, Origin, Packet,
};

const LATENCY: u64 = 4;
const BUFFER: u32 = 16;
const REQUESTERS: usize = 5;
const LINES: u64 = 600;

strata_engine::statistics! {
    /// Counters of a slice without a cache.
    pub struct ThroughStatistics: "through" {
        /// Requests refused because the queue was full.
        refused: "requests",
    }
    laws {}
}

/// A slice without a cache: requests go to DRAM in order, answers back.
struct Through {
    /// Whether it says when it has room, and waits until DRAM has some; otherwise all that is refused is offered in every cycle.
    tells: bool,
    sleeps: bool,
    statistics: ThroughStatistics,
    requests: DelayLine<Packet>,
    under_way: Slab<Packet>,
    /// Handed back by DRAM.
    refused: Option<DramRequest>,
    replies: DelayLine<Packet>,
}

impl Through {
    fn new(tells: bool) -> Through {
        Through {
            tells,
            sleeps: false,
            statistics: ThroughStatistics::default(),
            requests: DelayLine::new(4),
            under_way: Slab::new(8),
            refused: None,
            replies: DelayLine::new(8),
        }
    }
}

impl Llc for Through {
    fn offer(&mut self, request: Packet, now: Cycle) -> Result<(), Packet> {
        let offered = self.requests.push(now + 3, request);
        self.statistics.refused += u64::from(offered.is_err());
        offered
    }

    fn has_room(&self) -> bool {
        !self.tells || !self.requests.is_full()
    }

    fn count_refusals(&mut self, cycles: u64) {
        self.statistics.refused += cycles;
    }

    fn tick(&mut self, dram: &mut dyn DramPort, now: Cycle) {
        if self.replies.len() < 8
            && let Some(done) = dram.completed(now)
        {
            let mut packet = self.under_way.remove(done.tag);
            match &mut packet.body {
                Body::Read(tray) | Body::Write(tray) => *tray = done.tray,
                other => panic!("not sent by this test: {other:?}"),
            }
            self.replies.push(now + 2, packet.into_reply()).unwrap();
        }
        if self.refused.is_none()
            && !self.under_way.is_full()
            && let Some(mut packet) = self.requests.pop(now)
        {
            let (line, bytes, write) = (packet.line, packet.bytes, matches!(packet.body, Body::Write(_)));
            let tray = match &mut packet.body {
                Body::Read(tray) | Body::Write(tray) => std::mem::replace(tray, Box::new(Line::ZERO)),
                other => panic!("not sent by this test: {other:?}"),
            };
            let tag = self.under_way.insert(packet).unwrap();
            self.refused = Some(DramRequest { line, bytes, write, tag, tray });
        }
        if let Some(request) = self.refused.take() {
            self.refused = dram.offer(request, now).err();
            self.sleeps = self.tells && self.refused.is_some() && !dram.has_room();
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
        if self.sleeps {
            return Cycle::NEVER;
        }
        let requests =
            if self.refused.is_some() || self.under_way.is_full() { now } else { self.requests.next_ready() };
        requests.max(now)
    }

    fn peek(&self, _line: LineAddress, _below: &mut Line) {}

    fn poke(&mut self, _line: LineAddress, _bytes: ByteMask, _data: &Line) {}

    fn waits(&self, report: &mut Vec<String>) {
        if !self.under_way.is_empty() {
            report.push(format!("{} requests are under way", self.under_way.len()));
        }
    }

    fn statistics(&self) -> Vec<Group> {
        vec![self.statistics.report()]
    }
}

/// Sends random reads and writes of its own lines and checks what comes back.
struct Requester {
    node: u16,
    map: AddressMap,
    flit_size: FlitSize,
    requests: Outlet<Packet>,
    replies: Inlet<Packet>,
    random: Stream,
    memory: Vec<Line>,
    /// Tag's line, bytes and expected content.
    expected: Vec<Option<(LineAddress, ByteMask, Line)>>,
    held: Option<Packet>,
    remaining: u32,
    outstanding: u32,
    log: Vec<(Cycle, u32)>,
}

impl Requester {
    fn make(&mut self) -> Packet {
        let own = self.random.below(LINES);
        // Requesters' lines alternate.
        let line = LineAddress(own * REQUESTERS as u64 + u64::from(self.node));
        let bytes = match self.random.below(2) {
            0 => ByteMask::ALL,
            _ => ByteMask(u128::from(self.random.next()) << self.random.below(64) | 1),
        };
        let mut tray = Box::new(Line::ZERO);
        let tag = self.expected.len() as u32;
        let body = if self.random.below(2) == 0 {
            tray.0.iter_mut().for_each(|byte| *byte = self.random.next() as u8);
            self.memory[own as usize].merge(bytes, &tray);
            self.expected.push(Some((line, bytes, (*tray).clone())));
            Body::Write(tray)
        } else {
            let mut content = Line::ZERO;
            content.merge(bytes, &self.memory[own as usize]);
            self.expected.push(Some((line, bytes, content)));
            Body::Read(tray)
        };
        let destination = self.map.node_of(line);
        Packet::new(Contents {
            line,
            bytes,
            source: NodeId(self.node),
            destination,
            client: Client::L1d,
            tag,
            origin: Origin::default(),
            level: Level::default(),
            body,
        })
    }
}

impl Island for Requester {
    fn hang(&mut self, bell: &Doorbell) {
        self.requests.hang(bell);
        self.replies.hang(bell);
    }

    fn collect(&mut self, window: Window) {
        self.requests.collect(window);
        self.replies.collect(window);
    }

    fn tick(&mut self, now: Cycle) {
        if let Some(reply) = self.replies.receive(now) {
            self.replies.release(self.flit_size.flits(reply.wire_bytes()), now);
            let expected = self.expected[reply.tag as usize].take().expect("answered once");
            match reply.body {
                Body::ReadReply(tray) | Body::WriteAck(tray) => {
                    assert_eq!((reply.line, reply.bytes, *tray), expected, "request {}", reply.tag);
                }
                other => panic!("no reply: {other:?}"),
            }
            self.outstanding -= 1;
            self.log.push((now, reply.tag));
        }
        if self.held.is_none() && self.remaining > 0 && self.outstanding < 24 {
            self.held = Some(self.make());
            self.remaining -= 1;
            self.outstanding += 1;
        }
        if let Some(packet) = self.held.take() {
            let flits = self.flit_size.flits(packet.wire_bytes());
            self.held = self.requests.send(packet, flits, now).err();
        }
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        let wants = self.held.is_some() || (self.remaining > 0 && self.outstanding < 24);
        if wants { now } else { self.replies.next_arrival().max(now) }
    }

    fn flush(&mut self, window: Window) -> Cycle {
        self.requests.flush(window).min(self.replies.flush(window))
    }

    fn progress(&self) -> u64 {
        self.log.len() as u64
    }

    fn waits(&self, report: &mut Vec<String>) {
        report.push(format!("node {} waits for {} replies", self.node, self.outstanding));
    }
}

#[allow(clippy::large_enum_variant)]
enum Part {
    Requester(Requester),
    Network(MultistageNetwork),
    Partition(PartitionIsland),
}

impl Part {
    fn island(&mut self) -> &mut dyn Island {
        match self {
            Part::Requester(part) => part,
            Part::Network(part) => part,
            Part::Partition(part) => part,
        }
    }

    fn island_ref(&self) -> &dyn Island {
        match self {
            Part::Requester(part) => part,
            Part::Network(part) => part,
            Part::Partition(part) => part,
        }
    }
}

impl Island for Part {
    fn hang(&mut self, bell: &Doorbell) {
        self.island().hang(bell);
    }
    fn collect(&mut self, window: Window) {
        self.island().collect(window);
    }
    fn tick(&mut self, now: Cycle) {
        self.island().tick(now);
    }
    fn next_event(&self, now: Cycle) -> Cycle {
        self.island_ref().next_event(now)
    }
    fn flush(&mut self, window: Window) -> Cycle {
        self.island().flush(window)
    }
    fn progress(&self) -> u64 {
        self.island_ref().progress()
    }
    fn waits(&self, report: &mut Vec<String>) {
        self.island_ref().waits(report);
    }
}

fn dram_parameters() -> DramParameters {
    let text = r#"
        banks = { value = 16, source = "test" }
        bank_groups = { value = 4, source = "test" }
        address_pattern = { value = "0000RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS", source = "test" }
        atom_bytes = { value = 64, source = "test" }
        burst_cycles = { value = 2, source = "test" }
        queue_entries = { value = 12, source = "test" }
        return_entries = { value = 6, source = "test" }
        starvation_bound = { value = 8, source = "test" }
        controller_latency_cycles = { value = 30, source = "test" }
        [timing]
        ccd = { value = 2, source = "test" }
        ccd_l = { value = 3, source = "test" }
        rrd = { value = 6, source = "test" }
        rcd = { value = 12, source = "test" }
        ras = { value = 28, source = "test" }
        rp = { value = 12, source = "test" }
        rc = { value = 40, source = "test" }
        cl = { value = 12, source = "test" }
        wl = { value = 4, source = "test" }
        cdlr = { value = 5, source = "test" }
        wr = { value = 12, source = "test" }
        rtp = { value = 2, source = "test" }
        turnaround = { value = 2, source = "test" }
    "#;
    config::parse(Path::new("dram.toml"), text).unwrap()
}

fn network_parameters() -> MultistageConfig {
    let text = r#"
        topology = { value = "crossbar", source = "test" }
        flit_bytes = { value = 40, source = "test" }
        hop_latency_cycles = { value = 4, source = "test" }
        buffer_flits = { value = 16, source = "test" }
        arbitration = { value = "round-robin", source = "test" }
    "#;
    config::parse(Path::new("network.toml"), text).unwrap()
}

/// Three channels of two slices, which say when they have room or not, and five requesters.
fn machine(requests: u32, tells: bool) -> Simulation<Part> {
    let map = AddressMap::new(3, 2, 256, NodeId(REQUESTERS as u16)).unwrap();
    let network = network_parameters();
    let flit_size = network.flit_size().unwrap();
    let slices = usize::from(map.slice_map().slices());
    let links = |count: usize| -> (Vec<_>, Vec<_>) { (0..count).map(|_| link(LATENCY, BUFFER)).unzip() };
    let (sm_out, request_in) = links(REQUESTERS);
    let (request_out, slice_in) = links(slices);
    let (slice_out, reply_in) = links(slices);
    let (reply_out, sm_in) = links(REQUESTERS);
    let (sms, first_slice) = (NodeId(0), NodeId(REQUESTERS as u16));
    let request_ends =
        NetworkEnds { first_input: sms, inlets: request_in, first_output: first_slice, outlets: request_out };
    let reply_ends =
        NetworkEnds { first_input: first_slice, inlets: reply_in, first_output: sms, outlets: reply_out };
    let mut parts = vec![
        Part::Network(MultistageNetwork::new(Direction::Request, &network, request_ends).unwrap()),
        Part::Network(MultistageNetwork::new(Direction::Reply, &network, reply_ends).unwrap()),
    ];
    for (node, (requests_to, replies)) in sm_out.into_iter().zip(sm_in).enumerate() {
        parts.push(Part::Requester(Requester {
            node: node as u16,
            map,
            flit_size,
            requests: requests_to,
            replies,
            random: Stream::new(node as u64, "requester"),
            memory: vec![Line::ZERO; LINES as usize],
            expected: Vec::new(),
            held: None,
            remaining: requests,
            outstanding: 0,
            log: Vec::new(),
        }));
    }
    let mut ends: Vec<_> = slice_in.into_iter().zip(slice_out).map(Some).collect();
    for channel in 0..map.channels() {
        let slices = map
            .slices_of(channel)
            .map(|slice| {
                let (requests, replies) = ends[usize::from(slice)].take().expect("a slice has one channel");
                SliceEnds { llc: Box::new(Through::new(tells)), cache: None, requests, replies, owners: None }
            })
            .collect();
        let clock = ClockRatio::of(924, 700).unwrap();
        let dram = Channel::new(&dram_parameters(), clock, 2, map.chunk_lines()).unwrap();
        let mut partition = PartitionIsland::new(map, channel, flit_size, dram, slices).unwrap();
        partition.ensure(LINES * REQUESTERS as u64 * 128);
        parts.push(Part::Partition(partition));
    }
    Simulation::new(parts)
}

type Outcome = (Stop, Vec<Vec<(Cycle, u32)>>, Vec<Group>);

/// Runs the machine until `limit`; what every requester saw and everything counted.
fn run_to(limit: Cycle, threads: usize, window: u64, tells: bool) -> Outcome {
    let mut simulation = machine(800, tells);
    let options =
        RunOptions { threads, saves_threads: false, window, patience_cycles: 50_000, limit, interrupt: None };
    let stop = simulation.run(options, &mut |_| {});
    let (is_done, now) = (matches!(stop, Stop::Quiet { .. }), simulation.now());
    let (mut logs, mut groups) = (Vec::new(), Vec::new());
    let mut memories = Vec::new();
    for part in simulation.islands_mut() {
        match part {
            Part::Requester(requester) => {
                let left = requester.outstanding + requester.remaining;
                assert!(left == 0 || !is_done, "everything is answered");
                logs.push(requester.log.clone());
                memories.push(requester.memory.clone());
            }
            Part::Network(network) => groups.extend(network.statistics()),
            Part::Partition(partition) => {
                partition.settle(now);
                groups.extend(partition.statistics());
            }
        }
    }
    if !is_done {
        return (stop, logs, groups);
    }
    for part in simulation.islands_mut() {
        if let Part::Partition(partition) = part {
            for line in (0..LINES * REQUESTERS as u64).map(LineAddress).filter(|line| partition.owns(*line)) {
                let mut seen = Line::ZERO;
                partition.peek_line(line, &mut seen);
                let owner = line.0 as usize % REQUESTERS;
                assert_eq!(seen, memories[owner][line.0 as usize / REQUESTERS], "line {line} at the end");
            }
        }
    }
    (stop, logs, groups)
}

fn run(threads: usize, window: u64) -> Outcome {
    run_to(Cycle(1_000_000), threads, window, false)
}

#[test]
fn what_is_refused_and_sleeps_is_counted_like_what_is_offered_in_every_cycle() {
    for limit in [1_001, 2_500, 2_501, 1_000_000].map(Cycle) {
        let [offered, sleeping] = [false, true].map(|tells| run_to(limit, 1, LATENCY, tells));
        assert_eq!(offered, sleeping, "until {limit}");
        let count = |name: &str| offered.2.iter().filter_map(|group| group.get(name)).sum::<u64>();
        assert!(count("refused") > 0 && count("held_requests") > 0, "until {limit}");
    }
}

#[test]
fn everything_is_answered_with_the_right_bytes_whatever_threads_and_windows() {
    let expected = run(1, 1);
    assert!(matches!(expected.0, Stop::Quiet { .. }), "{:?}", expected.0);
    for group in &expected.2 {
        assert_eq!(group.broken, None, "{group:?}");
    }
    let counted = |group: &str, name: &str| -> u64 {
        expected.2.iter().filter(|found| found.name == group).filter_map(|found| found.get(name)).sum()
    };
    assert_eq!(counted("partition", "requests"), 800 * REQUESTERS as u64);
    assert_eq!(counted("network.request", "packets_out"), 800 * REQUESTERS as u64);
    assert_eq!(counted("network.reply", "packets_out"), 800 * REQUESTERS as u64);
    assert!(
        counted("partition", "held_requests") > 0 && counted("dram", "refused") > 0,
        "back-pressure is reached"
    );
    for (threads, window) in [(1, 2), (1, 4), (2, 3), (4, 4)] {
        assert_eq!(run(threads, window), expected, "{threads} threads, window {window}");
    }
}

#[test]
fn a_host_copy_is_seen_by_loads_and_by_the_host() {
    let mut simulation = machine(0, true);
    let mut written = 0;
    for part in simulation.islands_mut() {
        if let Part::Partition(partition) = part {
            for line in (0..100).map(LineAddress) {
                if !partition.owns(line) {
                    continue;
                }
                partition.poke_line(line, ByteMask::range(8, 16), &Line([line.0 as u8; 128]));
                let mut seen = Line([255; 128]);
                partition.peek_line(line, &mut seen);
                assert_eq!(
                    (seen.0[7], seen.0[8], seen.0[23], seen.0[24]),
                    (0, line.0 as u8, line.0 as u8, 0)
                );
                written += 1;
            }
        }
    }
    assert_eq!(written, 100, "every line has one owner");
}

#[test]
fn a_partition_with_a_missing_slice_is_refused() {
    let map = AddressMap::new(3, 2, 256, NodeId(0)).unwrap();
    let dram = Channel::new(&dram_parameters(), ClockRatio::ONE, 2, 2).unwrap();
    let flit_size = network_parameters().flit_size().unwrap();
    let error = PartitionIsland::new(map, 1, flit_size, dram, Vec::new()).err().unwrap();
    assert_eq!(error.to_string(), "slices_per_channel: found 0 slices before channel 1, expected 2");
}
