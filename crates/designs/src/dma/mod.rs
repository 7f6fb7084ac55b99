//! A DMA engine beside the scratchpad: ScratchGD, the configuration with which Stash (Komuravelli et al., ISCA 2015, 5.3) is
//! compared. It is after D2MA (Jamshidi et al., PACT 2014), with copies in both directions, and blocks the memory requests of its
//! core until a copy is done, where D2MA blocks those of a warp. [`Blocks`] has both.
//!
//! Readings, where the paper is silent:
//!
//! 1. A copy makes an access for each line of the L1D's that has words of the tile, in the order of the tile, at most one a cycle; the
//!    words of a line that follow each other in the tile share one. `accesses` are under way at most.
//! 2. Accesses go to the memory system past the L1D: what that has of a line is written back first, and dropped.
//! 3. The words of an access take one pass through the banks of the scratchpad: on the way out when it is made, on the
//!    way in when it comes back. Nothing else uses the banks in that cycle.
//! 4. A copy is done in the cycle after its last access has been performed, and what waits for it goes on then.
//! 5. Under [`Blocks::Warp`], the warp that asked for a copy waits, and the rest of its CTA at the barrier that follows. Copies make their
//!    accesses in the order in which they were asked for.

mod blocks;
mod config;
mod engine;
mod statistics;
#[cfg(test)]
mod tests;

pub use blocks::Blocks;
pub use config::DmaConfig;
pub use engine::Engine;
pub use statistics::DmaStatistics;
