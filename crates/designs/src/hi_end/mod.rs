//! Hi-End: a hierarchical, endurance-aware register file of STT-MRAM (Jeon, Park, Kim, Koo, Ro, IEEE Access
//! 2020), and the register files that the paper compares it with.
//!
//! Every system is one set of parameters (`config.rs`; files in `systems/hi-end`).
//!
//! | paper | file |
//! |---|---|
//! | II-B: banks, groups, entries | `layout.rs` |
//! | V-A: SRAM; STT | `banked.rs` |
//! | IV-A, Figs. 6 and 7: hierarchy | `hierarchical.rs`, `reads.rs`, `held.rs` |
//! | IV-B1, Fig. 8: register cache | `register_cache.rs` |
//! | IV-B2, Fig. 9: delay buffer | `delay_buffer.rs` |
//! | IV-B3, Fig. 10: compression and decompression unit | `compression.rs`, on `strata_memory::base_delta` |
//! | IV-A, IV-B4: STT-MRAM banks, bank arbiter | `banks.rs` |
//! | IV-B4: compression indicator table | `indicator_table.rs` |
//! | IV-B4, Fig. 11: bank-level wear levelling | `wear_levelling.rs` |
//! | V: STT+WB+BDI's central write buffer | `write_buffer.rs` |
//! | V-D: writes of banks and words | `wear.rs` |
//!
//! Values lie where the mechanism puts them: in the register cache, in the buffer, or compressed in the banks,
//! from which they are decompressed.
//!
//! Decisions where the paper is silent, and deviations from it:
//!
//! 1. A group serves one read a cycle from its banks or the buffer, as a bank of the conventional register file
//!    does; the bank of a row is chosen so that a register of neighbouring warps lies in different groups.
//! 2. The register cache has as many single-ported banks as there are groups (`register_cache.banks`), beside the
//!    ports of the groups. In one cycle a bank takes one write or serves one read; writes go first. A row leaves
//!    in the cycle in which another takes its line.
//! 3. A line's number is `warp * registers per warp + register` modulo the number of lines (`register_cache.index`):
//!    the paper does not say which bits of a name are a line's. "A logical shifter and an adder" (IV-B1) compute the
//!    tag, the name itself: read literally, a line's number is its low bits (`index = "tag"`).
//! 4. Where a read is served is decided when it is granted; of the reads that can be served, the oldest goes first.
//!    A read from the banks takes the latency of V-C (four cycles), compressed or not.
//! 5. One row's compression begins in a cycle (`compression.rows_per_cycle`), the oldest first whose banks are
//!    free two cycles later. So a write process takes the six cycles of IV-B2, and never waits once begun.
//!    Writes of one row keep their order.
//!    It begins only while no read of its group waits, or from a filling of the buffer on (`eager_from`).
//! 6. A write of only some lanes to a row that is not in the register cache takes a line at once. The other lanes
//!    are read from below, and reads of the row wait for them. A row that holds no value is not read: its lanes
//!    are zero.
//! 7. A warp that ends leaves dead rows, which are dropped above the banks and forgotten in the table
//!    (`dead_rows`). Their bank point values stay.
//! 8. A write wears all 64 bits of each bank that takes part. A row's first bank point value is the number of its
//!    entry: rows that are written rarely would otherwise all wear the first banks
//!    (`wear_levelling = "bank-point-from-zero"`).
//! 9. Banks alone write only the active lanes of a row (`partial_writes`). A write goes before the reads of its group,
//!    as in GPGPU-Sim's arbiter (`arbitration`), and waits for those that are busy, where GPGPU-Sim's never waits
//!    (`write_backs`).
//! 10. Without wear levelling a value begins at the first bank of its group, so two writes of a group never overlap; the
//!     paper does not say where values of STT+WB+BDI begin (`wear_levelling = "entry"`, `"bank-point"`).
//!     In the central write buffer, a write of a row whose write has not begun changes it in place. A read that
//!     finds its row there activates the banks too. The paper gives no number of entries: they are ASSUMED.
//! 11. An access is one of a row of 32 bits a lane, so a value of 64 bits takes two and two numbers; predicates lie elsewhere.
//!     GPGPU-Sim counts operands (`accesses`).
//! 12. Energy is counted by bits of the banks that take part. Searching the buffer reads the name of every entry.

mod banked;
mod banks;
mod compression;
mod config;
mod delay_buffer;
mod design;
mod held;
mod hierarchical;
mod indicator_table;
mod layout;
mod reads;
mod register_cache;
mod statistics;
#[cfg(test)]
mod tests;
mod wear;
mod wear_levelling;
mod write_buffer;

pub use banked::BankedRegisterFile;
pub use config::{
    AccessesConfig, Arbitration, AreaConfig, BankedConfig, BanksConfig, BufferConfig, CompressionConfig,
    DeadRows, HierarchicalConfig, PartialWrites, RegisterCacheConfig, WriteBacks,
};
pub use hierarchical::HierarchicalRegisterFile;
pub use register_cache::CacheIndex;
pub use statistics::{BankStatistics, CompressionStatistics, HierarchyStatistics};
pub use wear_levelling::WearLevelling;
