//! The way into the request network: three clients, one packet a cycle.

use strata_engine::{Cycle, Outlet};
use strata_memory::Packet;
use strata_memory::doors::L1d;

use crate::caches::ReadOnly;

/// Sends packets of the L1D, the constant cache and the instruction cache, in turn. A client whose packet
/// finds no credit keeps its turn, so that large packets are not starved by small ones.
pub struct Injector {
    /// To the network, in flits.
    pub requests: Outlet<Packet>,
    flit_bytes: u32,
    turn: usize,
    /// Packets sent.
    pub sent: u64,
}

impl Injector {
    /// An injector whose flits have so many bytes.
    pub fn new(requests: Outlet<Packet>, flit_bytes: u32) -> Self {
        Injector { requests, flit_bytes, turn: 0, sent: 0 }
    }

    /// One cycle: at most one packet.
    #[inline]
    pub fn tick(
        &mut self,
        l1d: &mut dyn L1d,
        constants: &mut dyn ReadOnly,
        instructions: &mut dyn ReadOnly,
        now: Cycle,
    ) {
        for step in 0..3 {
            let client = (self.turn + step) % 3;
            let bytes = match client {
                0 => l1d.outgoing_bytes(now),
                1 => constants.outgoing_bytes(now),
                _ => instructions.outgoing_bytes(now),
            };
            let Some(bytes) = bytes else { continue };
            let flits = bytes.div_ceil(self.flit_bytes);
            if self.requests.credits(now) < flits {
                self.turn = client;
                return;
            }
            let packet = match client {
                0 => l1d.outgoing(now),
                1 => constants.outgoing(now),
                _ => instructions.outgoing(now),
            };
            let packet = packet.expect("a client that names a packet's size has the packet");
            self.requests.send(packet, flits, now).expect("there is credit for the packet");
            self.sent += 1;
            self.turn = (client + 1) % 3;
            return;
        }
    }
}
