//! Matrices, asynchronous copies and barriers in shared memory; cycles computed by hand from address generation 3, L1D 20,
//! shared memory 5, write-back 2.

use strata_ptx::isa::{AsyncCopy, CopySource, MatrixAccess, Mbarrier, MbarrierOp};

use super::*;

fn copy(bytes: u8, cache: CacheOp) -> Op {
    Op::CopyAsync(AsyncCopy { bytes, cache, shared_offset: 0, source: CopySource::Whole })
}

/// Lane n copies the line's n-th group of `bytes` bytes to the n-th place of shared memory from `to` on.
fn lanes(bytes: u64, to: u64) -> Sources {
    Sources::at(|lane| BASE + bytes * lane).with(1, |lane| to + bytes * lane)
}

fn barrier(op: MbarrierOp) -> Op {
    Op::Mbarrier(Mbarrier { op, space: Space::Shared })
}

/// The words that lanes find in shared memory from `at` on, one per lane.
fn shared_words(bench: &mut Bench, at: u64) -> Row {
    bench.issue(7, Op::Load(mode(Space::Shared, Ty::U32, 1)), &Sources::at(|lane| at + 4 * lane));
    bench.drain();
    bench.rows[0]
}

#[test]
fn rows_of_matrices_are_read_a_matrix_a_pass() {
    let access = |count| MatrixAccess { space: Space::Shared, count, transposed: false };
    // Rows side by side: each matrix is 128 bytes. Four passes from cycle 3 on, the last complete 5 later.
    let mut bench = Bench::new(&config());
    bench.issue(0, Op::LoadMatrix(access(4)), &Sources::at(|lane| 16 * lane));
    bench.drain();
    assert_eq!((bench.finished[0].as_str(), bench.rows.len()), ("13: warp 0 pc 40", 4));
    assert_eq!((bench.lsu.statistics().shared_passes, bench.lsu.statistics().shared_conflict_cycles), (4, 0));
    // Rows 128 bytes apart share four banks: eight passes a matrix.
    let mut bench = Bench::new(&config());
    bench.issue(0, Op::LoadMatrix(access(2)), &Sources::at(|lane| 128 * lane));
    bench.drain();
    assert_eq!((bench.finished[0].as_str(), bench.rows.len()), ("25: warp 0 pc 40", 2));
    assert_eq!(bench.lsu.statistics().shared_conflict_cycles, 14);
}

#[test]
fn a_copy_loads_and_then_takes_its_turn_in_shared_memory() {
    let mut bench = Bench::new(&config());
    bench.issue(0, copy(16, CacheOp::Global), &lanes(16, 0));
    bench.drain();
    let lines = ["3: load 0x0", "4: load 0x80", "5: load 0x100", "6: load 0x180"];
    assert_eq!(bench.l1d.log, lines.map(|line| format!("{line} 128 bytes bypass")));
    // The last line arrives at 26; four passes start at 29; complete at 37.
    assert_eq!(bench.finished, ["39: warp 0 pc 40"]);
    assert!(bench.rows.is_empty());
    let memory = bench.l1d.memory.clone();
    let word = |at: usize| u32::from_le_bytes(memory.0[at..at + 4].try_into().unwrap());
    for first in [0, 128, 384] {
        let found = shared_words(&mut bench, first);
        assert_eq!(found, Row(std::array::from_fn(|lane| word(first as usize + 4 * lane))));
    }
    let statistics = bench.lsu.statistics();
    assert_eq!((statistics.copies, statistics.split_instructions, statistics.accesses), (1, 1, 4));
}

