//! Atomics, strong accesses, and what fences make of them.

use super::{CLEAN, found, races};

#[test]
fn atomics_do_not_race_with_each_other() {
    assert_eq!(races("red.global.add.u32 [%out], 1;", 4, 64), CLEAN);
    assert_eq!(races("atom.global.exch.b32 %r5, [%out], %r0; red.global.max.u32 [%out], %r0;", 4, 64), CLEAN);
    assert_eq!(races("atom.shared.add.u32 %r5, [%r9], 1;", 4, 64), CLEAN);
}

#[test]
fn atomics_race_with_weak_accesses() {
    let with = |access: &str| {
        races(&format!("red.global.add.u32 [%out], 1; setp.eq.u32 %p0, %r3, 255; @%p0 {access}"), 4, 64)
    };
    // The last thread is the only one that touches the word otherwise, and comes last. It does not know what its reduction saw.
    assert_eq!(with("ld.global.u32 %r5, [%out];"), ["atomic/read 1"]);
    assert_eq!(with("st.global.u32 [%out], %r5;"), ["atomic/write 1, 0 the same"]);
    assert_eq!(with("ld.volatile.global.u32 %r5, [%out];"), CLEAN);
    assert_eq!(with("ld.relaxed.gpu.global.u32 %r5, [%out];"), CLEAN);
    assert_eq!(with("ld.global.cv.u32 %r5, [%out];"), CLEAN);
    assert_eq!(with("st.volatile.global.u32 [%out], %r5;"), CLEAN);
}

/// Threads take tickets; the last may use the counter as it likes, since it saw all others' (ISA: causality order).
#[test]
fn who_saw_an_atomic_comes_after_it() {
    let body = |ticket: u32| {
        format!(
            "atom.global.inc.u32 %r5, [%out], 1000; setp.eq.u32 %p0, %r5, {ticket}; @%p0 st.global.u32 [%out], 0;"
        )
    };
    assert_eq!(races(&body(127), 2, 64), CLEAN);
    // Those that come later race with the store, and it with those that came in between.
    assert_eq!(races(&body(126), 2, 64), ["atomic/write 1, 0 the same"]);
    let behind_a_barrier = "atom.global.inc.u32 %r5, [%out], 1000; bar.sync 0; setp.eq.u32 %p0, %r3, 64; @%p0 st.global.u32 [%out], 0;";
    assert_eq!(races(behind_a_barrier, 2, 64), CLEAN, "others of its CTA saw those of the first");
    assert_eq!(
        races(&behind_a_barrier.replace("atom", "red").replace("%r5, ", ""), 2, 64),
        ["atomic/write 1, 0 the same"]
    );
}

#[test]
fn patterns_of_two_accesses_to_the_flag() {
    // What a thread stores after a release to the same place hands on the same; what it acquires, what it saw before.
    let (release, again) =
        ("st.release.gpu.global.u32 [%out+4], 1;", "st.relaxed.gpu.global.u32 [%out+4], 2;");
    let acquire = "ld.acquire.gpu.global.u32 %r5, [%out+4];";
    assert_eq!(message("", &format!("{release} {again}"), acquire, "", false), CLEAN);
    assert_eq!(message("", again, acquire, "", false), ["write/read 1"]);
    let elsewhere = "st.release.gpu.global.u32 [%out+8], 1;";
    assert_eq!(message("", &format!("{elsewhere} {again}"), acquire, "", false), ["write/read 1"]);
    assert_eq!(message("", release, LOOK, acquire, false), CLEAN);
}

/// The order between two of several atomics does not hide the third.
#[test]
fn every_atomic_counts() {
    // CTA 1 hands its knowledge to CTA 2, which then reads; CTA 0's addition is unordered.
    let body = "red.global.add.u32 [%out], 1;
                setp.eq.u32 %p0, %r1, 1; setp.eq.u32 %p1, %r1, 2;
                @%p0 membar.gl; @%p0 st.volatile.global.u32 [%out+4], 1;
                @!%p1 ret;
                spin: ld.volatile.global.u32 %r5, [%out+4]; setp.eq.u32 %p2, %r5, 0; @%p2 bra spin;
                membar.gl; ld.global.u32 %r5, [%out];";
    let race = &found(body, 3, 1)[0];
    assert_eq!((race.earlier.cta, race.later.cta, race.count), ([0, 0, 0], [2, 0, 0], 1));
}

