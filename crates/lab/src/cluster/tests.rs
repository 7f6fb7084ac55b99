//! Sweeps by a scheduler that a test plays.
