//! The nodes on both sides of a network: what they send, and what must come.

use strata_engine::hash::Fnv;
use strata_engine::seed::Stream;
use strata_engine::{Cycle, Doorbell, Inlet, Island, Outlet, Window};
use strata_memory::atomic::{AtomicBatch, AtomicOp, AtomicType};
use strata_memory::doors::Direction;
use strata_memory::ownership::{Letter, Message, Owner, Place};
use strata_memory::{
    Body, ByteMask, Client, Contents, FlitSize, Level, Line, LineAddress, NodeId, Origin, Packet,
};

use super::Contract;

/// Packets of a burst; all senders are silent until the next multiple of [`PERIOD`] then.
const BURST: u32 = 40;
const PERIOD: u64 = 2048;
/// Cycles of which a receiver sleeps the first of every four such spans; it empties its buffer when it wakes.
const SPAN: u64 = 64;

/// A sender: its link, and the packet that goes next.
struct Sender {
    outlet: Outlet<Packet>,
    next: u32,
    due: Cycle,
}

struct Receiver {
    inlet: Inlet<Packet>,
    /// For each sender, the number of the packet that it has to bring next.
    expected: Vec<u32>,
    /// When the packet before arrived at the buffer.
    arrival: Option<Cycle>,
}

pub(super) struct Nodes {
    contract: Contract,
    direction: Direction,
    flit: FlitSize,
    room: u32,
    first_sender: NodeId,
    senders: Vec<Sender>,
    first_receiver: NodeId,
    receivers: Vec<Receiver>,
    /// Whether a receiver takes a packet, by a hash of cycle and receiver.
    willing: Vec<bool>,
    moved: u64,
    pub last: Cycle,
    pub hash: Fnv,
    pub fault: Option<String>,
}

impl Nodes {
    pub fn new(
        contract: &Contract,
        direction: Direction,
        (first_sender, senders): (NodeId, Vec<Outlet<Packet>>),
        (first_receiver, receivers): (NodeId, Vec<Inlet<Packet>>),
        flit: FlitSize,
        room: u32,
    ) -> Nodes {
        let mut stream = Stream::new(contract.seed, direction.group());
        let willing = (0..4099).map(|_| stream.below(100) < contract.willing).collect();
        let count = senders.len();
        let sender = |outlet| Sender { outlet, next: 0, due: Cycle(stream.below(PERIOD)) };
        let receiver = |inlet| Receiver { inlet, expected: vec![0; count], arrival: None };
        let mut nodes = Nodes {
            contract: *contract,
            direction,
            flit,
            room,
            first_sender,
            senders: senders.into_iter().map(sender).collect(),
            first_receiver,
            receivers: receivers.into_iter().map(receiver).collect(),
            willing,
            moved: 0,
            last: Cycle::ZERO,
            hash: Fnv::default(),
            fault: None,
        };
        for from in 0..count {
            for to in 0..nodes.receivers.len() {
                nodes.receivers[to].expected[from] = nodes.following(from, to, 0);
            }
        }
        nodes
    }

    /// Number of packets that were sent and have not arrived, or that could not be sent.
    pub fn lost(&self) -> usize {
        let missing = |receiver: &Receiver| {
            receiver.expected.iter().filter(|number| **number < self.contract.packets).count()
        };
        // At least one of each pair whose packets have not all come.
        self.receivers.iter().map(missing).sum()
    }

    /// All credits are back at the senders.
    pub fn look_at_credits(&mut self) -> Result<(), String> {
        for (index, sender) in self.senders.iter_mut().enumerate() {
            let (credits, room) = (sender.outlet.credits(Cycle::NEVER), self.room);
            if credits != room {
                return Err(format!("sender {index} has {credits} credits at the end, expected {room}"));
            }
        }
        Ok(())
    }

    /// The receiver of a sender's packet: a number on the other side.
    fn destination(&self, from: usize, number: u32) -> usize {
        let mut stream = self.stream_of(from, number);
        self.draw_destination(&mut stream)
    }

    fn stream_of(&self, from: usize, number: u32) -> Stream {
        let seed = self.contract.seed ^ (from as u64) << 40 ^ u64::from(number) << 1;
        Stream::new(seed, self.direction.group())
    }

