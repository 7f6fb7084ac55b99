//! The extended-LLC kernel of Morpheus (Darabi et al., MICRO 2022, 4.2): PTX that turns the registers, the shared memory and
//! the L1D of an SM into sets of a last-level cache.
//!
//! One warp is one set. It waits for a request in its row of a window of memory, serves it and stores the result there; the
//! window is a controller's, or plain global memory. [`Kernel::text`] writes the module for a choice of instructions; how
//! many sets of which kind there are follows from the parameters of the launch.
//!
//! # The window
//!
//! A row has [`ROW_BYTES`] bytes, four lines of 128:
//!
//! | line | word | from the controller | from the kernel |
//! |---|---|---|---|
//! | 0 | 0 | operation, 0 while there is none | 0 with the result |
//! | 0 | 1 | block number: device address / 128, below [`NO_BLOCK`] | |
//! | 0 | 2 | bit 0: an insertion's block is dirty | |
//! | 0 | 3 | kind of an atomic ([`atomic_kind`]) | |
//! | 0 | 4 to 7 | bytes that a write changes: bit i is byte i of the block | |
//! | 0 | 8 | words that an atomic changes, both of a 64-bit pair | |
//! | 0 | 16 | | the result ([`result`]); a compressed set adds its depth and what the block takes ([`result::Told`]) |
//! | 1 | | bytes of a write or an insertion; an atomic's operands, word by word | the block that was read, or was there before an atomic |
//! | 2 | | second operands of a compare-and-swap | |
//!
//! Every access to it is strong, one line of 32 words. The store of the result ends a request. The kernel sends a victim
//! that it writes back, then the payload, then the result, without a fence between, since a fence of gpu scope drops what
//! the SM's L1D holds: the memory behind a row and behind the blocks of its set must take an SM's stores in their order.
//!
//! # Why ranks
//!
//! The paper's LRU counters of 12 bits count down at each use of another block and stop at zero, where blocks are alike.
//! The controller's Bloom filters rely on the set holding its most recently used blocks. So the five bits beside a tag are
//! the block's rank in the order of use: LRU to the letter, and the victim is found by one comparison.

mod fragments;
mod text;

pub use strata_memory::window::{atomic_kind, operation, result};

/// Bytes from one row of the window to the next.
pub const ROW_BYTES: u64 = 512;
/// Bytes of a block.
pub const BLOCK_BYTES: u64 = 128;
/// Most blocks of a set: a lane knows one.
pub const MOST_WAYS: u32 = 32;
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

/// A variant of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Warps of a CTA, one set each, at most 32.
    pub warps: u32,
    /// CTAs that an SM holds at once: with `warps` and the machine's registers they bound those of a thread.
    pub ctas: u32,
    /// Data registers of a warp, 1 to [`MOST_WAYS`].
    pub ways: u32,
    /// How data registers are reached.
    pub indirection: Indirection,
    /// Whether sets in registers hold their blocks compressed where they can (4.3.1).
    pub compression: bool,
}
