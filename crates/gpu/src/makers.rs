//! Designs of one's own: each part of a machine is built by a function that can be replaced.

use strata_memory::ParameterError;
use strata_memory::doors::{
    L1d, L1dDesign, L1dSite, Llc, LlcDesign, LlcSite, Network, NetworkDesign, NetworkSite, RegisterFile,
    RegisterFileDesign, RegisterFileSite,
};

/// Builds what stands behind one door: gets the design that the machine file names and the place where it will stand, and
/// returns that design built, a wrapper around it, or something else.
pub type Maker<'a, Design, Site, Built> =
    Box<dyn FnMut(&Design, Site) -> Result<Box<Built>, ParameterError> + 'a>;

/// How the parts of a machine behind its doors are built: one call for each SM, slice or direction, in their order. The
/// default builds what the machine file names.
pub struct Makers<'a> {
    /// Builds an SM's register file.
    pub register_file: Maker<'a, dyn RegisterFileDesign, RegisterFileSite, dyn RegisterFile>,
    /// Builds an SM's L1D.
    pub l1d: Maker<'a, dyn L1dDesign, L1dSite, dyn L1d>,
    /// Builds one direction of the network.
    pub network: Maker<'a, dyn NetworkDesign, NetworkSite, dyn Network>,
    /// Builds a slice of the last-level cache.
    pub llc: Maker<'a, dyn LlcDesign, LlcSite, dyn Llc>,
}

impl Default for Makers<'_> {
    fn default() -> Self {
        Makers {
            register_file: Box::new(|design, site| design.build(site)),
            l1d: Box::new(|design, site| design.build(site)),
            network: Box::new(|design, site| design.build(site)),
            llc: Box::new(|design, site| design.build(site)),
        }
    }
}
