//! The door of the last-level cache: a slice between the network and its DRAM channel.

use std::sync::Arc;

use strata_engine::Cycle;
use strata_engine::statistics::Group;

use super::design::{Design, Named, downcast};
use crate::address::LineAddress;
use crate::line::{ByteMask, Line, Tray};
use crate::packet::Packet;
use crate::parameters::ParameterError;

/// A slice of the last-level cache, in front of its DRAM channel.
///
/// Order: requests from one source to one line are performed in the order in which they were accepted.
///
/// ```
/// # use strata_designs::baseline::L2Config;
/// # use strata_engine::Cycle;
/// # use strata_memory::doors::{DramPort, DramRequest, LlcDesign, LlcSite};
/// # use strata_memory::{Body, ByteMask, Client, Line, LineAddress, NodeId, Packet};
/// /// DRAM full of sevens that answers in the next cycle.
/// #[derive(Default)]
/// struct Dram(Vec<DramRequest>);
/// impl DramPort for Dram {
///     fn offer(&mut self, mut request: DramRequest, _now: Cycle) -> Result<(), DramRequest> {
///         request.tray.0.fill(7);
///         self.0.push(request);
///         Ok(())
///     }
///     fn completed(&mut self, _now: Cycle) -> Option<DramRequest> {
///         self.0.pop()
///     }
/// }
///
/// let mut slice = L2Config::example().build(LlcSite { slice: 0, seed: 1 })?;
/// let read = Packet {
///     line: LineAddress(0),
///     bytes: ByteMask::range(0, 4),
///     source: NodeId(0),
///     destination: NodeId(1),
///     client: Client::L1d,
///     tag: 5,
///     body: Body::Read(Box::new(Line::ZERO)),
/// };
/// slice.offer(read, Cycle(0)).expect("an idle slice takes it");
/// let (mut dram, mut now) = (Dram::default(), Cycle(0));
/// let reply = loop {
///     now = now.next();
///     slice.tick(&mut dram, now);
///     if let Some(reply) = slice.outgoing(now) {
///         break reply;
///     }
/// };
/// let Body::ReadReply(tray) = reply.body else { panic!("a read is answered with its bytes") };
/// assert_eq!((reply.destination, reply.tag, tray.0[..4].to_vec()), (NodeId(0), 5, vec![7; 4]));
/// # Ok::<(), strata_memory::ParameterError>(())
/// ```
pub trait Llc: Send {
    /// Offers a request from the network; handed back when full.
    fn offer(&mut self, request: Packet, now: Cycle) -> Result<(), Packet>;

    /// One cycle of inner work; `dram` takes and returns lines.
    fn tick(&mut self, dram: &mut dyn DramPort, now: Cycle);

    /// The next reply for the network. It has left when this returns it.
    fn outgoing(&mut self, now: Cycle) -> Option<Packet>;

    /// Whether [`Llc::outgoing`] would return a packet, and its size in bytes.
    fn outgoing_bytes(&self, now: Cycle) -> Option<u32>;

    /// Earliest cycle from `now` on at which it could do anything without a new request or DRAM reply.
    fn next_event(&self, now: Cycle) -> Cycle;

    /// Between kernels, without time: the line as a host copy sees it. `below` is what DRAM holds; the
    /// slice lays its newer bytes over it.
    fn peek(&self, line: LineAddress, below: &mut Line);

    /// Between kernels, without time: a host copy wrote these bytes of the line; cached copies follow.
    fn poke(&mut self, line: LineAddress, bytes: ByteMask, data: &Line);

    /// A sentence for each thing it waits for.
    fn waits(&self, report: &mut Vec<String>);

    /// What it counted.
    fn statistics(&self) -> Vec<Group>;
}

/// The DRAM channel as an LLC slice sees it.
///
/// Order: requests to one line take effect in the order in which they were offered, so that a line can be
/// written back and fetched again.
pub trait DramPort {
    /// Offers a read or write of bytes of a line; handed back when the queue is full. `tag` comes back.
    fn offer(&mut self, request: DramRequest, now: Cycle) -> Result<(), DramRequest>;

    /// The next finished request of this slice: a read with its bytes, or a write whose tray is free.
    fn completed(&mut self, now: Cycle) -> Option<DramRequest>;
}

/// A request of an LLC slice to its DRAM channel, and its answer.
#[derive(Clone, Debug)]
pub struct DramRequest {
    /// The line.
    pub line: LineAddress,
    /// Bytes to read or write: DRAM moves whole atoms (bursts) that cover them.
    pub bytes: ByteMask,
    /// Write or read.
    pub write: bool,
    /// The slice's name for it.
    pub tag: u32,
    /// The bytes.
    pub tray: Tray,
}

/// Where a slice stands: what one needs to be built.
#[derive(Clone, Copy, Debug)]
pub struct LlcSite {
    /// Its number among the machine's slices.
    pub slice: u16,
    /// Seed of its random streams.
    pub seed: u64,
}

/// The numbers of a slice, read from a machine file.
pub trait LlcDesign: Design {
    /// Bytes of data that a slice holds.
    fn capacity_bytes(&self) -> u64;

    /// An empty slice.
    ///
    /// # Errors
    /// The first number that cannot be built.
    fn build(&self, site: LlcSite) -> Result<Box<dyn Llc>, ParameterError>;
}

downcast! { LlcDesign }

/// The LLC that a machine names.
pub type LlcChoice = Named<Arc<dyn LlcDesign>>;
