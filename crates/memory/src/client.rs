//! The units of a network node that send requests.

/// Which unit of a node sent a request; its reply goes back there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Client {
    L1d,
    Constant,
    Instruction,
    /// The second level behind the constant cache and the instruction cache.
    ReadOnly,
    Scratchpad,
    /// The walkers of page tables, which are all that a GMMU's node has.
    Gmmu,
}
