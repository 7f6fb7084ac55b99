//! What is done with a hostile input. The fuzz targets call it, and so does a test of the workspace
//! (`crates/gpu/tests/machine/corpus`) with every input of the corpora.
//!
//! Each `try_input` returns when the input is refused with an error or handled to its end. A panic, a hang, or
//! memory that grows beyond reason is a bug in what it calls.

pub mod launch_file;
pub mod machine;
pub mod mutate;
pub mod ptx;
