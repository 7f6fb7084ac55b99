//! Why a kernel stopped before its end.

use std::fmt;

use crate::isa::Space;
use crate::lanes::LaneMask;
use crate::livelock::Round;

/// An error of a kernel, with its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Fault {
    /// The kernel.
    pub kernel: String,
    /// What went wrong.
    pub kind: FaultKind,
    /// Where; absent when no single place causes it.
    pub place: Option<Place>,
    /// The text that the place is in, when the kernel is linked from several.
    pub text: Option<String>,
}

/// Where in a launch something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Line in the PTX text.
    pub line: u32,
    /// The CTA.
    pub cta: [u32; 3],
    /// The (first) thread.
    pub thread: [u32; 3],
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// An access to memory that is not there.
    OutOfBounds {
        /// The space reached.
        space: Space,
        /// The address in that space.
        address: u64,
        /// Bytes that the thread accessed.
        bytes: usize,
    },
    /// An address that is not a multiple of the access's size.
    Misaligned {
        /// The space reached.
        space: Space,
        /// The address in that space.
        address: u64,
        /// Bytes that the thread accessed.
        bytes: usize,
    },
    /// A handle of no texture or surface that fits the instruction, or a place beyond a surface's edge.
    Texture {
        /// What is wrong.
        reason: String,
    },
    /// A write to the parameters.
    ReadOnly {
        /// The address in parameter space.
        address: u64,
    },
    /// A mapping that cannot be, or an access that its mapping does not allow.
    Mapping {
        /// What is wrong.
        reason: String,
    },
    /// Another memory where shared memory must be.
    NotShared {
        /// The space reached.
        space: Space,
        /// The address in that space.
        address: u64,
    },
    /// A barrier that only some of a warp's threads can reach.
    DivergentBarrier {
        /// The lanes that reached it.
        arrived: LaneMask,
        /// The lanes that have not ended.
        live: LaneMask,
    },
    /// An instruction that lanes of a warp execute together, and to which some of those that it names can never come.
    MissingLanes {
        /// The lanes that reached it.
        arrived: LaneMask,
        /// The lanes that have not ended.
        live: LaneMask,
    },
    /// A barrier operand out of range, or one that contradicts the threads that wait there.
    BadBarrier {
        /// What is wrong.
        reason: String,
    },
    /// An indexed branch whose index its table does not have.
    BadBranch {
        /// What is wrong.
        reason: String,
    },
    /// Every warp of a CTA waits for one that cannot come.
    Deadlock {
        /// Where they wait.
        warps: Vec<WarpPlace>,
    },
    /// Warps run for ever, and nothing that they do changes anything ([`crate::livelock`]).
    Livelock {
        /// What each does.
        warps: Vec<WarpRound>,
    },
    /// The kernel asked to be stopped (`trap`).
    Trap,
    /// A condition that the program asserts does not hold (`__assertfail`).
    Assertion {
        /// What is said of it.
        what: String,
    },
    /// A thread's stack is full.
    StackOverflow {
        /// Its size in bytes.
        limit: u32,
    },
    /// A call of an address that no function of the right prototype has.
    BadCall {
        /// The address.
        address: u64,
    },
    /// The instruction limit was reached.
    InstructionLimit {
        /// The limit, in warp instructions.
        limit: u64,
        /// Where every warp stood.
        warps: Vec<WarpPlace>,
    },
    /// The run was interrupted from outside ([`super::Options::interrupt`]).
    Interrupted {
        /// Warp instructions until then.
        instructions: u64,
    },
    /// A launch that the kernel or the machine cannot take.
    BadLaunch {
        /// What is wrong.
        reason: String,
    },
}

/// Where a warp stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpPlace {
    /// Its CTA.
    pub cta: [u32; 3],
    /// Its number in the CTA.
    pub warp: u32,
    /// Line of its next instruction.
    pub line: u32,
    /// The lanes that would execute it.
    pub active: LaneMask,
    /// The barrier it waits at.
    pub barrier: Option<u32>,
}

/// What a warp of a livelock does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarpRound {
    /// Its CTA.
    pub cta: [u32; 3],
    /// Its number in the CTA.
    pub warp: u32,
    /// How it goes round; `None` when it waits.
    pub round: Option<Round>,
    /// The barrier it waits at.
    pub barrier: Option<u32>,
}

