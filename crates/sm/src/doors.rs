//! The types of what stands behind an SM's doors.

use strata_memory::doors::{L1d, RegisterFile};
use strata_memory::read_only::{ReadOnly, SecondLevel};

/// What stands behind an SM's doors, by type. An SM calls its register file and its caches several times for each
/// instruction: of types that the compiler knows the calls are inlined, of a `dyn` type they go through a table.
///
/// Each combination of types has a copy of the SM's code. What all copies share and call in every cycle is therefore
/// `#[inline(always)]`: by itself the compiler inlines it only into a single caller.
pub trait Doors: 'static {
    /// The register file.
    type Registers: RegisterFile + ?Sized;
    /// The L1 data cache.
    type L1d: L1d + ?Sized;
    /// The instruction cache and the constant cache.
    type ReadOnly: ReadOnly;
    /// Whether the SM may have what few machines have ([`SmParts::has_extras`](crate::SmParts::has_extras)); without, the compiler leaves out all that asks for it.
    const EXTRAS: bool;
}

/// The register file and the caches of an SM.
pub struct Memories<D: Doors> {
    /// The register file, built for [`SmConfig::register_file_site`](crate::SmConfig::register_file_site).
    pub registers: Box<D::Registers>,
    /// The L1 data cache, one of the designs.
    pub l1d: Box<D::L1d>,
    /// The instruction cache, which fetch reads.
    pub instructions: D::ReadOnly,
    /// The constant cache, which serves `ld.const` and `ld.param`.
    pub constants: D::ReadOnly,
    /// What stands behind both, in machines that have it.
    pub second: Option<SecondLevel>,
}
