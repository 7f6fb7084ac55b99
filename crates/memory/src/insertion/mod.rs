//! Insertion: which lines that are fetched take a way, and which only pass through.
//!
//! A policy is a file that implements [`InsertionPolicy`] and a line of the family. A line that passes serves the requests that wait for
//! it and is dropped; no other leaves for it. Lines that are [prefetched](crate::prefetch) always take a way.

mod all;
mod by_pc;
mod dead_block;
mod none;
#[cfg(test)]
mod tests;

use std::fmt;

use strata_engine::statistics;

use crate::policy::Shape;
use crate::policy_family;
use crate::touch::Touch;
use all::All;
use by_pc::ByPc;
use dead_block::DeadBlock;
use none::NoLine;

/// Says which lines take a way.
pub trait Insertion: Send {
    /// Whether the line of a request that misses takes a way. It may be asked several times about a request, before and after others.
    fn keeps(&self, touch: &Touch) -> bool;

    /// Sees a use of a line that is here.
    fn used(&mut self, _set: usize, _way: usize, _touch: &Touch) {}

    /// Sees a line that takes a way; the one before is gone.
    fn filled(&mut self, _set: usize, _way: usize, _touch: &Touch) {}

    /// Sees a line that has passed.
    fn passed(&mut self, _set: usize, _touch: &Touch) {}
}

/// An insertion policy.
///
/// The type is also its section of a machine file: its documentation is its meaning, its fields are its numbers.
pub trait InsertionPolicy: fmt::Debug + Send + Sync {
    /// Checks the numbers.
    ///
    /// # Errors
    /// What was found and what was expected.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// Makes its state for a cache; `None` if every line takes a way.
    fn build(&self, shape: &Shape) -> Option<Box<dyn Insertion>>;
}

policy_family! {
    InsertionPolicy:
    "all" => All,
    "none" => NoLine,
    "by-pc" => ByPc,
    "dead-block" => DeadBlock,
}

statistics! {
    /// Counters of the insertion policy of a cache.
    pub struct InsertionStatistics: "insertion" {
        /// Lines that took a way.
        inserted: "lines",
        /// Lines that passed.
        passed: "lines",
    }
    laws {}
}
