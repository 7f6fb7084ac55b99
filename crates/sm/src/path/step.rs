//! What is remembered of an instruction, or of a CTA's begin or end, for the critical path.

use strata_memory::LineAddress;
use strata_memory::doors::Refusal;
use strata_ptx::isa::Pc;

use crate::statistics::Stall;

/// A number that stands for no step, access or packet.
pub const NONE: u32 = u32::MAX;

/// Why a warp does not issue, while no result of another instruction is what it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Wait {
    /// The cycle in which the instruction before issues.
    Issue,
    /// The scheduler issues for another warp, or holds this one back.
    Turn,
    /// Instructions before it have yet to read registers that it writes, or to come to the load/store unit.
    Operands,
    /// No operand collector is free.
    Collector,
    /// The same, while the load/store unit takes no instruction.
    LsuFull,
    /// The instruction before decides where the warp goes on.
    Control,
    /// The instruction comes from the instruction cache,
    Fetch,
    /// which has to fetch it.
    FetchMiss,
    /// A barrier.
    Barrier,
    /// A fence.
    Fence,
    /// Asynchronous copies.
    Copies,
    /// The warp sleeps.
    Sleep,
    /// The lane path has yet to pass on what the CTA wrote.
    LanePath,
    /// Nobody knows.
    Unknown,
}

impl Wait {
    /// Number of them.
    pub const COUNT: usize = Wait::Unknown as usize + 1;

    /// All of them, in order.
    pub const ALL: [Wait; Wait::COUNT] = [
        Wait::Issue,
        Wait::Turn,
        Wait::Operands,
        Wait::Collector,
        Wait::LsuFull,
        Wait::Control,
        Wait::Fetch,
        Wait::FetchMiss,
        Wait::Barrier,
        Wait::Fence,
        Wait::Copies,
        Wait::Sleep,
        Wait::LanePath,
        Wait::Unknown,
    ];

    /// What a warp waits for that is said to wait for this; `None`: for a result.
    pub(crate) const fn of(stall: Stall) -> Option<Wait> {
        Some(match stall {
            Stall::Memory | Stall::Execution => return None,
            Stall::LsuFull => Wait::LsuFull,
            Stall::CollectorFull => Wait::Collector,
            Stall::Inactive => Wait::Turn,
            Stall::Control => Wait::Control,
            Stall::Barrier => Wait::Barrier,
            Stall::Fence => Wait::Fence,
            Stall::Copies => Wait::Copies,
            Stall::Fetch => Wait::Fetch,
            Stall::Sleep => Wait::Sleep,
            Stall::Drained | Stall::NoWarp => Wait::Unknown,
        })
    }
}

/// What a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A warp issues an instruction.
    Instruction(Pc),
    /// A CTA begins.
    Begin,
    /// A CTA ends.
    End,
}

/// How the step before led to a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It is the one before of the same warp.
    Before,
    /// Its result, or the end of its access, came.
    Result,
    /// It arrived at a barrier as the last.
    Arrival,
    /// It ended, and gave back its place.
    Place,
}

/// A step of a warp. Cycles count from the beginning of the launch.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// What it is.
    pub what: What,
    /// Its cycle.
    pub at: u32,
    /// The step that led to it; [`NONE`]: the beginning of the launch.
    pub parent: u32,
    /// How,
    pub how: How,
    /// and in which cycle; from then on it waited as `waits` says.
    pub from: u32,
    /// The first of its waits,
    pub(super) first_wait: u32,
    /// and how many there are.
    pub(super) waits: u8,
    /// When its operands were there; 0: at once.
    pub arrived: u32,
    /// When it came to its unit; 0: never.
    pub dispatched: u32,
    /// When the unit had its result, or the load/store unit all that it waited for; 0: never.
    pub finished: u32,
    /// Its access that was complete last; [`NONE`] without one.
    pub access: u32,
}

/// An access that the L1D took. Cycles count from the beginning of the launch.
#[derive(Clone, Copy, Debug)]
pub struct PathAccess {
    /// When it was offered first,
    pub offered: u32,
    /// and taken;
    pub accepted: u32,
    /// why it was refused last in between, if it was.
    pub refused: Option<Refusal>,
    /// When the L1D had performed it.
    pub completed: u32,
    /// Whether its bytes are read.
    pub waits: bool,
    /// The packet that brought its line; [`NONE`] without one.
    pub packet: u32,
    /// Whether it sent that packet itself.
    pub is_own: bool,
}

/// A packet that an L1D sent. Cycles count from the beginning of the launch.
#[derive(Clone, Copy, Debug)]
pub struct PathPacket {
    /// Its line,
    pub line: LineAddress,
    /// and its tag.
    pub tag: u32,
    /// Whether it is an atomic.
    pub is_atomic: bool,
    /// Who asked: the step, or [`NONE`],
    pub step: u32,
    /// and of its access: when it was offered first,
    pub offered: u32,
    /// taken,
    pub accepted: u32,
    /// and why it was refused in between.
    pub refused: Option<Refusal>,
    /// When it left the L1D.
    pub sent: u32,
    /// When its answer came; 0: not yet.
    pub answered: u32,
    /// Whether words have owners, one of which may have answered.
    pub has_owners: bool,
}
