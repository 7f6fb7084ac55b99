//! From a machine file to an assembled GPU, its runs and their results.

pub mod device;
pub mod machine;
pub mod program;
pub mod results;
