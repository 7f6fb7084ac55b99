//! What became of accesses and packets, pieced together from what SMs and slices have recorded.

use std::collections::{HashMap, VecDeque};

use strata_engine::Cycle;
use strata_memory::{Client, Level, LineAddress, NodeId, TouchKind};
use strata_sm::{SmEvent, Unanswered};

use super::llc::{PacketName, SliceEvent};
use crate::observed::DramName;

/// A packet that an L1D has sent. All cycles are core cycles.
#[derive(Clone, Debug)]
pub struct Packet {
    /// Its SM's node.
    pub node: NodeId,
    /// Its tag.
    pub tag: u32,
    /// The line.
    pub line: LineAddress,
    /// What it asks for.
    pub kind: TouchKind,
    /// When it left the L1D.
    pub sent: u64,
    /// The slice's visit, by its place among all visits.
    pub visit: Option<usize>,
    /// When its answer came to the L1D.
    pub answered: Option<u64>,
    /// Whether it is in the trace.
    pub is_drawn: bool,
}

/// What an access found in the L1D.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// It waits for no packet.
    Hit,
    /// It sent a packet: its place among all packets,
    Miss(usize),
    /// or waited for another's.
    Merged(usize),
    /// It writes, and was done with once the L1D had its bytes.
    Store,
}

/// An access that is complete.
#[derive(Clone, Debug)]
pub struct Access {
    /// The warp slot,
    pub warp: u8,
    /// the instruction,
    pub pc: u32,
    /// and the line.
    pub line: LineAddress,
    /// When its instruction came to the load/store unit,
    pub issued: u64,
    /// the L1D took the access,
    pub accepted: u64,
    /// and had performed it.
    pub completed: u64,
    /// When the instruction's results are written, if this was its last access.
    pub written: Option<u64>,
    /// What it found.
    pub found: Found,
    /// Whether it is in the trace.
    pub is_drawn: bool,
}

impl Access {
    /// The packet that it waited for, by its place among all packets.
    pub fn packet(&self) -> Option<usize> {
        match self.found {
            Found::Miss(packet) | Found::Merged(packet) => Some(packet),
            Found::Hit | Found::Store => None,
        }
    }
}

/// A request in a slice of the last-level cache.
#[derive(Clone, Debug)]
pub struct Visit {
    /// The slice.
    pub slice: u16,
    /// Who asks.
    pub client: Client,
    /// What for.
    pub kind: TouchKind,
    /// The device line.
    pub line: LineAddress,
    /// When the slice took it.
    pub arrived: u64,
    /// The request to DRAM that it made, by its place among all of them.
    pub transfer: Option<usize>,
    /// When its answer left, and where the bytes came from.
    pub left: Option<(u64, Level)>,
    /// The packet, by its place among all packets, if its SM is traced.
    pub packet: Option<usize>,
    /// Whether it is in the trace.
    pub is_drawn: bool,
}

/// A request to DRAM.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// The slice that makes it.
    pub slice: u16,
    /// The device line.
    pub line: LineAddress,
    /// Whether it writes.
    pub writes: bool,
    /// When it was taken,
    pub from: u64,
    /// and was done.
    pub to: Option<u64>,
    /// The packet behind it.
    pub packet: Option<usize>,
    /// Whether it is in the trace.
    pub is_drawn: bool,
}

/// An access under way.
struct Open {
    token: u32,
    access: Access,
    waits: bool,
    packet: Option<usize>,
}

/// Accesses of an SM, in the order in which they are complete; adds the packets of its L1D. `draws` says of each access in turn, by when its
/// instruction came to the load/store unit, whether it is in the trace.
pub fn accesses(
    node: NodeId,
    events: &[(Cycle, SmEvent)],
    packets: &mut Vec<Packet>,
    draws: &mut dyn FnMut(u64) -> bool,
) -> Vec<Access> {
    let mut open: Vec<Open> = Vec::new();
    let mut done: Vec<Access> = Vec::new();
    let mut under_way: HashMap<LineAddress, Unanswered<usize, u32>> = HashMap::new();
    let mut answers: HashMap<LineAddress, (u64, usize)> = HashMap::new();
    for (now, event) in events {
        match *event {
            SmEvent::Access { token, warp, pc, line, waits, issued, .. } => {
                let access = Access {
                    warp,
                    pc,
                    line,
                    issued: issued.0,
                    accepted: now.0,
                    completed: now.0,
                    written: None,
                    found: Found::Store,
                    is_drawn: draws(issued.0),
                };
                open.push(Open { token, access, waits, packet: None });
            }
            SmEvent::Sent { line, tag, kind, words } => {
                let number = packets.len();
                let (sent, is_drawn) = (now.0, true);
                packets.push(Packet { node, tag, line, kind, sent, visit: None, answered: None, is_drawn });
                under_way.entry(line).or_default().add(number, tag, words);
                // It belongs to the oldest access of the line that has none.
                let asks = matches!(kind, TouchKind::Load | TouchKind::Atomic);
                let of = |open: &&mut Open| open.access.line == line && open.waits && open.packet.is_none();
                if let Some(open) = open.iter_mut().find(of).filter(|_| asks) {
                    open.packet = Some(number);
                }
            }
            SmEvent::Answered { line, tag, words, .. } => {
                let number = under_way.get_mut(&line).and_then(|packets| packets.answer(&tag, words));
                if let Some(number) = number {
                    packets[number].answered = Some(now.0);
                    answers.insert(line, (now.0, number));
                }
            }
            SmEvent::Completed { token } => {
                let Some(place) = open.iter().position(|open| open.token == token) else { continue };
                let Open { mut access, waits, packet, .. } = open.remove(place);
                access.completed = now.0;
                let answer = answers.get(&access.line).filter(|(at, _)| *at > access.accepted);
                access.found = match (waits, packet, answer) {
                    (false, _, _) => Found::Store,
                    (true, Some(packet), _) if packets[packet].answered.is_some() => Found::Miss(packet),
                    (true, _, Some((_, packet))) => Found::Merged(*packet),
                    _ => Found::Hit,
                };
                done.push(access);
            }
            SmEvent::Ended { warp, pc, issued, written } => {
                let is_last = |access: &&mut Access| {
                    (access.warp, access.pc, access.issued, access.completed) == (warp, pc, issued.0, now.0)
                };
                if let Some(access) =
                    done.iter_mut().rev().take_while(|access| access.completed == now.0).find(is_last)
                {
                    access.written = Some(written.0);
                }
            }
            SmEvent::Issued { .. }
            | SmEvent::Waits { .. }
            | SmEvent::Queued { .. }
            | SmEvent::Outstanding { .. } => {}
        }
    }
    done
}

