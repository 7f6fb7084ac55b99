//! What every L1D must keep.
//!
//! Random accesses run against a flat memory behind links of random delay. One oracle line per memory line
//! is written when a store is accepted; a load must bring what the oracle held when it was accepted, which is
//! the door's order. Several L1Ds may share the memory: within an episode each byte is written by one of
//! them only, but lines are shared (false sharing), and between episodes all are flushed and invalidated.
//!
//! Checked: values; that no access is lost, answered twice or answered as another; that packets name the
//! right nodes; progress under back-pressure; memory equal to the oracle after every flush, byte for byte;
//! `next_event` never later than the truth (`skip`); statistics laws; nothing outstanding at the end.

use strata_memory::doors::L1d;
use strata_memory::{NodeId, SliceMap};

pub use super::Contract;
use super::world::World;
use super::{Outcome, with_skips};

/// Makes the L1D of a network node; it sends each line to the slice that the map names.
pub type Make<'a> = dyn FnMut(NodeId, SliceMap) -> Box<dyn L1d> + 'a;

/// Runs a check.
///
/// # Errors
/// A sentence about the first thing that broke the contract.
pub fn check(contract: &Contract, make: &mut Make<'_>) -> Result<Outcome, String> {
    World::new(*contract, make).run()
}

/// Runs a check twice, ticking every cycle and skipping idle ones, and compares.
///
/// # Errors
/// A sentence about the first thing that broke the contract.
pub fn check_with_skips(contract: &Contract, make: &mut Make<'_>) -> Result<Outcome, String> {
    with_skips(|skip| check(&Contract { skip, ..*contract }, make))
}