#[test]
fn scopes_must_hold_both_threads() {
    assert_eq!(races("red.cta.global.add.u32 [%out], 1;", 1, 64), CLEAN);
    // Each thread of the second CTA finds the atomics of the first.
    assert_eq!(races("red.cta.global.add.u32 [%out], 1;", 2, 64), ["atomic/atomic 64, 0 the same"]);
    assert_eq!(races("red.gpu.global.add.u32 [%out], 1;", 2, 64), CLEAN);
    assert_eq!(races("red.cta.shared.add.u32 [%r9], 1;", 2, 64), CLEAN);
}

#[test]
fn strong_accesses_must_be_of_one_size() {
    let body = |other: &str| {
        format!(
            "setp.eq.u32 %p0, %r0, 0; mov.u64 %rd1, 1; @%p0 st.volatile.global.u64 [%out], %rd1; @!%p0 {other}"
        )
    };
    assert_eq!(races(&body("ld.volatile.global.u64 %rd2, [%out];"), 1, 2), CLEAN);
    assert_eq!(races(&body("ld.volatile.global.u32 %r5, [%out+4];"), 1, 2).len(), 1);
}

/// One CTA writes a word and raises a flag, the other waits for the flag and reads the word. `swapped`: the writer is the
/// second CTA, so that the reader has to wait.
fn message(write: &str, raise: &str, look: &str, read: &str, swapped: bool) -> Vec<String> {
    let body = format!(
        "setp.eq.u32 %p0, %r1, {}; @%p0 bra consumer;
         st.global.u32 [%out], 42; {write} {raise} ret;
         consumer:
         {look} setp.eq.u32 %p1, %r5, 0; @%p1 bra consumer;
         {read} ld.global.u32 %r6, [%out]; st.global.u32 [%out+64], %r6;",
        u32::from(!swapped)
    );
    races(&body, 2, 1)
}

const RAISE: &str = "st.relaxed.gpu.global.u32 [%out+4], 1;";
const LOOK: &str = "ld.relaxed.gpu.global.u32 %r5, [%out+4];";

#[test]
fn a_message_needs_a_fence_on_either_side() {
    for swapped in [false, true] {
        for fence in ["membar.gl;", "fence.acq_rel.gpu;", "fence.sc.sys;", "membar.sys;"] {
            assert_eq!(message(fence, RAISE, LOOK, fence, swapped), CLEAN, "{fence}");
        }
        assert_eq!(
            message("", RAISE, LOOK, "membar.gl;", swapped),
            ["write/read 1"],
            "the writer's is missing"
        );
        assert_eq!(
            message("membar.gl;", RAISE, LOOK, "", swapped),
            ["write/read 1"],
            "the reader's is missing"
        );
        assert_eq!(
            message("membar.cta;", RAISE, LOOK, "membar.gl;", swapped),
            ["write/read 1"],
            "too narrow"
        );
        assert_eq!(
            message("membar.gl;", RAISE, LOOK, "membar.cta;", swapped),
            ["write/read 1"],
            "too narrow"
        );
        assert_eq!(
            message("membar.gl;", "atom.global.exch.b32 %r7, [%out+4], 1;", LOOK, "membar.gl;", swapped),
            CLEAN
        );
        let volatile = "ld.volatile.global.u32 %r5, [%out+4];";
        assert_eq!(message("membar.gl;", RAISE, volatile, "membar.gl;", swapped), CLEAN);
    }
}

#[test]
fn a_fence_after_the_flag_is_too_late() {
    let late = format!("{RAISE} membar.gl;");
    assert_eq!(message("", &late, LOOK, "membar.gl;", false), ["write/read 1"]);
}

