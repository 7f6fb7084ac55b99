//! Machine files.

pub mod overrides;
