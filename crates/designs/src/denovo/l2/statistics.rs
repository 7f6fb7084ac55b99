//! Counters of a registry, beside those of every L2 slice.

use strata_engine::statistics;

statistics! {
    /// Counters of the coherence of an L2 slice. Words are of 4 bytes.
    pub struct RegistryStatistics: "registry" {
        /// Registration requests performed.
        registrations: "requests",
        /// Words registered.
        registered_words: "words",
        /// Reads sent on to owners.
        forwarded_reads: "packets",
        /// Registrations sent on to former owners.
        forwarded_registrations: "packets",
        /// Words that were sent along with others.
        extra_words: "words",
        /// Recalls sent because a line was evicted.
        eviction_recalls: "packets",
        /// Recalls sent because a strong operation needed words.
        operation_recalls: "packets",
        /// Writebacks received.
        write_backs: "packets",
        /// Words that owners wrote back.
        written_back_words: "words",
        /// Words that came back after a recall.
        returned_words: "words",
        /// Words that former owners wrote back, and that were dropped.
        dropped_words: "words",
        /// Slots written with an owner's name.
        names_written: "words" [energy],
        /// Cycles in which the next request waited for recalled words of the line whose place it takes.
        stalled_recall: "L2 cycles",
    }
    laws {
        "registered_words >= registrations": |s| s.registered_words >= s.registrations,
        "names_written = registered_words": |s| s.names_written == s.registered_words,
    }
}
