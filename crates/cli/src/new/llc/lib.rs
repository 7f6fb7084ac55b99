//! A last-level cache of one's own on Strata's chassis: it fetches a sector of a line first, and the rest of a line that is asked for
//! again.
//!
//! [`protocol`] says what a request finds and what follows from it, and [`config`] has the numbers.

pub mod config;
pub mod protocol;

use strata_designs::registry::Registry;

/// Adds the LLC, as `[llc.my-idea]` of machine and system files.
pub fn add(registry: Registry) -> Registry {
    registry.with_llc::<config::Config>("my-idea")
}
