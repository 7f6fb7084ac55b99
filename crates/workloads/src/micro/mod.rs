//! Microbenchmarks.

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
mod series;
mod shared;
mod slices;
mod streams;
mod synchronisation;

pub use benchmark::{Argument, Benchmark, Buffer, Figure, Launch, Reading, Span, Text};
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
}

/// Every benchmark, the most telling families first.
#[must_use]
pub fn all(scale: Scale, target: Target) -> Vec<Benchmark> {
    [
        clock::all(scale),
        chase::global(scale),
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
        chase::constant(scale),
        issue::all(scale),
        streams::all(scale, target),
        code::all(scale),
        distribution::all(scale),
        memory::all(scale, target.capability),
        slices::all(scale, target),
    ]
    .concat()
}
