//! The launch that all SMs share, and the faults that stop a program.

use std::fmt;
use std::sync::Arc;

use strata_memory::Address;
use strata_ptx::lanes::Row;
use strata_ptx::program::Kernel;
use strata_ptx::reference::cluster_order;
use strata_ptx::texture::Headers;

use crate::micro::MicroCode;

/// A kernel launch, shared by all SMs and immutable while it runs.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The compiled kernel that the launch runs.
    pub kernel: Arc<Kernel>,
    /// The kernel's constant rows, filled with this launch's parameters and addresses.
    pub constants: Vec<Row>,
    /// Bytes of the parameter block; device memory holds a copy at `params_at`.
    pub params: Vec<u8>,
    /// Device address of the parameter block, which `ld.param` reads through the constant cache.
    pub params_at: Address,
    /// Device address of the code, from which instructions are fetched.
    pub code_at: Address,
    /// Counts how often code memory has been given back. Instruction caches keep their lines from launch to launch
    /// until it changes.
    pub code_version: u64,
    /// Size of the grid in CTAs: x, y, z.
    pub grid: [u32; 3],
    /// Size of a CTA in threads: x, y, z.
    pub block: [u32; 3],
    /// Size of a cluster in CTAs: x, y, z, if the launch or the kernel says so.
    pub cluster: Option<[u32; 3]>,
    /// Dynamic shared memory per CTA in bytes.
    pub dynamic_shared: u32,
    /// Device address of local memory, which holds the private words of every warp slot of every SM; see
    /// [`Launch::local_address`].
    pub local_at: Address,
    /// Global memory that the program may access: ranges `[start, end)`, sorted and disjoint.
    pub allocations: Vec<(u64, u64)>,
    /// Registers of each warp of a CTA, where these differ: warps of several kernels that always run together. Else all have those
    /// of the kernel.
    pub registers: Option<Vec<u32>>,
    /// Texture and surface headers that handles refer to.
    pub headers: Arc<Headers>,
    /// Sequence number of the launch, from 0 (`%gridid`).
    pub number: u64,
    /// The kernel's code as the SMs carry it out.
    pub micro: MicroCode,
}

impl Launch {
    /// Number of CTAs in the grid.
    pub fn ctas(&self) -> u64 {
        self.grid.iter().map(|n| u64::from(*n)).product()
    }

    /// Number of threads per CTA.
    pub fn threads_per_cta(&self) -> u32 {
        self.block.iter().product()
    }

    /// Number of warps per CTA; the last one may be partly filled.
    pub fn warps_per_cta(&self) -> u32 {
        self.threads_per_cta().div_ceil(32)
    }

    /// Static plus dynamic shared memory per CTA, in bytes.
    pub fn shared_per_cta(&self) -> u32 {
        self.kernel.shared_bytes.saturating_add(self.dynamic_shared)
    }

    /// Number of 32-bit registers that a thread of a CTA's warp has.
    pub fn registers_of(&self, warp: u32) -> u32 {
        self.registers.as_ref().map_or(self.kernel.registers, |registers| registers[warp as usize])
    }

    /// Number of CTAs of a cluster: 1 without clusters.
    pub fn cluster_ctas(&self) -> u32 {
        self.cluster.map_or(1, |shape| shape.iter().product())
    }

    /// Coordinates in the grid of the CTA with a linear index; x varies fastest. Clusters follow each other, and so do the
    /// CTAs of each.
    pub fn cta_place(&self, index: u64) -> [u32; 3] {
        cluster_order(self.grid, self.cluster.unwrap_or([1; 3]), index)
    }

    /// Device address of a byte of a thread's local memory. Words of 4 bytes are interleaved over the 32 lanes, so
    /// lanes that use the same offset share a line.
    ///
    /// `warp` is the GPU-wide number of the warp slot: `sm * slots_per_sm + slot`.
    #[inline]
    pub fn local_address(&self, warp: u64, lane: usize, offset: u64) -> Address {
        let words = u64::from(self.kernel.local_bytes.div_ceil(4));
        let word = warp * words + offset / 4;
        Address(self.local_at.0 + word * 128 + 4 * lane as u64 + offset % 4)
    }

