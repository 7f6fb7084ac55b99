//! What stands around a scratchpad: global memory behind an L1D that is passed by, and the registry of its words' owners with a
//! CPU that takes some of them.

use std::collections::VecDeque;

use strata_engine::Cycle;
use strata_engine::seed::Stream;
use strata_memory::doors::LaneAccess;
use strata_memory::ownership::{Letter, Message, Owner, bytes_of, words_of};
use strata_memory::{Body, ByteMask, Contents, Level, Line, LineAddress, NodeId, Origin, Packet};

/// The scratchpad's node.
pub const SM: NodeId = NodeId(0);
/// The registry's.
pub const REGISTRY: NodeId = NodeId(1);
/// The CPU, which writes back at once what it takes.
const CPU: Owner = Owner::cache(2);

/// Global memory and its registry.
pub struct Below {
    /// First word's number.
    base: u64,
    pub words: Vec<u32>,
    pub owners: Vec<Option<Owner>>,
    delay: u64,
    stream: Stream,
    accesses: VecDeque<(Cycle, LaneAccess)>,
    /// Packets to the scratchpad from the registry, and from its own answers.
    packets: [VecDeque<(Cycle, Packet)>; 2],
    /// Words that the CPU asked for, and what it was sent.
    pub read: Vec<(u64, u32)>,
}

impl Below {
    pub fn new(base: u64, words: Vec<u32>, delay: u64, seed: u64) -> Below {
        let owners = vec![None; words.len()];
        let stream = Stream::new(seed, "below a scratchpad");
        let packets = [VecDeque::new(), VecDeque::new()];
        Below { base, words, owners, delay, stream, accesses: VecDeque::new(), packets, read: Vec::new() }
    }

    /// Whether nothing is under way.
    pub fn is_quiet(&self) -> bool {
        self.accesses.is_empty() && self.packets.iter().all(VecDeque::is_empty)
    }

    fn later(&mut self, before: Option<Cycle>, now: Cycle) -> Cycle {
        (now + 1 + self.stream.below(self.delay)).max(before.unwrap_or(now))
    }

    /// Takes an access.
    pub fn access(&mut self, access: LaneAccess, now: Cycle) {
        let at = self.later(self.accesses.back().map(|(at, _)| *at), now);
        self.accesses.push_back((at, access));
    }

    /// The next access that is performed.
    pub fn performed(&mut self, now: Cycle) -> Result<Option<LaneAccess>, String> {
        if self.accesses.front().is_none_or(|(at, _)| *at > now) {
            return Ok(None);
        }
        let (_, mut access) = self.accesses.pop_front().expect("it is there");
        let mut line = Line([0xee; 128]);
        for word in (0..32).filter(|word| words_of(access.bytes) >> word & 1 == 1) {
            let place = self.place(access.line, word)?;
            let at = 4 * word as usize;
            if access.writes {
                let bytes = access.tray.0[at..at + 4].try_into().expect("four bytes");
                self.words[place] = u32::from_le_bytes(bytes);
            } else {
                line.0[at..at + 4].copy_from_slice(&self.words[place].to_le_bytes());
            }
        }
        if access.bytes == ByteMask::NONE || bytes_of(words_of(access.bytes)) != access.bytes {
            return Err(format!("an access of bytes {:#x} of a line: no whole words", access.bytes.0));
        }
        if !access.writes {
            *access.tray = line;
        }
        Ok(Some(access))
    }

    fn place(&self, line: LineAddress, word: u64) -> Result<usize, String> {
        let place = (line.0 * 32 + word).checked_sub(self.base).map(|place| place as usize);
        place
            .filter(|place| *place < self.words.len())
            .ok_or_else(|| format!("word {word} of line {} is asked for, which nobody maps", line.0))
    }

    /// The next packet for the scratchpad.
    pub fn packet(&mut self, now: Cycle) -> Option<Packet> {
        let due = |queue: &&mut VecDeque<(Cycle, Packet)>| queue.front().is_some_and(|(at, _)| *at <= now);
        self.packets.iter_mut().find(due).and_then(VecDeque::pop_front).map(|(_, packet)| packet)
    }

