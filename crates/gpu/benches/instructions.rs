//! Host instructions of hot paths and whole runs, counted by Valgrind, so that the numbers hold on a busy
//! machine.
//!
//! `cargo install --locked gungraun-runner` in the version of the `gungraun` dependency and have `valgrind` in the path,
//! then `cargo bench -p strata-gpu --features bench --bench instructions`. Paths count 100 operations, runs one.
// The macros generate items without documentation.
#![allow(missing_docs)]

mod paths;

use gungraun::{library_benchmark, library_benchmark_group, main};
use std::hint::black_box;

use paths::Path;

/// Number of counted operations of a path; enough to make the surrounding loop negligible.
const REPEATS: u32 = 100;

#[library_benchmark]
#[bench::f32_fma(paths::f32_fma())]
#[bench::i32_mad(paths::i32_mad())]
#[bench::i64_add(paths::i64_add())]
#[bench::setp(paths::setp())]
#[bench::reference_gemm(paths::reference_gemm())]
#[bench::load_coalesced(paths::load_coalesced())]
#[bench::load_scattered(paths::load_scattered())]
#[bench::l1d_hit(paths::l1d_hit())]
#[bench::l1d_miss(paths::l1d_miss())]
#[bench::l2_hit(paths::l2_hit())]
#[bench::network_packet(paths::network_packet())]
#[bench::dram_read(paths::dram_read())]
fn path(mut path: Path) -> Path {
    path.repeat(black_box(REPEATS));
    path
}

#[library_benchmark]
#[bench::gemm(paths::gemm())]
#[bench::atax(paths::atax())]
#[bench::gather(paths::gather())]
fn run(mut path: Path) -> Path {
    path.repeat(1);
    path
}

library_benchmark_group!(name = hot_paths, benchmarks = path);
library_benchmark_group!(name = runs, benchmarks = run);

main!(library_benchmark_groups = hot_paths, runs);
