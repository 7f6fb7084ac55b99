//! The messages for programs that go wrong; and programs whose lanes end early, which is no error.

use std::ops::Range;

use crate::support::{PLAIN, counter, gtx480, module, on_device};
use strata_gpu::device::{Lockstep, ReferenceDevice};
use strata_gpu::gpu::GpuOptions;
use strata_workloads::{Arg, Device, DeviceError, DevicePtr, Module, Shape};

/// A kernel `k` with a pointer, on two CTAs of two warps. Line 1 of the body is line 7 of the text.
fn kernel(body: &str) -> String {
    module(&format!(
        ".visible .entry k(.param .u64 out) {{\n.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>;\n\
         ld.param.u64 %rd0, [out];\n{body}\nret;\n}}\n"
    ))
}

/// The message for a failing body; the buffer has 1024 bytes from address 0x100000 on.
fn failure(body: &str, options: GpuOptions, sets: &[&str]) -> String {
    let error = on_device(&gtx480(sets), options, &kernel(body), |device| {
        let out = device.alloc("out", 1024)?;
        assert_eq!(out, DevicePtr(0x10_0000));
        device.launch("k", Shape::new([2, 1, 1], [64, 1, 1]), &[Arg::Ptr(out)])
    });
    match error {
        Err(DeviceError::Failed { kernel, reason, .. }) => {
            assert_eq!(kernel, "k");
            reason
        }
        other => panic!("expected a failure, found {other:?}"),
    }
}

/// Faults that stop a kernel immediately: body and message.
const FAULTS: &[(&str, &str)] = &[
    (
        "st.global.u32 [%rd0+1024], 1;",
        "kernel k, line 7, CTA [0, 0, 0], thread [0, 0, 0]: 4-byte access to global address 0x100400, which lies in \
         no allocation; `out` (1024 bytes at 0x100000) ends right below",
    ),
    (
        "st.global.u32 [%rd0+1028], 1;",
        "kernel k, line 7, CTA [0, 0, 0], thread [0, 0, 0]: 4-byte access to global address 0x100404, which lies in \
         no allocation; `out` (1024 bytes at 0x100000) ends 4 bytes below",
    ),
    (
        "st.u64 [%rd0+-16], 1;",
        "kernel k, line 7, CTA [0, 0, 0], thread [0, 0, 0]: 8-byte access to global address 0xffff0, which lies in \
         no allocation; `out` (1024 bytes at 0x100000) begins 8 bytes above",
    ),
    (
        // Lane 40 is the first beyond the end: 0x100000 + 40 * 25.6 is not; 1024 / 25 = 40.96.
        "mov.u32 %r0, %tid.x;\nmul.wide.u32 %rd1, %r0, 32;\nadd.u64 %rd1, %rd0, %rd1;\nld.global.u32 %r1, [%rd1];\n\
         st.global.u32 [%rd0], %r1;",
        "kernel k, line 10, CTA [0, 0, 0], thread [32, 0, 0]: 4-byte access to global address 0x100400, which lies in \
         no allocation; `out` (1024 bytes at 0x100000) ends right below",
    ),
    (
        "ld.global.u32 %r1, [0];\nst.global.u32 [%rd0], %r1;",
        "kernel k, line 7, CTA [0, 0, 0], thread [0, 0, 0]: 4-byte access to global address 0x0, which lies in no \
         allocation; `out` (1024 bytes at 0x100000) begins 1048572 bytes above",
    ),
    (
        "st.global.u64 [%rd0+4], 1;",
        "kernel k, line 7, CTA [0, 0, 0], thread [0, 0, 0]: 8-byte access to address 0x100004, which is not a \
         multiple of 8",
    ),
    (
        "atom.global.add.u32 %r1, [%rd0+2], 1;\nst.global.u32 [%rd0], %r1;",
        "kernel k, line 7, CTA [0, 0, 0], thread [0, 0, 0]: 4-byte access to address 0x100002, which is not a \
         multiple of 4",
    ),
    (
        "mov.u32 %r0, %tid.x;\nsetp.ge.u32 %p0, %r0, 40;\n@%p0 trap;",
        "kernel k, line 9, CTA [0, 0, 0], thread [40, 0, 0]: trap",
    ),
    (
        // Each side waits at a barrier of its own, so neither can proceed.
        "mov.u32 %r0, %tid.x;\nand.b32 %r0, %r0, 1;\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 bra EVEN;\nbar.sync 1;\nbra END;\n\
         EVEN:\nbar.sync 2;\nEND:",
        "kernel k, line 11, CTA [0, 0, 0], thread [33, 0, 0]: barrier reached while other lanes of the warp are on \
         another path",
    ),
    (
        "mov.u32 %r0, %tid.x;\nsetp.lt.u32 %p0, %r0, 20;\n@%p0 bar.sync 0;",
        "kernel k, line 9, CTA [0, 0, 0], thread [0, 0, 0]: barrier reached while other lanes of the warp are on \
         another path",
    ),
];

