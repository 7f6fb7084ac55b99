//! Whole runs at `test` size on one thread, as a user would start them.

use std::hint::black_box;

use strata_gpu::{RunRequest, run};
use strata_workloads::{Size, find};

use super::{Path, machine};

/// A tiled matrix product, which exercises computation and shared memory.
pub fn gemm() -> Path {
    whole("gemm")
}

/// Passes over a matrix by rows and then by columns, which exercise the L1D and the L2.
pub fn atax() -> Path {
    whole("atax")
}

/// Random loads in which every lane reads its own line from DRAM.
pub fn gather() -> Path {
    whole("gather")
}

fn whole(name: &'static str) -> Path {
    let (machine, program) = (
        machine(),
        find(name).expect("a built-in workload").program(Size::Test).expect("every workload has it"),
    );
    Path::new(move || {
        let result = run(RunRequest::plain(program.as_ref(), &machine, &mut |_| (), &mut |_| ()));
        black_box(result.unwrap_or_else(|error| panic!("{error}")));
    })
}
