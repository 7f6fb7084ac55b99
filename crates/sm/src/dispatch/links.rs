//! What dispatcher and SMs tell each other, and the dispatcher's ends of their links.

use strata_engine::{Inlet, Outlet};

/// A message from the dispatcher to an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Start the CTA with this linear index in the grid; the SM has room for it.
    StartCta(u64),
    /// Write back and invalidate the L1D; no CTA follows.
    Flush,
}

/// A message from an SM to the dispatcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A CTA has finished and released its resources.
    CtaDone,
    /// The L1D has been flushed.
    Flushed,
}

/// The dispatcher's ends of the links to one SM. Each link needs one credit more than the SM has CTA slots.
pub struct SmLinks {
    /// Link to the SM.
    pub commands: Outlet<Command>,
    /// Link from the SM.
    pub notices: Inlet<Notice>,
}

/// An SM as the dispatcher knows it.
pub(super) struct Sm {
    pub links: SmLinks,
    /// CTAs that still fit on the SM.
    pub room: u32,
    pub flush: Flush,
}

/// Whether an SM's L1D has been flushed at the end of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flush {
    ToSend,
    Sent,
    Done,
}
