//! A memory that is the registry of words with owners, at the other end of an SM's network port.

use std::collections::{BTreeMap, VecDeque};

use strata_engine::{Cycle, Inlet, Outlet, Window};
use strata_memory::ownership::{Letter, Message, Owner, Place, bytes_of, words_of};
use strata_memory::{Body, Client, Contents, Level, Line, LineAddress, NodeId, Origin, Packet};

/// The registry's own node; the SM has node 0.
const NODE: NodeId = NodeId(1);

#[derive(Clone, Copy, Debug, Default)]
struct Word {
    value: u32,
    owner: Option<Owner>,
}

/// The far ends of a network port.
type Ends = (Inlet<Packet>, Outlet<Packet>);

/// Sends what is due.
fn leave(flights: &mut VecDeque<(Cycle, Packet)>, link: &mut Outlet<Packet>, now: Cycle) {
    while let Some((at, packet)) = flights.front()
        && *at <= now
    {
        let flits = packet.wire_bytes().div_ceil(32);
        if link.credits(now) < flits {
            return;
        }
        let (_, packet) = flights.pop_front().expect("it is there");
        link.send(packet, flits, now).expect("there is credit");
    }
}

/// A registry that answers after a fixed time.
pub struct Registry {
    words: BTreeMap<u64, Word>,
    latency: u64,
    /// Packets on their way to the SM,
    flights: VecDeque<(Cycle, Packet)>,
    /// and those from one of its memories to another.
    passed_on: VecDeque<(Cycle, Packet)>,
    /// Cycle, message and address of each word that came.
    pub log: Vec<(u64, Message, u64)>,
}

impl Registry {
    /// `words` from `base` on; everything else is 0.
    pub fn new(base: u64, words: &[u32], latency: u64) -> Registry {
        let word = |(n, value): (usize, &u32)| (base + 4 * n as u64, Word { value: *value, owner: None });
        let words = words.iter().enumerate().map(word).collect();
        Registry { words, latency, flights: VecDeque::new(), passed_on: VecDeque::new(), log: Vec::new() }
    }

    /// What memory holds; words that the stash owns must have been recalled.
    pub fn word(&self, address: u64) -> u32 {
        let Word { value, owner } = self.words.get(&address).copied().unwrap_or_default();
        assert_eq!(owner, None, "{address:#x} is recalled before it is read");
        value
    }

    /// Number of words that the stash owns.
    pub fn owned(&self) -> usize {
        self.words.values().filter(|word| word.owner.is_some()).count()
    }

    /// Takes every word back, as for the host.
    pub fn recall_all(&mut self, now: Cycle) {
        let owned: Vec<(u64, Owner)> =
            self.words.iter().filter_map(|(address, word)| Some((*address, word.owner?))).collect();
        for (address, owner) in owned {
            self.send(Message::Recall, owner, owner, address, 0, now);
        }
    }

    /// Whether nothing is on its way to the SM.
    pub fn is_quiet(&self) -> bool {
        self.flights.is_empty() && self.passed_on.is_empty()
    }

    /// What arrives and leaves in a cycle, by the networks of requests and replies and of owners.
    pub fn cycle(&mut self, (network, owners): (&mut Ends, &mut Ends), now: Cycle, window: Window) {
        for ends in [&mut *network, &mut *owners] {
            ends.0.collect(window);
            ends.1.collect(window);
            while let Some(packet) = ends.0.receive(now) {
                ends.0.release(packet.wire_bytes().div_ceil(32), now);
                if packet.destination == NODE {
                    self.receive(packet, now);
                } else {
                    assert_eq!((packet.destination, packet.client), (NodeId(0), Client::Scratchpad));
                    self.passed_on.push_back((now + self.latency, packet));
                }
            }
        }
        leave(&mut self.flights, &mut network.1, now);
        leave(&mut self.passed_on, &mut owners.1, now);
        for ends in [network, owners] {
            ends.0.flush(window);
            ends.1.flush(window);
        }
    }

    fn receive(&mut self, packet: Packet, now: Cycle) {
        let Body::Owned(letter, tray) = packet.body else { panic!("{packet:?} is not about owned words") };
        let sender = Owner { node: packet.source.0 as u8, place: letter.place };
        let data = tray.map_or(Line::ZERO, |tray| *tray);
        for word in (0..32).filter(|word| words_of(packet.bytes) >> word & 1 == 1) {
            let address = packet.line.base().0 + 4 * word;
            let at = 4 * word as usize;
            let value = u32::from_le_bytes(data.0[at..at + 4].try_into().expect("four bytes"));
            self.log.push((now.0, letter.message, address));
            self.handle(letter.message, sender, address, value, now);
        }
    }

    fn handle(&mut self, message: Message, sender: Owner, address: u64, value: u32, now: Cycle) {
        let word = self.words.entry(address).or_default();
        let before = *word;
        match (message, before.owner) {
            (Message::Read, None) => self.send(Message::Data, sender, sender, address, before.value, now),
            (Message::Read, Some(owner)) => self.send(Message::ForwardRead, owner, sender, address, 0, now),
            (Message::Register, owner) => {
                word.owner = Some(sender);
                match owner {
                    None => self.send(Message::Granted, sender, sender, address, 0, now),
                    Some(owner) => self.send(Message::ForwardRegister, owner, sender, address, 0, now),
                }
            }
            (Message::WriteBack, owner) => {
                if owner == Some(sender) {
                    *word = Word { value, owner: None };
                }
                self.send(Message::WrittenBack, sender, sender, address, 0, now);
            }
            (Message::Return, _) => *word = Word { value, owner: None },
            other => panic!("{other:?} is not for a registry"),
        }
    }

    fn send(&mut self, message: Message, to: Owner, requester: Owner, address: u64, value: u32, now: Cycle) {
        let word = address / 4 % 32;
        let mut line = Line::ZERO;
        line.0[4 * word as usize..4 * word as usize + 4].copy_from_slice(&value.to_le_bytes());
        let letter = Letter { message, place: to.place, requester };
        assert!(matches!(to.place, Place::Stash { .. }));
        let packet = Packet::new(Contents {
            line: LineAddress(address / 128),
            bytes: bytes_of(1 << word),
            source: NODE,
            destination: NodeId(to.node.into()),
            client: Client::Scratchpad,
            tag: 1 << word,
            origin: Origin::default(),
            level: Level::default(),
            body: Body::Owned(letter, Some(Box::new(line))),
        });
        self.flights.push_back((now + self.latency, packet));
    }
}
