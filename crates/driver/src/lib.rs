//! The CUDA driver API on a modelled GPU: a `libcuda.so.1` that unmodified programs load.
//!
//! An exported function (`api/`) checks the client's arguments, acts under the single lock (`state`) and
//! returns a `status::Status`. Handles are numbers that are looked up (`table`); the client's memory is
//! accessed only through the pointers in `client`. Panics do not unwind into the client. Every operation is
//! complete when its call returns, even in a stream.
//!
//! Environment variables: `STRATA_MACHINE`, `STRATA_SYSTEM`, `STRATA_SET`, `STRATA_MODE`, `STRATA_THREADS`,
//! `STRATA_MAX_CYCLES`, `STRATA_RESULTS`, `STRATA_TIMELINE`, `STRATA_SPAN`, `STRATA_LOCK`, `STRATA_COMPUTE_CAPABILITY` and
//! `STRATA_LOG`; docs/driver.md describes them.
#![deny(unsafe_op_in_unsafe_fn)]

mod allocation;
mod api;
mod asked;
mod blocks;
mod buffer;
mod check;
mod client;
mod current;
mod engine;
mod graph;
mod image;
mod jit;
mod limits;
mod log;
mod managed;
mod objects;
mod output;
mod resident;
mod resource;
mod results;
mod running;
mod settings;
mod state;
mod status;
mod stop;
mod table;
mod timed;
mod timeline;
mod transfer;
mod work;
