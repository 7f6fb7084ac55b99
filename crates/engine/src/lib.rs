//! Time, links, islands, statistics and configuration of a cycle-level model.
