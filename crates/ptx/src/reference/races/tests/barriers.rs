//! Barriers of CTAs and warps.

use super::{CLEAN, found, races, read_shared_of};

/// Each thread writes its word, and reads that of a thread of the other warp.
fn exchange(between: &str) -> Vec<String> {
    races(&format!("st.shared.u32 [%r8], %r0; {between} {}", read_shared_of(33)), 2, 64)
}

#[test]
fn a_barrier_orders_a_cta() {
    assert_eq!(exchange("bar.sync 0;"), CLEAN);
    assert_eq!(exchange("barrier.cta.sync 5;"), CLEAN);
    assert_eq!(exchange("bar.sync 1, 64;"), CLEAN);
    assert_eq!(exchange("setp.eq.u32 %p0, %r0, 1; bar.red.popc.u32 %r6, 0, %p0;"), CLEAN);
}

#[test]
fn a_missing_barrier_is_found() {
    // One pair of places: the first warp reads before the second writes, and the second reads what the first wrote.
    assert_eq!(exchange(""), ["read/write 128"]);
    // Neither a fence nor a warp's barrier orders warps.
    assert_eq!(exchange("membar.gl;"), ["read/write 128"]);
    assert_eq!(exchange("bar.warp.sync -1;"), ["read/write 128"]);
}

#[test]
fn the_first_race_is_told_with_its_threads() {
    let race = &found(&format!("st.shared.u32 [%r8], %r0; {}", read_shared_of(33)), 1, 64)[0];
    assert_eq!((race.address, race.launch), (4 * 32, 0));
    assert_eq!((race.earlier.thread, race.earlier.access), ([1, 0, 0], "read"));
    assert_eq!((race.later.thread, race.later.access), ([32, 0, 0], "write"));
    assert_eq!((race.later.bytes, race.later.kernel.as_str()), (4, "test"));
}

/// Words are written, read after a barrier, and written again.
#[test]
fn every_access_needs_a_barrier_of_its_own() {
    let twice = |second: &str| {
        let read = read_shared_of(40);
        races(
            &format!("st.shared.u32 [%r8], %r0; bar.sync 0; {read} {second} st.shared.u32 [%r8], %r5;"),
            1,
            64,
        )
    };
    assert_eq!(twice("bar.sync 0;"), CLEAN);
    // The first warp reads and writes, then the second.
    assert_eq!(twice(""), ["write/read 64"]);
}

/// The first warp writes, all read. Those of barrier 1 are the first `threads` threads.
fn named(threads: u32) -> Vec<String> {
    let body = format!(
        "setp.eq.u32 %p0, %r11, 0; setp.lt.u32 %p1, %r0, {threads};
         @%p0 st.shared.u32 [%r8], %r0;
         @%p1 bar.sync 1, {threads};
         shl.b32 %r4, %r10, 2; add.u32 %r4, %r9, %r4; ld.shared.u32 %r5, [%r4];"
    );
    races(&body, 1, 96)
}

#[test]
fn a_named_barrier_orders_those_who_come() {
    assert_eq!(named(96), CLEAN);
    assert_eq!(named(64), ["write/read 32"], "the third warp does not come");
    assert_eq!(named(32), ["write/read 64"], "the second neither");
}

#[test]
fn an_arrival_hands_on_what_was_before_it() {
    let body = |after: &str| {
        format!(
            "setp.eq.u32 %p0, %r11, 0; @!%p0 bra consumer;
             st.shared.u32 [%r8], %r0; bar.arrive 1, 64; {after} bra done;
             consumer: bar.sync 1, 64; {} done:",
            read_shared_of(32)
        )
    };
    assert_eq!(races(&body(""), 1, 64), CLEAN);
    assert_eq!(races(&body("st.shared.u32 [%r8], %r1;"), 1, 64), ["write/read 32"]);
}

#[test]
fn who_has_ended_counts_as_arrived() {
    let body = format!(
        "st.shared.u32 [%r8], %r0; setp.eq.u32 %p0, %r11, 1; @%p0 ret; bar.sync 0; {}",
        read_shared_of(32)
    );
    assert_eq!(races(&body, 1, 64), CLEAN);
    // The first warp does not wait then, and comes first.
    assert_eq!(races(&body.replace("bar.sync 0;", ""), 1, 64), ["read/write 32"]);
}

/// Each lane writes its word, and reads that of lane ^ `other`.
fn lanes(between: &str, other: u32) -> Vec<String> {
    races(&format!("st.shared.u32 [%r8], %r0; {between} {}", read_shared_of(other)), 1, 64)
}

#[test]
fn a_warps_barrier_orders_its_lanes() {
    assert_eq!(lanes("bar.warp.sync -1;", 1), CLEAN);
    assert_eq!(lanes("bar.warp.sync -1;", 16), CLEAN);
    assert_eq!(lanes("", 1), ["write/read 64"], "executing together is no order");
}

#[test]
fn a_warps_barrier_orders_the_lanes_it_names() {
    let halves = "setp.lt.u32 %p0, %r10, 16; selp.b32 %r6, 0xffff, 0xffff0000, %p0; bar.warp.sync %r6;";
    assert_eq!(lanes(halves, 15), CLEAN);
    assert_eq!(lanes(halves, 16), ["write/read 64"]);
}

#[test]
fn votes_and_shuffles_order_nothing() {
    let vote = "setp.eq.u32 %p0, %r0, 1; vote.sync.ballot.b32 %r6, %p0, -1;";
    assert_eq!(lanes(vote, 1), ["write/read 64"]);
    assert_eq!(lanes("shfl.sync.bfly.b32 %r6, %r0, 1, 31, -1;", 1), ["write/read 64"]);
    assert_eq!(lanes("match.any.sync.b32 %r6, %r0, -1;", 1), ["write/read 64"]);
}

#[test]
fn what_a_warps_barrier_told_goes_on_through_a_ctas() {
    // Lane 0 of each warp reads what the others wrote, adds, and hands it to the other warp.
    let body = format!(
        "st.shared.u32 [%r8], %r0; bar.warp.sync -1; setp.eq.u32 %p0, %r10, 0;
         @%p0 ld.shared.u32 %r5, [%r8+4]; @%p0 st.shared.u32 [%r8], %r5; bar.sync 0; {}",
        read_shared_of(32)
    );
    assert_eq!(races(&body, 1, 64), CLEAN);
}

#[test]
fn shared_memory_is_a_ctas_own() {
    let body =
        "setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.u32 [%r9], %r1; bar.sync 0; ld.shared.u32 %r5, [%r9];";
    assert_eq!(races(body, 300, 64), CLEAN);
}

#[test]
fn launches_follow_each_other() {
    let (mut session, out) = super::session("ld.global.u32 %r5, [%rd0]; st.global.u32 [%rd0], %r0;");
    let mut check = super::RaceCheck::default();
    for (grid, block) in [(2, 64), (1, 128), (4, 32), (128, 1)] {
        super::launch(&mut session, &mut check, grid, block, out);
    }
    assert_eq!((check.races(), check.launches()), (&[][..], 4));
}
