//! A network of one's own: no switches, so no contention. [`ideal`] is the whole of it.

pub mod ideal;

use strata_designs::registry::Registry;

/// Adds the network, as `[network.my-idea]` of machine and system files.
pub fn add(registry: Registry) -> Registry {
    registry.with_network::<ideal::Config>("my-idea")
}
