//! tinyCache: an incoherent write-back cache for each lane of an SM (Sankaranarayanan, Ardestani, Briz, Renau, "An
//! Energy Efficient GPGPU Memory Hierarchy with Tiny Incoherent Caches", ISLPED 2013).
//!
//! | paper | file |
//! |---|---|
//! | Fig. 3: states and transitions | `protocol.rs` |
//! | 3, 3.2: tags, control bits, bytes | `lines.rs` |
//! | 3.1: coherence; Fig. 2b: where the caches stand | `cache.rs` |
//! | fetches that lanes share | `fills.rs` |
//! | barriers that wait for write-backs | `order.rs` |
//! | half-words and words of lanes | `words.rs` |
//! | Table 1, Figs. 8 and 9: parameters, storage | `config.rs` |
//!
//! Rules of coherence. The first five are those of section 3.1:
//!
//! 1. Lanes that write different bytes of a block each write back their own half-words and nothing else.
//! 2. Lanes that write the same bytes are not ordered. Of half-words written back together, the highest lane's stay.
//! 3. A barrier evicts all lines of the SM (`barrier`) and completes when their bytes are in the L1D or in shared
//!    memory.
//! 4. A store of single bytes goes past the caches, and evicts its lane's line with the bytes.
//! 5. Local memory and constants are not cached.
//!
//! The others are what this machine's memory model needs and the paper does not mention:
//!
//! 6. Atomics, strong and volatile accesses, accesses that bypass the L1D and asynchronous copies go past the caches, and
//!    evict their lane's line. Collective loads (`ldmatrix`) evict it in every lane.
//! 7. A fence, and a barrier of a warp, evict all lines of their lanes.
//! 8. The end of a CTA evicts all lines of the SM; those of the CTA's shared memory are dead and not written back.
//! 9. While a block is on its way, other lanes that miss may wait for it too, until anything of its line is written
//!    past the caches or written back: a thread must see its own writes, wherever they have gone meanwhile.
//!
//! Decisions where the paper is silent:
//!
//! 10. A block on its way has its line already: "we omit the transient states". Until it comes, only half-words written
//!     meanwhile are valid. Its line is not replaced.
//! 11. Misses of one instruction in one line of memory are one access, and so are evictions. Evictions go before the
//!     misses that cause them. A flush makes an access a cycle.
//! 12. All lanes of an instruction are looked up in one cycle, and an instruction whose lanes all hit is done after
//!     `latency_cycles`. One whose set is full of blocks on their way waits, and so does one that finds 32 accesses
//!     waiting.
//! 13. As many fetches may be under way as the load/store unit has accesses; each carries any number of lanes.

mod cache;
mod config;
mod design;
mod fills;
mod lines;
mod order;
mod protocol;
mod statistics;
#[cfg(test)]
mod tests;
mod words;

pub use cache::TinyCache;
pub use config::{BarrierEvicts, Bypass, TinyCacheConfig};
pub use statistics::TinyCacheStatistics;
