//! Whole kernels: control flow, memories, faults.

mod barriers;
mod printing;
mod stretches;

use std::sync::atomic::{AtomicBool, Ordering};

use super::testing::Session;
use super::{FaultKind, Options, QUANTUM};
use crate::isa::Space;

/// Puts the global thread number in %r0, its word of the output in %rd0, `tid` in %r1, `laneid` in %r2.
const PROLOGUE: &str = "
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %laneid;
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mad.lo.u32 %r0, %r3, %r4, %r1;
    mul.wide.u32 %rd0, %r0, 4;
    add.u64 %rd0, %out, %rd0;
";

fn session(body: &str) -> Session {
    Session::of_body(&format!("{PROLOGUE}{body}"))
}

fn results(body: &str, grid: u32, block: u32) -> Vec<u32> {
    let threads = (grid * block) as usize;
    session(body).run(grid, block, threads).unwrap_or_else(|fault| panic!("{fault}"))
}

fn fault(body: &str, grid: u32, block: u32) -> String {
    let threads = (grid * block) as usize;
    session(body).run(grid, block, threads).unwrap_err().to_string()
}

#[test]
fn every_thread_of_a_partial_warp_and_grid_runs_once() {
    let body = "atom.global.add.u32 %r5, [%rd0], %r0; atom.global.add.u32 %r5, [%rd0], 1; ret;";
    let out = results(body, 7, 45);
    assert_eq!(out, (1..=7 * 45).collect::<Vec<u32>>());
}

#[test]
fn loops_diverge_and_meet() {
    // Thread n adds 0 to n; every lane leaves the loop at another time.
    let body = "
        mov.u32 %r5, 0; mov.u32 %r6, 0;
    loop:
        add.u32 %r6, %r6, %r5;
        add.u32 %r5, %r5, 1;
        setp.le.u32 %p0, %r5, %r0;
        @%p0 bra loop;
        activemask.b32 %r7;
        popc.b32 %r7, %r7;
        shl.b32 %r7, %r7, 16;
        or.b32 %r6, %r6, %r7;
        st.global.u32 [%rd0], %r6;
        ret;";
    let out = results(body, 2, 64);
    for (n, word) in out.into_iter().enumerate() {
        assert_eq!(word, (n * (n + 1) / 2) as u32 | 32 << 16, "thread {n}");
    }
}

#[test]
fn ctas_that_wait_for_each_other_make_progress() {
    // CTA 0 waits for a flag that the last CTA sets; the flag is the word behind the output.
    let body = "
        setp.eq.u32 %p0, %r3, 7;
        @%p0 st.global.u32 [%out+1024], 1;
        setp.ne.u32 %p0, %r3, 0;
        @%p0 bra done;
    wait:
        ld.volatile.global.u32 %r5, [%out+1024];
        setp.eq.u32 %p1, %r5, 0;
        @%p1 bra wait;
    done:
        st.global.u32 [%rd0], 1;
        ret;";
    let out = session(body).run(8, 32, 257).unwrap();
    assert_eq!(out, [1; 257]);
}

#[test]
fn lanes_of_a_warp_that_spin_for_each_other_make_progress() {
    // A spin lock taken by every lane, the critical section after the loop.
    let body = "
    wait:
        atom.global.cas.b32 %r5, [%out+256], 0, 1;
        setp.ne.u32 %p0, %r5, 0;
        @%p0 bra wait;
        ld.volatile.global.u32 %r6, [%out+260];
        add.u32 %r6, %r6, 1;
        st.volatile.global.u32 [%out+260], %r6;
        atom.global.exch.b32 %r5, [%out+256], 0;
        ret;";
    // Where the compiler's meeting point lies before the release, hardware deadlocks as well; here the lanes
    // that hold the lock go on to their end without meeting the others.
    let mut session = session(body);
    session.options.instruction_limit = Some(100_000);
    let out = session.run(1, 32, 66);
    match out {
        Ok(words) => assert_eq!(words[65], 32),
        Err(fault) => assert!(matches!(fault.kind, FaultKind::InstructionLimit { .. }), "{fault}"),
    }
}

