//! The door of the last-level cache (LLC): a slice between the network and its DRAM channel.

use std::sync::Arc;

use strata_engine::Cycle;
use strata_engine::statistics::Group;

use super::design::{Coherence, Design, Named, downcast};
use super::dram::DramPort;
use crate::address::LineAddress;
use crate::address_map::{AddressMap, Home};
use crate::line::{ByteMask, Line};
use crate::node::NodeId;
use crate::packet::Packet;
use crate::parameters::ParameterError;
use crate::window;

/// A slice of the last-level cache, in front of its DRAM channel. Its cycles are those of the LLC's clock.
///
/// Order: requests from one source to one line are performed in the order in which they were accepted.
///
/// A [`Body::Prefetch`](crate::Body::Prefetch) asks it to have bytes of a line, for which nobody waits. It is answered like any
/// request, whatever the slice makes of it; of its answer no order is asked.
///
/// With [`Coherence::Owners`] a slice is the registry of its words' owners: it sends requests on to owners, who answer the requester,
/// and recalls words that it needs itself. Its replies may then have any L1D as their destination.
///
/// Requests from SMs in cache mode ([`Helpers`]) come only to designs that ask for such SMs: loads and stores of the
/// [window](crate::window), of which it may withhold the replies as long as it has nothing to say, and accesses to memory, which
/// go past the slice's own storage.
///
/// ```
/// # use strata_designs::baseline::L2Config;
/// # use strata_engine::Cycle;
/// # use strata_memory::doors::{DramPort, DramRequest, LlcDesign, LlcSite};
/// # use strata_memory::{Body, ByteMask, Client, Contents, Level, Line, LineAddress, NodeId, Origin, Packet};
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
/// let mut slice = L2Config::example().build(LlcSite::alone(1))?;
/// let read = Packet::new(Contents {
///     line: LineAddress(0),
///     bytes: ByteMask::range(0, 4),
///     source: NodeId(0),
///     destination: NodeId(1),
///     client: Client::L1d,
///     tag: 5,
///     origin: Origin::default(), level: Level::default(), body: Body::Read(Box::new(Line::ZERO)),
/// });
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
    /// Offers a request from the network. A full slice returns it.
    fn offer(&mut self, request: Packet, now: Cycle) -> Result<(), Packet>;

    /// Whether a request that was refused might now be taken; until then it need not be offered again. The default is of a design
    /// that does not say: it is offered the request in every cycle.
    fn has_room(&self) -> bool {
        true
    }

    /// Counts as many refusals as there were cycles in which a refused request was not offered again, for lack of
    /// [room](Llc::has_room). The default is of a design that does not count them, or always says that it has room.
    fn count_refusals(&mut self, cycles: u64) {
        let _ = cycles;
    }

    /// Takes what an owner says about its words from the network of owners. It cannot be refused: there is room for as much as
    /// owners can have under way. Only slices with [`Coherence::Owners`] get any.
    fn accept(&mut self, packet: Packet, now: Cycle) {
        let _ = now;
        unreachable!("no owner has anything to say to this slice: {packet:?}");
    }

    /// Performs the internal work of one cycle, sending requests to `dram` and taking its answers.
    fn tick(&mut self, dram: &mut dyn DramPort, now: Cycle);

    /// Takes the next reply for the network. Call it only when the network can accept the reply.
    fn outgoing(&mut self, now: Cycle) -> Option<Packet>;

    /// Wire size in bytes of the packet that [`Llc::outgoing`] would return; `None` if it would return none.
    fn outgoing_bytes(&self, now: Cycle) -> Option<u32>;

    /// Cycle from which [`Llc::outgoing`] returns a packet; [`Cycle::NEVER`] if none is on its way. Only
    /// [`Llc::tick`] and [`Llc::outgoing`] change it.
    fn next_outgoing(&self) -> Cycle;

    /// Earliest cycle, not before `now`, at which [`Llc::tick`] could do work, assuming that no request or DRAM
    /// answer arrives, no reply is taken, and DRAM gets no [room](DramPort::has_room) meanwhile.
    fn next_event(&self, now: Cycle) -> Cycle;

    /// Reads a line for a host copy between kernels; takes no simulated time. `below` holds DRAM's bytes,
    /// over which the slice writes its newer ones.
    fn peek(&self, line: LineAddress, below: &mut Line);

    /// Updates cached bytes after a host copy wrote `bytes` of the line between kernels; takes no simulated
    /// time.
    fn poke(&mut self, line: LineAddress, bytes: ByteMask, data: &Line);

    /// Number of loads of rows of the [window](crate::window) that are accepted and whose replies have not left: they may wait
    /// for as long as there is nothing to do.
    fn withheld(&self) -> u64 {
        0
    }

    /// MSHRs in use; `None` if the design has none.
    fn mshrs(&self) -> Option<usize> {
        None
    }

    /// Number of packets that it has sent beyond one for each request: recalls, answers to owners, and all but one of the packets of a
    /// request that went to several owners.
    fn further(&self) -> u64 {
        0
    }

    /// Whether nothing is under way in the slice but loads of rows of the [window](crate::window), and requests that it has
    /// sent to DRAM. Asked only where such loads never end.
    fn is_settled(&self) -> bool {
        true
    }

    /// Completes the counters for all cycles before `end`, its own and those of [refusals](DramPort::count_refusals) by `dram`: a
    /// slice may count the cycles of a wait at its end. The default is of a design whose counters are always complete.
    fn settle(&mut self, dram: &mut dyn DramPort, end: Cycle) {
        let _ = (dram, end);
    }

    /// Appends to `report` one sentence for each thing that the slice waits for.
    fn waits(&self, report: &mut Vec<String>);

    /// Its counters, one group for each set of statistics.
    fn statistics(&self) -> Vec<Group>;
}

