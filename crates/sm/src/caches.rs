//! The SM's read-only caches, instructions and constants, as the SM sees them.

use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_memory::{Line, LineAddress, Packet};

use crate::fetch::InstructionCache;
use crate::lsu::ConstantCache;

/// A read-only cache, whatever its organisation.
pub trait ReadOnly: Send {
    /// Asks for a line; `token` comes back with it. False when it cannot take the request now.
    fn request(&mut self, line: LineAddress, token: u32, now: Cycle) -> bool;

    /// Takes the next line that has arrived, with the token of its request.
    fn arrived(&mut self, now: Cycle) -> Option<(u32, &Line)>;

    /// Takes a reply from the network. Always accepted.
    fn accept(&mut self, reply: Packet, now: Cycle);

    /// One cycle of inner work.
    fn tick(&mut self, now: Cycle);

    /// The next packet for the network. It has left when this returns it.
    fn outgoing(&mut self, now: Cycle) -> Option<Packet>;

    /// Whether [`ReadOnly::outgoing`] would return a packet, and its size in bytes.
    fn outgoing_bytes(&self, now: Cycle) -> Option<u32>;

    /// Between launches: drops every line, because the host may have written.
    fn invalidate(&mut self);

    /// Earliest cycle from `now` on at which it could do anything without a new request or reply.
    fn next_event(&self, now: Cycle) -> Cycle;

    /// A sentence for each thing it waits for.
    fn waits(&self, report: &mut Vec<String>);

    /// What it counted.
    fn statistics(&self) -> Vec<Group>;
}

/// A read-only cache in the role of one of the two.
pub struct Port<'a>(pub &'a mut dyn ReadOnly);

impl InstructionCache for Port<'_> {
    #[inline]
    fn request(&mut self, line: LineAddress, token: u32, now: Cycle) -> bool {
        self.0.request(line, token, now)
    }

    #[inline]
    fn arrived(&mut self, now: Cycle) -> Option<u32> {
        self.0.arrived(now).map(|(token, _)| token)
    }
}

impl ConstantCache for Port<'_> {
    #[inline]
    fn request(&mut self, line: LineAddress, token: u32, now: Cycle) -> bool {
        self.0.request(line, token, now)
    }

    #[inline]
    fn arrived(&mut self, now: Cycle, take: &mut impl FnMut(u32, &Line)) -> bool {
        match self.0.arrived(now) {
            Some((token, line)) => {
                take(token, line);
                true
            }
            None => false,
        }
    }
}
