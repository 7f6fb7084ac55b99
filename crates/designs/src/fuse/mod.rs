//! FUSE: SRAM and STT-MRAM fused into one L1D (Zhang, Jung, Kandemir, HPCA 2019), and what it is compared with.
//!
//! Every system is one set of numbers (`config.rs`; files in `systems/fuse`): which banks there are, how their tags
//! are searched, whether queues stand between them, which predictor speaks. L1-SRAM itself is `crate::baseline`.
//!
//! | paper | file |
//! |---|---|
//! | III-A, Fig. 5: banks, one copy of a line | `sram_bank.rs`, `stt_bank.rs`, `lines.rs`, `arrays.rs`, `places.rs`, `directory.rs` |
//! | III-A, Fig. 5: internal data bus | `bus.rs` |
//! | III-B, Fig. 7a: associativity approximation, polling | `approximation.rs` |
//! | IV-A, Fig. 9: decision tree; Fig. 8: destination bits | `arbitrator.rs` (ways), `datapath.rs` (what they do) |
//! | IV-A, Fig. 10: tag queue, swap buffer | `tag_queue.rs`, `swap_buffer.rs`, `stages.rs` |
//! | IV-B, Fig. 11: read-level predictor | `predictor/` |
//! | IV-C, Fig. 12: NVM-CBF | `nvm_cbf.rs` |
//! | V: By-NVM's dead writes | `dead_write.rs` |
//! | V-A, Fig. 15: stalls | `stalls.rs` |
//! | V-A, Fig. 16: accuracy | `placement.rs` |
//! | VI: write-back at kernel end | `flush.rs` |
//!
//! MSHRs, the network side and accesses past the cache are those of every L1D (`crate::chassis`). An MSHR keeps the
//! frame that its fill goes to: the destination bits.
//!
//! Where the paper is silent, says two things, or is left:
//!
//! 1. A frame is taken when a line misses, not when its fill comes, as in the machine that the paper simulates: the
//!    arbitrator decides then where what makes room goes (Fig. 9). The conventional L1D can do either (`allocate`).
//! 2. The internal bus carries a line of 128 bytes a core cycle (64 bytes at 1.4 GHz, III-A) from or to either bank:
//!    hits, stores, fills, write-backs, and lines that leave a bank for another. So it stands for SRAM's one port as
//!    well. From the swap buffer into STT-MRAM a line takes wires of its own (Fig. 10). Systems of one bank have no
//!    such bus: in their SRAM, as in the conventional L1D, accesses, fills and stores that waited in MSHRs do not
//!    meet; their STT-MRAM has one port for everything. Loads that waited are served on the fill's way into a bank.
//! 3. A filter's counters, "slots" in Fig. 20, are 16 in IV-C (512 B in all), 64 in V-C and 128 in V-B ("we select
//!    128slots as our CBF configuration"). V-B decides: 128 is the configuration that was evaluated. With four lines
//!    and three keys a filter answers positive by chance in 18 % of its tests with 16 counters, in 0.5 % with 64 and
//!    in 0.07 % with 128: of 128 filters in 23, 0.6 and 0.1. The files ending in -64-counters and -16-counters have
//!    the others. Table III's area fits 16; `area.rs` has all three. `approximation.slots` is the parameter.
//! 4. A saturated two-bit counter is never decremented. If it just stayed, filters would fill up for good; when a
//!    line leaves through one, the filter's column is written anew from the tags of its row (`saturated`). The polling
//!    logic reads the row for that, a cycle in which it searches for nothing; the column's write is overlapped with the
//!    array's, as IV-C says of every change of a filter.
//! 5. "Flush" of the tag queue: what waits there is served before the write that cannot wait in it. A write whose
//!    tags must be searched waits in a register of one entry, and nothing is taken behind it.
//! 6. A load of a line that a command of the tag queue names waits behind that command. A load at the queue's front
//!    that needs what a migration behind it will free goes to the end.
//! 7. The filters know a line from its move into STT-MRAM on, and a line in the swap buffer is known by its command.
//! 8. The data array of an approximate search is read in the cycle after the last poll; rows are polled lowest first.
//! 9. A store that misses to STT-MRAM puts its bytes into the swap buffer when there is one.
//! 10. Hybrid moves a line to SRAM on a write hit as the others do: V-A gives it the miss rate of Base-FUSE.
//! 11. The victim buffer of III-A gives a line back to SRAM when it is used.
//! 12. The sampler sees one line in 16: an instruction that touches 32 lines at once evicts all that it brought
//!     from 8 ways before it comes again, and all would be predicted WORO. Its four warps are spread evenly.
//! 13. A fill and each store count as a write of a line for the accuracy (V-A). Lines never kept are not judged.
//! 14. A line predicted WORO, or a dead write, goes past the cache like an access that asks for it: two loads of
//!     it under way are two requests.
//!     III-A calls a place for it unnecessary; V-A has Dy-FUSE choose banks and nothing else, with the miss rate of
//!     FA-FUSE. `predictor.woro_miss` is the parameter.
//! 15. The history table has 512 entries (IV-B: a signature of 9 bits); Table I says 1024.
//! 16. A load that would migrate but finds no room for it is served in STT-MRAM.
//! 17. The Oracle takes memory while it runs, as the only one.
//! 18. The paper does not say how sets are indexed. By the low bits of the line number, as in the simulator that it
//!     names (GPGPU-Sim 3.2.2, whose configuration also has the 32 MSHRs): then By-NVM bypasses 0.89, 0.89, 0.89 and
//!     0.87 of the accesses of ATAX, BICG, MVT and GESUMMV, where Table II has 0.90, 0.90, 0.91 and 0.96. With a hashed
//!     index it bypasses 0.03 of ATAX's.
//! 19. By-NVM learns dead writes of DASCA's three classes from what follows each write. The numbers are those of the
//!     sampling dead-block predictor on which DASCA builds, for four ways instead of 16; its counters count down by one.
//!     A store that is followed by a store was of use: without it the second one would have missed. So was a fill that is
//!     followed by a store of some of its bytes. An instruction at the same place of another kernel shares the counters.

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
    ApproximationConfig, BusConfig, DeadWriteConfig, FuseConfig, PredictorConfig, QueueConfig, Saturated,
    SearchKind, SramConfig, SttConfig, SttHit, WoroMiss,
};
pub use l1d::FuseL1d;
pub use statistics::FuseStatistics;