#[test]
fn generic_addresses_reach_every_space() {
    let body = "
        .shared .align 8 .b64 s[64];
        .local .align 8 .b64 l[2];
        mov.u64 %rd1, s;
        cvta.shared.u64 %rd1, %rd1;
        mul.wide.u32 %rd2, %r1, 8;
        add.u64 %rd1, %rd1, %rd2;
        mov.u64 %rd3, l;
        cvta.local.u64 %rd3, %rd3;
        and.b32 %r5, %r0, 1;
        setp.eq.u32 %p0, %r5, 0;
        selp.b64 %rd4, %rd1, %rd3, %p0;
        cvt.u64.u32 %rd5, %r0;
        st.u64 [%rd4], %rd5;
        ld.u32 %r6, [%rd4];
        isspacep.shared %p1, %rd4;
        isspacep.local %p2, %rd4;
        selp.u32 %r7, 0x10000, 0, %p1;
        selp.u32 %r8, 0x20000, 0, %p2;
        or.b32 %r6, %r6, %r7;
        or.b32 %r6, %r6, %r8;
        cvta.global.u64 %rd0, %rd0;
        st.u32 [%rd0], %r6;
        ret;";
    for (n, word) in results(body, 1, 64).into_iter().enumerate() {
        assert_eq!(word, n as u32 | if n % 2 == 0 { 0x10000 } else { 0x20000 });
    }
}

#[test]
fn vectors_and_narrow_elements() {
    let body = "
        .shared .align 16 .b8 s[1024];
        shl.b32 %r5, %r1, 4;
        mov.u32 %r6, s;
        add.u32 %r5, %r6, %r5;
        mov.u32 %r7, 0x80ff7f01;
        st.shared.v4.u32 [%r5], {%r0, %r7, 3, 4};
        ld.shared.s8 %r8, [%r5+7];
        ld.shared.u8 %r9, [%r5+6];
        ld.shared.s16 %r10, [%r5+6];
        ld.shared.v2.u32 {%r11, %r12}, [%r5+8];
        ld.shared.v2.u64 {%rd1, %rd2}, [%r5];
        shr.u64 %rd2, %rd2, 32;
        cvt.u32.u64 %r13, %rd2;
        add.u32 %r8, %r8, %r9;
        add.u32 %r8, %r8, %r10;
        add.u32 %r8, %r8, %r11;
        add.u32 %r8, %r8, %r12;
        add.u32 %r8, %r8, %r13;
        st.global.u32 [%rd0], %r8;
        ret;";
    let wanted = (-128 + 255 + i32::from(0x80ffu16 as i16) + 3 + 4 + 4) as u32;
    assert_eq!(results(body, 1, 64), [wanted; 64]);
}

#[test]
fn atomics_of_a_warp_take_turns() {
    let body = "
        atom.global.add.u32 %r5, [%out+256], 2;
        atom.global.inc.u32 %r6, [%out+260], 9;
        atom.global.max.s32 %r7, [%out+264], %r0;
        mov.f32 %f0, 0f3F800000;
        red.global.add.f32 [%out+268], %f0;
        st.global.u32 [%rd0], %r5;
        ret;";
    let out = session(body).run(2, 32, 68).unwrap();
    let mut olds = out[..64].to_vec();
    olds.sort_unstable();
    assert_eq!(olds, (0..64).map(|n| 2 * n).collect::<Vec<u32>>());
    assert_eq!(out[64..], [128, 64 % 10, 63, 64f32.to_bits()]);
}

#[test]
fn indexed_branches() {
    let body = "
    targets: .branchtargets a, b, c;
        rem.u32 %r5, %r0, 3;
        brx.idx %r5, targets;
    a:  mov.u32 %r6, 10; bra done;
    b:  mov.u32 %r6, 20; bra done;
    c:  mov.u32 %r6, 30;
    done:
        activemask.b32 %r7;
        setp.ne.u32 %p0, %r7, -1;
        @%p0 mov.u32 %r6, 0;
        st.global.u32 [%rd0], %r6;
        ret;";
    for (n, word) in results(body, 1, 32).into_iter().enumerate() {
        assert_eq!(word as usize, 10 * (n % 3 + 1));
    }
}

