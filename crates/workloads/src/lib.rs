//! Programs to run: CUDA C, its PTX, inputs and independently computed results.
//!
//! A [`Workload`] describes a program; [`Workload::program`] gives its host side at one [`Size`], and the host
//! side runs on anything that implements [`Device`]: a functional executor, a timed machine, a real GPU.
//!
//! ```ignore
//! let workload = strata_workloads::find("gemm").unwrap();
//! let program = workload.program(Size::Test);
//! let mut device = MyGpu::with_module(program.module())?;
//! let outcome = program.run(&mut device)?;
//! assert!(outcome.passed(), "{outcome}");
//! ```
//!
//! What this crate does not know: what a device is made of. It depends on no simulator crate, and nothing it
//! computes comes from a kernel's PTX.

pub mod check;
pub mod device;
pub mod random;
pub mod suite;

mod element;
mod program;

pub use check::{Comparison, Mismatch};
pub use device::{Arg, Device, DeviceError, DevicePtr};
pub use element::Element;
pub use program::{HostProgram, Module, Outcome, Output};
pub use suite::{Size, UnknownSize, Workload, all, find};
