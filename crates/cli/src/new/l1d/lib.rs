//! An L1D of one's own on Strata's chassis: a skewed-associative cache.
//!
//! [`store`] says where lines live, [`l1d`] what an access does, and [`config`] has the numbers.

pub mod config;
pub mod l1d;
pub mod store;

use strata_designs::registry::Registry;

/// Adds the L1D, as `[l1d.my-idea]` of machine and system files.
pub fn add(registry: Registry) -> Registry {
    registry.with_l1d::<config::Config>("my-idea")
}
