//! Asynchronous copies, which write when they are waited for, and barriers in shared memory.

use super::{CLEAN, races, read_shared_of};

/// Each thread copies its word to shared memory, then reads that of thread ^ `other`.
fn copied(between: &str, other: u32) -> Vec<String> {
    races(&format!("cp.async.ca.shared.global [%r8], [%rd0], 4; {between} {}", read_shared_of(other)), 1, 64)
}

#[test]
fn a_copy_is_there_when_it_was_waited_for() {
    assert_eq!(copied("cp.async.wait_all;", 0), CLEAN);
    assert_eq!(copied("cp.async.commit_group; cp.async.wait_group 0;", 0), CLEAN);
    assert_eq!(copied("", 0), ["asynchronous write/read 64"], "not even for its own thread");
    assert_eq!(copied("cp.async.commit_group; cp.async.wait_group 1;", 0), ["asynchronous write/read 64"]);
}

#[test]
fn a_copy_is_there_for_others_behind_wait_and_barrier() {
    assert_eq!(copied("cp.async.wait_all; bar.sync 0;", 33), CLEAN);
    assert_eq!(copied("bar.sync 0;", 33), ["asynchronous write/read 64"]);
    // One pair of places, as without a copy: the first warp reads before the second copies.
    assert_eq!(copied("cp.async.wait_all;", 33), ["read/asynchronous write 64"]);
}

#[test]
fn groups_are_waited_for_in_order() {
    let body = |pending: u32, offset: u32| {
        format!(
            "cp.async.ca.shared.global [%r8], [%rd0], 4; cp.async.commit_group;
             cp.async.ca.shared.global [%r8+1024], [%rd0], 4; cp.async.commit_group;
             cp.async.wait_group {pending}; ld.shared.u32 %r5, [%r8+{offset}];"
        )
    };
    assert_eq!(races(&body(1, 0), 1, 64), CLEAN);
    assert_eq!(races(&body(1, 1024), 1, 64), ["asynchronous write/read 64"]);
    assert_eq!(races(&body(0, 1024), 1, 64), CLEAN);
}

/// All arrive at a barrier in shared memory and wait until its phase is over.
fn met(write: &str, arrive: &str, wait: &str) -> Vec<String> {
    let body = format!(
        "setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared.b64 [%r9+2048], %r2; bar.sync 0;
         {write} {arrive}
         wait: {wait}
         {}",
        read_shared_of(33)
    );
    races(&body, 1, 64)
}

#[test]
fn a_barrier_in_shared_memory_orders_who_arrives_and_who_waits() {
    let (write, copy) = ("st.shared.u32 [%r8], %r0;", "cp.async.ca.shared.global [%r8], [%rd0], 4;");
    let arrive = "mbarrier.arrive.shared.b64 %rd1, [%r9+2048];";
    let wait = "mbarrier.test_wait.shared.b64 %p1, [%r9+2048], %rd1; @!%p1 bra wait;";
    assert_eq!(met(write, arrive, wait), CLEAN);
    assert_eq!(met(write, arrive, ""), ["read/write 64"]);
    let all = "mbarrier.test_wait.parity.shared.b64 %p1, [%r9+2048], 0; @!%p1 bra wait;";
    assert_eq!(met(copy, "cp.async.mbarrier.arrive.noinc.shared.b64 [%r9+2048];", all), CLEAN);
    assert_eq!(met(copy, arrive, wait), ["asynchronous write/read 64"]);
}
