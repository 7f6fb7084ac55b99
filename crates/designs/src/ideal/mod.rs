//! Ideal parts, which no machine has: with one in its place, a run shows what that part costs.
//!
//! Each stands behind the door of the part that it replaces and keeps its contract, so values stay right. What each idealises, and what
//! it leaves as it is, its own documentation says; `strata limits` puts them there.

pub mod l1d;
pub mod llc;
pub mod network;

/// A section for each of them, for tests of everything that is registered: no machine file names them.
#[cfg(test)]
pub(crate) const EXAMPLES: [(&str, &str); 3] =
    [("l1d", l1d::EXAMPLE), ("network", network::EXAMPLE), ("llc", llc::EXAMPLE)];