    fn draw_destination(&self, stream: &mut Stream) -> usize {
        let receivers = self.receivers.len() as u64;
        let favourite = stream.below(100) < self.contract.favourite;
        let any = stream.below(receivers);
        if favourite { (self.contract.seed % receivers) as usize } else { any as usize }
    }

    /// The first packet at or after `number` that a sender has for a receiver.
    fn following(&self, from: usize, to: usize, number: u32) -> u32 {
        let packets = self.contract.packets;
        (number..packets).find(|number| self.destination(from, *number) == to).unwrap_or(packets)
    }

    /// The packet with this number of a sender.
    fn packet(&self, from: usize, number: u32) -> Packet {
        let mut stream = self.stream_of(from, number);
        let to = self.draw_destination(&mut stream);
        let bytes = match stream.below(3) {
            0 => ByteMask::ALL,
            1 => ByteMask::range(0, 1 + stream.below(128) as usize),
            _ => ByteMask(u128::from(stream.next()) << 64 | u128::from(stream.next()) | 1),
        };
        let kind = stream.below(3);
        let tray = Box::new(Line(std::array::from_fn(|_| stream.next() as u8)));
        let batch = Box::new(random_batch(&mut stream));
        let body = match (self.direction, kind) {
            (Direction::Request, 0) => Body::Read(tray),
            (Direction::Request, 1) => Body::Write(tray),
            (Direction::Request, _) => Body::Atomic(batch),
            (Direction::Reply, 0) => Body::ReadReply(tray),
            (Direction::Reply, 1) => Body::WriteAck(tray),
            (Direction::Reply, _) => Body::AtomicReply(batch),
            (Direction::Owner, kind) => {
                let message = [Message::Data, Message::Granted, Message::Return][kind as usize];
                let (place, requester) = (Place::Cache, Owner::cache(1));
                Body::Owned(Letter { message, place, requester }, Some(tray))
            }
        };
        let client = [Client::L1d, Client::Constant, Client::Instruction][stream.below(3) as usize];
        Packet::new(Contents {
            line: LineAddress(stream.next() >> 16),
            bytes,
            source: NodeId::from(self.first_sender.index() + from),
            destination: NodeId::from(self.first_receiver.index() + to),
            client,
            tag: number,
            origin: Origin::default(),
            level: Level::default(),
            body,
        })
    }

    fn send(&mut self, from: usize, now: Cycle) {
        let sender = &self.senders[from];
        if sender.next == self.contract.packets || sender.due > now {
            return;
        }
        let number = sender.next;
        let packet = self.packet(from, number);
        let flits = self.flit.flits(packet.wire_bytes());
        let gap = 1 + self.stream_of(from, !number).below(self.contract.gap);
        let sender = &mut self.senders[from];
        if sender.outlet.send(packet, flits, now).is_err() {
            return;
        }
        self.moved += 1;
        sender.next += 1;
        sender.due = now + gap;
        if sender.next.is_multiple_of(BURST) {
            sender.due = Cycle((now.0 / PERIOD + 1) * PERIOD + gap);
        }
    }

    /// Takes what a receiver takes in this cycle.
    fn receive(&mut self, to: usize, now: Cycle) -> Result<(), String> {
        let phase = now.0 / SPAN + to as u64;
        let most = match (phase % 4, now.0 % SPAN) {
            (0, _) => 0,
            (1, 0) => usize::MAX,
            _ => usize::from(self.willing[(now.0 as usize * 31 + to * 977) % self.willing.len()]),
        };
        let mut buffered = 0;
        for _ in 0..most {
            let arrival = self.receivers[to].inlet.next_arrival();
            let Some(packet) = self.receivers[to].inlet.receive(now) else { break };
            let flits = self.flit.flits(packet.wire_bytes());
            buffered += flits;
            if buffered > self.room {
                return Err(format!("its buffer holds {buffered} flits, expected at most {}", self.room));
            }
            self.take(to, packet, arrival, now)?;
            self.receivers[to].inlet.release(flits, now);
        }
        Ok(())
    }

