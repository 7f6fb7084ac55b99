//! The SM's output to the request network: four clients share it, at one packet per cycle.

use strata_engine::{Cycle, Outlet};
use strata_memory::Packet;
use strata_memory::doors::{L1d, Scratchpad};
use strata_memory::read_only::{ReadOnly, SecondLevel};
use strata_memory::translation::Mmu;

/// Number of clients.
const CLIENTS: usize = 4;

/// By client, the size in bytes of the packet that waits for the network, if there is one.
pub type Waiting = [Option<u32>; CLIENTS];

/// Sends the packets of the L1D, the constant cache, the instruction cache and the part behind the banks of shared memory,
/// round robin. Where the read-only caches have a second level, it sends in place of the constant cache, and the instruction cache
/// sends nothing. Where addresses are translated, the MMU sends what the L1D has given it. A client whose packet finds too few credits keeps its turn, so small packets cannot starve large ones.
pub struct Injector {
    /// Link to the request network; credits are flits.
    pub requests: Outlet<Packet>,
    flit_bytes: u32,
    turn: usize,
    /// Packets in a cycle: one, but of an SM whose L1D is ideal.
    pub packets: u32,
    /// Number of packets sent.
    pub sent: u64,
}

impl Injector {
    /// An injector that counts packet sizes in flits of `flit_bytes` bytes.
    pub fn new(requests: Outlet<Packet>, flit_bytes: u32) -> Self {
        Injector { requests, flit_bytes, turn: 0, packets: 1, sent: 0 }
    }

    /// The injector of an SM that sends so many packets a cycle.
    pub fn with_packets(self, packets: u32) -> Self {
        Injector { packets, ..self }
    }

    /// Sends at most one packet, that of the client whose turn it is, if there is credit for it. Out of line, because in
    /// most cycles there is no packet.
    #[inline(never)]
    pub fn send(
        &mut self,
        waiting: Waiting,
        (l1d, constants, instructions, second): (
            &mut (impl L1d + ?Sized),
            &mut impl ReadOnly,
            &mut impl ReadOnly,
            Option<&mut SecondLevel>,
        ),
        (scratchpad, mmu): (Option<&mut dyn Scratchpad>, Option<&mut Mmu>),
        now: Cycle,
    ) {
        let Some((client, bytes)) = self.next(&waiting) else { return };
        let flits = bytes.div_ceil(self.flit_bytes);
        if !self.requests.has_credit(flits, now) {
            self.turn = client;
            return;
        }
        let packet = match client {
            0 => match mmu {
                Some(mmu) => mmu.outgoing(now),
                None => l1d.outgoing(now),
            },
            1 => match second {
                Some(second) => second.outgoing(now),
                None => constants.outgoing(now),
            },
            2 => instructions.outgoing(now),
            _ => scratchpad.and_then(|part| part.outgoing(now)),
        };
        let packet = packet.expect("a client that names a packet's size has the packet");
        self.requests.send(packet, flits, now).expect("there is credit for the packet");
        self.sent += 1;
        self.turn = (client + 1) % CLIENTS;
    }

    /// The first client with a packet, from the one whose turn it is on, and the packet's size.
    #[inline]
    fn next(&self, waiting: &Waiting) -> Option<(usize, u32)> {
        let bit = |(client, bytes): (usize, &Option<u32>)| u32::from(bytes.is_some()) << client;
        let all: u32 = waiting.iter().enumerate().map(bit).sum();
        let ahead = all & u32::MAX << self.turn;
        let client = if ahead != 0 { ahead } else { all }.trailing_zeros() as usize;
        Some((client, (*waiting.get(client)?)?))
    }
}

#[cfg(test)]
mod tests {
    use strata_engine::{Window, link};
    use strata_memory::{Body, ByteMask, Client, Contents, Level, Line, LineAddress, NodeId, Origin};

    use super::*;
    use crate::fakes::{FakeL1d, FakeReadOnly, Memory};

    fn packet(client: Client, line: u64, bytes: usize) -> Packet {
        let tray = Box::new(Line::ZERO);
        Packet::new(Contents {
            line: LineAddress(line),
            bytes: ByteMask::range(0, bytes),
            source: NodeId(0),
            destination: NodeId(1),
            client,
            tag: 0,
            origin: Origin::default(),
            level: Level::default(),
            body: if bytes > 0 { Body::Write(tray) } else { Body::Read(tray) },
        })
    }

    #[test]
    fn clients_take_turns_and_keep_them_until_there_is_credit() {
        let read_only = || FakeReadOnly::new(Memory::low_bytes(), 1);
        let mut l1d = FakeL1d::new(Memory::low_bytes(), 1);
        let (mut constants, mut instructions) = (read_only(), read_only());
        // A write of 128 bytes takes 136 on the wire: 5 flits of 32 bytes. The other packets take one flit each.
        l1d.outgoing.extend([packet(Client::L1d, 0, 128), packet(Client::L1d, 1, 0)]);
        constants.outgoing.extend((2..4).map(|line| packet(Client::Constant, line, 0)));
        instructions.outgoing.extend((4..6).map(|line| packet(Client::Instruction, line, 0)));
        let (outlet, mut inlet) = link(1, 6);
        let mut injector = Injector::new(outlet, 32);
        let mut seen = Vec::new();
        for cycle in 0..20 {
            let (now, window) = (Cycle(cycle), Window(cycle));
            inlet.collect(window);
            injector.requests.collect(window);
            let waiting = [
                l1d.outgoing_bytes(now),
                constants.outgoing_bytes(now),
                instructions.outgoing_bytes(now),
                None,
            ];
            injector.send(waiting, (&mut l1d, &mut constants, &mut instructions, None), (None, None), now);
            while let Some(packet) = inlet.receive(now) {
                seen.push((cycle, packet.line.0));
                // The large packet's credits are never returned.
                if packet.line.0 != 0 {
                    inlet.release(packet.wire_bytes().div_ceil(32), now);
                }
            }
            injector.requests.flush(window);
            inlet.flush(window);
        }
        // Line 0 leaves in cycle 0 with 5 of the 6 credits. A constant packet leaves in 1 and arrives in 2; its
        // credit is back in 3. From then on one packet leaves every second cycle, one client after another.
        assert_eq!(seen, [(1, 0), (2, 2), (4, 4), (6, 1), (8, 3), (10, 5)]);
        assert_eq!(injector.sent, 6);
    }
}
