//! What a policy of a cache is told of the sets that it serves.

use strata_engine::seed::Stream;

/// The shape of the sets that a policy serves.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Number of sets.
    pub sets: usize,
    /// Ways of each, 1 to 64.
    pub ways: usize,
    /// Random numbers of the cache.
    pub stream: Stream,
}
