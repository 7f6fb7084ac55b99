//! The CUDA driver API on a modelled GPU: a `libcuda.so.1` that unmodified programs load.
//!
//! An exported function (`api/`) checks what the client gave, does it under the one lock (`state`) and answers with a
//! `status::Status`. Handles are numbers that are looked up (`table`); a client's memory is touched through `client`'s
//! pointers only. Nothing unwinds into the client. Every operation is complete when its call returns, streams or not.
//!
//! Environment: `STRATA_MACHINE`, `STRATA_SYSTEM`, `STRATA_SET`, `STRATA_MODE`, `STRATA_THREADS`, `STRATA_RESULTS`,
//! `STRATA_COMPUTE_CAPABILITY`, `STRATA_LOG`: docs/driver.md.
#![deny(unsafe_op_in_unsafe_fn)]

mod allocation;
mod api;
mod blocks;
mod buffer;
mod client;
mod current;
mod engine;
mod image;
mod jit;
mod limits;
mod log;
mod objects;
mod resource;
mod results;
mod settings;
mod state;
mod status;
mod table;
mod transfer;
