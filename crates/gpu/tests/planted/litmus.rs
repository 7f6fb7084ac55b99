//! The litmus tests, to be run on machines with a bug.

#[path = "../litmus/kernel.rs"]
pub mod kernel;
#[path = "../litmus/outcomes.rs"]
pub mod outcomes;
#[path = "../litmus/tests.rs"]
pub mod tests;