/// The place of a slice in the machine.
#[derive(Clone, Copy, Debug)]
pub struct LlcSite {
    /// Its number among the machine's slices.
    pub slice: u16,
    /// Seed of the slice's random streams.
    pub seed: u64,
    /// The SMs in cache mode; `None` in a machine without any.
    pub helpers: Option<Helpers>,
}

impl LlcSite {
    /// The first slice of a machine without SMs in cache mode.
    pub fn alone(seed: u64) -> LlcSite {
        LlcSite { slice: 0, seed, helpers: None }
    }
}

/// The SMs in cache mode, as a slice sees them: they run no CTAs of programs, but a kernel that keeps blocks for the LLC.
#[derive(Clone, Copy, Debug)]
pub struct Helpers {
    /// Node of the first of them.
    pub first: NodeId,
    /// How many there are, at nodes one after the other.
    pub sms: u16,
    /// Rows of the [window](crate::window) that the slice has, one for each warp that serves it.
    pub rows: u32,
    /// The map by which the slice's lines are known outside.
    pub map: AddressMap,
}

impl Helpers {
    /// The row of the window that a slice knows by a number.
    pub fn row(&self, slice: u16, number: u32) -> u64 {
        let line = window::line_of(number.into(), 0);
        window::row_of(self.map.device_line(Home { slice, line })).0
    }

    /// Whether a node is an SM in cache mode.
    #[inline]
    pub fn has(&self, node: NodeId) -> bool {
        node.0.wrapping_sub(self.first.0) < self.sms
    }
}

/// Where a set of the extended LLC keeps its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetPlace {
    /// In registers, with its tags.
    Registers,
    /// In shared memory, with tags in registers.
    SharedMemory,
    /// In the L1D, which has the tags, too.
    L1d,
}

impl SetPlace {
    /// Its name in names of programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            SetPlace::Registers => "registers",
            SetPlace::SharedMemory => "shared-memory",
            SetPlace::L1d => "l1d",
        }
    }
}

/// What a design wants of the kernel on SMs in cache mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HelperKernel {
    /// Warps of an SM, each a set of blocks.
    pub warps: u32,
    /// Of these, so many whose sets are in shared memory,
    pub shared_warps: u32,
    /// and in the L1D; the others' are in registers.
    pub l1_warps: u32,
    /// Blocks of a set in registers, of 128 bytes each; of a compressed one, registers for blocks.
    pub ways: u32,
    /// Blocks of a set in shared memory.
    pub shared_ways: u32,
    /// Blocks that a set in the L1D counts for; what it holds is the L1D's choice.
    pub l1_ways: u32,
    /// Most rows of the window that a slice can have.
    pub rows: u32,
    /// Whether warps whose sets are in the same place are a launch by themselves, with registers of their own number.
    pub by_place: bool,
    /// Epochs of the levels, if sets hold their blocks compressed where they can.
    pub compression: Option<Epochs>,
    /// Whether warps with nothing to do load their rows again and again, so that the machine never comes to rest.
    pub polls: bool,
    /// Whether a warp loads a block that its set does not have; if not, the slice does.
    pub fetches: bool,
    /// Whether SMs run it; if not, the slices answer for it.
    pub runs: bool,
}

/// After how long compressed sets give their levels registers anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epochs {
    /// Core cycles of an epoch.
    pub cycles: u32,
    /// Whether only blocks of the last epoch count.
    pub count_anew: bool,
}

/// Most warps of a CTA (CUDA programming guide: 1,024 threads).
const MOST_WARPS: u32 = 32;

impl HelperKernel {
    /// The CTAs of an SM: as few as can be, with as many warps of either kind in each; `None` if there is no such number.
    pub fn ctas(&self) -> Option<u32> {
        let kinds = [self.warps, self.shared_warps, self.l1_warps];
        let divides = |ctas: &u32| kinds.iter().all(|warps| warps.is_multiple_of(*ctas));
        (self.warps.div_ceil(MOST_WARPS)..=self.warps).find(divides)
    }

    /// Where the set of a row of the window is. The warps of a CTA have rows one after the other: those with sets in
    /// registers, in shared memory, in the L1D.
    pub fn place(&self, row: u64) -> SetPlace {
        let ctas = self.ctas().unwrap_or(1);
        let [of_cta, shared, l1] =
            [self.warps, self.shared_warps, self.l1_warps].map(|warps| u64::from(warps / ctas));
        match row % of_cta {
            warp if warp >= of_cta - l1 => SetPlace::L1d,
            warp if warp >= of_cta - l1 - shared => SetPlace::SharedMemory,
            _ => SetPlace::Registers,
        }
    }
}

/// The parameters of a slice, read from a machine file.
pub trait LlcDesign: Design {
    /// Data capacity of one slice in bytes.
    fn capacity_bytes(&self) -> u64;

    /// How the L1Ds above it are kept coherent.
    fn coherence(&self) -> Coherence {
        Coherence::Boundaries
    }

    /// The kernel that SMs in cache mode run for this design; `None` for a design that has no use for such SMs.
    fn helper_kernel(&self) -> Option<HelperKernel> {
        None
    }

    /// Whether a slice makes no requests to DRAM, but reads and writes its bytes past the queue ([`DramPort::peek`]): an ideal part.
    /// No cache stands between the two then.
    fn never_misses(&self) -> bool {
        false
    }

    /// Builds an empty slice.
    ///
    /// # Errors
    /// Names the first parameter that cannot be built.
    fn build(&self, site: LlcSite) -> Result<Box<dyn Llc>, ParameterError>;
}

downcast! { LlcDesign }

/// The LLC design that a machine file selects.
pub type LlcChoice = Named<Arc<dyn LlcDesign>>;
