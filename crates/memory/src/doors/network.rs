//! The door of the network: packets between SMs and LLC slices, one network for each direction.

use std::sync::Arc;

use strata_engine::statistics::Group;
use strata_engine::{Inlet, Island, Outlet, link};

use super::design::{Design, Named};
use crate::flit::FlitSize;
use crate::packet::{NodeId, Packet};
use crate::parameters::ParameterError;

/// Which way a network carries packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From SMs to LLC slices.
    Request,
    /// From LLC slices to SMs.
    Reply,
}

impl Direction {
    /// The direction's name in statistics.
    pub const fn group(self) -> &'static str {
        match self {
            Direction::Request => "network.request",
            Direction::Reply => "network.reply",
        }
    }
}

/// The links that end at a network. Nodes of a side have consecutive numbers.
#[derive(Debug)]
pub struct NetworkEnds {
    /// Node behind the first inlet.
    pub first_input: NodeId,
    /// From the senders, in order of their node numbers. An inlet is the buffer of its switch input.
    pub inlets: Vec<Inlet<Packet>>,
    /// Node behind the first outlet.
    pub first_output: NodeId,
    /// To the receivers, in order of their node numbers.
    pub outlets: Vec<Outlet<Packet>>,
}

/// One direction of a network, an island of its own.
///
/// Every packet that comes in at an inlet leaves once, unchanged, at the outlet of its destination. Packets of one
/// source to one destination stay in order. A packet leaves only when the receiver has credits for all of its
/// flits, and its own credits go back once it has left the inlet.
pub trait Network: Island {
    /// What it counted.
    fn statistics(&self) -> Vec<Group>;
}

/// Where a network stands: what one direction of it needs to be built.
#[derive(Debug)]
pub struct NetworkSite {
    /// Which way it carries packets.
    pub direction: Direction,
    /// The links that end at it.
    pub ends: NetworkEnds,
}

/// The numbers of a network, read from a machine file.
pub trait NetworkDesign: Design {
    /// Bytes that a port moves in a cycle.
    ///
    /// # Errors
    /// When it cannot be built.
    fn flit_size(&self) -> Result<FlitSize, ParameterError>;

    /// Cycles that a packet takes on the link between a node and the network, at least 1. No window of the machine is
    /// longer.
    fn link_latency_cycles(&self) -> u64;

    /// Room of the buffer at the receiving end of such a link, in flits.
    fn link_flits(&self) -> u32;

    /// One direction of the network.
    ///
    /// # Errors
    /// The first number that cannot be built, or a topology with too few terminals.
    fn build(&self, site: NetworkSite) -> Result<Box<dyn Network>, ParameterError>;
}

/// The network that a machine names.
pub type NetworkChoice = Named<Arc<dyn NetworkDesign>>;

/// A link between a node and the network.
///
/// # Errors
/// When its buffer is too small for a packet of `largest_bytes`.
pub fn network_link(
    design: &dyn NetworkDesign,
    largest_bytes: u32,
) -> Result<(Outlet<Packet>, Inlet<Packet>), ParameterError> {
    let needed = design.flit_size()?.flits(largest_bytes);
    let room = design.link_flits();
    if room < needed {
        let message = format!("found {room}, expected at least the {needed} flits of the largest packet");
        return Err(ParameterError::new("buffer_flits", message));
    }
    Ok(link(design.link_latency_cycles(), room))
}
