//! Microbenchmarks: programs in generated PTX that tell one figure of a GPU each, a latency or a rate.
//!
//! Kernels read their SM's clock around what is measured and write the readings; launches whose times count are timed from
//! outside. Most figures come from two runs that differ in length only, so that what both cost alike drops out. The same
//! programs run on a modelled machine and, as launch files with a table of how each figure is read, on a GPU.

mod arithmetic;
mod atomics;
mod bandwidth;
mod benchmark;
mod chase;
mod clock;
mod code;
mod distribution;
mod export;
mod hopper;
mod issue;
mod kernel;
mod launches;
mod loads;
mod matrices;
mod memory;
mod misses;
mod partitions;
mod program;
mod series;
mod shared;
mod slices;
mod streams;
mod synchronisation;

pub use benchmark::{Argument, Benchmark, Buffer, CLOCKS, Figure, Launch, Reading, Span, Text};
pub use export::{FIGURES, export, launch_file};

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Few points, for a simulator.
    Small,
    /// Every point, for hardware.
    Full,
}

/// What the benchmarks need to know of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Streaming multiprocessors.
    pub sms: u32,
    /// Compute capability, as 90.
    pub capability: u32,
    /// Bytes of the L2, by which a small set chooses its footprints.
    pub l2_bytes: u64,
}

/// Every benchmark, the most telling families first.
#[must_use]
pub fn all(scale: Scale, target: Target) -> Vec<Benchmark> {
    [
        clock::all(scale),
        chase::global(scale, target),
        arithmetic::all(scale),
        bandwidth::all(scale, target),
        loads::all(scale),
        shared::all(scale),
        misses::all(scale),
        atomics::all(scale, target),
        synchronisation::all(scale),
        matrices::all(scale),
        launches::all(scale, target),
        hopper::all(scale, target),
        partitions::all(scale, target),
        chase::constant(scale, target),
        issue::all(scale),
        streams::all(scale, target),
        code::all(scale),
        distribution::all(scale),
        memory::all(scale, target.capability),
        slices::all(scale, target),
    ]
    .concat()
}
