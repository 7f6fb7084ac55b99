//! FUSE: SRAM and STT-MRAM fused into one L1D (Zhang, Jung, Kandemir, HPCA 2019), and the L1Ds that the paper
//! compares it with.
//!
//! Every system is one set of parameters (`config.rs`; files in `systems/fuse`): which banks there are, how
//! their tags are searched, whether there are queues between them, and which predictor is used. L1-SRAM
//! itself is in `crate::baseline`.
//!
//! | paper | file |
//! |---|---|
//! | III-A, Fig. 5: banks, one copy of a line | `sram_bank.rs`, `stt_bank.rs`, `lines.rs`, `arrays.rs`, `places.rs`, `directory.rs` |
//! | III-A, Fig. 5: internal data bus | `bus.rs` |
//! | III-B, Fig. 7a: associativity approximation, polling | `approximation.rs` |
//! | IV-A, Fig. 9: decision tree; Fig. 8: destination bits | `route.rs` (routes), `arbitrator.rs` (which one), `datapath.rs` (what they do) |
//! | IV-A, Fig. 10: tag queue, swap buffer | `tag_queue.rs`, `swap_buffer.rs`, `stages.rs` |
//! | IV-B, Fig. 11: read-level predictor | `predictor/` |
//! | IV-C, Fig. 12: NVM-CBF | `nvm_cbf.rs` |
//! | V: By-NVM's dead writes | `dead_write.rs` |
//! | V-A, Fig. 15: stalls | `stalls.rs` |
//! | V-A, Fig. 16: accuracy | `placement.rs` |
//! | VI: write-back at kernel end | `flush.rs` |
//!
//! MSHRs, the network side and accesses past the cache are those of every L1D (`crate::chassis`). An MSHR
//! records the frame that its fill goes to: the destination bits.
//!
//! Where the paper says several things, the text of the mechanism (III, IV) decides, then Table I, then the text of the
//! evaluation (V); never a figure's number. Decisions where it is silent or contradicts itself, and deviations from it:
//!
//! 1. A frame is taken when a line misses, not when its fill arrives, as in the simulator that the paper
//!    uses. At that time the arbitrator also decides where the evicted line goes (Fig. 9). The conventional
//!    L1D can do either (`allocate`).
//! 2. The internal bus carries one line of 128 bytes per core cycle (64 bytes at 1.4 GHz, III-A) from or to
//!    either bank: hits, stores, fills, write-backs, and lines that move between banks. It therefore also
//!    models the single port of SRAM. A line moves from the swap buffer into STT-MRAM on wires of its own
//!    (Fig. 10). Systems with one bank have no such bus. In their SRAM, as in the conventional L1D, accesses,
//!    fills and stores that waited in MSHRs never conflict; their STT-MRAM has one port for everything. Loads
//!    that waited are served with the fill as it enters a bank. A hit in SRAM has the bus at once (IV-A): the tag queue
//!    gets what the accesses of a cycle leave.
//! 3. The counters of a filter ("slots" in Fig. 20) are 16 in IV-C (512 B in all), 64 in V-C and 128 in V-B
//!    ("we select 128slots as our CBF configuration"). III-B has a search of one or two cycles, which 16 counters
//!    cannot give, so the mechanism's own text is at odds with itself, and V-B's configuration is taken. With four lines and three keys, a filter answers falsely positive in 18 % of its tests with
//!    16 counters, in 0.5 % with 64 and in 0.07 % with 128; of 128 filters that is 23, 0.6 and 0.1. The files
//!    ending in -64-counters and -16-counters have the other sizes. Table III's area fits 16; `area.rs` has
//!    all three. The parameter is `approximation.slots`.
//! 4. A saturated two-bit counter is never decremented. If it only stayed, filters would fill up for good; so
//!    when a line leaves through a saturated counter, the filter's column is rewritten from the tags of its
//!    row (`saturated`). The polling logic reads the row for that in a cycle in which it searches for
//!    nothing. The write of the column overlaps with that of the array, as IV-C says of every change of a
//!    filter.
//! 5. "Flush" of the tag queue: commands that wait there are served before the write that cannot wait in it.
//!    A write whose tags must be searched waits in a register of one entry, and nothing is accepted behind
//!    it.
//! 6. A load of a line that a command in the tag queue names waits behind that command. A load at the front
//!    of the queue that needs what a migration behind it will free moves to the end.
//! 7. The filters know a line once it has moved into STT-MRAM; its command identifies a line in the swap
//!    buffer.
//! 8. The data array of an approximate search is read in the cycle after the last poll. Rows are polled
//!    lowest first.
//! 9. A store that misses to STT-MRAM puts its bytes into the swap buffer if there is one.
//! 10. Hybrid moves a line to SRAM on a write hit, as the others do: V-A gives it the miss rate of Base-FUSE.
//! 11. The victim buffer of III-A returns a line to SRAM when it is used.
//! 12. The sampler sees "memory requests generated from four representative warps" (IV-B): of each instruction the
//!     first. Were it to see all, an instruction that touches 32 lines in one go would evict all its lines from the
//!     8 ways before it runs again, and all would be predicted WORO. The parameter is
//!     `predictor.sampled_requests`. The four warps are spread evenly.
//! 13. For the accuracy (V-A), a fill and each store count as a write of a line. Lines never kept are not
//!     judged.
//! 14. A line predicted WORO goes to SRAM, and from there to the L2: IV-A says which way it leaves, and V-A that the
//!     predictor chooses banks alone. III-A says that it needs no place in the cache; then it goes past (`bypasses`), as
//!     dead writes do, like an access that asks for it: two concurrent loads of it are two requests. The parameter is
//!     `predictor.woro_miss`.
//! 15. The history table has 512 entries (IV-B: a signature of 9 bits), although Table I says 1024.
//! 16. A load that would migrate but finds no room for it is served in STT-MRAM.
//! 17. Only the Oracle allocates memory while running.
//! 18. The paper does not say how sets are indexed. Here it is by the low bits of the line number, as in the
//!     simulator that it names (GPGPU-Sim 3.2.2, whose configuration also has the 32 MSHRs). By-NVM then
//!     bypasses 0.89, 0.89, 0.89 and 0.87 of the accesses of ATAX, BICG, MVT and GESUMMV, where Table II has
//!     0.90, 0.90, 0.91 and 0.96. With a hashed index it bypasses 0.03 of ATAX's.
//! 19. By-NVM learns dead writes of DASCA's three classes from what follows each write. Its parameters are
//!     those of the sampling dead-block predictor on which DASCA builds, for four ways instead of 16; its
//!     counters count down by one. A store followed by another store was useful: without it the second one
//!     would have missed; `dead_write.store_before_store` can say otherwise. So was a fill followed by a store of
//!     some of its bytes. Instructions at the same
//!     place in different kernels share counters.

mod approximation;
mod arbitrator;
pub mod area;
mod arrays;
mod build;
mod bus;
mod checks;
mod config;
mod datapath;
mod dead_write;
mod design;
mod directory;
mod flush;
mod l1d;
mod lines;
mod nvm_cbf;
mod placement;
mod places;
mod predictor;
mod route;
mod seen;
mod sram_bank;
mod stages;
mod stalls;
mod statistics;
mod stt_bank;
mod swap_buffer;
mod tag_queue;
#[cfg(test)]
mod tests;

pub use config::{
    ApproximationConfig, BusConfig, DeadWriteConfig, FuseConfig, PredictorConfig, QueueConfig,
    SampledRequests, Saturated, SearchKind, SramConfig, StoreBeforeStore, SttConfig, SttHit, WoroMiss,
};
pub use l1d::FuseL1d;
pub use statistics::FuseStatistics;