#[test]
fn groups_complete_in_order_and_a_warp_waits_for_those_it_names() {
    let mut bench = Bench::new(&config());
    // Copies at 0 and 2, a commit after each: in shared memory at 31 and 33.
    bench.issue(0, copy(4, CacheOp::All), &lanes(4, 0));
    bench.cycle();
    bench.issue(0, Op::CopyCommit, &Sources::default());
    bench.cycle();
    bench.issue(0, copy(4, CacheOp::All), &lanes(4, 128));
    bench.cycle();
    bench.issue(0, Op::CopyCommit, &Sources::default());
    bench.cycle();
    let mut until = |pending, warp: u8| {
        bench.lsu.wait_for_copies(warp, pending);
        while bench.lsu.waiting_copies() >> warp & 1 == 1 {
            bench.cycle();
        }
        bench.now.0
    };
    assert_eq!(until(Some(2), 0), 4, "two groups may be under way");
    assert_eq!(until(Some(0), 1), 4, "another warp has no copies");
    // Each becomes visible in the next cycle.
    assert_eq!(until(Some(1), 0), 32);
    assert_eq!(until(Some(0), 0), 34);
    bench.issue(0, copy(4, CacheOp::All), &lanes(4, 0));
    bench.lsu.wait_for_copies(0, Some(0));
    assert_eq!(bench.lsu.waiting_copies(), 0, "the open group is not waited for");
    bench.lsu.wait_for_copies(0, None);
    assert_eq!(bench.lsu.waiting_copies(), 1, "unless every copy is");
    bench.drain();
    assert_eq!(bench.lsu.waiting_copies(), 0);
}

#[test]
fn a_fence_does_not_wait_for_copies() {
    let mut bench = Bench::new(&config());
    bench.issue(0, copy(4, CacheOp::All), &lanes(4, 0));
    bench.lsu.fence(0, Scope::Cta, bench.now);
    bench.cycle();
    assert_eq!((bench.lsu.waiting_fence(), bench.lsu.is_idle()), (0, false));
    bench.drain();
}

#[test]
fn an_arrival_comes_after_the_copies_before_it() {
    let at_bar = Sources::at(|_| 1024);
    for (counted, expected) in [(true, 32), (false, 1)] {
        let mut bench = Bench::new(&config());
        bench.try_issue(0, 1, barrier(MbarrierOp::Init), &at_bar.clone().with(1, |_| expected)).unwrap();
        bench.drain();
        let start = bench.now.0;
        bench.issue(0, copy(4, CacheOp::All), &lanes(4, 0));
        bench.cycle();
        bench.issue(0, Op::CopyArrive { space: Space::Shared, counted }, &at_bar);
        bench.cycle();
        // Later copies do not delay it.
        bench.issue(0, copy(4, CacheOp::All), &lanes(4, 128));
        let parity_0_is_done = |bench: &mut Bench| {
            let op = barrier(MbarrierOp::TestParity);
            bench.try_issue(5, 1, op, &at_bar.clone().with(1, |_| 0)).unwrap();
            let count = bench.finished.len();
            while bench.finished.len() == count || !bench.finished.last().unwrap().contains("warp 5") {
                bench.cycle();
            }
            bench.rows[0].0[0] == 1
        };
        assert!(!parity_0_is_done(&mut bench));
        bench.drain();
        if !counted {
            // The copies' arrivals have cancelled out; the expected one is still to come.
            assert!(!parity_0_is_done(&mut bench));
            let arrive = MbarrierOp::Arrive { drop: false, completes: true };
            bench.try_issue(1, 1, barrier(arrive), &at_bar.clone().with(1, |_| 1)).unwrap();
            assert!(parity_0_is_done(&mut bench));
            continue;
        }
        assert!(parity_0_is_done(&mut bench));
        let place = |what: &str| bench.finished.iter().position(|line| line.starts_with(what)).unwrap();
        // The copy reaches shared memory 31 cycles after its issue and is written back 2 later. Then the arrival
        // takes its turn: 3 cycles to get there, 32 passes.
        let copied = place(&format!("{}: warp 0", start + 33));
        let arrived = place(&format!("{}: warp 0", start + 31 + 3 + 31 + 5 + 2));
        assert!(copied < arrived);
    }
}
