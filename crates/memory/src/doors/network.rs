//! The door of the network: packets between SMs and LLC slices, one network for each direction.

use std::sync::Arc;

use strata_engine::statistics::Group;
use strata_engine::{Domain, Inlet, Island, LinkClocks, Outlet, link_between};

use super::design::{Coherence, Design, Named, downcast};
use crate::flit::FlitSize;
use crate::node::NodeId;
use crate::packet::Packet;
use crate::parameters::ParameterError;

/// Which way a network carries packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From SMs and CPU cores to LLC slices.
    Request,
    /// From LLC slices to SMs and CPU cores.
    Reply,
    /// From SMs, which own words, to SMs and LLC slices. Only machines with [`Coherence::Owners`](super::Coherence::Owners) have it.
    Owner,
}

impl Direction {
    /// The direction's name in statistics.
    pub const fn group(self) -> &'static str {
        match self {
            Direction::Request => "network.request",
            Direction::Reply => "network.reply",
            Direction::Owner => "network.owner",
        }
    }
}

/// The links that end at a network. The nodes on one side have consecutive numbers.
#[derive(Debug)]
pub struct NetworkEnds {
    /// Node that sends into the first inlet.
    pub first_input: NodeId,
    /// Links from the senders, by node number. An inlet is the buffer of its switch input.
    pub inlets: Vec<Inlet<Packet>>,
    /// Node that receives from the first outlet.
    pub first_output: NodeId,
    /// Links to the receivers, by node number.
    pub outlets: Vec<Outlet<Packet>>,
}

/// One direction of a network, simulated as an island of its own.
///
/// Every packet that enters at an inlet leaves exactly once, unchanged, at the outlet of its destination.
/// Packets from one source to one destination stay in order. A packet leaves only when the receiver has room
/// for all of its flits; the sender's credits return once the packet has left the inlet.
///
/// All cycles that a network is given or counts are those of the network's clock, whatever clocks its nodes have: its
/// ends of the links translate.
///
/// ```
/// # use strata_designs::baseline::{Arbitration, MultistageConfig, Topology};
/// # use strata_engine::{Cited, Cycle, Window};
/// # use strata_memory::doors::{Coherence, Direction, NetworkDesign, NetworkEnds, NetworkSite, network_link};
/// # use strata_memory::{Body, ByteMask, Client, Contents, Level, Line, LineAddress, NodeId, Origin, Packet};
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
/// let mut network = design.build(NetworkSite { direction: Direction::Request, coherence: Coherence::Boundaries, ends })?;
/// let packet = Packet::new(Contents {
///     line: LineAddress(0),
///     bytes: ByteMask::range(0, 24),
///     source: NodeId(0),
///     destination: NodeId(1),
///     client: Client::L1d,
///     tag: 0,
///     origin: Origin::default(), level: Level::default(), body: Body::Write(Box::new(Line::ZERO)),
/// });
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
    /// Its counters, one group for each set of statistics.
    fn statistics(&self) -> Vec<Group>;
}

impl Network for Domain<Box<dyn Network>> {
    fn statistics(&self) -> Vec<Group> {
        self.island().statistics()
    }
}

/// The place of one direction of a network in the machine.
#[derive(Debug)]
pub struct NetworkSite {
    /// Direction in which it carries packets.
    pub direction: Direction,
    /// How the memories between which it carries packets are kept coherent.
    pub coherence: Coherence,
    /// Links to and from its nodes.
    pub ends: NetworkEnds,
}

/// The parameters of a network, read from a machine file.
pub trait NetworkDesign: Design {
    /// Size of a flit: the bytes that a port moves in a cycle.
    ///
    /// # Errors
    /// Fails if the flit size is out of range.
    fn flit_size(&self) -> Result<FlitSize, ParameterError>;

    /// Latency, in cycles of the network's clock, of the link between a node and the network; at least 1. It bounds the
    /// machine's simulation window.
    fn link_latency_cycles(&self) -> u64;

    /// Capacity, in flits, of the buffer at the receiving end of such a link.
    fn link_flits(&self) -> u32;

    /// The key of a machine file that sets [`NetworkDesign::link_flits`], for errors.
    fn link_flits_key(&self) -> &'static str {
        "buffer_flits"
    }

    /// Whether SMs can send to SMs, so that owners of words answer those who ask for them.
    fn joins_sms(&self) -> bool {
        false
    }

    /// Builds one direction of the network.
    ///
    /// # Errors
    /// Names the first parameter that cannot be built, or a topology with too few terminals.
    fn build(&self, site: NetworkSite) -> Result<Box<dyn Network>, ParameterError>;
}

downcast! { NetworkDesign }

/// The network design that a machine file selects.
pub type NetworkChoice = Named<Arc<dyn NetworkDesign>>;

/// Makes a link between a node and the network, in a machine with one clock.
///
/// # Errors
/// Fails if the link's buffer cannot hold a packet of `largest_bytes`.
pub fn network_link(
    design: &dyn NetworkDesign,
    largest_bytes: u32,
) -> Result<(Outlet<Packet>, Inlet<Packet>), ParameterError> {
    network_link_between(design, largest_bytes, LinkClocks::REFERENCE)
}

/// Makes a link between a node and the network that have these clocks; the latency's is the network's.
///
/// # Errors
/// Fails if the link's buffer cannot hold a packet of `largest_bytes`.
///
/// # Panics
/// If the link's latency is less than a cycle of the reference clock.
pub fn network_link_between(
    design: &dyn NetworkDesign,
    largest_bytes: u32,
    clocks: LinkClocks,
) -> Result<(Outlet<Packet>, Inlet<Packet>), ParameterError> {
    let needed = design.flit_size()?.flits(largest_bytes);
    let room = design.link_flits();
    if room < needed {
        let message = format!("found {room}, expected at least the {needed} flits of the largest packet");
        return Err(ParameterError::new(design.link_flits_key(), message));
    }
    Ok(link_between(design.link_latency_cycles(), room, clocks))
}
