//! Livelocks end a launch with the lines on which warps go round; programs that only wait or compute for long end as ever.

use crate::support::{PLAIN, Words, gtx480, launch, module, on_device};
use strata_gpu::device::{ReferenceDevice, TimedDevice};
use strata_gpu::gpu::{Gpu, GpuOptions};
use strata_gpu::machine::Machine;
use strata_gpu::results::LaunchResult;
use strata_workloads::{DeviceError, Failure, Module, Size, find};

const SMALL: &[&str] = &["gpu.sms=2", "gpu.channels=1", "gpu.memory_mib=16"];

/// A kernel `k` with a pointer to 1024 bytes. Line 1 of the body is line 8 of the text.
fn kernel(body: &str) -> String {
    module(&format!(
        ".visible .entry k(.param .u64 out) {{\n.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>;\n\
         .shared .align 8 .b8 s[64];\nld.param.u64 %rd0, [out];\n{body}\nret;\n}}\n"
    ))
}

/// Takes the lock at `out` lane by lane, counts at `out + 4` and gives it back. The lanes of a warp that do not get it
/// run on in the loop, and the lane that has it waits for them behind it.
const NAIVE_LOCK: &str = "L: atom.global.cas.b32 %r1, [%rd0], 0, 1;\nsetp.ne.u32 %p0, %r1, 0;\n@%p0 bra L;\n\
                          ld.volatile.global.u32 %r2, [%rd0+4];\nadd.u32 %r2, %r2, 1;\n\
                          st.volatile.global.u32 [%rd0+4], %r2;\nmembar.gl;\natom.global.exch.b32 %r1, [%rd0], 0;";

/// The same lock, taken by one lane of each warp.
fn leaders_lock() -> String {
    format!("mov.u32 %r0, %laneid;\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 bra END;\n{NAIVE_LOCK}\nEND:")
}

fn volta(sets: &[&str]) -> Machine {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Machine::load("volta-fuse", &sets).unwrap_or_else(|error| panic!("{error}"))
}

/// Launches a body on a modelled GPU whose warps are watched after so many cycles without an effect.
fn timed(
    machine: &Machine,
    body: &str,
    (ctas, threads): (u32, u32),
    patience: u64,
) -> (Words, Vec<LaunchResult>) {
    let text = kernel(body);
    let mut progress = |_: &strata_gpu::Progress| {};
    let mut gpu = Gpu::new(machine, PLAIN).unwrap_or_else(|error| panic!("{error}"));
    gpu.look_for_livelocks_every(patience);
    let module = Module { name: "test.ptx", text: &text };
    let mut device =
        TimedDevice::on(gpu, machine, module, &mut progress).unwrap_or_else(|error| panic!("{error}"));
    let launched = launch(&mut device, ctas, threads);
    (launched, device.launches().to_vec())
}

fn reference(body: &str, (ctas, threads): (u32, u32)) -> Words {
    let text = kernel(body);
    let module = Module { name: "test.ptx", text: &text };
    let options = gtx480(&[]).compile_options();
    let mut device = ReferenceDevice::new(module, options, 1 << 20, Default::default())
        .unwrap_or_else(|error| panic!("{error}"));
    launch(&mut device, ctas, threads)
}

/// The reason of a launch that ended in a livelock.
fn livelock(launched: Words, body: &str) -> String {
    match launched {
        Err(DeviceError::Failed { failure: Failure::Unfinished, reason, .. })
            if reason.contains("livelock") =>
        {
            reason
        }
        other => panic!("expected a livelock, found {other:?} of\n{body}"),
    }
}

