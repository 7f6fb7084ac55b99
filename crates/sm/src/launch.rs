//! What every SM knows of the kernel that runs, and what it tells when the program goes wrong.

use std::fmt;
use std::sync::Arc;

use strata_memory::Address;
use strata_ptx::lanes::Row;
use strata_ptx::program::Kernel;
use strata_ptx::texture::Headers;

/// A kernel launch, shared by all SMs and never changed while it runs.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The kernel.
    pub kernel: Arc<Kernel>,
    /// Its constant rows with this launch's parameters and addresses.
    pub constants: Vec<Row>,
    /// The parameter block's bytes; also found at `params_at` in device memory.
    pub params: Vec<u8>,
    /// Where the parameter block lies in device memory: `ld.param` goes there through the constant cache.
    pub params_at: Address,
    /// Where the code lies in device memory: instruction fetch goes there.
    pub code_at: Address,
    /// CTAs of the grid in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a CTA in x, y, z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory a CTA.
    pub dynamic_shared: u32,
    /// Local memory: thread-private words of every warp slot of every SM, see [`Launch::local_address`].
    pub local_at: Address,
    /// Global memory that a program may touch: `[start, end)`, sorted, not overlapping.
    pub allocations: Vec<(u64, u64)>,
    /// What the handles of textures and surfaces stand for.
    pub headers: Arc<Headers>,
    /// Number of the launch, from 0 (`%gridid`).
    pub number: u64,
}

impl Launch {
    /// Bytes of an instruction in device memory. NVIDIA Fermi instructions are 64 bits long.
    pub const CODE_BYTES: u64 = 8;

    /// CTAs of the grid.
    pub fn ctas(&self) -> u64 {
        self.grid.iter().map(|n| u64::from(*n)).product()
    }

    /// Threads of a CTA.
    pub fn threads_per_cta(&self) -> u32 {
        self.block.iter().product()
    }

    /// Warps of a CTA, the last one possibly partly filled.
    pub fn warps_per_cta(&self) -> u32 {
        self.threads_per_cta().div_ceil(32)
    }

    /// Shared memory of a CTA in bytes: static and dynamic.
    pub fn shared_per_cta(&self) -> u32 {
        self.kernel.shared_bytes.saturating_add(self.dynamic_shared)
    }

    /// Place of CTA `index` in the grid, x fastest.
    pub fn cta_place(&self, index: u64) -> [u32; 3] {
        let [x, y, _] = self.grid.map(u64::from);
        [(index % x) as u32, (index / x % y) as u32, (index / (x * y)) as u32]
    }

    /// Device address of a byte of a thread's local memory. Words of 4 bytes are interleaved over the 32
    /// lanes, so that lanes that use the same offset fall into one line.
    ///
    /// `warp` numbers the warp slot over all SMs: `sm * slots_per_sm + slot`.
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
    /// An address outside every allocation of its space.
    OutOfBounds {
        /// The address as the program gave it.
        address: u64,
        /// Bytes accessed.
        bytes: u32,
        /// Name of the state space.
        space: &'static str,
    },
    /// An address that is no multiple of the access's size.
    Misaligned {
        /// The address as the program gave it.
        address: u64,
        /// Bytes accessed.
        bytes: u32,
    },
    /// A handle of no texture or surface that fits the instruction, or a place beyond a surface's edge.
    Texture {
        /// What is wrong.
        what: String,
    },
    /// An operation that the memory it reaches does not perform.
    Unsupported {
        /// What was tried.
        what: &'static str,
    },
    /// A barrier reached by a part of a warp whose other lanes are elsewhere.
    DivergentBarrier,
    /// `trap`.
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
}

/// A program error with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What happened.
    pub kind: FaultKind,
    /// Kernel name.
    pub kernel: String,
    /// Line in the PTX text.
    pub line: u32,
    /// The text, when the kernel is linked from several.
    pub text: Option<String>,
    /// CTA in the grid.
    pub cta: [u32; 3],
    /// Thread in the CTA.
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
            FaultKind::Trap => f.write_str("trap"),
            FaultKind::Assertion { what } | FaultKind::Texture { what } => f.write_str(what),
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
