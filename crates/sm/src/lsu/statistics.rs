//! What the load/store unit counts.

strata_engine::statistics! {
    /// Counters of the load/store unit.
    pub struct LsuStatistics: "lsu" {
        /// Memory instructions issued, including prefetches.
        instructions: "warp instructions",
        /// Loads issued, including matrix loads and mbarrier tests.
        loads: "warp instructions",
        /// Stores issued, including matrix stores.
        stores: "warp instructions",
        /// Atomics issued that return the old value, including mbarrier operations that return a state.
        atomics: "warp instructions",
        /// Atomics issued that return nothing, including mbarrier operations without a result.
        reductions: "warp instructions",
        /// Asynchronous copies (cp.async) issued.
        copies: "warp instructions",
        /// Commits of copy groups and arrivals on the completion of copies issued.
        copy_controls: "warp instructions",
        /// Texture fetches and texture or surface queries issued.
        textures: "warp instructions",
        /// Prefetches issued, in bulk or not.
        prefetches: "warp instructions",
        /// Lines offered to the L1D because prefetches name them; a line that several lanes of a step name counts once.
        hints: "lines",
        /// Of these, lines that the L1D had, asked for below, or sent on to the last-level cache as wishes,
        hints_taken: "lines",
        /// lines that its design has no place for,
        hints_ignored: "lines",
        /// and lines for which nothing was free in it.
        hints_dropped: "lines",
        /// Lanes whose prefetches name no line: beyond every allocation, in memory that is not prefetched, or by no tensor map.
        hints_nowhere: "lanes",
        /// Instructions issued with no active lane, plus every commit of a copy group.
        empty: "warp instructions",
        /// Instructions that access global memory, textures or surfaces.
        global_instructions: "warp instructions",
        /// Instructions that access local memory.
        local_instructions: "warp instructions",
        /// Instructions that access shared memory.
        shared_instructions: "warp instructions",
        /// Instructions that access constant or parameter memory.
        constant_instructions: "warp instructions",
        /// Surface loads, stores and reductions.
        surface_instructions: "warp instructions",
        /// Instructions whose lanes access more than one kind of memory.
        split_instructions: "warp instructions",
        /// Instructions that have completed all their accesses.
        finished: "warp instructions",
        /// Cycles from issue to the completion of the last access, summed over finished instructions.
        latency_cycles: "cycles",
        /// Accesses sent to the L1D; divide by global and local instructions for the coalescing degree.
        accesses: "accesses",
        /// Accesses that the L1D has completed.
        completions: "accesses",
        /// Addresses that lanes have given to the coalescer; an access wider than a segment counts for each segment.
        lane_addresses: "addresses" [energy],
        /// Bytes moved between lanes and the L1D, counted per lane.
        bytes_requested: "bytes" [energy],
        /// Bytes accessed at the L1D; bytes that several lanes share count once per access.
        bytes_accessed: "bytes",
        /// Accesses to the L1D that a lane path has made on its own.
        path_accesses: "accesses",
        /// Bytes of these accesses.
        path_bytes: "bytes",
        /// Cycles in which a ready access was held back because the maximum number of accesses was in flight.
        full_cycles: "cycles",
        /// Cycles in which the next access to the L1D stalled because its port was already in use.
        refused_port: "cycles",
        /// Cycles in which the next access to the L1D stalled because no MSHR was free.
        refused_mshr: "cycles",
        /// Cycles in which the next access to the L1D stalled because the MSHR of its line could merge no more.
        refused_merge: "cycles",
        /// Cycles in which the next access to the L1D stalled because every way of its set was being filled.
        refused_ways: "cycles",
        /// Cycles in which the next access to the L1D stalled because its queue to the network was full.
        refused_network: "cycles",
        /// Cycles in which the next access to the L1D stalled because the bank was busy.
        refused_bank: "cycles",
        /// Cycles in which the next access to the L1D stalled because a flush was in progress.
        refused_flush: "cycles",
        /// Texels read by texture fetches, counted per lane.
        texels: "texels" [energy],
        /// Cycles in which the texture unit generated texel addresses.
        texture_cycles: "cycles",
        /// Instructions, and accesses of a lane path's own, that shared memory has served.
        shared_accesses: "accesses",
        /// Addresses that lanes have given to the banks of shared memory.
        shared_addresses: "addresses" [energy],
        /// Bytes moved between lanes and shared memory, counted per lane.
        shared_bytes: "bytes" [energy],
        /// Passes through the banks of shared memory, one per cycle.
        shared_passes: "cycles" [energy],
        /// Extra passes through shared memory caused by bank conflicts and by serialized atomics.
        shared_conflict_cycles: "cycles",
        /// Lines requested from the constant cache.
        constant_lines: "accesses",
        /// Requests that the constant cache refused; each retry counts again.
        constant_refused: "offers",
        /// Fences completed, including those implied by acquire and release operations.
        fences: "fences",
        /// Cycles from the start of a fence to its end, summed over warps.
        fence_cycles: "warp cycles",
        /// L1D flushes started by fences and kernel ends.
        flushes: "flushes",
    }
    laws {
        "instructions = loads + stores + atomics + reductions + copies + copy_controls + textures + prefetches": |s| s.instructions
            == s.loads + s.stores + s.atomics + s.reductions + s.copies + s.copy_controls + s.textures + s.prefetches,
        "hints = hints_taken + hints_ignored + hints_dropped": |s| {
            s.hints == s.hints_taken + s.hints_ignored + s.hints_dropped
        },
        "finished = instructions": |s| s.finished == s.instructions,
        "completions = accesses": |s| s.completions == s.accesses,
        "surface_instructions <= global_instructions": |s| s.surface_instructions <= s.global_instructions,
        "bytes_accessed <= bytes_requested + path_bytes": |s| {
            s.bytes_accessed <= s.bytes_requested + s.path_bytes
        },
        "path_accesses <= accesses": |s| s.path_accesses <= s.accesses,
        "instructions by memory cover those with lanes": |s| {
            let parts = s.global_instructions + s.local_instructions + s.shared_instructions
                + s.constant_instructions;
            let whole = s.instructions - s.prefetches - s.empty;
            whole + s.split_instructions <= parts && parts <= whole + 3 * s.split_instructions
        },
        "shared_conflict_cycles <= shared_passes": |s| s.shared_conflict_cycles <= s.shared_passes,
    }
}
