//! Custom designs: functions that build the parts of a machine, each replaceable.

use std::collections::HashMap;
use std::sync::Arc;

use strata_engine::Gauge;
use strata_memory::ParameterError;
use strata_memory::doors::{
    L1d, L1dDesign, L1dSite, LanePath, LanePathDesign, LanePathSite, Llc, LlcDesign, LlcSite, Network,
    NetworkDesign, NetworkSite, RegisterFile, RegisterFileDesign, RegisterFileSite, Scratchpad,
    ScratchpadDesign, ScratchpadSite,
};
use strata_sm::{Key, SmLog};

/// The way that a link leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// From an SM to the network.
    FromSm,
    /// From the network to a slice of the last-level cache.
    ToSlice,
    /// From a slice to the network.
    FromSlice,
    /// From the network to an SM.
    ToSm,
}

/// Builds the part behind one door from the design that the machine file names and the site where it will
/// stand. Returns that design built, a wrapper around it, or something else.
pub type Maker<'a, Design, Site, Built> =
    Box<dyn FnMut(&Design, Site) -> Result<Box<Built>, ParameterError> + 'a>;

/// Builds a lane path, which a machine may lack.
pub type LanePathMaker<'a> = Box<
    dyn FnMut(&dyn LanePathDesign, LanePathSite) -> Result<Option<Box<dyn LanePath>>, ParameterError> + 'a,
>;

/// Builds what stands behind the banks of shared memory, which a machine may lack.
pub type ScratchpadMaker<'a> = Box<
    dyn FnMut(&dyn ScratchpadDesign, ScratchpadSite) -> Result<Option<Box<dyn Scratchpad>>, ParameterError>
        + 'a,
>;

/// The functions that build the parts behind a machine's doors, each called once per SM, CPU core, slice or
/// direction, in order. The default builds what the machine file names.
pub struct Makers<'a> {
    /// Builds the register file of an SM.
    pub register_file: Maker<'a, dyn RegisterFileDesign, RegisterFileSite, dyn RegisterFile>,
    /// Builds the lane path of an SM; `None` when lanes go straight on.
    pub lane_path: LanePathMaker<'a>,
    /// Builds what stands behind the banks of shared memory of an SM; `None` when nothing does.
    pub scratchpad: ScratchpadMaker<'a>,
    /// Builds the L1D of an SM, or, after those, of a CPU core.
    pub l1d: Maker<'a, dyn L1dDesign, L1dSite, dyn L1d>,
    /// Builds one direction of the network.
    pub network: Maker<'a, dyn NetworkDesign, NetworkSite, dyn Network>,
    /// Builds one slice of the last-level cache.
    pub llc: Maker<'a, dyn LlcDesign, LlcSite, dyn Llc>,
    /// What each SM keeps accounts of, beside its totals.
    pub accounts: Vec<Key>,
    /// Which SMs remember steps for the critical path, by number: at most so many at a time, and where their L1Ds record their packets.
    pub paths: HashMap<u16, (Arc<SmLog>, usize)>,
    /// Where SMs record their events, by number, for those that do, and the warp slots whose instructions and waits are among them.
    pub records: HashMap<u16, (Arc<SmLog>, u64)>,
    /// What SMs count the instructions in the front of their load/store units with, by number, for those that do.
    pub queues: HashMap<u16, Arc<Gauge>>,
    /// What links count their credits in use with, by way and the number of the SM or slice, for those that do.
    pub credits: HashMap<(Way, u16), Arc<Gauge>>,
}

impl Default for Makers<'_> {
    fn default() -> Self {
        Makers {
            register_file: Box::new(|design, site| design.build(site)),
            lane_path: Box::new(|design, site| design.build(site)),
            scratchpad: Box::new(|design, site| design.build(site)),
            l1d: Box::new(|design, site| design.build(site)),
            network: Box::new(|design, site| design.build(site)),
            llc: Box::new(|design, site| design.build(site)),
            accounts: Vec::new(),
            paths: HashMap::new(),
            records: HashMap::new(),
            queues: HashMap::new(),
            credits: HashMap::new(),
        }
    }
}
