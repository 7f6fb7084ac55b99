//! Programs to run: CUDA C, its PTX, inputs and independently computed results.
//!
//! A [`Workload`] describes a program; [`Workload::program`] gives its host side at one [`Size`], and the host
//! side runs on anything that implements [`Device`]: a functional executor, a timed machine, a real GPU.
//!
//! ```
//! use strata_workloads::{Device, DeviceError, Size, find};
//!
//! /// `device` has loaded the program's module.
//! fn check_gemm(device: &mut dyn Device) -> Result<(), DeviceError> {
//!     let program = find("gemm").expect("a built-in workload").program(Size::Test).expect("all have it");
//!     let outcome = program.run(device)?;
//!     assert!(outcome.passed(), "{outcome}");
//!     Ok(())
//! }
//! ```
//!
//! A [`launch_file`] describes a program around any PTX in a TOML file and gives the same host side.
//!
//! What this crate does not know: what a device is made of. It depends on no simulator crate, and nothing it
//! computes comes from a kernel's PTX.

pub mod check;
pub mod device;
pub mod launch_file;
pub mod micro;
pub mod random;
pub mod recording;
pub mod suite;

mod element;
mod elements;
mod glance;
mod host;
mod input;
mod mapreduce;
mod program;
mod reference;

pub use check::{Comparison, Mismatch};
pub use device::{Arg, Device, DeviceError, DevicePtr, Failure, Shape};
pub use element::Element;
pub use glance::Glance;
pub use program::{Expected, HostProgram, Module, Outcome, Output, Plan};
pub use suite::{
    Input, Kernel, Measured, MeasuredKernel, MissingSize, MissingVersion, Origin, Piece, Size, UnknownSize,
    Workload, all, find,
};
