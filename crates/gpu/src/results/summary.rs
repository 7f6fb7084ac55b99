//! A run for a reader.
