//! Counters of the controllers.

use strata_engine::statistics;

statistics! {
    /// Counters of a Morpheus controller, beside those of its conventional slice.
    pub struct MorpheusStatistics: "morpheus" {
        /// Requests of SMs in compute mode whose line belongs to the extended LLC.
        requests: "requests",
        /// Reads among them.
        reads: "requests",
        /// Writes among them.
        writes: "requests",
        /// Atomics among them; each holds the operations of one warp instruction on one line.
        atomics: "requests",
        /// Requests that waited behind an earlier one to their block, before they were predicted.
        waited_for_block: "requests",
        /// Predictions that the set has the block.
        predicted_hits: "predictions",
        /// Predictions that it does not; right whenever the filters are.
        predicted_misses: "predictions",
        /// Predicted hits whose block was there.
        true_hits: "predictions",
        /// Predicted hits whose block was not there, so that the warp loaded it, or got it with a write of the whole line.
        false_hits: "predictions",
        /// Predicted misses of blocks that were there. There must be none.
        false_misses: "predictions",
        /// Times that a set's filters changed places.
        filter_swaps: "swaps",
        /// Predicted misses that were fetched from DRAM; the rest were writes, of whole lines or of bytes whose block no request needed.
        fetches: "requests",
        /// Writes of some bytes to blocks that their sets do not have, which waited for the rest of the block.
        gathered: "requests",
        /// Blocks that other writes made whole, so that they were not fetched.
        made_whole: "blocks",
        /// Blocks whose bytes went to memory when they had waited long enough.
        written_past: "blocks",
        /// Operations whose set did not have the block and left the fetch to the controller: sets of published costs only.
        late_fetches: "operations",
        /// Blocks of predicted misses that were not inserted since their warp was busy.
        dropped_insertions: "blocks",
        /// Operations handed to warps.
        operations: "operations",
        /// Reads handed to warps, those of atomics that the kernel does not have included.
        read_operations: "operations",
        /// Writes handed to warps, those of such atomics and of bytes that the host changed included.
        write_operations: "operations",
        /// Insertions handed to warps.
        insertions: "operations",
        /// Atomic operations handed to warps.
        atomic_operations: "operations",
        /// Blocks that compressed sets put into 32 bytes.
        blocks_of_32_bytes: "blocks",
        /// Blocks that compressed sets put into 64 bytes.
        blocks_of_64_bytes: "blocks",
        /// Blocks that compressed sets put into 128 bytes.
        blocks_of_128_bytes: "blocks",
        /// Requests that needed no operation of a warp: the data buffers had the bytes, or took them.
        merged: "requests",
        /// Operations that warps have ended.
        results: "operations",
        /// Bytes that host copies changed in blocks of sets, handed over as writes.
        patches: "operations",
        /// L2 cycles from when an operation could have been handed over to its result, summed over operations.
        service_cycles: "L2 cycles",
        /// Operations that found no free entry of the data buffers when their turn came.
        waited_for_buffer: "operations",
        /// Loads of rows that were answered with an operation.
        row_loads: "requests",
        /// Loads of rows that were answered with nothing to do: warps that poll.
        idle_loads: "requests",
        /// Loads of payloads.
        payload_loads: "requests",
        /// Stores of payloads.
        payload_stores: "requests",
        /// Reads of memory by SMs in cache mode, past the conventional LLC: code, parameters, and blocks of false hits.
        past_reads: "requests",
        /// Writes of memory by SMs in cache mode, past the conventional LLC: victims.
        past_writes: "requests",
        /// Lines of the extended LLC that the program wished for, which are not fetched.
        ignored_hints: "requests",
        /// Bytes read from DRAM by the controller and past it.
        dram_read_bytes: "bytes",
        /// Bytes written to DRAM past the conventional LLC.
        dram_written_bytes: "bytes",
        /// Bytes of requests and of accesses to the window and to memory, headers and payloads.
        bytes_in: "bytes",
        /// Bytes of the replies, headers and payloads.
        bytes_out: "bytes",
        /// Blocks that came back with other bytes than their set was given. There must be none.
        wrong_bytes: "blocks",
        /// Look-ups in Bloom filters.
        filter_reads: "look-ups" [energy],
        /// Blocks entered into both filters of a set.
        filter_writes: "blocks" [energy],
        /// Reads and writes of rows of the warp status table.
        table_accesses: "rows" [energy],
        /// Lines read from or written to the data buffers.
        buffer_accesses: "lines" [energy],
    }
    laws {
        "requests = reads + writes + atomics": |s| s.requests == s.reads + s.writes + s.atomics,
        "predicted_hits = true_hits + false_hits": |s| s.predicted_hits == s.true_hits + s.false_hits,
        "false_misses = 0": |s| s.false_misses == 0,
        "wrong_bytes = 0": |s| s.wrong_bytes == 0,
        "operations = read_operations + write_operations + insertions + atomic_operations":
            |s| s.operations == s.read_operations + s.write_operations + s.insertions + s.atomic_operations,
        "results <= operations": |s| s.results <= s.operations,
        "blocks of 32, 64 and 128 bytes <= results":
            |s| s.blocks_of_32_bytes + s.blocks_of_64_bytes + s.blocks_of_128_bytes <= s.results,
        "dropped_insertions <= fetches + late_fetches": |s| s.dropped_insertions <= s.fetches + s.late_fetches,
        "made_whole + written_past <= gathered": |s| s.made_whole + s.written_past <= s.gathered,
        "fetches <= predicted_misses": |s| s.fetches <= s.predicted_misses,
        "late_fetches <= results": |s| s.late_fetches <= s.results,
    }
}