#[test]
fn a_fault_names_kernel_line_thread_and_address() {
    for (body, expected) in FAULTS {
        assert_eq!(failure(body, PLAIN, &[]), *expected, "{body}");
    }
}

/// Both devices name the same buffer and distance, whatever else they say.
#[test]
fn the_reference_executor_names_the_nearest_buffer_too() {
    for (body, expected) in FAULTS {
        let Some((_, expected)) = expected.split_once("; ") else { continue };
        let text = kernel(body);
        let module = Module { name: "test.ptx", text: &text };
        let mut reference =
            ReferenceDevice::new(module, gtx480(&[]).compile_options(), 1 << 30, Default::default()).unwrap();
        let out = reference.alloc("out", 1024).unwrap();
        let error = reference.launch("k", Shape::new([2, 1, 1], [64, 1, 1]), &[Arg::Ptr(out)]).unwrap_err();
        assert_eq!(error.to_string().split_once("; ").map(|(_, nearest)| nearest), Some(expected), "{error}");
    }
}

#[test]
fn a_fault_is_the_same_on_any_number_of_threads() {
    for (body, expected) in FAULTS {
        for (threads, window) in [(2, Some(1)), (3, None)] {
            let options = GpuOptions { threads, window, ..PLAIN };
            assert_eq!(failure(body, options, &[]), *expected, "{body}");
        }
    }
}

#[test]
fn a_deadlock_says_who_waits_for_what() {
    // Warp 1 waits for a warp that never comes: 96 threads are expected where there are 64.
    let body =
        "mov.u32 %r0, %tid.x;\nsetp.ge.u32 %p0, %r0, 32;\n@%p0 bar.sync 1, 96;\nst.global.u32 [%rd0], 1;";
    let reason = failure(body, PLAIN, &[]);
    let (head, waits) = reason.split_once(":\n").unwrap();
    assert!(head.starts_with("the kernel can never finish (cycle "), "{head}");
    for expected in [
        "SM 0: warp 0 (CTA [0, 0, 0], its warp 0): has ended; 0 instructions are under way",
        "SM 0: warp 1 (CTA [0, 0, 0], its warp 1): next is line 10 (pc ",
        "); at barrier 1: 32 of 96 threads have arrived",
        "SM 1: warp 1 (CTA [1, 0, 0], its warp 1): next is line 10 (pc ",
        "dispatcher: 0 of 2 CTAs have ended, 2 run, 0 wait for room",
    ] {
        assert!(waits.contains(expected), "`{expected}` is not in\n{reason}");
    }
}

/// A warp of CTA 0 waits for a flag that nobody sets.
const SPIN: &str = "SPIN:\nld.volatile.global.u32 %r1, [%rd0];\nsetp.eq.u32 %p0, %r1, 0;\n@%p0 bra SPIN;";

#[test]
fn an_endless_spin_reaches_the_cycle_limit() {
    let limit = strata_engine::Cycle(5000);
    for threads in [1, 2] {
        let reason = failure(SPIN, GpuOptions { limit, threads, ..PLAIN }, &[]);
        assert_eq!(reason, "the kernel reached the cycle limit (cycle 5000); 0 CTAs have ended");
    }
}

