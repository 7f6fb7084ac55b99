//! The part of the CUDA runtime API that `libcudart.so.11.0`, `.12` and `.13` share. It works on whatever
//! `libcuda.so.1` the process finds.
//!
//! An executable made by a CUDA compiler registers its fat binaries before `main` (`registry`); each is
//! loaded when something in it is first used. Exported functions (`api/`) check the client's arguments and
//! call the driver (`driver`) in the primary context, which the first call makes current (`context`). A
//! failure is recorded as the thread's last error ([`error`]). Panics do not unwind into the client.
//!
//! Where versions differ in the layout of a structure or in a signature, each library exports its own
//! functions, built on [`versions`]. See `crates/cudart-12`.
#![deny(unsafe_op_in_unsafe_fn)]

mod api;
pub mod client;
mod context;
pub mod default;
mod driver;
pub mod error;
mod format;
mod log;
mod names;
mod registry;
pub mod versions;

pub use api::{answer, plain};
