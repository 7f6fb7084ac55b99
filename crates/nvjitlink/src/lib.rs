//! Stands before the nvJitLink that a program brings, and links to PTX what was to be linked to machine code (nvJitLink's manual,
//! "Linking and LTO").
//!
//! nvJitLink links LTO-IR to PTX when it is asked to, but no PTX; so texts are kept here (`link`), and its result is linked with
//! them by Strata's own rules. The dynamic linker finds every function that is not here in nvJitLink itself, which this library needs
//! (`build.rs`).
#![deny(unsafe_op_in_unsafe_fn)]

mod api;
mod link;
mod real;
