//! Fences, acquire and release, with address generation 3, L1D 20 and L1D flush 10.

use super::*;

fn strong(ordering: Ordering, scope: Scope) -> MemoryMode {
    MemoryMode { ordering, scope, ..WEAK }
}

fn store() -> (Op, Sources) {
    (Op::Store(WEAK), Sources::at(|lane| BASE + 4 * lane).with(1, |lane| lane))
}

/// Runs until no warp waits for a fence. Returns the first cycle in which none does.
fn until_no_fence(bench: &mut Bench) -> u64 {
    while bench.lsu.waiting_fence() != 0 {
        bench.cycle();
        assert!(bench.now < Cycle(1000), "a fence does not end");
    }
    bench.now.0 - 1
}

#[test]
fn a_cta_fence_waits_for_the_warps_own_accesses_only() {
    let mut bench = Bench::new(&config());
    let (op, sources) = store();
    bench.issue(0, op, &sources);
    bench.lsu.fence(0, Scope::Cta, bench.now);
    bench.lsu.fence(1, Scope::Cta, bench.now);
    bench.cycle();
    assert_eq!(bench.lsu.waiting_fence(), 0b01, "warp 1 has nothing to wait for");
    // The store is offered at 3 and performed at 23.
    assert_eq!(until_no_fence(&mut bench), 23);
    assert_eq!(bench.l1d.log, ["3: store 0x0 128 bytes"]);
}

#[test]
fn a_gpu_fence_flushes_after_the_accesses() {
    let mut bench = Bench::new(&config());
    let (op, sources) = store();
    bench.issue(0, op, &sources);
    bench.lsu.fence(0, Scope::Gpu, bench.now);
    assert_eq!(until_no_fence(&mut bench), 33);
    assert_eq!(bench.l1d.log, ["3: store 0x0 128 bytes", "23: flush"]);
    bench.drain();
    assert_eq!(bench.lsu.statistics().fence_cycles, 33);
}

#[test]
fn a_flush_serves_the_warps_that_were_ready_and_no_later_ones() {
    let mut bench = Bench::new(&config());
    bench.lsu.fence(0, Scope::Gpu, bench.now);
    bench.lsu.fence(1, Scope::Sys, bench.now);
    bench.cycle();
    assert_eq!(bench.lsu.fence_state(1), FenceState::Flushing);
    bench.lsu.fence(2, Scope::Gpu, bench.now);
    bench.cycle();
    assert_eq!(bench.lsu.fence_state(2), FenceState::Ready);
    assert_eq!(until_no_fence(&mut bench), 20);
    assert_eq!(bench.l1d.log, ["0: flush", "10: flush"]);
    assert_eq!((bench.lsu.statistics().flushes, bench.lsu.statistics().fences), (2, 3));
}

#[test]
fn a_release_follows_its_fence_and_an_acquire_precedes_it() {
    let at = Sources::at(|_| BASE + 256).with(1, |_| 1);
    let mut bench = Bench::new(&config());
    bench.issue(0, Op::Store(strong(Ordering::Release, Scope::Gpu)), &at);
    assert_eq!(bench.lsu.pending(0), 1);
    bench.drain();
    assert_eq!(bench.l1d.log, ["0: flush", "13: store 0x100 4 bytes bypass"]);

    let mut bench = Bench::new(&config());
    bench.issue(0, Op::Load(strong(Ordering::Acquire, Scope::Gpu)), &at);
    bench.drain();
    assert_eq!(bench.l1d.log, ["3: load 0x100 4 bytes bypass", "23: flush"]);

    let mut bench = Bench::new(&config());
    let mode = strong(Ordering::AcqRel, Scope::Sys);
    bench.try_issue(0, 1, Op::Atomic { op: strata_ptx::isa::AtomicOp::Add, mode }, &at).unwrap();
    bench.drain();
    assert_eq!(bench.l1d.log, ["0: flush", "13: atomic 0x100 4 bytes bypass", "33: flush"]);
    assert_eq!(bench.lsu.statistics().fences, 2);
}

#[test]
fn a_reduction_finishes_when_taken_but_a_fence_waits_for_its_answer() {
    let mut bench = Bench::new(&config());
    let op = Op::Reduce { op: strata_ptx::isa::AtomicOp::Add, mode: WEAK };
    bench.issue(0, op, &Sources::at(|lane| BASE + 4 * (lane % 2)).with(1, |_| 1));
    bench.lsu.fence(0, Scope::Cta, bench.now);
    let before = Memory::numbered().0[0];
    assert_eq!(until_no_fence(&mut bench), 23);
    assert_eq!(bench.finished, ["5: warp 0 pc 40"]);
    assert!(bench.rows.is_empty());
    assert_eq!(bench.l1d.memory.0[0], before.wrapping_add(16));
    bench.drain();
}

#[test]
fn the_order_of_an_operation_decides_whether_it_goes_past_the_l1d() {
    let table = [
        (WEAK, ""),
        (strong(Ordering::Volatile, Scope::Sys), " bypass"),
        (strong(Ordering::Relaxed, Scope::Cta), ""),
        (strong(Ordering::Relaxed, Scope::Gpu), " bypass"),
        (MemoryMode { cache: CacheOp::Global, ..WEAK }, " bypass"),
        (MemoryMode { cache: CacheOp::Volatile, ..WEAK }, " bypass"),
        (MemoryMode { cache: CacheOp::Streaming, ..WEAK }, ""),
        (MemoryMode { cache: CacheOp::NonCoherent, ..WEAK }, ""),
    ];
    for (mode, past) in table {
        let mut bench = Bench::new(&config());
        bench.issue(0, Op::Load(mode), &Sources::at(|_| BASE));
        bench.drain();
        assert_eq!(bench.l1d.log, [format!("3: load 0x0 4 bytes{past}")], "{mode:?}");
    }
}

#[test]
fn a_kernel_ends_when_everything_is_performed_and_flushed() {
    let mut bench = Bench::new(&config());
    let (op, sources) = store();
    bench.issue(0, op, &sources);
    bench.lsu.flush_for_kernel_end();
    while !bench.lsu.kernel_end_flushed(bench.now) {
        bench.cycle();
        assert!(bench.now < Cycle(1000));
    }
    assert_eq!(bench.now, Cycle(34));
    assert_eq!(bench.l1d.log, ["3: store 0x0 128 bytes", "23: flush"]);
    assert!(!bench.lsu.kernel_end_flushed(bench.now));
}
