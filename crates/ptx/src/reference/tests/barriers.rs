//! Barriers: who is awaited, reductions, deadlocks.

use super::{fault, results, session};

#[test]
fn a_reduction_in_shared_memory() {
    let body = "
        .shared .align 4 .b32 sums[128];
        mov.u32 %r9, sums;
        shl.b32 %r5, %r1, 2;
        add.u32 %r5, %r9, %r5;
        st.shared.u32 [%r5], %r0;
        mov.u32 %r6, 64;
    loop:
        bar.sync 0;
        setp.ge.u32 %p0, %r1, %r6;
        @%p0 bra skip;
        shl.b32 %r7, %r6, 2;
        add.u32 %r7, %r5, %r7;
        ld.shared.u32 %r7, [%r7];
        ld.shared.u32 %r8, [%r5];
        add.u32 %r8, %r8, %r7;
        st.shared.u32 [%r5], %r8;
    skip:
        shr.u32 %r6, %r6, 1;
        setp.ne.u32 %p0, %r6, 0;
        @%p0 bra loop;
        bar.sync 0;
        ld.shared.u32 %r8, [%r9];
        st.global.u32 [%rd0], %r8;
        ret;";
    let out = results(body, 3, 128);
    for (cta, words) in out.chunks(128).enumerate() {
        let sum: u32 = (cta as u32 * 128..(cta as u32 + 1) * 128).sum();
        assert!(words.iter().all(|word| *word == sum), "CTA {cta}");
    }
}

#[test]
fn threads_that_return_early_do_not_hold_a_barrier() {
    // Lanes 5 to 31 of warp 1 and all of warp 2 end before the barrier.
    let body = "
        setp.gt.u32 %p0, %r1, 36;
        @%p0 ret;
        bar.sync 0;
        st.global.u32 [%rd0], 1;
        ret;";
    let out = results(body, 1, 96);
    assert_eq!(out.iter().sum::<u32>(), 37);
    assert_eq!(out[36], 1);
}

#[test]
fn who_returns_early_is_not_awaited_wherever_the_text_puts_it() {
    // Lanes 5 to 31 of warp 1 and all of warp 2 write 7 and end; the others see each other before the barrier.
    let stay = "activemask.b32 %r7; bar.sync 0; st.global.u32 [%rd0], %r7; ret;";
    let leave = "st.global.u32 [%rd0], 7; ret;";
    let odd = "and.b32 %r5, %r1, 1; setp.eq.u32 %p1, %r5, 1; @%p1 bra odd; setp.gt.u32 %p0, %r1, 36; \
               @%p0 bra leave; bra stay; odd: setp.gt.u32 %p0, %r1, 36; @%p0 bra leave; ";
    for body in [
        format!("setp.gt.u32 %p0, %r1, 36; @%p0 bra leave; {stay} leave: {leave}"),
        format!("setp.le.u32 %p0, %r1, 36; @%p0 bra stay; {leave} stay: {stay}"),
        format!("{odd} stay: {stay} leave: {leave}"),
        format!("{odd} bra stay; leave: {leave} stay: {stay}"),
    ] {
        let expected: Vec<u32> = (0..96)
            .map(|thread| match thread {
                0..32 => u32::MAX,
                32..37 => 0x1f,
                _ => 7,
            })
            .collect();
        assert_eq!(results(&body, 1, 96), expected, "{body}");
    }
}

#[test]
fn lanes_that_return_out_of_a_loop_are_not_awaited_at_its_barrier() {
    // Thread n leaves in round n + 1 for good.
    let body = "
        mov.u32 %r5, 0;
    round:
        add.u32 %r5, %r5, 1;
        setp.lt.u32 %p0, %r1, %r5;
        @%p0 bra leave;
        bar.sync 0;
        setp.lt.u32 %p1, %r5, 20;
        @%p1 bra round;
        ret;
    leave:
        st.global.u32 [%rd0], %r5;
        ret;";
    let expected: Vec<u32> = (0..64).map(|thread| if thread < 20 { thread + 1 } else { 0 }).collect();
    assert_eq!(results(body, 1, 64), expected);
}

#[test]
fn a_lane_that_may_still_come_to_a_barrier_is_awaited() {
    // The lanes at `meet` go on to a barrier of their own: the first is divergent.
    let body = "setp.lt.u32 %p0, %r2, 16; @%p0 bra meet; bar.sync 0; meet: add.u32 %r5, %r1, 1; bar.sync 1; \
                st.global.u32 [%rd0], %r5; ret;";
    let message = fault(body, 1, 32);
    assert!(message.contains("diverged at a barrier"), "{message}");
}

#[test]
fn a_barrier_is_counted_whether_or_not_lanes_take_it() {
    for (guard, taken) in [("", 64), ("@!%p0", 32)] {
        let mut session = session(&format!(
            "setp.ge.u32 %p0, %r1, 32; {guard} bar.sync 1, 32; st.global.u32 [%rd0], 1; ret;"
        ));
        let out = session.buffer(&[0; 64]);
        let summary = session.launch("test", 1, 64, &[out]).unwrap_or_else(|fault| panic!("{fault}"));
        let code = session.module.kernels[0].code.len() as u64;
        assert_eq!(summary.counts.warp_instructions, 2 * code);
        assert_eq!(summary.counts.thread_instructions, 64 * (code - 1) + taken);
    }
}

#[test]
fn barrier_reductions_and_arrivals() {
    let body = "
        setp.lt.u32 %p0, %r1, 40;
        bar.red.popc.u32 %r5, 1, %p0;
        bar.red.and.pred %p1, 1, %p0;
        bar.red.or.pred %p2, 1, %p0;
        selp.u32 %r6, 256, 0, %p1;
        selp.u32 %r7, 512, 0, %p2;
        or.b32 %r5, %r5, %r6;
        or.b32 %r5, %r5, %r7;
        .shared .align 4 .b32 flag;
        setp.lt.u32 %p3, %r1, 32;
        @%p3 bra producer;
        bar.sync 2, 64;
        ld.shared.u32 %r8, [flag];
        bra done;
    producer:
        st.shared.u32 [flag], 4096;
        mov.u32 %r8, 4096;
        bar.arrive 2, 64;
    done:
        or.b32 %r5, %r5, %r8;
        st.global.u32 [%rd0], %r5;
        ret;";
    assert_eq!(results(body, 2, 64), [40 | 512 | 4096; 128]);
}

#[test]
fn a_deadlock_lists_its_warps() {
    let message = fault("setp.lt.u32 %p0, %r1, 32;\n@%p0 bra a;\nbar.sync 1;\na: bar.sync 0;\nret;", 1, 64);
    assert!(message.contains("warp 0: line") && message.contains("waits at barrier 0"), "{message}");
    assert!(message.contains("warp 1: line") && message.contains("waits at barrier 1"), "{message}");
}
