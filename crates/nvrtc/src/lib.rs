//! Stands before the NVRTC that a program brings: a program compiled for a real architecture is compiled for the virtual one of the
//! same number, and its "CUBIN" is the PTX (NVRTC's manual, "Compilation" and "Supported Compile Options").
//!
//! The dynamic linker finds every other function in NVRTC itself, which this library needs (`build.rs`).
#![deny(unsafe_op_in_unsafe_fn)]

mod api;
mod architecture;
mod real;
