//! The contract of L1Ds and LLC slices of which words have owners, together, and its harness.
//!
//! Several L1Ds run random accesses without races above slices that are their registry, each in front of a flat DRAM. Three networks
//! of random delays are between them: requests, what slices say, and what owners say; each keeps the order of packets from
//! one node to another. Within an episode only one L1D writes each byte, but they share lines and words (false sharing), add to common
//! counters, and go past their caches now and then. Between episodes all flush and invalidate, and bytes get other
//! writers: what one has registered another reads, writes and takes over.
//!
//! It checks what the harnesses of both doors check: loads return the right bytes, nothing is lost, duplicated or stuck, laws hold,
//! skipping equals ticking, where what an L1D refuses is offered again only when that says so. After each episode a host copy, through slices and L1Ds, must find the oracle's bytes, and
//! what it writes must be seen.

use strata_engine::Cycle;
use strata_engine::hash::Fnv;
use strata_engine::seed::Stream;
use strata_memory::doors::{L1d, Llc};
use strata_memory::{ByteMask, Line, LineAddress, NodeId, Packet, SliceMap};

use super::llc::Dram;
use super::memory::Lane;
use super::traffic::Traffic;
use super::world::{Client, Retries, note, same, verify};
use super::{Outcome, PATIENCE, lawful, with_skips};

pub use super::Contract;

/// Makes the L1D of a node.
pub type MakeL1d<'a> = dyn FnMut(NodeId, SliceMap) -> Box<dyn L1d> + 'a;
/// Makes the slice of a number.
pub type MakeLlc<'a> = dyn FnMut(u16) -> Box<dyn Llc> + 'a;

struct Slice {
    llc: Box<dyn Llc>,
    dram: Dram,
    held: Option<Packet>,
}

/// A network: a lane for each pair of nodes.
struct Wires {
    lanes: Vec<Lane>,
    nodes: usize,
    delay: u64,
    stream: Stream,
}

impl Wires {
    fn new(nodes: usize, delay: u64, seed: u64, name: &str) -> Wires {
        let lanes = (0..nodes * nodes).map(|_| Lane::default()).collect();
        Wires { lanes, nodes, delay, stream: Stream::new(seed, name) }
    }

    fn send(&mut self, packet: Packet, now: Cycle) -> Result<(), String> {
        let (from, to) = (packet.source.index(), packet.destination.index());
        if from >= self.nodes || to >= self.nodes {
            return Err(format!("a packet from node {from} to node {to}"));
        }
        let at = now + 1 + self.stream.below(self.delay);
        self.lanes[from * self.nodes + to].push(at, packet);
        Ok(())
    }

    /// The next packet for a node; senders take turns with the cycles.
    fn receive(&mut self, to: usize, now: Cycle) -> Option<Packet> {
        let first = now.0 as usize;
        let nodes = self.nodes;
        (0..nodes).find_map(|step| self.lanes[(first + step) % nodes * nodes + to].pop(now))
    }
}

struct Bench {
    contract: Contract,
    clients: Vec<Client>,
    slices: Vec<Slice>,
    map: SliceMap,
    requests: Wires,
    replies: Wires,
    owners: Wires,
    oracle: Vec<Line>,
    traffic: Traffic,
    stream: Stream,
    now: Cycle,
    moved: Cycle,
    hash: Fnv,
}

/// Runs the harness once.
///
/// # Errors
/// Describes the first violation of the contract in a sentence.
pub fn check(contract: &Contract, l1d: &mut MakeL1d<'_>, llc: &mut MakeLlc<'_>) -> Result<Outcome, String> {
    let map = SliceMap::new(contract.slices, 256, NodeId::from(contract.l1ds)).expect("slices interleave");
    let mut stream = Stream::new(contract.seed, "owners contract");
    let lines: Vec<Line> =
        (0..contract.lines).map(|_| Line(std::array::from_fn(|_| stream.next() as u8))).collect();
    let client = |node| {
        let mut client = Client::new(l1d(NodeId::from(node), map));
        client.retries = if contract.skip { Retries::Told } else { Retries::Checked };
        client
    };
    let clients = (0..contract.l1ds).map(client).collect();
    let slice = |number| Slice {
        llc: llc(number),
        dram: Dram::new(lines.clone(), contract, number.into()),
        held: None,
    };
    let nodes = contract.l1ds + usize::from(contract.slices);
    let wires = |name| Wires::new(nodes, contract.delay, contract.seed, name);
    Bench {
        contract: *contract,
        clients,
        slices: (0..contract.slices).map(slice).collect(),
        map,
        requests: wires("requests"),
        replies: wires("replies"),
        owners: wires("owners"),
        oracle: lines,
        traffic: Traffic::new(*contract),
        stream,
        now: Cycle::ZERO,
        moved: Cycle::ZERO,
        hash: Fnv::default(),
    }
    .run()
}

