//! The door of the network: packets between SMs and LLC slices, one network for each direction.

use std::sync::Arc;

use strata_engine::statistics::Group;
use strata_engine::{Inlet, Island, Outlet, link};

use super::design::{Design, Named, downcast};
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
///
/// ```
/// # use strata_designs::baseline::{Arbitration, MultistageConfig, Topology};
/// # use strata_engine::{Cited, Cycle, Window};
/// # use strata_memory::doors::{Direction, NetworkDesign, NetworkEnds, NetworkSite, network_link};
/// # use strata_memory::{Body, ByteMask, Client, Line, LineAddress, NodeId, Packet};
/// # fn cited<T>(value: T) -> Cited<T> { Cited::new(value, "an example") }
/// let design = MultistageConfig {
///     topology: cited(Topology::Crossbar),
///     flit_bytes: cited(32),
///     hop_latency_cycles: cited(4),
///     buffer_flits: cited(16),
///     arbitration: cited(Arbitration::RoundRobin),
/// };
/// // One SM, node 0, and one slice, node 1.
/// let (mut sm, inlet) = network_link(&design, 136)?;
/// let (outlet, mut slice) = network_link(&design, 136)?;
/// let ends = NetworkEnds {
///     first_input: NodeId(0),
///     inlets: vec![inlet],
///     first_output: NodeId(1),
///     outlets: vec![outlet],
/// };
/// let mut network = design.build(NetworkSite { direction: Direction::Request, ends })?;
/// let packet = Packet {
///     line: LineAddress(0),
///     bytes: ByteMask::range(0, 24),
///     source: NodeId(0),
///     destination: NodeId(1),
///     client: Client::L1d,
///     tag: 0,
///     body: Body::Write(Box::new(Line::ZERO)),
/// };
/// // A header of 8 bytes and 24 bytes of data are one flit.
/// sm.send(packet, 1, Cycle(0)).expect("the link is idle");
/// let arrived = (0..100).map(Cycle).find(|&now| {
///     // A window of one cycle: everybody takes what came, ticks, and hands over.
///     let window = Window(now.0);
///     network.collect(window);
///     slice.collect(window);
///     network.tick(now);
///     let arrived = slice.receive(now).is_some();
///     sm.flush(window);
///     network.flush(window);
///     arrived
/// });
/// // 4 cycles on the link to the switch, and 4 through it to the slice.
/// assert_eq!(arrived, Some(Cycle(8)));
/// # Ok::<(), strata_memory::ParameterError>(())
/// ```
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

downcast! { NetworkDesign }

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