/// Warps that a message lists before it only counts.
const LISTED: usize = 16;

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel {}", self.kernel)?;
        if let Some(Place { line, cta: [cx, cy, cz], thread: [x, y, z] }) = self.place {
            write!(f, ", line {line}")?;
            if let Some(text) = &self.text {
                write!(f, " of {text}")?;
            }
            write!(f, ", CTA ({cx}, {cy}, {cz}), thread ({x}, {y}, {z})")?;
        }
        write!(f, ": {}", self.kind)
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultKind::OutOfBounds { space, address, bytes } => {
                write!(f, "access of {bytes} bytes at {space:?} address {address:#x}, which holds no memory")
            }
            FaultKind::Misaligned { space, address, bytes } => {
                write!(
                    f,
                    "access of {bytes} bytes at {space:?} address {address:#x}, not a multiple of {bytes}"
                )
            }
            FaultKind::NotShared { space, address } => {
                write!(f, "{space:?} address {address:#x} where shared memory must be")
            }
            FaultKind::ReadOnly { address } => write!(f, "write to parameter address {address:#x}"),
            FaultKind::MissingLanes { arrived, live } => write!(
                f,
                "lanes {arrived:#010x} wait for others that their membermask names; lanes {live:#010x} live, and the rest \
                 cannot come to this instruction"
            ),
            FaultKind::DivergentBarrier { arrived, live } => write!(
                f,
                "the warp is diverged at a barrier: lanes {arrived:#010x} reached it, lanes {live:#010x} live, \
                 and the rest cannot come"
            ),
            FaultKind::BadBarrier { reason }
            | FaultKind::BadBranch { reason }
            | FaultKind::Mapping { reason }
            | FaultKind::Texture { reason } => write!(f, "{reason}"),
            FaultKind::Deadlock { warps } => {
                write!(f, "deadlock: every warp of the CTA waits at a barrier")?;
                list(f, warps)
            }
            FaultKind::Livelock { warps } => {
                write!(f, "livelock: its warps go round for ever, and no memory changes")?;
                list_rounds(f, warps)
            }
            FaultKind::Trap => write!(f, "trap"),
            FaultKind::Assertion { what } => write!(f, "{what}"),
            FaultKind::StackOverflow { limit } => {
                write!(f, "stack overflow: a thread has {limit} bytes (cudaLimitStackSize)")
            }
            FaultKind::BadCall { address } => {
                write!(f, "call of address {address:#x}, where no function of this prototype is")
            }
            FaultKind::InstructionLimit { limit, warps } => {
                write!(f, "not finished after {limit} warp instructions")?;
                list(f, warps)
            }
            FaultKind::Interrupted { instructions } => {
                write!(f, "was interrupted after {instructions} warp instructions")
            }
            FaultKind::BadLaunch { reason } => write!(f, "{reason}"),
        }
    }
}

fn list(f: &mut fmt::Formatter<'_>, warps: &[WarpPlace]) -> fmt::Result {
    for WarpPlace { cta: [x, y, z], warp, line, active, barrier } in warps.iter().take(LISTED) {
        write!(f, "\n  CTA ({x}, {y}, {z}) warp {warp}: line {line}, lanes {active:#010x}")?;
        if let Some(barrier) = barrier {
            write!(f, ", waits at barrier {barrier}")?;
        }
    }
    match warps.len().saturating_sub(LISTED) {
        0 => Ok(()),
        more => write!(f, "\n  and {more} more warps"),
    }
}

fn list_rounds(f: &mut fmt::Formatter<'_>, warps: &[WarpRound]) -> fmt::Result {
    for WarpRound { cta: [x, y, z], warp, round, barrier } in warps.iter().take(LISTED) {
        write!(f, "\n  CTA ({x}, {y}, {z}) warp {warp}: ")?;
        match (round, barrier) {
            (Some(round), _) => write!(f, "{round}")?,
            (None, Some(barrier)) => write!(f, "waits at barrier {barrier}")?,
            (None, None) => write!(f, "waits")?,
        }
    }
    match warps.len().saturating_sub(LISTED) {
        0 => Ok(()),
        more => write!(f, "\n  and {more} more warps"),
    }
}