    /// Takes a packet of the scratchpad.
    pub fn take(&mut self, packet: Packet, now: Cycle) -> Result<(), String> {
        let Body::Owned(letter, tray) = &packet.body else {
            return Err(format!("a packet that is not about owned words: {packet:?}"));
        };
        let to_registry = letter.message.is_to_registry();
        if packet.source != SM || (packet.destination == REGISTRY) != to_registry {
            return Err(format!("{:?} from {:?} to {:?}", letter.message, packet.source, packet.destination));
        }
        if packet.destination == SM {
            let at = self.later(self.packets[1].back().map(|(at, _)| *at), now);
            self.packets[1].push_back((at, packet));
            return Ok(());
        }
        let data = tray.as_ref().map_or([0; 128], |tray| tray.0);
        let (message, sender) = (letter.message, Owner { node: SM.0 as u8, place: letter.place });
        for word in (0..32).filter(|word| words_of(packet.bytes) >> word & 1 == 1) {
            let place = self.place(packet.line, word)?;
            let at = 4 * word as usize;
            let value = u32::from_le_bytes(data[at..at + 4].try_into().expect("four bytes"));
            if message == Message::Read && self.owners[place].is_none() {
                let along = self.along(packet.line, packet.tag)?;
                self.supply(sender, place, along, now);
            } else if to_registry {
                self.handle(message, sender, place, value, now)?
            } else {
                self.of_cpu(message, place, value)
            }
        }
        Ok(())
    }

    /// What an owner sends to the CPU.
    fn of_cpu(&mut self, message: Message, place: usize, value: u32) {
        if message == Message::Data {
            self.read.push((place as u64, value));
        }
    }

    fn handle(
        &mut self,
        message: Message,
        sender: Owner,
        place: usize,
        value: u32,
        now: Cycle,
    ) -> Result<(), String> {
        let before = self.owners[place];
        match (message, before) {
            (Message::Read, Some(owner)) => self.send(Message::ForwardRead, (owner, sender), place, 0, now),
            (Message::Register, _) => {
                self.owners[place] = Some(sender);
                match before {
                    None => self.send(Message::Granted, (sender, sender), place, 0, now),
                    Some(owner) => self.send(Message::ForwardRegister, (owner, sender), place, 0, now),
                }
            }
            (Message::WriteBack, _) => {
                if before == Some(sender) {
                    (self.owners[place], self.words[place]) = (None, value);
                }
                self.send(Message::WrittenBack, (sender, sender), place, 0, now);
            }
            (Message::Return, Some(owner)) if owner == sender => {
                (self.owners[place], self.words[place]) = (None, value);
            }
            other => return Err(format!("{other:?} from {sender} of word {place}")),
        }
        Ok(())
    }

    /// The words of a line that a read names beside those that it asks for and that no memory owns.
    fn along(&self, line: LineAddress, named: u32) -> Result<u32, String> {
        let mut along = 0;
        for word in (0..32).filter(|word| named >> word & 1 == 1) {
            if self.owners[self.place(line, word)?].is_none() {
                along |= 1 << word;
            }
        }
        Ok(along)
    }

    /// Sends a word with others of its line.
    fn supply(&mut self, to: Owner, place: usize, along: u32, now: Cycle) {
        self.send(Message::Data, (to, to), place, self.words[place], now);
        let (_, packet) = self.packets[0].back_mut().expect("it was sent just now");
        let Body::Owned(_, Some(tray)) = &mut packet.body else { unreachable!("data come in a tray") };
        for word in (0..32).filter(|word| along >> word & 1 == 1) {
            let place = (packet.line.0 * 32 + word - self.base) as usize;
            tray.0[4 * word as usize..][..4].copy_from_slice(&self.words[place].to_le_bytes());
        }
        packet.bytes |= bytes_of(along);
    }

    /// Takes a word back from its owner, if it has one.
    pub fn recall(&mut self, place: usize, now: Cycle) {
        if let Some(owner) = self.owners[place] {
            self.send(Message::Recall, (owner, owner), place, 0, now);
        }
    }

    /// The CPU reads a word.
    pub fn read(&mut self, place: usize, now: Cycle) {
        match self.owners[place] {
            Some(owner) => self.send(Message::ForwardRead, (owner, CPU), place, 0, now),
            None => self.read.push((place as u64, self.words[place])),
        }
    }

    fn send(
        &mut self,
        message: Message,
        (to, requester): (Owner, Owner),
        place: usize,
        value: u32,
        now: Cycle,
    ) {
        let number = self.base + place as u64;
        let (line, word) = (LineAddress(number / 32), number % 32);
        let mut tray = Box::new(Line([0xdd; 128]));
        tray.0[4 * word as usize..][..4].copy_from_slice(&value.to_le_bytes());
        let letter = Letter { message, place: to.place, requester };
        let packet = Packet::new(Contents {
            line,
            bytes: bytes_of(1 << word),
            source: REGISTRY,
            destination: NodeId(to.node.into()),
            client: to.place.client(),
            tag: 1 << word,
            origin: Origin::default(),
            level: Level::default(),
            body: Body::Owned(letter, Some(tray)),
        });
        let at = self.later(self.packets[0].back().map(|(at, _)| *at), now);
        self.packets[0].push_back((at, packet));
    }
}
