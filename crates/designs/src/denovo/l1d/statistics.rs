//! Counters of a DeNovo L1D, beside those of every L1D.

use strata_engine::statistics;

statistics! {
    /// Counters of the coherence of an L1D. Words are of 4 bytes.
    pub struct DenovoStatistics: "denovo" {
        /// Registration requests sent.
        registrations: "packets",
        /// Words in them.
        registered_words: "words",
        /// Those of them of which a part was written, so that the rest was asked for.
        partly_written_words: "words",
        /// Writebacks sent for lines that were replaced, or went past the cache.
        write_backs: "packets",
        /// Words in them.
        written_back_words: "words",
        /// Requests of others that the registry sent on, and recalls.
        remote_requests: "packets" [energy],
        /// Words sent to others who read them.
        supplied_words: "words",
        /// Words given up to others who registered them.
        yielded_words: "words",
        /// Words returned to the registry that recalled them.
        returned_words: "words",
        /// Requests of others that had to wait for the rest of a word that is partly written here.
        set_aside: "packets",
        /// Self-invalidations, at fences and ends of kernels.
        self_invalidations: "flushes",
        /// Valid words that they dropped.
        invalidated_words: "words",
        /// Registered words that they kept, summed over them.
        kept_words: "words",
    }
    laws {
        "registered_words >= registrations": |s| s.registered_words >= s.registrations,
        "partly_written_words <= registered_words": |s| s.partly_written_words <= s.registered_words,
        "written_back_words >= write_backs": |s| s.written_back_words >= s.write_backs,
    }
}