    /// Bytes of local memory that `warps` warp slots need.
    pub fn local_region_bytes(kernel: &Kernel, warps: u64) -> u64 {
        u64::from(kernel.local_bytes.div_ceil(4)) * 128 * warps
    }
}

/// What a program did wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// An access outside every allocation of its space.
    OutOfBounds {
        /// The address as the program computed it.
        address: u64,
        /// Size of the access in bytes.
        bytes: u32,
        /// Name of the state space.
        space: &'static str,
    },
    /// An address that is not a multiple of the access's size.
    Misaligned {
        /// The address as the program computed it.
        address: u64,
        /// Size of the access in bytes.
        bytes: u32,
    },
    /// A handle that names no matching texture or surface, or coordinates beyond a surface's edge.
    Texture {
        /// A sentence that describes the fault.
        what: String,
    },
    /// An operation that the accessed memory does not support.
    Unsupported {
        /// The operation that the program attempted.
        what: &'static str,
    },
    /// A mapping that cannot be, or an access that its mapping does not allow.
    Mapping {
        /// What is wrong.
        what: String,
    },
    /// A barrier reached by some lanes of a warp while others are on another path.
    DivergentBarrier,
    /// An instruction that lanes of a warp execute together, and to which some of those that it names can never come.
    MissingLanes,
    /// The program executed `trap`.
    Trap,
    /// A device-side assertion failed (`__assertfail`).
    Assertion {
        /// The message of the failed assertion.
        what: String,
    },
    /// An access beyond the end of the thread's stack.
    StackOverflow {
        /// Size of the stack in bytes.
        limit: u32,
    },
    /// An indirect call to an address that holds no function with the call's prototype.
    BadCall {
        /// Target address of the call.
        address: u64,
    },
}

/// A program fault and where it occurred.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind of fault.
    pub kind: FaultKind,
    /// Name of the kernel.
    pub kernel: String,
    /// Line of the instruction in its PTX text.
    pub line: u32,
    /// Name of the PTX text, when the kernel is linked from several.
    pub text: Option<String>,
    /// Coordinates of the CTA in the grid.
    pub cta: [u32; 3],
    /// Coordinates of the thread in its CTA.
    pub thread: [u32; 3],
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { kernel, line, cta, thread, .. } = self;
        write!(f, "kernel {kernel}, line {line}")?;
        if let Some(text) = &self.text {
            write!(f, " of {text}")?;
        }
        write!(f, ", CTA {cta:?}, thread {thread:?}: ")?;
        match &self.kind {
            FaultKind::OutOfBounds { address, bytes, space } => {
                write!(f, "{bytes}-byte access to {space} address {address:#x}, which lies in no allocation")
            }
            FaultKind::Misaligned { address, bytes } => {
                write!(f, "{bytes}-byte access to address {address:#x}, which is not a multiple of {bytes}")
            }
            FaultKind::Unsupported { what } => write!(f, "{what} is not supported"),
            FaultKind::DivergentBarrier => {
                f.write_str("barrier reached while other lanes of the warp are on another path")
            }
            FaultKind::MissingLanes => {
                f.write_str("other lanes that the membermask names can never come to this instruction")
            }
            FaultKind::Trap => f.write_str("trap"),
            FaultKind::Assertion { what } | FaultKind::Texture { what } | FaultKind::Mapping { what } => {
                f.write_str(what)
            }
            FaultKind::StackOverflow { limit } => {
                write!(f, "stack overflow: a thread has {limit} bytes (cudaLimitStackSize)")
            }
            FaultKind::BadCall { address } => {
                write!(f, "call of address {address:#x}, where no function of this prototype is")
            }
        }
    }
}

impl std::error::Error for Fault {}