#[test]
fn releases_and_acquires_do_without_fences() {
    let (release, acquire) =
        ("st.release.gpu.global.u32 [%out+4], 1;", "ld.acquire.gpu.global.u32 %r5, [%out+4];");
    for swapped in [false, true] {
        assert_eq!(message("", release, acquire, "", swapped), CLEAN);
        assert_eq!(message("", release, LOOK, "membar.gl;", swapped), CLEAN);
        assert_eq!(message("membar.gl;", RAISE, acquire, "", swapped), CLEAN);
        assert_eq!(
            message("", "atom.release.gpu.global.add.u32 %r7, [%out+4], 1;", acquire, "", swapped),
            CLEAN
        );
        assert_eq!(message("", release, LOOK, "", swapped), ["write/read 1"]);
        assert_eq!(message("", RAISE, acquire, "", swapped), ["write/read 1"]);
        let narrow = message("", "st.release.cta.global.u32 [%out+4], 1;", acquire, "", swapped);
        assert_eq!(narrow.len(), 2, "the flag races, too: {narrow:?}");
    }
}

#[test]
fn a_weak_flag_races_itself() {
    let found = message("membar.gl;", "st.global.u32 [%out+4], 1;", LOOK, "membar.gl;", false);
    assert_eq!(found, ["write/strong read 1", "write/read 1"]);
}

#[test]
fn within_a_cta_narrow_scopes_do() {
    // The second warp waits for the first.
    let body = |scope: &str| {
        format!(
            "setp.eq.u32 %p0, %r0, 0; setp.eq.u32 %p1, %r0, 32; @%p1 bra consumer; @!%p0 ret;
             st.shared.u32 [%r9+8], 42; fence.acq_rel.{scope}; st.relaxed.{scope}.shared.u32 [%r9], 1; ret;
             consumer: ld.relaxed.{scope}.shared.u32 %r5, [%r9]; setp.eq.u32 %p1, %r5, 0; @%p1 bra consumer;
             fence.acq_rel.{scope}; ld.shared.u32 %r5, [%r9+8];"
        )
    };
    assert_eq!(races(&body("cta"), 1, 64), CLEAN);
    assert_eq!(races(&body("gpu"), 1, 64), CLEAN);
    let silent = body("cta").replace("fence.acq_rel.cta;", "");
    assert_eq!(races(&silent, 1, 64), ["write/read 1"]);
}

/// Of `passing`: a thread between writer and reader sees the flag at 1 and sets it to 2.
fn relayed(passing: &str) -> Vec<String> {
    let body = format!(
        "setp.eq.u32 %p0, %r1, 1; @%p0 bra relay; setp.eq.u32 %p0, %r1, 2; @%p0 bra consumer;
         st.global.u32 [%out], 42; membar.gl; {RAISE} ret;
         relay: {LOOK} setp.ne.u32 %p1, %r5, 1; @%p1 bra relay; {passing} ret;
         consumer: {LOOK} setp.ne.u32 %p1, %r5, 2; @%p1 bra consumer; membar.gl; ld.global.u32 %r6, [%out];"
    );
    races(&body, 3, 1)
}

#[test]
fn knowledge_passes_through_others() {
    let set = "st.relaxed.gpu.global.u32 [%out+4], 2;";
    assert_eq!(relayed(&format!("membar.gl; {set}")), CLEAN, "causality is transitive");
    assert_eq!(relayed(set), ["write/read 1"], "a store of another thread's hides what was there");
    assert_eq!(
        relayed("atom.global.exch.b32 %r7, [%out+4], 2;"),
        CLEAN,
        "a read-modify-write goes on with it"
    );
}

