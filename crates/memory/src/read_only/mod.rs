//! Read-only caches: the instruction cache and the constant cache of an SM.

mod cache;
mod config;

use strata_engine::Cycle;
use strata_engine::statistics::Group;

use crate::address::LineAddress;
use crate::line::Line;
use crate::packet::Packet;

pub use cache::ReadOnlyCache;
pub use config::{ReadOnlyConfig, ReadOnlyStatistics};

/// A read-only cache, whatever its organisation.
pub trait ReadOnly: Send {
    /// Asks for a line; `token` comes back with it, so that any number of requests can wait for one line. False when
    /// the cache cannot take the request now.
    fn request(&mut self, line: LineAddress, token: u32, now: Cycle) -> bool;

    /// Takes the next line that has arrived, with the token of its request.
    fn arrived(&mut self, now: Cycle) -> Option<(u32, &Line)>;

    /// Takes a reply from the network. Always accepted.
    fn accept(&mut self, reply: Packet, now: Cycle);

    /// The next packet for the network. It has left when this returns it.
    fn outgoing(&mut self, now: Cycle) -> Option<Packet>;

    /// Whether [`ReadOnly::outgoing`] would return a packet, and its size in bytes.
    fn outgoing_bytes(&self, now: Cycle) -> Option<u32>;

    /// Between launches: drops every line, because the host may have written. A line on its way still serves those who
    /// wait for it, and is not kept.
    fn invalidate(&mut self);

    /// Earliest cycle from `now` on at which it could do anything without a new request or reply.
    fn next_event(&self, now: Cycle) -> Cycle;

    /// A sentence for each thing it waits for.
    fn waits(&self, report: &mut Vec<String>);

    /// What it counted.
    fn statistics(&self) -> Vec<Group>;
}

#[cfg(test)]
mod tests;
