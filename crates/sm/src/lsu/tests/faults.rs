//! Faults are detected before anything changes, and report where they occurred.

use strata_ptx::isa::AtomicOp;

use super::*;

#[track_caller]
fn check(lanes: LaneMask, op: Op, sources: &Sources, expected: &str) {
    let mut bench = Bench::new(&config());
    let fault = bench.try_issue(1, lanes, op, sources).unwrap_err();
    assert_eq!(fault.to_string(), format!("kernel k, line 7, CTA [3, 0, 0], {expected}"));
    assert!(bench.lsu.is_idle() && bench.lsu.statistics().instructions == 0);
}

#[test]
fn an_address_beyond_the_last_allocation() {
    // Lane 31 of the CTA's second warp is thread 63; a block is 16 by 4.
    check(
        LaneMask::MAX,
        Op::Load(WEAK),
        &Sources::at(|lane| BASE + HEAP_BYTES - 31 * 4 + 4 * lane),
        "thread [15, 3, 0]: 4-byte access to global address 0x104000, which lies in no allocation",
    );
}

#[test]
fn an_access_may_not_reach_over_the_end_or_wrap_around() {
    for (address, text) in [(u64::MAX - 3, "0xfffffffffffffffc"), (0, "0x0"), (BASE - 4, "0xffffc")] {
        check(
            1,
            Op::Store(WEAK),
            &Sources::at(|_| address),
            &format!("thread [0, 2, 0]: 4-byte access to global address {text}, which lies in no allocation"),
        );
    }
}

#[test]
fn neighbouring_allocations_are_each_fine() {
    let mut bench = Bench::new(&config());
    bench.issue(0, Op::Load(WEAK), &Sources::at(|lane| BASE + HEAP_BYTES / 2 - 64 + 4 * lane));
    bench.drain();
}

#[test]
fn alignment_is_that_of_the_whole_vector() {
    check(
        0b100,
        Op::Load(mode(Space::Global, Ty::F32, 4)),
        &Sources::at(|lane| BASE + 4 * lane),
        "thread [2, 2, 0]: 16-byte access to address 0x100008, which is not a multiple of 16",
    );
}

#[test]
fn windows_end_where_their_space_ends() {
    check(
        LaneMask::MAX,
        Op::Load(mode(Space::Shared, Ty::U32, 1)),
        &Sources::at(|lane| u64::from(SHARED_BYTES) - 8 + 4 * lane),
        "thread [2, 2, 0]: 4-byte access to shared address 0x2000, which lies in no allocation",
    );
    check(
        1,
        Op::Load(mode(Space::Generic, Ty::U64, 1)),
        &Sources::at(|_| strata_ptx::ir::window::LOCAL + u64::from(LOCAL_BYTES)),
        "thread [0, 2, 0]: 8-byte access to local address 0x20000000040, which lies in no allocation",
    );
    check(
        1,
        Op::Load(mode(Space::Param, Ty::U32, 1)),
        &Sources::at(|_| 256),
        "thread [0, 2, 0]: 4-byte access to parameter address 0x100, which lies in no allocation",
    );
}

#[test]
fn what_a_memory_does_not_do_is_said() {
    let add = |ty| Op::Reduce { op: AtomicOp::Add, mode: mode(Space::Generic, ty, 1) };
    check(
        LaneMask::MAX,
        add(Ty::U32),
        &Sources::at(|_| strata_ptx::ir::window::LOCAL),
        "thread [0, 2, 0]: an atomic operation on local memory is not supported",
    );
    check(
        LaneMask::MAX,
        add(Ty::U8),
        &Sources::at(|_| BASE),
        "thread [0, 2, 0]: an atomic operation of this type on global memory is not supported",
    );
}

#[test]
fn a_unit_that_cannot_be_built_names_the_field() {
    let broken = LsuConfig { segment_bytes: Cited::new(48, "test"), ..config() };
    let sm = Surroundings { warp_slots: 8, first_warp: 0, shared_bytes: 0 };
    assert_eq!(Lsu::new(&broken, sm).err().unwrap(), "segment_bytes is 48, expected a power of two");
    for (lanes, expected) in [(0, "1 to 32"), (33, "1 to 32"), (24, "a power of two")] {
        let broken = LsuConfig { atomic_combining_lanes: Some(Cited::new(lanes, "test")), ..config() };
        let expected = format!("atomic_combining_lanes is {lanes}, expected {expected}");
        assert_eq!(Lsu::new(&broken, sm).err(), Some(expected));
    }
    let broken = LsuConfig { queue: Cited::new(0, "test"), ..config() };
    assert_eq!(Lsu::new(&broken, sm).err().unwrap(), "queue is 0, expected 1 to 256");
}
