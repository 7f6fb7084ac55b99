//! What a core counts.

strata_engine::statistics! {
    /// Counters of the CPU cores, in their own cycles.
    pub struct CpuStatistics: "cpu" {
        /// Threads that have ended.
        threads: "threads",
        /// Instructions executed.
        instructions: "instructions",
        /// Cycles from the beginning of a core's first thread of a phase until its L1D has been flushed.
        cycles: "cycles",
        /// Cycles in which the core waited for a value from memory.
        stall_memory: "cycles",
        /// Cycles in which a memory instruction found no room in the store buffer.
        stall_store: "cycles",
        /// Cycles in which the core waited for a fence.
        stall_fence: "cycles",
        /// Cycles in which the core slept.
        stall_sleep: "cycles",
        /// Cycles in which the core waited for its L1D's flush at the end of a phase.
        stall_flush: "cycles",
        /// Packets sent to the network.
        packets: "packets",
    }
    laws {
        "cycles = instructions + stall_memory + stall_store + stall_fence + stall_sleep + stall_flush": |s| s.cycles
            == s.instructions + s.stall_memory + s.stall_store + s.stall_fence + s.stall_sleep + s.stall_flush,
    }
}
