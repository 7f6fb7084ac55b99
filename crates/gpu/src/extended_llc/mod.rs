//! The extended-LLC kernel of Morpheus (Darabi et al., MICRO 2022, 4.2): PTX that turns the registers, the shared memory and
//! the L1D of an SM into sets of a last-level cache.
//!
//! One warp is one set. It waits for a request in its row of a window of memory, serves it and stores the result there; the
//! window is a controller's, or plain global memory. [`Kernel::text`] writes the module for a choice of instructions; how
//! many sets of which kind there are follows from the parameters of the launch.
//!
//! # The window
//!
//! A row has [`ROW_BYTES`] bytes, four lines of 128; [`strata_memory::window`] says what is in them. Word 0 of the first
//! one has operation and block; all lanes load it, which is one sector.
//!
//! Every access to it is strong, one line of 32 words. The store of the result ends a request. The kernel sends a victim
//! that it writes back, then the payload, then the result, without a fence between, since a fence of gpu scope drops what
//! the SM's L1D holds: the memory behind a row and behind the blocks of its set must take an SM's stores in their order.
//!
//! # Why stamps
//!
//! The paper's LRU counters of 12 bits count down at each use of another block and stop at zero, where blocks are alike.
//! The controller's Bloom filters rely on the set holding its most recently used blocks. So a block has the number of the
//! request that used it last: LRU to the letter for 2^32 requests, in one instruction a use, and the victim is found by one
//! reduction.

mod characterisation;
mod fragments;
mod parts;
mod tags;
mod text;

pub use characterisation::{Characterisation, Network};
pub use parts::Parts;
pub use strata_memory::doors::SetPlace;
pub use strata_memory::window::{RESULT_WORD, asked, atomic_kind, operation, result, status};

/// Bytes from one row of the window to the next.
pub const ROW_BYTES: u64 = 512;
/// Bytes of a block.
pub const BLOCK_BYTES: u64 = 128;
/// Most blocks of a set: a lane knows eight.
pub const MOST_WAYS: u32 = 256;
/// Most registers of a compressed set: a lane knows one.
pub const MOST_COMPRESSED_WAYS: u32 = 32;
/// No block has this number or a greater one: 27 bits of a lane's register are the tag, which names 16 GiB.
pub const NO_BLOCK: u32 = (1 << 27) - 1;
/// Name of the kernel.
pub const ENTRY: &str = "extended_llc";

/// How a warp reaches the register whose number it computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indirection {
    /// `brx.idx` to one of as many moves (Algorithm 2).
    Branch,
    /// `mov.indirect` (4.3.2), which a machine has with `sm.indirect_mov`.
    Instruction,
}

/// Where a warp finds its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requests {
    /// In its row, whose loads a controller answers when there is one.
    Held,
    /// In its row, whose loads are answered although there is none: by a controller, or by memory.
    Polled,
    /// In a list of statuses in memory, one after the other, as the authors measured the kernel on a GPU (5). `%next` is the
    /// address of the next one.
    Listed,
    /// As [`Requests::Listed`], without the network (5): a read of the list stays in a register until it was served `%left` times
    /// more, and answers to reads are added up in `%sum`, which the row has at the end where an answer would be.
    Repeated,
}

/// Which blocks decide how many registers the levels of a compressed set get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Levels {
    /// All that came, older ones less. Levels change once as many came as fill the set.
    History,
    /// Those of the epoch (4.3.1).
    Epoch,
}

/// A variant of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Warps of a CTA, one set each, at most 32.
    pub warps: u32,
    /// CTAs that an SM holds at once: with `warps` and the machine's registers they bound those of a thread. 0 if they do not, since not
    /// all warps have as many.
    pub ctas: u32,
    /// Data registers of a warp, 1 to [`MOST_WAYS`], or to [`MOST_COMPRESSED_WAYS`] with compression.
    pub ways: u32,
    /// Most blocks of a set in shared memory, up to [`MOST_WAYS`].
    pub shared_ways: u32,
    /// How data registers are reached.
    pub indirection: Indirection,
    /// Where warps find their requests.
    pub requests: Requests,
    /// Whether a warp loads a block that its set does not have; if not, the controller does.
    pub fetches: bool,
    /// Whether sets in registers hold their blocks compressed where they can (4.3.1), and what their levels follow.
    pub compression: Option<Levels>,
}