#[test]
fn a_lock_that_a_warp_takes_lane_by_lane_is_a_livelock() {
    let expected = "goes round on lines 8, 9 and 10 with lanes 0xfffffffe; lanes 0x00000001 wait, some for these at line 11";
    for machine in [gtx480(SMALL), volta(SMALL)] {
        // As long as everybody waits by default.
        let (launched, _) = timed(&machine, NAIVE_LOCK, (1, 32), 1 << 20);
        let reason = livelock(launched, NAIVE_LOCK);
        assert!(reason.starts_with("the kernel can never finish, a livelock (cycle "), "{reason}");
        let warp = format!("SM 0: warp 0 (CTA [0, 0, 0], its warp 0): {expected}");
        assert!(reason.contains(&warp), "{reason}");
        assert!(reason.ends_with("dispatcher: 0 of 1 CTAs have ended, 1 run, 0 wait for room"), "{reason}");
    }
    let reason = livelock(reference(NAIVE_LOCK, (1, 32)), NAIVE_LOCK);
    assert!(
        reason.starts_with("kernel k: livelock: its warps go round for ever, and no memory changes"),
        "{reason}"
    );
    assert!(reason.contains(&format!("\n  CTA (0, 0, 0) warp 0: {expected}")), "{reason}");
}

/// Bodies that go round, the CTAs and threads, and what is said of each kind of warp.
const LIVELOCKS: &[(&str, (u32, u32), &[&str])] = &[
    (NAIVE_LOCK, (4, 64), &["lines 8, 9 and 10"]),
    // By exchange: what is written is there already.
    (
        "L: atom.global.exch.b32 %r1, [%rd0], 1;\nsetp.ne.u32 %p0, %r1, 0;\n@%p0 bra L;\nbar.sync 0;\n\
         st.global.u32 [%rd0], 0;",
        (1, 64),
        &["lines 8, 9 and 10"],
    ),
    // A flag that nobody sets, by loads and by an addition of nothing, in all of a CTA but a warp at a barrier.
    (
        "mov.u32 %r0, %tid.x;\nsetp.lt.u32 %p1, %r0, 32;\n@%p1 bra B;\nL: ld.volatile.global.u32 %r1, [%rd0];\n\
         setp.eq.u32 %p0, %r1, 0;\n@%p0 bra L;\nB: bar.sync 0;",
        (2, 64),
        &["lines 11, 12 and 13", "waits at barrier 0"],
    ),
    (
        "L: atom.global.add.u32 %r1, [%rd0], 0;\nsetp.eq.u32 %p0, %r1, 0;\n@%p0 bra L;",
        (2, 32),
        &["lines 8, 9 and 10"],
    ),
    (
        "L: atom.shared.max.u32 %r1, [s], 0;\nsetp.eq.u32 %p0, %r1, 0;\n@%p0 bra L;",
        (2, 32),
        &["lines 8, 9 and 10"],
    ),
    // With a pause that grows up to a bound.
    (
        "mov.u32 %r2, 8;\nL: nanosleep.u32 %r2;\nshl.b32 %r2, %r2, 1;\nmin.u32 %r2, %r2, 1024;\n\
         ld.volatile.global.u32 %r1, [%rd0];\nsetp.eq.u32 %p0, %r1, 0;\n@%p0 bra L;",
        (2, 32),
        &["lines 9, 10, 11, 12, 13 and 14"],
    ),
    ("L: bra L;", (2, 64), &["line 8 "]),
    ("L: add.u32 %r1, %r1, 0;\nbra L;", (1, 64), &["goes round on line"]),
];

#[test]
fn livelocks_of_every_kind_end() {
    for (body, shape, expected) in LIVELOCKS {
        let (launched, _) = timed(&gtx480(SMALL), body, *shape, 20_000);
        let both = [livelock(launched, body), livelock(reference(body, *shape), body)];
        for (reason, expected) in
            both.iter().flat_map(|reason| expected.iter().map(move |line| (reason, line)))
        {
            assert!(reason.contains(expected), "`{expected}` is not in\n{reason}");
        }
    }
}

#[test]
fn a_livelock_is_the_same_on_any_number_of_threads_and_with_any_window() {
    let reason = |options: GpuOptions| {
        let machine = gtx480(SMALL);
        let launched = on_device(&machine, options, &kernel(NAIVE_LOCK), |device| launch(device, 4, 64));
        livelock(launched, NAIVE_LOCK)
    };
    let alone = reason(PLAIN);
    for (threads, window) in [(2, None), (2, Some(1)), (3, Some(3))] {
        assert_eq!(
            reason(GpuOptions { threads, window, ..PLAIN }),
            alone,
            "{threads} threads, window {window:?}"
        );
    }
}

