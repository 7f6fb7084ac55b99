//! Morpheus (Darabi et al., MICRO 2022): SMs in cache mode lend their storage to the last-level cache.
//!
//! A [`Controller`] stands in front of each conventional slice (4.1). An address separator sends requests either to the slice
//! or to the extended LLC, whose sets are warps of a kernel on SMs in cache mode. The controller predicts whether the set has
//! the block. A predicted hit is handed to the set's warp through the warp status table, whose rows the warp loads and stores
//! through a [window](strata_memory::window) of addresses. A predicted miss is fetched from DRAM and answered; the block follows
//! to the warp as an insertion. What SMs in cache mode load and store themselves goes past the conventional slice.
//!
//! Where the paper is silent:
//!
//! 1. *Order.* Requests to one block are served in order of arrival; those that arrive while the block is on its way from DRAM,
//!    or waits for its warp, wait behind it and are predicted when their turn comes. A set's warp has one operation at a time.
//! 2. *Waiting.* A warp waits by loading its row; the controller withholds the reply until the row has a request, so that an idle
//!    extended LLC sends nothing, or answers at once ([`Wait`]).
//! 3. *Who reads DRAM.* Of a predicted miss the controller. Of a predicted hit that is none, too (4.1.2, Figs. 5 and 6), or the warp,
//!    past the conventional LLC (4.2.1): [`LateMisses`].
//! 4. *Atomics.* The warp performs them (4.2.3). Those that the kernel does not have, of 64-bit floating point and of single 16-bit
//!    values, take two operations: the controller reads the block from the warp and writes the result back.
//! 5. *Host copies.* What a host copy changes in a block of a set is handed to its warp as a write before the block's next use.
//! 6. *Storage of an SM.* Section 5 gives 32 of 48 warps sets in registers and 16 sets in the L1D, and counts 328 KiB: 200 of 32 warps
//!    that have all registers, and 128. But the other 16 warps need registers, too. Here 48 warps of one kernel have 40 registers each:
//!    32 sets of 28 blocks, and 16 of 50 in shared memory ([`SharedSets`]), the same storage as the L1D (4.2.2), of which shared memory
//!    can have 100 KiB: 212 KiB. Compressed sets need 64 registers, so 32 warps fit: 20 with compressed sets and 12 with sets of 66
//!    blocks in shared memory, which are not compressed. Lines are divided among an SM's sets by capacity (4.2).
//!    As two launches side by side, warps with few registers leave more to the others ([`Launches`]).
//!    Sets may be in the L1D ([`L1Sets`]). It replaces lines as it likes, so no filter can tell what it holds: each request goes to the
//!    warp, and what the L1D lacks it loads from memory itself (4.2.2 and its note 4). Host copies ask it.
//! 7. *Capacity with compression* (4.3.1). Address separation is static, so a machine file says how many blocks a set counts for
//!    ([`Compression::blocks`]), whatever it holds later.
//! 8. *Prediction with compression.* Each level of a set has its own victims, so a set is not the blocks used last. Its warp tells
//!    with each result how deep it is: among how many different blocks used last all its blocks are. Filters change places at that
//!    number, not at the associativity. It is 127 at most: a block that would be used longer ago leaves.
//! 9. *Levels.* At the end of an epoch, found when a block is put in, they get registers in proportion to what their blocks need,
//!    all but one, which stays uncompressed. The paper counts the blocks of an epoch ([`Counts::Epoch`]); but in 10,000 cycles a set gets
//!    some 20, and levels that follow so few move about and drive blocks out. So counters go on, and are halved once one has counted
//!    512; levels do not change before what was put in would fill the set. The blocks of a register that changes its level leave.
//! 10. *Order of operations.* The paper does not say in which order a set's requests are served. Here what no request waits for, an
//!     insertion or an answered write, comes after what one waits for. [`Insertions`] has other orders, for comparison.
//! 11. *Writes* to blocks that the set is said to have are answered when their bytes are in the write data buffer. Those of whole
//!     lines are insertions of dirty blocks, whether the set has the block or not: nothing of it is needed. Bytes of a block that the
//!     set does not have wait for the rest of the block, and go to memory by themselves in the end
//!     ([`MorpheusConfig::gather_cycles`]). A conventional slice keeps them with a mask until it needs their place; a set has no
//!     room for masks.
//! 12. *Merging.* What waits behind another request to its block needs no operation of the warp where the data buffers have the
//!     bytes, as merged misses need no fetch of a slice: reads behind a read; reads behind an insertion whose block is in a buffer;
//!     writes behind a write or an insertion that has not been handed over. Atomics of one kind on one line share an operation,
//!     and on one word, too, where one operand has the effect of two: sums of integers, least, greatest, bits, exchanges. Without it
//!     a block that all SMs write, such as a flag that ends a loop or the bins of a histogram, takes a warp's whole time for each of
//!     them. The paper does not say what its simulator does with them.
//!
//! 13. *Data buffers.* What waits for its warp keeps its bytes in the request queue, to which the paper gives no size; a line of the
//!     data buffers holds those of an operation that a warp has. The 5 KiB of query logic (4.1.3) have, beside 256 rows of 8 bytes,
//!     room for 24 lines a partition. Taken from request to result, they are too few for the paper's own numbers: by Little's law an
//!     SM that serves 34 GB/s in 185 ns each has 49 blocks under way, so 24 lines in each of ten partitions serve five SMs. So a line
//!     is taken while it holds what is nowhere else, [`Buffered::OnlyCopy`]; the other reading is there for comparison.
//!
//! A dirty victim leaves its SM before the result of the operation that drove it out, and both come to the same slice in order.
//! The filters learn of the operation with its result, so a request that the filters send to DRAM finds the victim there.

mod atomics;
mod config;
mod controller;
mod design;
mod dram_side;
mod filter;
mod gathering;
mod host;
mod merging;
mod partial_writes;
mod pool;
mod predictor;
mod published;
mod separator;
mod serve;
mod sets;
mod shadow;
mod slice_port;
mod statistics;
mod table;
#[cfg(test)]
mod tests;
mod window;

pub use config::{
    Buffered, Compression, Counts, Insertions, L1Sets, LateMisses, Launches, MorpheusConfig, Prediction,
    SharedSets, Wait,
};
pub use controller::Controller;
pub use filter::Filter;
pub use predictor::Predictor;
pub use published::PublishedConfig;
pub use statistics::MorpheusStatistics;
