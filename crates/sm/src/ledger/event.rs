//! What is charged to an instruction.

use strata_memory::LineAddress;
use strata_memory::doors::{Access, Action};
use strata_ptx::isa::Pc;

/// What is behind an event: an instruction, and the CTA that executes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct At {
    pub pc: Pc,
    pub cta: u64,
}

/// An access as it is offered to the L1D.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offered {
    pub token: u32,
    pub pc: Pc,
    pub warp: u8,
    pub line: LineAddress,
    pub bytes: u32,
    /// Whether its bytes are read: a load or an atomic.
    pub waits: bool,
}

impl Offered {
    pub fn of(access: &Access) -> Offered {
        Offered {
            token: access.token,
            pc: access.pc,
            warp: access.warp,
            line: access.line,
            bytes: access.bytes.count(),
            waits: !matches!(access.action, Action::Store(_)),
        }
    }
}
