//! Counters of a DRAM channel.

strata_engine::statistics! {
    /// Counters of a DRAM channel.
    pub struct DramStatistics: "dram" {
        /// Read requests that were served.
        reads: "requests",
        /// Write requests that were served.
        writes: "requests",
        /// Bytes read, counting whole bursts.
        read_bytes: "bytes" [energy],
        /// Bytes written, counting whole bursts.
        written_bytes: "bytes" [energy],
        /// Bursts transferred, reads and writes together.
        bursts: "bursts",
        /// Rows opened by activate commands.
        activates: "commands" [energy],
        /// Rows closed for a request.
        precharges: "commands",
        /// Rows closed for a refresh.
        refresh_precharges: "commands",
        /// Refreshes, of all banks or of one.
        refreshes: "commands" [energy],
        /// Requests that found their row open.
        row_hits: "requests",
        /// Requests that found their bank closed.
        row_misses: "requests",
        /// Requests that found another row open.
        row_conflicts: "requests",
        /// Cycles in which the data bus moved bytes.
        data_bus_busy_cycles: "DRAM cycles",
        /// Requests in the queue, summed over cycles.
        queue_occupancy_cycles: "DRAM cycles",
        /// Cycles from acceptance to the return of the bytes, summed over reads.
        read_latency_cycles: "L2 cycles",
        /// Requests refused at least once because the queue was full.
        refused: "requests",
    }
    laws {
        "row_hits + row_misses + row_conflicts = reads + writes": |s| s.row_hits + s.row_misses + s.row_conflicts == s.reads + s.writes,
        "bursts >= reads + writes": |s| s.bursts >= s.reads + s.writes,
        "data_bus_busy_cycles >= bursts": |s| s.data_bus_busy_cycles >= s.bursts,
        "activates >= row_misses + row_conflicts": |s| s.activates >= s.row_misses + s.row_conflicts,
        "activates = row_misses + row_conflicts when nothing is refreshed": |s| s.refreshes > 0 || s.activates == s.row_misses + s.row_conflicts,
        "precharges = row_conflicts when nothing is refreshed": |s| s.refreshes > 0 || s.precharges == s.row_conflicts,
    }
}
