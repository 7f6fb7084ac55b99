//! What the load/store unit counts.

strata_engine::statistics! {
    /// Counters of the load/store unit.
    pub struct LsuStatistics: "lsu" {
        /// Memory instructions issued, prefetches included.
        instructions: "warp instructions",
        /// Loads among them.
        loads: "warp instructions",
        /// Stores among them.
        stores: "warp instructions",
        /// Atomics with a result among them.
        atomics: "warp instructions",
        /// Atomics without a result among them.
        reductions: "warp instructions",
        /// Texture fetches and queries of textures and surfaces among them.
        textures: "warp instructions",
        /// Prefetches among them, which do nothing.
        prefetches: "warp instructions",
        /// Loads, stores and atomics without an active lane.
        empty: "warp instructions",
        /// Instructions with lanes in global memory, textures and surfaces included.
        global_instructions: "warp instructions",
        /// Instructions with lanes in local memory.
        local_instructions: "warp instructions",
        /// Instructions with lanes in shared memory.
        shared_instructions: "warp instructions",
        /// Instructions with lanes in constant or parameter memory.
        constant_instructions: "warp instructions",
        /// Loads, stores and reductions of surfaces.
        surface_instructions: "warp instructions",
        /// Instructions whose lanes are in memories of more than one kind.
        split_instructions: "warp instructions",
        /// Instructions that have finished.
        finished: "warp instructions",
        /// Cycles from issue to the end of the last access, summed over finished instructions.
        latency_cycles: "cycles",
        /// Accesses made for the L1D: over global and local instructions, the coalescing degree.
        accesses: "accesses",
        /// Accesses that the L1D has completed.
        completions: "accesses",
        /// Bytes that lanes asked for at the L1D, each lane's counted.
        bytes_requested: "bytes",
        /// Bytes of the accesses at the L1D, shared ones counted once.
        bytes_accessed: "bytes",
        /// Cycles in which an access could not be made because as many as possible were under way.
        full_cycles: "cycles",
        /// Cycles in which the next access waited because the port was used already.
        refused_port: "cycles",
        /// Cycles in which the next access waited because there was no free MSHR.
        refused_mshr: "cycles",
        /// Cycles in which the next access waited because the MSHR of its line could merge no more.
        refused_merge: "cycles",
        /// Cycles in which the next access waited because every way of its set was being filled.
        refused_ways: "cycles",
        /// Cycles in which the next access waited because there was no room towards the network.
        refused_network: "cycles",
        /// Cycles in which the next access waited because the bank was busy.
        refused_bank: "cycles",
        /// Cycles in which the next access waited because a flush was under way.
        refused_flush: "cycles",
        /// Texels that lanes of fetches read, each lane's counted.
        texels: "texels" [energy],
        /// Cycles in which the texture unit addressed texels.
        texture_cycles: "cycles",
        /// Passes through shared memory.
        shared_passes: "cycles" [energy],
        /// Passes beyond those that instructions without bank conflicts would have taken.
        shared_conflict_cycles: "cycles",
        /// Lines read through the constant cache.
        constant_lines: "accesses",
        /// Offers that the constant cache refused.
        constant_refused: "offers",
        /// Fences, those of acquire and release operations included.
        fences: "fences",
        /// Cycles that warps waited for their fences.
        fence_cycles: "warp cycles",
        /// Flushes of the L1D that fences and kernel ends began.
        flushes: "flushes",
    }
    laws {
        "instructions = loads + stores + atomics + reductions + textures + prefetches": |s| s.instructions
            == s.loads + s.stores + s.atomics + s.reductions + s.textures + s.prefetches,
        "finished = instructions": |s| s.finished == s.instructions,
        "completions = accesses": |s| s.completions == s.accesses,
        "surface_instructions <= global_instructions": |s| s.surface_instructions <= s.global_instructions,
        "bytes_accessed <= bytes_requested": |s| s.bytes_accessed <= s.bytes_requested,
        "instructions by memory cover those with lanes": |s| {
            let parts = s.global_instructions + s.local_instructions + s.shared_instructions
                + s.constant_instructions;
            let whole = s.instructions - s.prefetches - s.empty;
            whole + s.split_instructions <= parts && parts <= whole + 3 * s.split_instructions
        },
        "shared_conflict_cycles <= shared_passes": |s| s.shared_conflict_cycles <= s.shared_passes,
    }
}
