//! Counters of an L2 slice.

use strata_engine::statistics;

statistics! {
    /// Counters of an L2 slice.
    pub struct L2Statistics: "l2" {
        /// Requests of any kind that were looked up.
        requests: "requests",
        /// Requests refused because the queue was full.
        refused: "requests",
        /// Read requests looked up.
        reads: "requests",
        /// Write requests looked up.
        writes: "requests",
        /// Atomic requests looked up; each holds the operations of one warp instruction on one line.
        atomics: "requests",
        /// Single operations in the atomic requests.
        atomic_operations: "operations" [energy],
        /// Reads that found all their bytes.
        read_hits: "requests",
        /// Reads whose line was not there.
        read_misses: "requests",
        /// Reads that found their line, but not all their bytes.
        read_partial_hits: "requests",
        /// Reads that waited behind a fetch of their line.
        read_merges: "requests",
        /// Writes whose line was there.
        write_hits: "requests",
        /// Writes whose line was not there.
        write_misses: "requests",
        /// Writes that waited behind a fetch of their line.
        write_merges: "requests",
        /// Atomics that found all their bytes.
        atomic_hits: "requests",
        /// Atomics whose line was not there.
        atomic_misses: "requests",
        /// Atomics that found their line, but not all their bytes.
        atomic_partial_hits: "requests",
        /// Atomics that waited behind a fetch of their line.
        atomic_merges: "requests",
        /// Cycles in which the next request waited for an MSHR.
        stalled_mshr: "L2 cycles",
        /// Cycles in which the next request waited because its line's MSHR could merge no more.
        stalled_merge: "L2 cycles",
        /// Cycles in which the next request waited because every way of the set waited for a fill.
        stalled_ways: "L2 cycles",
        /// Cycles in which the next request waited for room towards DRAM.
        stalled_dram: "L2 cycles",
        /// Cycles in which the next request waited for room in the queue of replies.
        stalled_reply: "L2 cycles",
        /// Lines evicted to make room for another, and lines with dirty bytes that took no way.
        evictions: "lines",
        /// Lines whose dirty bytes were sent to DRAM.
        write_backs: "lines",
        /// Dirty bytes sent to DRAM.
        write_back_bytes: "bytes",
        /// Reads sent to DRAM.
        fetches: "requests",
        /// Replies to the reads sent to DRAM.
        fills: "requests",
        /// Bytes requested from DRAM.
        fetch_bytes: "bytes",
        /// Bytes of the requests looked up, headers and payloads.
        bytes_in: "bytes",
        /// Bytes of the replies, headers and payloads.
        bytes_out: "bytes",
        /// Probes of the tags of a set.
        tag_reads: "probes" [energy],
        /// Frames assigned to another line.
        tag_writes: "frames" [energy],
        /// Reads of a line's data.
        data_reads: "lines" [energy],
        /// Writes into a line's data.
        data_writes: "lines" [energy],
    }
    laws {
        "requests = reads + writes + atomics": |s| s.requests == s.reads + s.writes + s.atomics,
        "reads = read_hits + read_misses + read_partial_hits + read_merges":
            |s| s.reads == s.read_hits + s.read_misses + s.read_partial_hits + s.read_merges,
        "writes = write_hits + write_misses + write_merges":
            |s| s.writes == s.write_hits + s.write_misses + s.write_merges,
        "atomics = atomic_hits + atomic_misses + atomic_partial_hits + atomic_merges":
            |s| s.atomics == s.atomic_hits + s.atomic_misses + s.atomic_partial_hits + s.atomic_merges,
        "fills <= fetches": |s| s.fills <= s.fetches,
        // For a line that is installed another leaves; one that passes was fetched.
        "evictions <= tag_writes + fetches": |s| s.evictions <= s.tag_writes + s.fetches,
        "write_backs <= evictions": |s| s.write_backs <= s.evictions,
    }
}
