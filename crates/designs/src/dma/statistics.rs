//! Counters of a DMA engine.

use strata_engine::statistics;

statistics! {
    /// Counters of a DMA engine.
    pub struct DmaStatistics: "dma" {
        /// Tiles copied to the scratchpad.
        loads: "copies",
        /// Tiles copied back.
        stores: "copies",
        /// Accesses to lines of global memory.
        accesses: "accesses",
        /// Words copied, either way.
        words: "words" [energy],
        /// Passes through the banks of the scratchpad, one for the words of an access.
        passes: "cycles",
        /// Cycles in which a copy was under way, and the core's memory instructions were blocked.
        busy_cycles: "cycles",
    }
    laws {
        "accesses <= words": |s| s.accesses <= s.words,
        "passes = accesses": |s| s.passes == s.accesses,
    }
}