/// Who asks a slice for a line: a unit of a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Asker(NodeId, Client, LineAddress);

impl Asker {
    fn of(name: &PacketName) -> Asker {
        Asker(name.node, name.client, name.line)
    }
}

/// The packets of the SMs that are traced, by what slices know of them: the first that no slice has seen is the next to arrive.
pub struct Senders(HashMap<PacketName, VecDeque<usize>>);

impl Senders {
    /// Of these packets, whose lines are device lines.
    pub fn new(packets: &[Packet]) -> Senders {
        let mut by_name: HashMap<PacketName, VecDeque<usize>> = HashMap::new();
        for (number, Packet { node, tag, line, .. }) in packets.iter().enumerate() {
            let name = PacketName { node: *node, client: Client::L1d, tag: *tag, line: *line };
            by_name.entry(name).or_default().push_back(number);
        }
        Senders(by_name)
    }

    fn arrives(&mut self, name: &PacketName, now: u64, packets: &[Packet]) -> Option<usize> {
        let waiting = self.0.get_mut(name)?;
        // One that was sent later is not the one that arrives: that was sent before the window.
        let number = waiting.front().copied().filter(|number| packets[*number].sent <= now)?;
        waiting.pop_front();
        Some(number)
    }
}

/// The requests that have come to slices, and those that these have made of DRAM.
#[derive(Default)]
pub struct Visits {
    /// The former,
    pub visits: Vec<Visit>,
    /// and the latter.
    pub transfers: Vec<Transfer>,
}

impl Visits {
    /// Adds those of a slice. `reference` gives the core cycle of a cycle of the slice's clock, and `device_line` the line of one of its
    /// lines.
    pub fn add(
        &mut self,
        slice: u16,
        events: &[(Cycle, SliceEvent)],
        (reference, device_line): (&dyn Fn(Cycle) -> u64, &dyn Fn(LineAddress) -> LineAddress),
        (senders, packets): (&mut Senders, &mut [Packet]),
    ) {
        // By line, the requests that are here.
        let mut waiting: HashMap<LineAddress, Vec<usize>> = HashMap::new();
        let mut here: HashMap<Asker, Unanswered<usize, u32>> = HashMap::new();
        let mut asked: HashMap<DramName, VecDeque<usize>> = HashMap::new();
        for (at, event) in events {
            let now = reference(*at);
            match *event {
                SliceEvent::Arrived { name, kind, words } => {
                    let line = device_line(name.line);
                    let packet = senders.arrives(&PacketName { line, ..name }, now, packets);
                    let number = self.visits.len();
                    if let Some(packet) = packet {
                        packets[packet].visit = Some(number);
                    }
                    here.entry(Asker::of(&name)).or_default().add(number, name.tag, words);
                    waiting.entry(line).or_default().push(number);
                    let (client, arrived) = (name.client, now);
                    let visit = Visit {
                        slice,
                        client,
                        kind,
                        line,
                        arrived,
                        transfer: None,
                        left: None,
                        packet,
                        is_drawn: true,
                    };
                    self.visits.push(visit);
                }
                SliceEvent::Left { name, level, words } => {
                    let of = here.get_mut(&Asker::of(&name));
                    if let Some(number) = of.and_then(|requests| requests.answer(&name.tag, words)) {
                        self.visits[number].left = Some((now, level));
                        let line = self.visits[number].line;
                        waiting.entry(line).or_default().retain(|other| *other != number);
                    }
                }
                SliceEvent::Asked(name) => {
                    let (line, number) = (device_line(name.0), self.transfers.len());
                    // What is read is read for the oldest request of the line that has none.
                    let here = waiting.get(&line).into_iter().flatten().copied();
                    let visit = here.filter(|_| !name.2).find(|visit| self.visits[*visit].transfer.is_none());
                    let packet = visit.and_then(|visit| {
                        self.visits[visit].transfer = Some(number);
                        self.visits[visit].packet
                    });
                    asked.entry(name).or_default().push_back(number);
                    self.transfers.push(Transfer {
                        slice,
                        line,
                        writes: name.2,
                        from: now,
                        to: None,
                        packet,
                        is_drawn: true,
                    });
                }
                SliceEvent::Done(name) => {
                    if let Some(number) = asked.get_mut(&name).and_then(VecDeque::pop_front) {
                        self.transfers[number].to = Some(now);
                    }
                }
            }
        }
    }
}
