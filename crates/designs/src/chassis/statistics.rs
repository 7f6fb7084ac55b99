//! Counters of an L1D.

use strata_engine::statistics;
use strata_memory::doors::{Access, Action, Refusal};

use super::Found;

statistics! {
    /// Counters of an L1D. Loads and stores are the cached ones; those that bypass the cache are counted
    /// separately.
    pub struct L1dStatistics: "l1d" {
        /// Accesses of any kind that were accepted.
        accesses: "accesses",
        /// Loads that were looked up in the cache.
        loads: "accesses",
        /// Stores that were looked up in the cache.
        stores: "accesses",
        /// Atomic accesses; each holds the operations of one warp instruction on one line.
        atomics: "accesses",
        /// Loads that bypassed the cache.
        bypass_loads: "accesses",
        /// Stores that bypassed the cache.
        bypass_stores: "accesses",
        /// Loads that found all their bytes.
        load_hits: "accesses",
        /// Loads whose line was not there.
        load_misses: "accesses",
        /// Loads that found their line, but not all their bytes.
        load_partial_hits: "accesses",
        /// Loads that waited behind a fetch of their line.
        load_merges: "accesses",
        /// Stores performed on a line in the cache.
        store_hits: "accesses",
        /// Stores whose line was not there.
        store_misses: "accesses",
        /// Stores that found their line, but had to fetch the rest of a sector.
        store_partial_hits: "accesses",
        /// Stores that waited behind a fetch of their line.
        store_merges: "accesses",
        /// Atomics and bypassing accesses that waited behind a fetch of their line.
        bypass_merges: "accesses",
        /// Refusals because the port was used or the pipeline full.
        refused_port: "refusals",
        /// Refusals because no MSHR, or no entry for a bypassing access, was free.
        refused_mshr: "refusals",
        /// Refusals because the line's MSHR could merge no more.
        refused_merge: "refusals",
        /// Refusals because every way of the set waited for a fill.
        refused_ways: "refusals",
        /// Refusals because the queue to the network or the write buffer was full.
        refused_network: "refusals",
        /// Refusals because the bank was busy.
        refused_bank: "refusals",
        /// Refusals because a flush was in progress.
        refused_flush: "refusals",
        /// Lines evicted to make room for another.
        evictions: "lines",
        /// Lines whose dirty bytes were sent below: at an eviction, a flush or a bypass.
        write_backs: "lines",
        /// Stores sent below immediately: written through, not allocated, or bypassing the cache.
        write_throughs: "accesses",
        /// Read requests for lines that the cache keeps.
        fetches: "requests",
        /// Replies to the fetches.
        fills: "requests",
        /// Bytes brought by fills.
        fill_bytes: "bytes",
        /// Bytes of headers and payloads sent to the network.
        bytes_out: "bytes",
        /// Bytes of headers and payloads that came from the network.
        bytes_in: "bytes",
        /// Flushes that were begun.
        flushes: "flushes",
        /// Probes of the tags of a set.
        tag_reads: "probes" [energy],
        /// Frames assigned to another line.
        tag_writes: "frames" [energy],
        /// Reads of a line's data: one for each load served (on a hit or after a fill) and for each
        /// write-back.
        data_reads: "lines" [energy],
        /// Writes into a line's data: stores and fills.
        data_writes: "lines" [energy],
        /// Loads that went past the cache, on request or because their line was not to be kept. Each searched it, and
        /// data is read along with the tags.
        past_loads: "accesses" [energy],
        /// Stores and atomics that went past the cache. Each searched its tags.
        past_writes: "accesses" [energy],
    }
    laws {
        "accesses = loads + stores + atomics + bypass_loads + bypass_stores":
            |s| s.accesses == s.loads + s.stores + s.atomics + s.bypass_loads + s.bypass_stores,
        "loads = load_hits + load_misses + load_partial_hits + load_merges":
            |s| s.loads == s.load_hits + s.load_misses + s.load_partial_hits + s.load_merges,
        "stores = store_hits + store_misses + store_partial_hits + store_merges":
            |s| s.stores == s.store_hits + s.store_misses + s.store_partial_hits + s.store_merges,
        "bypass_merges <= atomics + bypass_loads + bypass_stores":
            |s| s.bypass_merges <= s.atomics + s.bypass_loads + s.bypass_stores,
        "bypass_loads <= past_loads": |s| s.bypass_loads <= s.past_loads,
        "atomics + bypass_stores <= past_writes": |s| s.atomics + s.bypass_stores <= s.past_writes,
        "fills <= fetches": |s| s.fills <= s.fetches,
        "evictions <= tag_writes": |s| s.evictions <= s.tag_writes,
    }
}

impl L1dStatistics {
    /// Counts an accepted access, which goes `past` the cache or finds something there.
    #[inline]
    pub fn count(&mut self, access: &Access, past: bool, found: Found) {
        let statistics = self;
        statistics.accesses += 1;
        statistics.tag_reads += 1;
        if past || found == Found::Past {
            let loads = matches!(access.action, Action::Load(_));
            *if loads { &mut statistics.past_loads } else { &mut statistics.past_writes } += 1;
        }
        if past {
            statistics.bypass_merges += u64::from(found == Found::Merge);
            *match access.action {
                Action::Load(_) => &mut statistics.bypass_loads,
                Action::Store(_) => &mut statistics.bypass_stores,
                Action::Atomic(_) => &mut statistics.atomics,
            } += 1;
        } else if matches!(access.action, Action::Load(_)) {
            statistics.loads += 1;
            *match found {
                Found::Hit => &mut statistics.load_hits,
                Found::Miss | Found::Past => &mut statistics.load_misses,
                Found::Partial => &mut statistics.load_partial_hits,
                Found::Merge => &mut statistics.load_merges,
            } += 1;
        } else {
            statistics.stores += 1;
            *match found {
                Found::Hit => &mut statistics.store_hits,
                Found::Miss | Found::Past => &mut statistics.store_misses,
                Found::Partial => &mut statistics.store_partial_hits,
                Found::Merge => &mut statistics.store_merges,
            } += 1;
        }
    }

    /// Counts a refusal by its cause.
    #[inline]
    pub fn refuse(&mut self, cause: Refusal) {
        self.add_refusals(cause, 1);
    }

    /// Counts refusals by their cause.
    #[inline]
    pub fn add_refusals(&mut self, cause: Refusal, count: u64) {
        *match cause {
            Refusal::Port => &mut self.refused_port,
            Refusal::Mshr => &mut self.refused_mshr,
            Refusal::Merge => &mut self.refused_merge,
            Refusal::Ways => &mut self.refused_ways,
            Refusal::Network => &mut self.refused_network,
            Refusal::Bank => &mut self.refused_bank,
            Refusal::Flush => &mut self.refused_flush,
        } += count;
    }
}