/// Runs the harness twice, once ticking every cycle and once skipping idle cycles, and compares the outcomes.
///
/// # Errors
/// Describes the first violation of the contract in a sentence.
pub fn check_with_skips(
    contract: &Contract,
    l1d: &mut MakeL1d<'_>,
    llc: &mut MakeLlc<'_>,
) -> Result<Outcome, String> {
    with_skips(|skip| check(&Contract { skip, ..*contract }, l1d, llc))
}

impl Bench {
    fn run(mut self) -> Result<Outcome, String> {
        for episode in 0..self.contract.episodes {
            self.clients.iter_mut().for_each(|client| client.left = self.contract.accesses);
            while !self.clients.iter().all(Client::is_idle) {
                self.cycle()?;
            }
            self.flush_all()?;
            self.look_from_outside().map_err(|fault| format!("episode {episode}: {fault}"))?;
            self.traffic.new_episode();
        }
        for slice in &mut self.slices {
            slice.llc.settle(&mut slice.dram, self.now);
            self.hash.write(&slice.dram.refused.to_le_bytes());
        }
        let l1ds = self.clients.iter().map(|client| client.l1d.statistics());
        let statistics: Vec<_> = l1ds.chain(self.slices.iter().map(|slice| slice.llc.statistics())).collect();
        lawful(statistics.iter().flatten())?;
        Ok(Outcome { cycles: self.now.0, hash: self.hash.finish(), statistics })
    }

    fn flush_all(&mut self) -> Result<(), String> {
        let now = self.now;
        for client in &mut self.clients {
            client.l1d.begin_flush(true, now);
            client.flushing = true;
        }
        while self.clients.iter().any(|client| client.flushing || client.l1d.outstanding() > 0) {
            self.cycle()?;
        }
        Ok(())
    }

    /// Reads and writes lines as a host does between kernels.
    fn look_from_outside(&mut self) -> Result<(), String> {
        for number in 0..self.oracle.len() {
            let line = LineAddress(number as u64);
            let slice = &mut self.slices[usize::from(self.map.slice_of(line))];
            let mut seen = slice.dram.lines[number].clone();
            slice.llc.peek(line, &mut seen);
            self.clients.iter().for_each(|client| client.l1d.peek(line, &mut seen));
            same(&self.oracle[number], &seen, ByteMask::ALL, || format!("a host copy of line {number}"))?;
            if self.stream.below(2) == 0 {
                let bytes = ByteMask(u128::from(self.stream.next()) << self.stream.below(64));
                let data = Line(std::array::from_fn(|_| self.stream.next() as u8));
                self.oracle[number].merge(bytes, &data);
                slice.dram.lines[number].merge(bytes, &data);
                slice.llc.poke(line, bytes, &data);
                self.clients.iter_mut().for_each(|client| client.l1d.poke(line, bytes, &data));
            }
        }
        Ok(())
    }

    fn cycle(&mut self) -> Result<(), String> {
        let now = self.now;
        for index in 0..self.slices.len() {
            self.slice_cycle(index).map_err(|fault| format!("cycle {now}, slice {index}: {fault}"))?;
        }
        for index in 0..self.clients.len() {
            self.client_cycle(index).map_err(|fault| format!("cycle {now}, L1D {index}: {fault}"))?;
        }
        if now.since(self.moved) > PATIENCE {
            let mut report = Vec::new();
            self.clients.iter().for_each(|client| client.l1d.waits(&mut report));
            self.slices.iter().for_each(|slice| slice.llc.waits(&mut report));
            return Err(format!("cycle {now}: nothing moves any more; {}", report.join("; ")));
        }
        self.now = now.next();
        Ok(())
    }

