//! A register file of one's own: ports in place of banks. [`ported`] is the whole of it.

pub mod ported;

use strata_designs::registry::Registry;

/// Adds the register file, as `[sm.register_file.my-idea]` of machine and system files.
pub fn add(registry: Registry) -> Registry {
    registry.with_register_file::<ported::Config>("my-idea")
}