#[test]
fn counts_are_exact() {
    // Four instructions of the prologue's eight are moves; `of_body` loads the parameter first.
    let mut session = Session::of_body("st.global.u32 [%out], 1; ret;");
    let out = session.buffer(&[0]);
    let summary = session.launch("test", 3, 40, &[out]).unwrap();
    let code = session.module.kernels[0].code.len() as u64;
    assert_eq!(summary.counts.warp_instructions, 3 * 2 * code);
    assert_eq!(summary.counts.thread_instructions, 3 * 40 * code);
}

#[test]
fn faults_name_their_place() {
    let table = [
        (
            "setp.eq.u32 %p0, %r1, 37;\n@%p0 st.global.u32 [%rd0+0x100000], 1;\nret;",
            "thread (37, 0, 0): access of 4 bytes at Global address",
        ),
        ("add.u64 %rd0, %rd0, 2; st.global.u32 [%rd0], 1; ret;", "not a multiple of 4"),
        (".shared .b32 s[4]; ld.shared.u32 %r5, [s+16]; ret;", "Shared address 0x10, which holds no memory"),
        ("setp.eq.u32 %p0, %r1, 3; @%p0 trap; ret;", "thread (3, 0, 0): trap"),
        (
            "setp.lt.u32 %p0, %r2, 16;\n@%p0 bra a;\nbar.sync 0;\nbra done;\na: bar.sync 1;\ndone: ret;",
            "diverged at a barrier",
        ),
        ("setp.lt.u32 %p0, %r1, 32;\n@%p0 bra a;\nbar.sync 1;\na: bar.sync 0;\nret;", "deadlock"),
        ("bar.sync 0, 33; ret;", "not a multiple of 32"),
        ("loop: bra loop;", "not finished after 10000 warp instructions"),
    ];
    for (body, wanted) in table {
        let mut session = session(body);
        session.options = Options { instruction_limit: Some(10_000), ..Options::default() };
        let message = session.run(2, 64, 128).unwrap_err().to_string();
        assert!(message.starts_with("kernel test") && message.contains(wanted), "{body}\n{message}");
    }
}

#[test]
fn an_interrupt_stops_an_endless_kernel_after_a_turn() {
    static INTERRUPT: AtomicBool = AtomicBool::new(true);
    let mut session = session("loop: bra loop;");
    session.options = Options { interrupt: Some(&INTERRUPT), ..Options::default() };
    let fault = session.run(2, 64, 128).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Interrupted { instructions: 2 * u64::from(QUANTUM) });
    INTERRUPT.store(false, Ordering::Relaxed);
    session.options.instruction_limit = Some(10_000);
    let fault = session.run(2, 64, 128).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::InstructionLimit { .. }), "{fault}");
}

#[test]
fn a_fault_knows_line_cta_and_address() {
    let body = "setp.eq.u32 %p0, %r0, 70;\n@%p0 ld.global.u32 %r5, [8];\nst.global.u32 [%rd0], %r5;\nret;";
    let fault = session(body).run(3, 32, 96).unwrap_err();
    let place = fault.place.expect("an access has a place");
    assert_eq!((place.cta, place.thread), ([2, 0, 0], [6, 0, 0]));
    assert_eq!(fault.kind, FaultKind::OutOfBounds { space: Space::Global, address: 8, bytes: 4 });
    let text = format!("{PROLOGUE}{body}");
    let in_body = text.lines().position(|line| line.contains("[8]")).expect("the load is there") as u32;
    // Six lines stand before the body.
    assert_eq!(place.line, in_body + 7);
}