/// Bodies that take long between one effect and the next, and the word at `out + 4` afterwards.
fn patient() -> Vec<(String, (u32, u32), u32)> {
    let producer = "mov.u32 %r0, %ctaid.x;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra C;\nmov.u32 %r1, 0;\n\
                    P: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 6000;\n@%p1 bra P;\n\
                    st.volatile.global.u32 [%rd0+4], %r1;\nmembar.gl;\nst.volatile.global.u32 [%rd0], 1;\nbra END;\n\
                    C: ld.volatile.global.u32 %r2, [%rd0];\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra C;\nEND:";
    let clock = "mov.u32 %r0, %clock;\nL: mov.u32 %r1, %clock;\nsub.u32 %r1, %r1, %r0;\nsetp.lt.u32 %p0, %r1, 60000;\n\
                 shr.u32 %r1, %r1, 31;\n@%p0 bra L;\nst.global.u32 [%rd0+8], %r1;\nst.global.u32 [%rd0+4], 7;";
    // The inner loop's states come back, the outer one's never do.
    let nested = "mov.u32 %r1, 0;\nA: mov.u32 %r2, 0;\nB: add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p0, %r2, 20;\n@%p0 bra B;\n\
                  add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, 400;\n@%p0 bra A;\nst.global.u32 [%rd0+4], %r1;";
    vec![
        (leaders_lock(), (8, 64), 16),
        (producer.to_owned(), (4, 64), 6000),
        (clock.to_owned(), (1, 32), 7),
        (nested.to_owned(), (1, 64), 400),
    ]
}

#[test]
fn waiting_and_computing_for_long_are_no_livelocks_and_looking_changes_nothing() {
    for (body, shape, expected) in patient() {
        for machine in [gtx480(SMALL), volta(SMALL)] {
            let (unseen, launches) = timed(&machine, &body, shape, u64::MAX);
            for patience in [1, 1000] {
                let (seen, watched) = timed(&machine, &body, shape, patience);
                assert_eq!(seen.as_ref().map(|words| words[1]), Ok(expected), "{body}");
                assert_eq!((&seen, &watched), (&unseen, &launches), "{body}");
            }
        }
        assert_eq!(reference(&body, shape).map(|words| words[1]), Ok(expected), "{body}");
    }
}

#[test]
fn the_reference_executor_is_patient_too() {
    // Two million instructions without an effect, while others poll.
    let (body, shape, _) = patient().swap_remove(1);
    let longer = body.replace("6000", "600000");
    assert_eq!(reference(&longer, shape).map(|words| words[1]), Ok(600_000));
}

/// SMs in cache mode poll for ever, and their network is never at rest.
#[test]
fn workloads_end_as_ever_under_the_watch() {
    let morpheus = crate::morpheus::small(&[]);
    for (machine, workload) in [
        (&gtx480(&[]), "histogram"),
        (&gtx480(&[]), "reduction"),
        (&gtx480(&[]), "bfs"),
        (&volta(&[]), "histogram"),
        (&morpheus, "histogram"),
    ] {
        let program = find(workload).expect("a workload").program(Size::Test).expect("it has the size");
        let run = |patience| {
            let mut progress = |_: &strata_gpu::Progress| {};
            let mut gpu = Gpu::new(machine, PLAIN).unwrap_or_else(|error| panic!("{error}"));
            gpu.look_for_livelocks_every(patience);
            let mut device = TimedDevice::on(gpu, machine, program.module(), &mut progress)
                .unwrap_or_else(|error| panic!("{error}"));
            let outcome = program.run(&mut device).unwrap_or_else(|error| panic!("{workload}: {error}"));
            assert!(outcome.passed(), "{workload}");
            (device.launches().to_vec(), device.statistics())
        };
        assert_eq!(run(50), run(u64::MAX), "{workload} on {}", machine.name());
    }
}
