//! Prefetches help some programs and slow others down, since they take bandwidth and places like any request.

use strata_gpu::{RunRequest, run};
use strata_workloads::{Size, find};

use crate::support::gtx480;

/// Cycles of a workload with a prefetcher in the L1Ds, and counters of the prefetches.
fn cycles(workload: &str, policy: &str) -> (u64, [u64; 4]) {
    let machine = gtx480(&[&format!("l1d.sram.prefetch=\"{policy}\"")]);
    let program = find(workload).unwrap().program(Size::Test).unwrap();
    let result = run(RunRequest::plain(program.as_ref(), &machine, &mut |_| (), &mut |_| ())).unwrap();
    let count = |name| result.counter("l1d_prefetch", name).unwrap_or(0);
    assert!(
        result.statistics.iter().all(|group| group.broken.is_none()),
        "{workload} {policy}: a law is broken"
    );
    (result.cycles(), ["issued", "useful", "late", "harmful"].map(count))
}

#[test]
fn the_next_line_helps_a_sparse_product_and_harms_one_by_columns() {
    let (plain, none) = cycles("spmv", "none");
    let (faster, [issued, useful, late, harmful]) = cycles("spmv", "next-line");
    assert_eq!(none, [0; 4]);
    assert!(faster < plain, "{faster} of {plain}");
    assert!(useful + late > issued / 3 && harmful < issued / 10, "{issued} {useful} {late} {harmful}");
    // Each lane of atax walks a row: lines behind those that miss push out what other lanes need.
    let (plain, _) = cycles("atax", "none");
    let (slower, [issued, useful, _, harmful]) = cycles("atax", "next-line");
    assert!(slower > plain, "{slower} of {plain}");
    assert!(harmful > useful && issued > 0, "{issued} {useful} {harmful}");
}
