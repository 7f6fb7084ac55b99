//! Host time of hot paths and whole runs: `cargo bench -p strata-gpu --features bench --bench time`.
// The macros generate items without documentation.
#![allow(missing_docs)]

mod paths;

use std::hint::black_box;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};

use paths::Path;

/// A path and its name in reports.
type Named = (&'static str, fn() -> Path);

/// Operations of a path per measurement; enough to make reading the clock negligible.
const REPEATS: u32 = 100;

fn hot_paths(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("path");
    group.throughput(Throughput::Elements(u64::from(REPEATS)));
    let table: &[Named] = &[
        ("f32_fma", paths::f32_fma),
        ("i32_mad", paths::i32_mad),
        ("i64_add", paths::i64_add),
        ("setp", paths::setp),
        ("reference_gemm", paths::reference_gemm),
        ("load_coalesced", paths::load_coalesced),
        ("load_scattered", paths::load_scattered),
        ("l1d_hit", paths::l1d_hit),
        ("l1d_miss", paths::l1d_miss),
        ("l2_hit", paths::l2_hit),
        ("network_packet", paths::network_packet),
        ("dram_read", paths::dram_read),
    ];
    for (name, path) in table {
        measure(&mut group, name, path(), REPEATS);
    }
}

fn runs(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("run");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    let table: &[Named] = &[("gemm", paths::gemm), ("atax", paths::atax), ("gather", paths::gather)];
    for (name, path) in table {
        measure(&mut group, name, path(), 1);
    }
}

fn measure(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, mut path: Path, repeats: u32) {
    group.bench_function(name, |bencher| bencher.iter(|| path.repeat(black_box(repeats))));
}

criterion_group!(benches, hot_paths, runs);
criterion_main!(benches);
