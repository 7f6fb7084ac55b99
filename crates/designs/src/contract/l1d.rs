//! The contract of L1Ds, and its harness.
//!
//! The harness runs random accesses against a flat memory behind links of random delay. The oracle keeps one
//! line per memory line and writes it when a store is accepted. A load must return what the oracle held when
//! the load was accepted, which is the order that the door promises. Several L1Ds can share the memory:
//! within an episode only one of them writes each byte, but they share lines (false sharing), and between
//! episodes all are flushed and invalidated.
//!
//! Among the accesses are hints, which must change no value and are refused only for what passes by itself.
//!
//! It checks that loads return the right values; that no access is lost, answered twice or answered as
//! another; that packets name the right nodes; that the L1D makes progress under back-pressure; that memory
//! equals the oracle after every flush, byte for byte; that an L1D which is resized then is as good as before; that `next_event` is never too late (`skip`); that the
//! laws of the statistics hold; and that nothing is outstanding at the end.

pub use super::Contract;
pub use super::world::Make;
use super::world::World;
use super::{Outcome, with_skips};

/// Runs the harness once.
///
/// # Errors
/// Describes the first violation of the contract in a sentence.
pub fn check(contract: &Contract, make: &mut Make<'_>) -> Result<Outcome, String> {
    World::new(*contract, make).run()
}

/// Runs the harness twice, once ticking every cycle and once skipping idle cycles, and compares the outcomes.
///
/// # Errors
/// Describes the first violation of the contract in a sentence.
pub fn check_with_skips(contract: &Contract, make: &mut Make<'_>) -> Result<Outcome, String> {
    with_skips(|skip| check(&Contract { skip, ..*contract }, make))
}