#[test]
fn a_launch_that_cannot_be_is_refused() {
    type Launch = (&'static str, [u32; 3], [u32; 3], u32, &'static [Arg], &'static str);
    const P: &[Arg] = &[Arg::U64(0x10_0000)];
    let launches: &[Launch] = &[
        ("kk", [1; 3], [1; 3], 0, P, "the module has no kernel `kk`"),
        (
            "k",
            [1; 3],
            [1025, 1, 1],
            0,
            P,
            "cannot launch `k`: a block of [1025, 1, 1] has 1025 threads, at most 1024 (64 in z) are allowed",
        ),
        (
            "k",
            [0, 1, 1],
            [1; 3],
            0,
            P,
            "cannot launch `k`: grid [0, 1, 1] and block [1, 1, 1] must not be empty",
        ),
        ("k", [1; 3], [1; 3], 0, &[], "cannot launch `k`: 0 arguments given, the kernel has 1 parameters"),
        (
            "k",
            [1; 3],
            [1; 3],
            0,
            &[Arg::U32(1)],
            "cannot launch `k`: argument 0 has 4 bytes, parameter `out` has 8",
        ),
        ("k", [1; 3], [1; 3], 49153, P, "`k` failed: a CTA does not fit an SM: limited by shared memory"),
    ];
    on_device(&gtx480(&[]), PLAIN, &kernel("st.global.u32 [%rd0], 1;"), |device| {
        device.alloc("out", 1024).unwrap();
        for (name, grid, block, shared, args, expected) in launches {
            let error =
                device.launch(name, Shape::new(*grid, *block).with_shared(*shared), args).unwrap_err();
            assert_eq!(error.to_string(), *expected);
        }
        // None of these refusals affects a later, valid launch.
        device.launch("k", Shape::new([1; 3], [32, 1, 1]), P).unwrap();
    });
}

/// Bodies in which lanes end before others reach a barrier. Which side of a branch runs first depends on where
/// it stands in the text, so each comes in both orders; `%r0` is the thread and `%rd2` the address of its word.
const EARLY_ENDS: &[(&str, &str)] = &[
    (
        "return before the barrier, guard",
        "setp.ge.u32 %p0, %r0, 40;\n@%p0 ret;\nst.shared.u32 [%r1], %r0;\nbar.sync 0;\nld.shared.u32 %r3, [%r2];\n\
         st.global.u32 [%rd2], %r3;",
    ),
    (
        "the lanes that return stand last",
        "setp.ge.u32 %p0, %r0, 40;\n@%p0 bra OUT;\nst.shared.u32 [%r1], %r0;\nbar.sync 0;\nld.shared.u32 %r3, [%r2];\n\
         st.global.u32 [%rd2], %r3;\nOUT:\nret;",
    ),
    (
        "the lanes that return stand first",
        "setp.lt.u32 %p0, %r0, 40;\n@%p0 bra WORK;\nst.global.u32 [%rd2], 7;\nret;\nWORK:\nst.shared.u32 [%r1], %r0;\n\
         bar.sync 0;\nld.shared.u32 %r3, [%r2];\nst.global.u32 [%rd2], %r3;",
    ),
    (
        "two groups end, one after the other, around a loop with barriers",
        "mov.u32 %r4, 0;\nst.shared.u32 [%r1], %r0;\nLOOP:\nadd.u32 %r4, %r4, 13;\nsetp.lt.u32 %p0, %r0, %r4;\n@%p0 bra END;\n\
         bar.sync 0;\nld.shared.u32 %r3, [%r2];\nadd.u32 %r3, %r3, %r4;\nst.global.u32 [%rd2], %r3;\n\
         setp.lt.u32 %p1, %r4, 50;\n@%p1 bra LOOP;\nret;\nEND:\nret;",
    ),
    (
        "a whole warp ends, the other waits",
        "setp.ge.u32 %p0, %r0, 32;\n@%p0 ret;\nbar.sync 0;\nst.global.u32 [%rd2], %r0;",
    ),
    (
        "a barrier with a result counts those that are left",
        "setp.ge.u32 %p0, %r0, 40;\n@%p0 bra OUT;\nsetp.lt.u32 %p1, %r0, 10;\nbar.red.popc.u32 %r3, 0, %p1;\n\
         st.global.u32 [%rd2], %r3;\nret;\nOUT:\nret;",
    ),
    (
        "the lanes that return work and stand last",
        "setp.ge.u32 %p0, %r0, 40;\n@%p0 bra OUT;\nst.shared.u32 [%r1], %r0;\nbar.sync 0;\nld.shared.u32 %r3, [%r2];\n\
         st.global.u32 [%rd2], %r3;\nret;\nOUT:\nst.global.u32 [%rd2], 7;",
    ),
    (
        "the same, and both go on to the return",
        "setp.ge.u32 %p0, %r0, 40;\n@%p0 bra OUT;\nst.shared.u32 [%r1], %r0;\nbar.sync 0;\nld.shared.u32 %r3, [%r2];\n\
         st.global.u32 [%rd2], %r3;\nbra END;\nOUT:\nst.global.u32 [%rd2], 7;\nEND:",
    ),
    (
        "a barrier behind a vote that all who stay take part in",
        "setp.ge.u32 %p0, %r0, 40;\n@%p0 bra OUT;\nand.b32 %r4, %r0, 1;\nsetp.eq.u32 %p1, %r4, 0;\n@%p1 bra EVEN;\n\
         setp.ge.u32 %p2, %r0, 35;\n@%p2 bra OUT;\nadd.u32 %r4, %r4, 5;\nbra MEET;\nEVEN:\n\
         setp.lt.u32 %p2, %r0, 3;\n@%p2 bra OUT;\nadd.u32 %r4, %r4, 9;\nMEET:\nactivemask.b32 %r7;\n\
         add.u32 %r4, %r4, %r7;\nst.shared.u32 [%r1], %r4;\nbar.sync 0;\nld.shared.u32 %r3, [%r2];\n\
         st.global.u32 [%rd2], %r3;\nret;\nOUT:\nst.global.u32 [%rd2], 7;",
    ),
    (
        "three groups return from three places, the last stays",
        "and.b32 %r4, %r0, 3;\nsetp.eq.u32 %p0, %r4, 0;\n@%p0 bra ZERO;\nsetp.eq.u32 %p0, %r4, 1;\n@%p0 bra ONE;\n\
         setp.eq.u32 %p0, %r4, 2;\n@%p0 bra TWO;\nbar.sync 0;\nst.global.u32 [%rd2], 3;\nret;\nZERO:\n\
         st.global.u32 [%rd2], 4;\nret;\nONE:\nst.global.u32 [%rd2], 5;\nret;\nTWO:\nst.global.u32 [%rd2], 6;",
    ),
    (
        "three groups return by a table, those who stay come before the last of them",
        "and.b32 %r4, %r0, 3;\nTABLE: .branchtargets ZERO, ONE, STAY, THREE;\nbrx.idx %r4, TABLE;\nZERO:\n\
         st.global.u32 [%rd2], 4;\nret;\nONE:\nst.global.u32 [%rd2], 5;\nret;\nSTAY:\nst.shared.u32 [%r1], %r0;\n\
         bar.sync 0;\nld.shared.u32 %r3, [%r1];\nst.global.u32 [%rd2], %r3;\nret;\nTHREE:\nst.global.u32 [%rd2], 6;",
    ),
    (
        "lanes leave a loop with barriers for good, with work behind it",
        "mov.u32 %r4, 0;\nst.shared.u32 [%r1], %r0;\nLOOP:\nadd.u32 %r4, %r4, 13;\nsetp.lt.u32 %p0, %r0, %r4;\n@%p0 bra END;\n\
         bar.sync 0;\nld.shared.u32 %r3, [%r2];\nadd.u32 %r3, %r3, %r4;\nst.global.u32 [%rd2], %r3;\n\
         setp.lt.u32 %p1, %r4, 50;\n@%p1 bra LOOP;\nret;\nEND:\nadd.u32 %r4, %r4, %r0;\nst.global.u32 [%rd2+256], %r4;",
    ),
    (
        "lanes leave two nested loops, the inner one with a barrier",
        "mov.u32 %r4, 0;\nOUTER:\nmov.u32 %r5, 0;\nINNER:\nmad.lo.u32 %r6, %r4, 3, %r5;\nsetp.eq.u32 %p0, %r0, %r6;\n\
         @%p0 bra OUT;\nbar.sync 0;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 3;\n@%p1 bra INNER;\n\
         add.u32 %r7, %r4, 32;\nsetp.eq.u32 %p0, %r0, %r7;\n@%p0 bra LATE;\nbar.sync 0;\nadd.u32 %r4, %r4, 1;\n\
         setp.lt.u32 %p1, %r4, 4;\n@%p1 bra OUTER;\nst.global.u32 [%rd2], %r4;\nret;\nOUT:\nadd.u32 %r6, %r6, 100;\n\
         st.global.u32 [%rd2], %r6;\nret;\nLATE:\nst.global.u32 [%rd2], %r7;",
    ),
    (
        "half a warp ends beside a barrier that it might have come to",
        "and.b32 %r4, %r0, 31;\nsetp.lt.u32 %p0, %r4, 16;\n@%p0 bra EARLY;\nst.shared.u32 [%r1], %r0;\nbar.sync 0;\n\
         ld.shared.u32 %r3, [%r2];\nst.global.u32 [%rd2], %r3;\nret;\nEARLY:\nst.global.u32 [%rd2], %r4;\n\
         setp.gt.u32 %p1, %r4, 100;\n@%p1 bra LATE;\nret;\nLATE:\nbar.sync 0;",
    ),
    (
        "a barrier that no lane of a warp takes",
        "setp.ge.u32 %p0, %r0, 32;\n@!%p0 bar.sync 1, 32;\nst.global.u32 [%rd2], %r0;",
    ),
];

/// Threads of a CTA: two warps, the second one with a full and a partial part in the kernels above.
const BLOCK: Range<u32> = 0..64;

#[test]
fn lanes_that_end_early_do_not_hold_a_barrier() {
    for (what, body) in EARLY_ENDS {
        let text = module(&format!(
            ".visible .entry k(.param .u64 out) {{\n.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>;\n\
             .shared .align 4 .b8 words[256];\n\
             ld.param.u64 %rd0, [out];\nmov.u32 %r0, %tid.x;\nmov.u32 %r5, words;\nshl.b32 %r1, %r0, 2;\n\
             add.u32 %r1, %r1, %r5;\nxor.b32 %r2, %r0, 1;\nshl.b32 %r2, %r2, 2;\nadd.u32 %r2, %r2, %r5;\n\
             mov.u32 %r6, %ctaid.x;\nmad.lo.u32 %r6, %r6, 128, %r0;\nmul.wide.u32 %rd2, %r6, 4;\n\
             add.u64 %rd2, %rd0, %rd2;\n{body}\nret;\n}}\n"
        ));
        let machine = gtx480(&[]);
        let module = Module { name: "test.ptx", text: &text };
        let mut reference =
            ReferenceDevice::new(module, machine.compile_options(), 1 << 30, Default::default()).unwrap();
        on_device(&machine, PLAIN, &text, |timed| {
            let mut both = Lockstep::new(timed, &mut reference);
            let out = both.alloc("out", 2 * 512).unwrap();
            both.fill(out, 0xee, 2 * 512).unwrap();
            both.launch("k", Shape::new([2, 1, 1], [BLOCK.end, 1, 1]), &[Arg::Ptr(out)])
                .unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(both.finish().1, Vec::<String>::new(), "{what}");
            assert_eq!(counter(timed, "sm", "ctas"), 2);
            let broken: Vec<_> = timed.statistics().iter().filter_map(|group| group.broken).collect();
            assert_eq!(broken, Vec::<&str>::new(), "{what}");
            let issued = ["warp_instructions", "thread_instructions"].map(|name| counter(timed, "sm", name));
            assert_eq!(issued, <[u64; 2]>::from(reference.instructions()), "{what}: instructions issued");
        });
    }
}
