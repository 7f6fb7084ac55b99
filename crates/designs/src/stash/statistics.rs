//! Counters of a stash.

use strata_engine::statistics;

statistics! {
    /// Counters of a stash. Accesses are those of lanes.
    pub struct StashStatistics: "stash" {
        /// Words found, or written without a registration.
        hits: "accesses" [energy],
        /// Words that needed a translation: asked for, registered, or copied from an older mapping.
        misses: "accesses" [energy],
        /// Words that another access had asked for.
        merges: "accesses",
        /// Words copied from an older mapping (4.5).
        copies: "words",
        /// Accesses refused for a cycle.
        refusals: "refusals",
        /// Translations of a virtual or a physical page.
        translations: "accesses" [energy],
        /// Words asked for.
        reads: "words",
        /// Words that came along with others of their line.
        words_along: "words",
        /// Words registered.
        registrations: "words",
        /// Chunks written back.
        chunks_written_back: "chunks",
        /// Words written back.
        words_written_back: "words",
        /// Words that others asked for, took, or that the registry recalled.
        remote_requests: "words",
        /// Mappings added.
        maps_added: "mappings",
        /// Mappings changed.
        maps_changed: "mappings",
        /// AddMaps and ChgMaps refused for a cycle.
        map_stalls: "refusals",
    }
    laws {
        "copies + reads <= misses": |s| s.copies + s.reads <= s.misses,
        "chunks_written_back <= words_written_back": |s| s.chunks_written_back <= s.words_written_back,
    }
}
