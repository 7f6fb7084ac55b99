//! What a run shows to whoever watches it.

use crate::isa::Space;
use crate::lanes::{LaneMask, WARP_LANES};

/// Watches a run. A run without one pays a test an access for it.
pub trait Observer {
    /// A warp accesses memory. An instruction whose lanes reach several spaces comes once for each.
    fn access(&mut self, access: &Access<'_>);
}

/// An access of one warp to one space.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// What it does.
    pub kind: AccessKind,
    /// Never [`Space::Generic`] or [`Space::Param`].
    pub space: Space,
    /// The lanes that take part, at least one.
    pub lanes: LaneMask,
    /// The lanes' addresses; those of other lanes mean nothing. Shared and local addresses begin at 0.
    pub addresses: &'a [u64; WARP_LANES],
    /// Bytes that each lane accesses.
    pub bytes: usize,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// `ld`.
    Load,
    /// `st`.
    Store,
    /// `atom` or `red`.
    Atomic,
}
