//! Counters of address translation.

use strata_engine::statistics;

statistics! {
    /// Counters of an SM's first-level TLB.
    pub struct FirstTlbStatistics: "l1_tlb" {
        /// Packets that were looked up.
        accesses: "packets" [energy],
        /// Packets that found their page.
        hits: "packets",
        /// Packets that asked for their page.
        misses: "packets",
        /// Packets whose page had been asked for already.
        merges: "packets",
        /// Pages that came.
        fills: "pages" [energy],
        /// Pages evicted to make room for another.
        evictions: "pages",
        /// Cycles that packets waited for their page, added up.
        wait_cycles: "cycles",
        /// Cycles in which a packet could not be looked up, since too many waited for their pages.
        stalled_cycles: "cycles",
    }
    laws {
        "accesses = hits + misses + merges": |s| s.accesses == s.hits + s.misses + s.merges,
        "fills <= misses": |s| s.fills <= s.misses,
        "evictions <= fills": |s| s.evictions <= s.fills,
    }
}

statistics! {
    /// Counters of an SM's second-level TLB.
    pub struct SecondTlbStatistics: "l2_tlb" {
        /// Pages that were looked for.
        accesses: "pages" [energy],
        /// Pages that were found.
        hits: "pages",
        /// Pages that were asked of the GMMU.
        misses: "pages",
        /// Pages that came.
        fills: "pages" [energy],
        /// Pages evicted to make room for another.
        evictions: "pages",
    }
    laws {
        "accesses = hits + misses": |s| s.accesses == s.hits + s.misses,
        "fills <= misses": |s| s.fills <= s.misses,
        "evictions <= fills": |s| s.evictions <= s.fills,
    }
}

statistics! {
    /// Counters of a GMMU.
    pub struct GmmuStatistics: "gmmu" {
        /// Requests of SMs that were looked up.
        accesses: "pages" [energy],
        /// Requests that found their page.
        hits: "pages",
        /// Requests for whose page a walk was needed.
        misses: "pages",
        /// Requests whose page was being walked for, or waited for a walker.
        merges: "pages",
        /// Walks that have ended.
        walks: "walks" [energy],
        /// Reads of page tables.
        walk_reads: "reads",
        /// Cycles that misses waited for a walker, added up.
        walker_wait_cycles: "cycles",
        /// Cycles that walks took, added up.
        walk_cycles: "cycles",
        /// Pages evicted to make room for another.
        evictions: "pages",
        /// Bytes of headers sent to the network.
        bytes_out: "bytes",
        /// Bytes of headers and payloads that came from the network.
        bytes_in: "bytes",
    }
    laws {
        "accesses = hits + misses + merges": |s| s.accesses == s.hits + s.misses + s.merges,
        "walks <= misses": |s| s.walks <= s.misses,
        "walks <= walk_reads": |s| s.walks <= s.walk_reads,
        "evictions <= walks": |s| s.evictions <= s.walks,
    }
}
