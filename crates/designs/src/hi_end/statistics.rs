//! Counters of the banks, of the units and of what lies above the banks.

use strata_engine::statistics;
use strata_memory::base_delta::DeltaWidth;

use super::compression::Range;

statistics! {
    /// Counters of banks of any technology.
    pub struct BankStatistics: "register_banks" {
        /// Reads of a row, or of its compressed form.
        row_reads: "rows",
        /// Writes of a row, or of its compressed form.
        row_writes: "rows",
        /// Bits of the banks that reads activated.
        bits_read: "bits" [energy],
        /// Bits that were written.
        bits_written: "bits" [energy],
        /// Words of all banks: what a bank holds of a row.
        words: "words" [maximum],
        /// Writes of the most written word.
        hottest_word_writes: "writes" [maximum],
        /// Writes of the most written bank.
        hottest_bank_writes: "writes" [maximum],
    }
    laws {
        "hottest_word_writes <= hottest_bank_writes": |s| s.hottest_word_writes <= s.hottest_bank_writes,
        "hottest_bank_writes <= row_writes": |s| s.hottest_bank_writes <= s.row_writes,
    }
}

statistics! {
    /// Counters of the compression unit, the decompression unit and the compression indicator table.
    pub struct CompressionStatistics: "register_compression" {
        /// Rows that the compression unit looked at.
        compressions: "rows" [energy],
        /// Compressed rows that were restored.
        decompressions: "rows" [energy],
        /// Reads and writes of the compression indicator table.
        table_accesses: "accesses" [energy],
        /// Rows of equal values.
        delta_0: "rows",
        /// Rows with deltas of one byte.
        delta_1: "rows",
        /// Rows with deltas of two bytes.
        delta_2: "rows",
        /// Rows that could not be compressed.
        whole: "rows",
    }
    laws {
        "compressions = delta_0 + delta_1 + delta_2 + whole":
            |s| s.compressions == s.delta_0 + s.delta_1 + s.delta_2 + s.whole,
    }
}

impl CompressionStatistics {
    /// Counts a row that was compressed into the range.
    #[inline]
    pub fn count(&mut self, range: Range) {
        self.compressions += 1;
        let counter = match range {
            Range::Deltas(DeltaWidth::Zero) => &mut self.delta_0,
            Range::Deltas(DeltaWidth::One) => &mut self.delta_1,
            Range::Deltas(DeltaWidth::Two) => &mut self.delta_2,
            Range::Whole => &mut self.whole,
        };
        *counter += 1;
    }
}

statistics! {
    /// Counters of the register cache and of the buffer in front of the banks.
    pub struct HierarchyStatistics: "register_hierarchy" {
        /// Rows that operand collectors read.
        reads: "rows",
        /// Reads served by the register cache.
        cache_reads: "rows",
        /// Reads served by the buffer.
        buffer_reads: "rows",
        /// Reads served by the banks.
        bank_reads: "rows",
        /// Cycles from a read's grant to the operand in its collector, summed over reads.
        read_cycles: "row-cycles",
        /// Writes that found their row in the register cache, or waiting in the central write buffer.
        write_hits: "rows",
        /// Rows that left the register cache for another row.
        evictions: "rows",
        /// Writes of some lanes that had to read the others from below.
        merges: "rows",
        /// Cycles that reads waited for the lanes of such a row, summed over reads.
        merge_waits: "row-cycles",
        /// Rows in the buffer when another one came, summed.
        buffer_occupancy: "rows",
        /// Writes refused for a cycle because the buffer was full.
        buffer_full: "refusals",
        /// Writes refused for a cycle because lanes of the row in their line were missing.
        merging_refusals: "refusals",
        /// Rows in the register cache or the buffer that were given up with their warp.
        dead_rows: "rows",
        /// Bits read in the register cache: a line, or the tag alone on a miss.
        cache_bits_read: "bits" [energy],
        /// Bits written in the register cache, tags included.
        cache_bits_written: "bits" [energy],
        /// Bits read in the buffer: the names of all entries in a search, and a row.
        buffer_bits_read: "bits" [energy],
        /// Bits written in the buffer.
        buffer_bits_written: "bits" [energy],
    }
    laws {
        "reads = cache_reads + buffer_reads + bank_reads":
            |s| s.reads == s.cache_reads + s.buffer_reads + s.bank_reads,
    }
}
