//! The CUDA runtime API, as a client of whatever `libcuda.so.1` a process finds: what `libcudart.so.11.0`, `.12` and `.13`
//! share.
//!
//! An executable that a CUDA compiler made registers its fat binaries before `main` (`registry`); nothing is loaded until
//! something of one is used. Exported functions (`api/`) check what the client gave and call the driver (`driver`) in the
//! primary context, which the first of them makes current (`context`). A function that fails is noted as its thread's last
//! error ([`error`]). Nothing unwinds into the client.
//!
//! Where the versions differ in the layout of a structure or in a signature, the three libraries export functions of their
//! own with the help of [`versions`]. They are thin: see `crates/cudart-12`.
#![deny(unsafe_op_in_unsafe_fn)]

mod api;
pub mod client;
mod context;
mod driver;
pub mod error;
mod fatbin;
mod format;
mod log;
mod names;
mod registry;
pub mod versions;

pub use api::{answer, plain};
