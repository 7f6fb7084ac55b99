//! Stash: a scratchpad that is mapped to global memory (Komuravelli, Sinclair, Alsop, Huzaifa, Kotsifakou, Srivastava,
//! S. Adve, V. Adve, "Stash: Have Your Scratchpad and Cache It Too", ISCA 2015). It runs a coherence protocol in which
//! words have owners, [`crate::denovo`]: with the machine's L2, or by itself.
//!
//! | paper | file |
//! |---|---|
//! | 3.1, Fig. 2; 4.1.3: what a mapping says, translation | `strata_memory::tile` |
//! | 4.1.1, 4.4: storage, state bits, chunks | `storage.rs` |
//! | 4.1.2: map index table | `map_index_table.rs` |
//! | 4.1.3: stash-map | `stash_map.rs` |
//! | 4.1.4: VP-map | `vp_map.rs` |
//! | 4.2: lazy writebacks, end of a thread block; 4.3: self-invalidation | `unit.rs`, `outbox.rs` |
//! | 4.2: hit, miss; 4.5: copies | `access.rs` |
//! | 4.2: AddMap; 4.1.4: eviction from the VP-map; 4.5: detection | `add_map.rs` |
//! | 4.2: ChgMap | `chg_map.rs` |
//! | 4.3: remote requests | `remote.rs` |
//! | 5.1: its place in the CU | `door`, `waits.rs` |
//! | Tables 2 and 3, 4.4: parameters, storage, energies | `config.rs` |
//!
//! Modes (3.3): *mapped coherent* and *mapped non-coherent* are a mapping's `is_coherent`; *global-unmapped* and *temporary* are
//! accesses without a mapping. Words follow the tables of [`crate::denovo`]; to them, each entry of the stash-map is an
//! owner of its own.
//!
//! Readings, where the paper is silent:
//!
//! 1. What the sizes count, arrays of small scalars, and the six operations of a miss: [`strata_memory::tile`].
//! 2. Mappings begin on a chunk, and two running mappings share none (footnote 4), so a chunk needs one index.
//! 3. A word of the storage is valid to its thread block alone: when that ends, copies are dropped, and words written under a
//!    non-coherent mapping with them. Else the next one would find them.
//! 4. A coherent mapping of the same addresses to the same place takes over what an older one has left there. The chunk
//!    keeps the older index, under which the registry knows its words, and more are registered under it.
//! 5. Other chunks that a mapping has left are written back when they are touched, by accesses without a mapping too.
//! 6. AddMap passes over entries whose thread blocks run: with a strict order, a thread block could wait for its own entry for
//!    ever. As entries then do not go in the order of their ages, a VP-map entry's pointer passes to another valid
//!    stash-map entry that needs the page, if there is one, before the page is removed. A stash-map entry is invalid when its
//!    thread block has ended and no chunk is dirty. #DirtyData also goes down when others have taken a chunk's last word.
//! 7. AddMap asks for the translations of all pages. (Footnote 8: TLB misses are not modelled.)
//! 8. A word that is copied from another place (4.5) must be there under the older mapping: registered with its index, or its
//!    thread block runs. If it is registered, and the new mapping is coherent, it is registered anew.
//! 9. ChgMap waits for misses and writebacks in its chunks. With new addresses, it also writes back what an older mapping
//!    has left there.
//! 10. A miss, a writeback and a remote request each take a hit's time and a translation's. Requests leave
//!     in order, and so does all else, which does not wait for them.
//! 11. AddMap and ChgMap take no time of their own. A store is done after a hit's time; its registration is waited
//!     for at the end of the kernel.
//! 12. Communication has the granularity of cache lines (section 8 wants a flexible one), and only useful words of a line are
//!     brought (4.3, feature 1): a load miss brings along what its mapping has of the line and the L2 has data of. Where `takes_along`
//!     is false, only words that are accessed come (6.2, on On-demand). To programs, a copy that no load of its mapping has taken is not
//!     there: one that came along, or that a writeback under ChgMap or AddMap has left. It goes when another mapping of the stash
//!     registers its address, and does not come if one has.
//! 13. Registrations wait in a table for others of their line, as in DeNovo with write combining (Choi et al., PACT 2011): until their
//!     time is up, the table is full, the thread block or the kernel ends, or their chunk is needed. They leave before a read of their
//!     line. The paper does not speak of it.
//! 14. On a machine without owners (`accesses`) the stash is its own registry (`door/own_registry.rs`): what its mappings own of the same
//!     words goes by the same table, and all that ended thread blocks have left is written back when the kernel ends. Until then neither other
//!     SMs nor accesses without a mapping see it: data that thread blocks of one kernel exchange are not to be mapped.

mod access;
mod add_map;
mod along;
mod chg_map;
mod config;
mod door;
mod error;
mod map_index_table;
mod outbox;
mod port;
mod remote;
mod stash_map;
mod statistics;
mod storage;
#[cfg(test)]
mod tests;
mod vp_map;
mod waits;

mod unit;

pub use config::{ENERGIES, StashConfig};
pub use door::StashScratchpad;
pub use error::{MappingError, Place, Why};
pub use port::{Access, AccessRefusal, LINE_WORDS, MappingRefusal, Packet, Pages, Receiver, Refusal};
pub use statistics::StashStatistics;
pub use strata_memory::tile::{Mapping, Tile, WORD};
pub use unit::Stash;