/// Every CTA writes its partial results, the last to finish reads them all.
fn last_one_reads(before: &str, after: &str) -> Vec<String> {
    let body = format!(
        "st.global.u32 [%rd0+256], %r0; bar.sync 0;
         setp.ne.u32 %p0, %r0, 0; @%p0 bra wait;
         {before} mov.u32 %r5, %nctaid.x; sub.u32 %r5, %r5, 1; atom.global.inc.u32 %r6, [%out], %r5;
         setp.eq.u32 %p1, %r6, %r5; selp.u32 %r6, 1, 0, %p1; {after} st.shared.u32 [%r9], %r6;
         wait: bar.sync 0;
         ld.shared.u32 %r6, [%r9]; setp.eq.u32 %p1, %r6, 0; @%p1 ret;
         mov.u32 %r7, 0; mov.u64 %rd1, %out;
         next: mul.wide.u32 %rd2, %r0, 4; add.u64 %rd2, %rd1, %rd2; ld.global.u32 %r4, [%rd2+256];
         add.u64 %rd1, %rd1, 256; add.u32 %r7, %r7, 1; setp.le.u32 %p2, %r7, %r5; @%p2 bra next;"
    );
    // %r5 of the other threads is not set: let all have it.
    let body = body.replacen("bar.sync 0;", "mov.u32 %r5, %nctaid.x; sub.u32 %r5, %r5, 1; bar.sync 0;", 1);
    races(&body, 20, 64)
}

#[test]
fn a_fence_behind_a_barrier_is_for_the_whole_cta() {
    assert_eq!(last_one_reads("membar.gl;", "membar.gl;"), CLEAN);
    // The last CTA reads 64 words of each of 19 others.
    assert_eq!(last_one_reads("", "membar.gl;"), ["write/read 1216"]);
    assert_eq!(last_one_reads("membar.gl;", ""), ["write/read 1216"]);
}

/// Threads add to a word under a lock.
fn locked(enter: &str, leave: &str) -> Vec<String> {
    let body = format!(
        "setp.ne.u32 %p0, %r0, 0; @%p0 ret;
         spin: atom.global.cas.b32 %r5, [%out], 0, 1; setp.ne.u32 %p1, %r5, 0; @%p1 bra spin;
         {enter} ld.global.u32 %r6, [%out+4]; add.u32 %r6, %r6, 1; st.global.u32 [%out+4], %r6; {leave}
         atom.global.exch.b32 %r5, [%out], 0;"
    );
    races(&body, 20, 32)
}

#[test]
fn a_lock_needs_fences() {
    assert_eq!(locked("membar.gl;", "membar.gl;"), CLEAN);
    // Each of 19 CTAs reads and writes what one before it wrote.
    assert_eq!(locked("", ""), ["write/read 19", "write/write 19, 0 the same"]);
    assert_eq!(locked("membar.gl;", ""), ["write/read 19", "write/write 19, 0 the same"]);
}

#[test]
fn fences_alone_order_nothing() {
    let body = "setp.eq.u32 %p0, %r1, 0; @%p0 st.global.u32 [%out], 1; fence.sc.gpu; @!%p0 ld.global.u32 %r5, [%out];";
    assert_eq!(races(body, 2, 1), ["write/read 1"]);
}

/// Threads of all CTAs get each other's blocks, and write them: the heap's own fences order that.
#[test]
fn blocks_of_the_heap_change_hands_in_order() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64
        .extern .func (.param .b64 p) malloc(.param .b64 size);
        .extern .func free(.param .b64 p);
        .visible .entry test(.param .u64 out) {
            .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;
            mov.u32 %r0, %tid.x; mov.u32 %r1, 0;
        again:
            { .param .b64 s; .param .b64 p; st.param.b64 [s], 24; call (p), malloc, (s); ld.param.b64 %rd0, [p]; }
            st.u32 [%rd0], %r0; st.u64 [%rd0+16], %rd0; ld.u32 %r2, [%rd0];
            { .param .b64 p; st.param.b64 [p], %rd0; call free, (p); }
            add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 3; @%p0 bra again;
            ret;
        }";
    let mut session = crate::reference::testing::Session::new(text);
    let mut check = super::RaceCheck::default();
    super::launch(&mut session, &mut check, 4, 64, 0);
    assert_eq!(check.races(), &[]);
}
