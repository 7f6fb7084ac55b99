//! Read-only caches: the instruction cache and the constant cache of an SM, and a second level behind both.

mod cache;
mod config;
mod second;

use strata_engine::Cycle;
use strata_engine::statistics::Group;

use crate::address::LineAddress;
use crate::line::Line;
use crate::packet::Packet;

pub use cache::ReadOnlyCache;
pub use config::{ReadOnlyConfig, ReadOnlyStatistics};
pub use second::SecondLevel;

/// A read-only cache of any organisation.
pub trait ReadOnly: Send {
    /// Requests a line. The line arrives with the same `token`, so any number of requests can wait for one
    /// line. Returns false if the cache cannot take the request in this cycle.
    fn request(&mut self, line: LineAddress, token: u32, now: Cycle) -> bool;

    /// Requests a line of which no bytes are needed, as fetch does, if it is here: returns the cycle from which it can be
    /// used. `None` leaves the cache as it was; the line then takes a [`ReadOnly::request`].
    fn touch(&mut self, _line: LineAddress, _now: Cycle) -> Option<Cycle> {
        None
    }

    /// Takes the next line that has arrived, together with the token of its request.
    fn arrived(&mut self, now: Cycle) -> Option<(u32, &Line)>;

    /// Takes a reply from the network. It cannot be refused.
    fn accept(&mut self, reply: Packet, now: Cycle);

    /// Takes the next packet for the network. Call it only when the network can accept the packet.
    fn outgoing(&mut self, now: Cycle) -> Option<Packet>;

    /// Wire size in bytes of the packet that [`ReadOnly::outgoing`] would return; `None` if it would return
    /// none.
    fn outgoing_bytes(&self, now: Cycle) -> Option<u32>;

    /// Drops every line between launches, since the host may have written to memory. A line being fetched
    /// still serves the requests that wait for it, but is not kept.
    fn invalidate(&mut self);

    /// Earliest cycle, not before `now`, at which the cache could do work, assuming that no request or reply
    /// arrives meanwhile.
    fn next_event(&self, now: Cycle) -> Cycle;

    /// Appends to `report` one sentence for each thing that the cache waits for.
    fn waits(&self, report: &mut Vec<String>);

    /// Its counters, one group for each set of statistics.
    fn statistics(&self) -> Vec<Group>;
}

#[cfg(test)]
mod tests;
