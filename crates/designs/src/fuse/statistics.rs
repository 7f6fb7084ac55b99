//! Counters of a FUSE L1D, in addition to those of every L1D.

use strata_engine::statistics;

statistics! {
    /// Counters of the banks, of the path between them and of the predictors.
    pub struct FuseStatistics: "fuse" {
        /// Accesses performed in SRAM without a fetch.
        sram_hits: "accesses",
        /// Accesses performed in STT-MRAM, or after a migration from there, without a fetch.
        stt_hits: "accesses",
        /// Loads answered by the swap buffer.
        swap_hits: "accesses",
        /// Misses given a frame of SRAM.
        fills_to_sram: "misses",
        /// Misses given a frame of STT-MRAM.
        fills_to_stt: "misses",
        /// Accesses that missed and were sent past the cache because their line was predicted to be useless.
        bypasses: "accesses",
        /// Stores that hit and were sent past the cache with their line: predicted closing writes.
        closing_writes: "accesses",
        /// Writes of sampled lines that were useful, according to the dead-write predictor.
        sampled_live_writes: "writes",
        /// Fills of sampled lines that were evicted untouched.
        sampled_dead_on_arrival_fills: "writes",
        /// Fills of sampled lines that were overwritten unread.
        sampled_dead_value_fills: "writes",
        /// Stores to sampled lines that another store followed, with nothing between them that read the line.
        sampled_dead_stores: "writes",
        /// Stores to sampled lines that were evicted without another access.
        sampled_closing_writes: "writes",
        /// Lines that moved from SRAM to STT-MRAM, or to its swap buffer.
        migrations_to_stt: "lines",
        /// Lines that moved from STT-MRAM to SRAM.
        migrations_to_sram: "lines",
        /// Lines that SRAM evicted to the last-level cache.
        sram_evictions: "lines",
        /// Lines that STT-MRAM evicted to the last-level cache.
        stt_evictions: "lines",
        /// Commands put into the tag queue.
        tag_queue_pushes: "commands" [energy],
        /// Commands in the tag queue at each push, summed; divided by the pushes, the mean occupancy.
        tag_queue_occupancy: "commands",
        /// Migrations among those commands, marked "F".
        tag_queue_migrations: "commands",
        /// Commands that had to be served before an access that the queue cannot hold.
        tag_queue_flushed: "commands",
        /// Accesses for which the tag queue was emptied.
        tag_queue_flushes: "accesses",
        /// Loads moved to the end of the tag queue, behind the migration that they need.
        tag_queue_rotations: "accesses" [energy],
        /// Refusals because of a full tag queue.
        tag_queue_full: "refusals",
        /// Refusals because of a full swap buffer.
        swap_buffer_full: "refusals",
        /// Lines in the swap buffer at each push of a line, summed.
        swap_buffer_occupancy: "lines",
        /// Refusals because the access, or the front of the tag queue, waited for a write in STT-MRAM to end
        /// (Fig. 15).
        stt_write_stalls: "refusals",
        /// Refusals because the access, or the front of the tag queue, waited for the bus.
        bus_stalls: "refusals",
        /// Refusals because the access before, or the front of the tag queue, was being searched for (Fig.
        /// 15).
        tag_search_stalls: "refusals",
        /// Refusals because an earlier access waited for an MSHR, a way, the network, a read of STT-MRAM or
        /// its turn.
        other_stalls: "refusals",
        /// Searches of all filters.
        cbf_tests: "searches" [energy],
        /// Filters that answered positive.
        cbf_positives: "filters",
        /// Filters that answered positive for a line that was not in their rows.
        cbf_false_positives: "filters",
        /// Filters that were tested.
        cbf_filters_tested: "filters",
        /// Lines that came into a filter or left it.
        cbf_updates: "lines" [energy],
        /// Filters recomputed from the tags of their rows.
        cbf_recounts: "filters" [energy],
        /// Requests that a predictor's sampler looked up and recorded.
        sampler_searches: "requests" [energy],
        /// Predictions read from a predictor's table: by accesses, and by lines that leave SRAM.
        history_reads: "predictions" [energy],
        /// Changes of a predictor's table.
        history_updates: "updates" [energy],
        /// Cycles in which the polling logic compared tags.
        tag_search_cycles: "cycles" [energy],
        /// Searches that polled at least one row.
        polled_searches: "searches",
        /// Misses whose line was predicted write-multiple.
        predicted_wm: "misses",
        /// Misses whose line was predicted write-once-read-multiple.
        predicted_worm: "misses",
        /// Misses whose line was predicted write-once-read-once.
        predicted_woro: "misses",
        /// Misses without a prediction.
        predicted_neutral: "misses",
        /// Lines that left the cache and were written as often as predicted (V-A).
        accuracy_true: "lines",
        /// Lines that left the cache and were not written as often as predicted.
        accuracy_false: "lines",
        /// Lines that left the cache and had no prediction.
        accuracy_neutral: "lines",
        /// Lines that the internal bus carried.
        bus_transfers: "lines",
        /// Reads of SRAM lines: one for each load served (on a hit or after a fill), each write-back and each
        /// move.
        sram_reads: "lines" [energy],
        /// Writes of SRAM lines.
        sram_writes: "lines" [energy],
        /// Reads of STT-MRAM lines, counted like those of SRAM.
        stt_reads: "lines" [energy],
        /// Writes of STT-MRAM lines.
        stt_writes: "lines" [energy],
        /// Reads of the swap buffer.
        swap_reads: "lines" [energy],
        /// Writes of the swap buffer.
        swap_writes: "lines" [energy],
        /// Writes of the most frequently written STT-MRAM line.
        stt_hottest_line_writes: "writes" [maximum],
        /// Packets that left for the network.
        outgoing_packets: "packets",
    }
    laws {
        "cbf_false_positives <= cbf_positives": |s| s.cbf_false_positives <= s.cbf_positives,
        "cbf_positives <= cbf_filters_tested": |s| s.cbf_positives <= s.cbf_filters_tested,
        "polled_searches <= cbf_tests": |s| s.polled_searches <= s.cbf_tests,
        "polled_searches <= tag_search_cycles": |s| s.polled_searches <= s.tag_search_cycles,
        "tag_queue_migrations <= tag_queue_pushes": |s| s.tag_queue_migrations <= s.tag_queue_pushes,
        "stt_hottest_line_writes <= stt_writes": |s| s.stt_hottest_line_writes <= s.stt_writes,
    }
}