#[test]
fn launches_are_checked() {
    let mut session = session("ret;");
    for (grid, block, wanted) in [(0, 32, "empty launch"), (1, 1025, "at most 1024")] {
        let fault = session.launch("test", grid, block, &[0]).unwrap_err();
        assert!(fault.to_string().contains(wanted), "{fault}");
    }
}

#[test]
fn memory_of_ctas_is_bounded() {
    let wants = |local: u64| Session::of_body(&format!(".local .b8 own[{local}]; mov.u64 %rd1, own; ret;"));
    let fault = wants(1 << 27).launch("test", 1, 1, &[0]).unwrap_err().to_string();
    assert!(fault.contains("shared and local memory a CTA"), "{fault}");
    assert!(wants(1 << 20).launch("test", 1, 2, &[0]).is_ok());
}

/// Half-precision and video instructions from text to memory: widths of operands, registers and results.
#[test]
fn narrow_arithmetic_reaches_memory() {
    let mut session = Session::of_body(
        ".reg .b128 %q<3>;
         mov.f32 %f1, 0f3FC00000; mov.f32 %f2, 0fC0000000;
         cvt.rn.f16x2.f32 %r1, %f1, %f2; st.global.b32 [%out], %r1;
         cvt.rn.relu.bf16x2.f32 %r2, %f1, %f2; st.global.b32 [%out+4], %r2;
         fma.rn.relu.f16x2 %r3, %r1, %r1, %r1; st.global.b32 [%out+8], %r3;
         setp.lt.f16x2 %p1|%p2, %r1, %r3; selp.b32 %r4, 1, 0, %p1; selp.b32 %r5, 2, 0, %p2;
         or.b32 %r4, %r4, %r5; st.global.b32 [%out+12], %r4;
         cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2; cvt.u32.u16 %r6, %h1; st.global.b32 [%out+16], %r6;
         cvt.rn.f16x2.e4m3x2 %r7, %h1; st.global.b32 [%out+20], %r7;
         mov.b32 {%h2, %h3}, %r1; add.f32.f16 %f3, %h3, %f2; st.global.f32 [%out+24], %f3;
         vabsdiff4.u32.u32.u32.add %r8, %r1, %r3, %r4; st.global.b32 [%out+28], %r8;
         vmad.s32.s32.s32 %r9, -%r4.b0, %r6.h0, %r5; st.global.b32 [%out+32], %r9;
         mov.b64 %rd1, {%f1, %f2}; fma.rn.f32x2 %rd2, %rd1, %rd1, %rd1; st.global.b64 [%out+40], %rd2;
         mov.b128 %q1, {%rd2, %rd1}; mov.b128 %q2, %q1; mov.b128 {_, %rd3}, %q2; st.global.b64 [%out+48], %rd3;
         @%p2 min.f32 %f4, %f1, %f2, %f3; st.global.f32 [%out+56], %f4;
         red.global.add.noftz.f16x2 [%out+60], %r1; atom.global.add.noftz.bf16 %h4, [%out+64], %h3;
         ret;",
    );
    let words = session.run(1, 1, 17).unwrap_or_else(|fault| panic!("{fault}"));
    // 1.5 is 0x3e00 (f16), 0x3fc0 (bf16), 0x3c (e4m3); -2 is 0xc000, 0xc000, 0xc0.
    // fma: 1.5 * 1.5 + 1.5 = 3.75 (0x4380), 4 - 2 = 2 (0x4000).
    let pair = 0x3e00_c000;
    let expected = [
        pair,
        0x3fc0_0000,
        0x4380_4000,
        3,
        0x3cc0,
        pair,
        (-0.5f32).to_bits(),
        // |3e-43| + |00-80| + |c0-40| + 0 + 3
        5 + 0x80 + 0x80 + 3,
        (2 - 3 * 0x3cc0i32) as u32,
        0,
        3.75f32.to_bits(),
        2f32.to_bits(),
        1.5f32.to_bits(),
        (-2f32).to_bits(),
        (-2f32).to_bits(),
        pair,
        0x3e00,
    ];
    assert_eq!(words, expected);
}