    fn take(&mut self, to: usize, packet: Packet, arrival: Cycle, now: Cycle) -> Result<(), String> {
        let name =
            format!("packet {} of node {} to node {}", packet.tag, packet.source.0, packet.destination.0);
        let from = packet.source.index().checked_sub(self.first_sender.index());
        let Some(from) = from.filter(|from| *from < self.senders.len()) else {
            return Err(format!("{name}: no such sender"));
        };
        if packet.tag >= self.senders[from].next || packet != self.packet(from, packet.tag) {
            return Err(format!("{name} is not what was sent"));
        }
        if packet.destination.index() != self.first_receiver.index() + to {
            return Err(format!("{name} arrived at node {}", self.first_receiver.index() + to));
        }
        let expected = self.receivers[to].expected[from];
        if packet.tag != expected {
            return Err(format!("{name} arrived, expected number {expected} of this pair"));
        }
        let flits = u64::from(self.flit.flits(packet.wire_bytes()));
        if let Some(before) = self.receivers[to].arrival
            && arrival < before + flits
        {
            return Err(format!(
                "{name} has {flits} flits and arrived at {arrival}, {} cycles after the packet before",
                arrival.since(before)
            ));
        }
        self.receivers[to].arrival = Some(arrival);
        self.receivers[to].expected[from] = self.following(from, to, packet.tag + 1);
        self.moved += 1;
        self.last = now;
        for part in [now.0, to as u64, from as u64, u64::from(packet.tag)] {
            self.hash.write(&part.to_le_bytes());
        }
        Ok(())
    }
}

fn random_batch(stream: &mut Stream) -> AtomicBatch {
    let op = [AtomicOp::Add, AtomicOp::Cas][stream.below(2) as usize];
    let ty = [AtomicType::U32, AtomicType::U64][stream.below(2) as usize];
    let mut batch = AtomicBatch::empty(op, ty);
    batch.returns = stream.below(2) == 0;
    batch.count = [1 + stream.below(32) as u8, 32][stream.below(2) as usize];
    for entry in 0..usize::from(batch.count) {
        batch.lane[entry] = entry as u8;
        batch.offset[entry] = (stream.below(128) as usize / ty.bytes() * ty.bytes()) as u8;
        batch.a[entry] = stream.next();
    }
    batch
}

impl Island for Nodes {
    fn hang(&mut self, bell: &Doorbell) {
        self.senders.iter().for_each(|sender| sender.outlet.hang(bell));
        self.receivers.iter().for_each(|receiver| receiver.inlet.hang(bell));
    }

    fn collect(&mut self, window: Window) {
        self.senders.iter_mut().for_each(|sender| sender.outlet.collect(window));
        self.receivers.iter_mut().for_each(|receiver| receiver.inlet.collect(window));
    }

    fn tick(&mut self, now: Cycle) {
        (0..self.senders.len()).for_each(|from| self.send(from, now));
        for to in 0..self.receivers.len() {
            if self.fault.is_none()
                && let Err(fault) = self.receive(to, now)
            {
                let node = self.first_receiver.index() + to;
                self.fault = Some(format!("cycle {now}, node {node}: {fault}"));
            }
        }
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        let packets = self.contract.packets;
        let sends = self.senders.iter().filter(|sender| sender.next < packets).map(|sender| sender.due);
        let arrivals = self.receivers.iter().map(|receiver| receiver.inlet.next_arrival());
        sends.chain(arrivals).min().unwrap_or(Cycle::NEVER).max(now)
    }

    fn flush(&mut self, window: Window) -> Cycle {
        let sent = self.senders.iter_mut().map(|sender| sender.outlet.flush(window));
        let released = self.receivers.iter_mut().map(|receiver| receiver.inlet.flush(window));
        sent.chain(released).min().unwrap_or(Cycle::NEVER)
    }

    fn progress(&self) -> u64 {
        self.moved
    }

    fn waits(&self, report: &mut Vec<String>) {
        for (index, receiver) in
            self.receivers.iter().enumerate().filter(|(_, node)| node.inlet.waiting() > 0)
        {
            report.push(format!("receiver {index} has {} packets to take", receiver.inlet.waiting()));
        }
    }

    fn failed(&self) -> bool {
        self.fault.is_some()
    }
}