    fn slice_cycle(&mut self, index: usize) -> Result<(), String> {
        let now = self.now;
        let takes = self.stream.below(100) < self.contract.willing;
        let node = self.clients.len() + index;
        let slice = &mut self.slices[index];
        if let Some(packet) = self.owners.receive(node, now) {
            slice.llc.accept(packet, now);
            self.moved = now;
        }
        if !self.contract.skip {
            slice.llc.poke(LineAddress(0), ByteMask::NONE, &Line::ZERO);
        }
        let due = slice.llc.next_event(now).min(slice.dram.next_event()) <= now;
        if due || !self.contract.skip {
            slice.llc.tick(&mut slice.dram, now);
        }
        if takes {
            let bytes = slice.llc.outgoing_bytes(now);
            let packet = slice.llc.outgoing(now);
            if bytes != packet.as_ref().map(|packet| packet.wire_bytes()) {
                return Err("outgoing_bytes does not say what outgoing returns".to_owned());
            }
            if let Some(packet) = packet {
                self.moved = now;
                if packet.source.index() != node || packet.destination.index() >= self.clients.len() {
                    return Err(format!("it sends {packet:?}"));
                }
                self.replies.send(packet, now)?;
            }
        }
        if slice.held.is_none() {
            slice.held = self.requests.receive(node, now);
        }
        if slice.held.is_some() && self.contract.skip && !slice.llc.has_room() {
            slice.llc.count_refusals(1);
        } else if let Some(request) = slice.held.take() {
            match slice.llc.offer(request, now) {
                Ok(()) => self.moved = now,
                Err(request) => slice.held = Some(request),
            }
        }
        Ok(())
    }

    fn client_cycle(&mut self, index: usize) -> Result<(), String> {
        let now = self.now;
        // The same numbers are drawn whatever happens, so that skipping changes nothing here.
        let reads = 2 * u64::from(self.stream.below(100) < self.contract.willing);
        let takes = self.stream.below(100) < self.contract.willing;
        let takes_answer = self.stream.below(100) < self.contract.willing;
        let fence = self.stream.below(400) == 0;
        let client = &mut self.clients[index];
        let reads = reads * u64::from(client.l1d.accesses_per_cycle());
        for wires in [&mut self.replies, &mut self.owners] {
            if let Some(packet) = wires.receive(index, now) {
                client.l1d.accept(packet, now);
                self.moved = now;
            }
        }
        let due = client.l1d.next_event(now) <= now;
        if due || !self.contract.skip {
            client.l1d.tick(now);
        }
        for _ in 0..reads {
            let Some(completion) = client.l1d.completed(now) else { break };
            if !due {
                return Err("an access was completed before the next event".to_owned());
            }
            self.moved = now;
            let expected = client.under_way.get_mut(completion.token as usize).and_then(Option::take);
            let Some(expected) = expected else {
                return Err(format!("access {} was completed, but is not under way", completion.token));
            };
            note(&mut self.hash, now, index, &completion);
            verify(&expected, &completion)?;
        }
        if takes {
            let bytes = client.l1d.outgoing_bytes(now);
            let packet = client.l1d.outgoing(now);
            if bytes != packet.as_ref().map(|packet| packet.wire_bytes()) {
                return Err("outgoing_bytes does not say what outgoing returns".to_owned());
            }
            self.sent(index, packet, due, true)?;
        }
        if takes_answer {
            let client = &mut self.clients[index];
            let bytes = client.l1d.answer_bytes(now);
            let packet = client.l1d.answer(now);
            if bytes != packet.as_ref().map(|packet| packet.wire_bytes()) {
                return Err("answer_bytes does not say what answer returns".to_owned());
            }
            self.sent(index, packet, due, false)?;
        }
        let client = &mut self.clients[index];
        if client.flushing {
            client.flushing = !client.l1d.is_flushed();
        } else if fence && client.left > 0 {
            client.l1d.begin_flush(true, now);
            client.flushing = true;
        }
        self.clients[index].offer(index, &mut self.traffic, &mut self.oracle, None, now)
    }

    fn sent(
        &mut self,
        index: usize,
        packet: Option<Packet>,
        due: bool,
        is_request: bool,
    ) -> Result<(), String> {
        let Some(packet) = packet else { return Ok(()) };
        if !due {
            return Err("a packet left before the next event".to_owned());
        }
        self.moved = self.now;
        let home = self.map.node_of(packet.line);
        let to_registry = packet.destination.index() >= self.clients.len();
        if packet.source.index() != index || (is_request || to_registry) && packet.destination != home {
            return Err(format!("it sends {packet:?}"));
        }
        self.hash.write(&self.now.0.to_le_bytes());
        self.hash.write(&packet.line.0.to_le_bytes());
        let wires = if is_request { &mut self.requests } else { &mut self.owners };
        wires.send(packet, self.now)
    }
}
