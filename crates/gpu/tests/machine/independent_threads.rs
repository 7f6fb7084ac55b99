//! Independent thread scheduling: lanes of a warp that wait for each other make progress, where a machine has it.

use crate::support::{PLAIN, Words, gtx480, launch, module, on_device};
use strata_engine::statistics::Group;
use strata_gpu::device::{Lockstep, ReferenceDevice, TimedDevice};
use strata_gpu::gpu::{Gpu, GpuOptions};
use strata_gpu::machine::Machine;
use strata_gpu::results::LaunchResult;
use strata_workloads::{DeviceError, Failure, Module};

/// A V100 with few SMs, and others as they are.
fn v100() -> Machine {
    let sets = ["gpu.sms=2", "gpu.memory_mib=32"].map(ToOwned::to_owned);
    Machine::load("v100", &sets).unwrap_or_else(|error| panic!("{error}"))
}

/// A GTX 480 with independent threads.
fn independent_gtx480() -> Machine {
    gtx480(&["gpu.sms=2", "gpu.channels=1", "gpu.memory_mib=16", "sm.independent_threads=true"])
}

/// A kernel `k` with a pointer to 1024 bytes. Line 1 of the body is line 8 of the text.
fn kernel(body: &str) -> String {
    module(&format!(
        ".visible .entry k(.param .u64 out) {{\n.reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<8>;\n\
         .shared .align 8 .b8 s[64];\nld.param.u64 %rd0, [out];\n{body}\nret;\n}}\n"
    ))
}

fn timed(
    machine: &Machine,
    options: GpuOptions,
    body: &str,
    ctas: u32,
    threads: u32,
) -> (Words, Vec<LaunchResult>) {
    on_device(machine, options, &kernel(body), |device| {
        (launch(device, ctas, threads), device.launches().to_vec())
    })
}

fn reference(machine: &Machine, body: &str, ctas: u32, threads: u32) -> Words {
    let text = kernel(body);
    let module = Module { name: "test.ptx", text: &text };
    let mut device = ReferenceDevice::new(module, machine.compile_options(), 1 << 20, Default::default())
        .unwrap_or_else(|error| panic!("{error}"));
    launch(&mut device, ctas, threads)
}

/// Runs a body in both executors in lockstep, with two threads, with the shortest windows, and without skipping a cycle; returns what
/// is in memory afterwards.
fn checked(machine: &Machine, body: &str, ctas: u32, threads: u32) -> Vec<u32> {
    let text = kernel(body);
    let module = Module { name: "test.ptx", text: &text };
    let mut progress = |_: &strata_gpu::Progress| {};
    let mut device =
        TimedDevice::new(machine, module, PLAIN, &mut progress).unwrap_or_else(|error| panic!("{error}"));
    let memory = *machine.file().gpu.memory_mib << 20;
    let mut reference = ReferenceDevice::new(module, machine.compile_options(), memory, Default::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let mut both = Lockstep::new(&mut device, &mut reference);
    let words = launch(&mut both, ctas, threads).unwrap_or_else(|error| panic!("{error}\n{body}"));
    let (_, differences) = both.finish();
    assert!(differences.is_empty(), "{differences:?}\n{body}");
    let alone = (Ok(words), device.launches().to_vec());
    let counted = values(&device.statistics());
    for (threads_of_host, window) in [(2, None), (1, Some(1))] {
        let options = GpuOptions { threads: threads_of_host, window, ..PLAIN };
        let (again, counters) = on_device(machine, options, &text, |device| {
            let words = launch(device, ctas, threads);
            ((words, device.launches().to_vec()), values(&device.statistics()))
        });
        assert_eq!(again, alone, "{threads_of_host} threads\n{body}");
        if window.is_none() {
            assert_eq!(counters, counted, "{threads_of_host} threads\n{body}");
        }
    }
    let mut gpu = Gpu::new(machine, PLAIN).unwrap_or_else(|error| panic!("{error}"));
    gpu.tick_every_cycle();
    let mut progress = |_: &strata_gpu::Progress| {};
    let mut device =
        TimedDevice::on(gpu, machine, module, &mut progress).unwrap_or_else(|error| panic!("{error}"));
    let ticked = (launch(&mut device, ctas, threads), device.launches().to_vec());
    assert_eq!(ticked, alone, "ticked\n{body}");
    alone.0.expect("it has ended")
}

fn values(groups: &[Group]) -> Vec<Vec<u64>> {
    groups.iter().map(|group| group.values.clone()).collect()
}

/// Takes the lock at `out` lane by lane, counts at `out + 4` and gives it back. The path of the lane that has it goes on
/// behind the loop.
const LOCK: &str = "L: atom.global.cas.b32 %r1, [%rd0], 0, 1;\nsetp.ne.u32 %p0, %r1, 0;\n@%p0 bra L;\n\
                    ld.volatile.global.u32 %r2, [%rd0+4];\nadd.u32 %r2, %r2, 1;\n\
                    st.volatile.global.u32 [%rd0+4], %r2;\nmembar.gl;\natom.global.exch.b32 %r1, [%rd0], 0;";

/// The same with a flag: the path of the lane that has the lock is inside the loop.
const FLAGGED_LOCK: &str = "mov.u32 %r3, 0;\nL: atom.global.cas.b32 %r1, [%rd0], 0, 1;\nsetp.ne.u32 %p0, %r1, 0;\n\
                            @%p0 bra N;\nld.volatile.global.u32 %r2, [%rd0+4];\nadd.u32 %r2, %r2, 1;\n\
                            st.volatile.global.u32 [%rd0+4], %r2;\nmembar.gl;\natom.global.exch.b32 %r1, [%rd0], 0;\n\
                            mov.u32 %r3, 1;\nN: setp.eq.u32 %p1, %r3, 0;\n@%p1 bra L;";

/// A lock for each four lanes, which count at `out + 32` and behind.
const FINE_LOCKS: &str = "mov.u32 %r0, %laneid;\nshr.u32 %r4, %r0, 2;\nmul.wide.u32 %rd1, %r4, 4;\nadd.u64 %rd1, %rd0, %rd1;\n\
                          L: atom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.ne.u32 %p0, %r1, 0;\n@%p0 bra L;\n\
                          ld.volatile.global.u32 %r2, [%rd1+32];\nadd.u32 %r2, %r2, 1;\n\
                          st.volatile.global.u32 [%rd1+32], %r2;\nmembar.gl;\natom.global.exch.b32 %r1, [%rd1], 0;";

#[test]
fn locks_of_several_lanes_end() {
    for machine in [v100(), independent_gtx480()] {
        // Three warps of four CTAs, four lanes of each at every lock.
        let words = checked(&machine, FINE_LOCKS, 4, 96);
        assert_eq!((&words[..8], &words[8..16]), (&[0; 8][..], &[48; 8][..]));
    }
}

#[test]
fn a_lock_that_lanes_take_one_by_one_ends() {
    for machine in [v100(), independent_gtx480()] {
        for body in [LOCK, FLAGGED_LOCK] {
            for (ctas, threads) in [(1, 32), (4, 96)] {
                let words = checked(&machine, body, ctas, threads);
                assert_eq!(words[..2], [0, ctas * threads], "{body}");
            }
        }
    }
}

#[test]
fn without_independent_threads_the_same_lock_is_a_livelock_in_both_executors() {
    let sets = ["gpu.sms=2", "gpu.memory_mib=32", "sm.independent_threads=false"].map(ToOwned::to_owned);
    let machine = Machine::load("v100", &sets).unwrap_or_else(|error| panic!("{error}"));
    assert!(is_livelock(timed(&machine, PLAIN, LOCK, 1, 32).0));
    assert!(is_livelock(reference(&machine, LOCK, 1, 32)));
}

#[test]
fn a_lane_waits_for_another_of_its_warp() {
    // Lanes above 0 wait for a flag that lane 0 sets on the other side of the branch, whichever side comes first.
    let consumer_first = "mov.u32 %r0, %laneid;\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 bra P;\n\
                          L: ld.volatile.global.u32 %r1, [%rd0];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\nbra E;\n\
                          P: st.volatile.global.u32 [%rd0], 7;\nmov.u32 %r1, 7;\n\
                          E: mul.wide.u32 %rd1, %r0, 4;\nadd.u64 %rd1, %rd0, %rd1;\nst.global.u32 [%rd1+128], %r1;";
    // A ring: lane n waits for what lane n - 1 writes, and lane 0 starts.
    let ring = "mov.u32 %r0, %laneid;\nmul.wide.u32 %rd1, %r0, 4;\nadd.u64 %rd1, %rd0, %rd1;\n\
                setp.eq.u32 %p0, %r0, 0;\nmov.u32 %r1, 7;\n@%p0 bra E;\n\
                L: ld.volatile.global.u32 %r1, [%rd1+124];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\n\
                E: st.volatile.global.u32 [%rd1+128], %r1;";
    for machine in [v100(), independent_gtx480()] {
        for body in [consumer_first, ring] {
            assert_eq!(checked(&machine, body, 1, 32)[32..64], [7; 32], "{body}");
        }
    }
}

#[test]
fn named_lanes_are_together_again_after_a_lock() {
    // Every lane counts under the lock and adds up what it left there, 1 + 2 + ... + 32, with all others. Then each looks at
    // who runs with it.
    let sum = format!(
        "{LOCK}\nbar.warp.sync -1;\nactivemask.b32 %r4;\n{SUM};\nmov.u32 %r0, %laneid;\n\
         mul.wide.u32 %rd1, %r0, 4;\nadd.u64 %rd1, %rd0, %rd1;\nst.global.u32 [%rd1+128], %r5;\n\
         st.global.u32 [%rd1+256], %r4;"
    );
    let votes = format!(
        "{LOCK}\nvote.sync.ballot.b32 %r4, 1, -1;\nshfl.sync.idx.b32 %r5, %r2, 3, 31, -1;\nmov.u32 %r0, %laneid;\n\
         mul.wide.u32 %rd1, %r0, 4;\nadd.u64 %rd1, %rd0, %rd1;\nst.global.u32 [%rd1+128], %r5;\n\
         st.global.u32 [%rd1+256], %r4;"
    );
    for machine in [v100(), independent_gtx480()] {
        // 32 * 33 / 2.
        let words = checked(&machine, &sum, 1, 32);
        assert_eq!(words[32..64], [528; 32]);
        assert_eq!(words[64..96], [u32::MAX; 32]);
        let words = checked(&machine, &votes, 1, 32);
        assert!(words[32..64].iter().all(|word| *word == words[32] && (1..=32).contains(word)), "{words:?}");
        assert_eq!(words[64..96], [u32::MAX; 32]);
    }
}

/// The sum of `%r2` over the warp in `%r5`, as sm_70 has it.
const SUM: &str = "mov.u32 %r5, %r2;\nshfl.sync.bfly.b32 %r6, %r5, 16, 31, -1;\nadd.u32 %r5, %r5, %r6;\n\
                   shfl.sync.bfly.b32 %r6, %r5, 8, 31, -1;\nadd.u32 %r5, %r5, %r6;\nshfl.sync.bfly.b32 %r6, %r5, 4, 31, -1;\n\
                   add.u32 %r5, %r5, %r6;\nshfl.sync.bfly.b32 %r6, %r5, 2, 31, -1;\nadd.u32 %r5, %r5, %r6;\n\
                   shfl.sync.bfly.b32 %r6, %r5, 1, 31, -1;\nadd.u32 %r5, %r5, %r6";

#[test]
fn lanes_synchronize_from_two_sides_of_a_branch() {
    // The side that comes first in the code reads what the other writes before its own synchronization.
    let body = "mov.u32 %r0, %laneid;\nmov.u32 %r4, s;\nand.b32 %r2, %r0, 15;\nshl.b32 %r3, %r2, 2;\nadd.u32 %r4, %r4, %r3;\n\
                st.shared.u32 [%r4], 0;\nbar.warp.sync -1;\nsetp.lt.u32 %p0, %r0, 16;\n@%p0 bra W;\n\
                bar.warp.sync -1;\nld.shared.u32 %r5, [%r4];\nbra E;\n\
                W: add.u32 %r5, %r0, 100;\nst.shared.u32 [%r4], %r5;\nbar.warp.sync -1;\n\
                E: mul.wide.u32 %rd1, %r0, 4;\nadd.u64 %rd1, %rd0, %rd1;\nst.global.u32 [%rd1+128], %r5;";
    let expected: Vec<u32> = (0..32).map(|lane| 100 + lane % 16).collect();
    for machine in [v100(), independent_gtx480()] {
        assert_eq!(checked(&machine, body, 1, 32)[32..64], expected);
    }
}

#[test]
fn half_of_a_warp_does_not_wait_for_the_other() {
    // Each half shuffles by itself. Lane 20 comes only when lane 0 has done so and set a flag.
    let body = "mov.u32 %r0, %laneid;\nmov.u32 %r3, 0xffff;\nsetp.ge.u32 %p0, %r0, 16;\n@%p0 mov.u32 %r3, 0xffff0000;\n\
                setp.ne.u32 %p1, %r0, 20;\n@%p1 bra S;\n\
                L: ld.volatile.global.u32 %r1, [%rd0];\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra L;\n\
                S: shfl.sync.idx.b32 %r5, %r0, 4, 0x1f, %r3;\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 bra E;\n\
                st.volatile.global.u32 [%rd0], 1;\n\
                E: mul.wide.u32 %rd1, %r0, 4;\nadd.u64 %rd1, %rd0, %rd1;\nst.global.u32 [%rd1+128], %r5;";
    for machine in [v100(), independent_gtx480()] {
        assert_eq!(checked(&machine, body, 1, 32)[32..48], [4; 16]);
    }
}

#[test]
fn a_wait_for_nobody_is_a_livelock_all_the_same() {
    // Lanes above 0 wait for a flag that nobody sets; lane 0 is let go and waits for them.
    let body = "mov.u32 %r0, %laneid;\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 bra E;\n\
                L: ld.volatile.global.u32 %r1, [%rd0];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\n\
                E: bar.warp.sync -1;";
    assert!(is_livelock(timed(&v100(), PLAIN, body, 1, 32).0));
    assert!(is_livelock(reference(&v100(), body, 1, 32)));
}

fn is_livelock(words: Words) -> bool {
    match words {
        Err(DeviceError::Failed { failure: Failure::Unfinished, reason, .. }) => reason.contains("livelock"),
        _ => false,
    }
}

#[test]
fn lanes_of_a_lock_end_and_meet_the_cta() {
    // Odd lanes end behind the lock; the others meet the CTA, and thread 0 reads the count of all.
    let barrier = format!(
        "{LOCK}\nmov.u32 %r0, %tid.x;\nand.b32 %r3, %r0, 1;\nsetp.eq.u32 %p1, %r3, 1;\n@%p1 exit;\nbar.sync 0;\n\
         setp.ne.u32 %p1, %r0, 0;\n@%p1 bra E;\nld.volatile.global.u32 %r2, [%rd0+4];\nst.global.u32 [%rd0+8], %r2;\nE:"
    );
    // The lock is taken three times in a loop, with a meeting point behind it.
    let repeated = format!(
        "mov.u32 %r5, 3;\nR: \n{LOCK}\nsub.u32 %r5, %r5, 1;\nsetp.ne.u32 %p2, %r5, 0;\n@%p2 bra R;\n\
         bar.warp.sync -1;\nactivemask.b32 %r4;\nst.global.u32 [%rd0+12], %r4;"
    );
    for machine in [v100(), independent_gtx480()] {
        assert_eq!(checked(&machine, &barrier, 1, 96)[..3], [0, 96, 96]);
        let words = checked(&machine, &repeated, 1, 32);
        assert_eq!((words[0], words[1], words[3]), (0, 96, u32::MAX));
    }
}

#[test]
fn lanes_that_can_never_come_are_named() {
    let body = "mov.u32 %r0, %laneid;\nsetp.lt.u32 %p0, %r0, 4;\n@%p0 bra A;\nvote.sync.ballot.b32 %r1, 1, -1;\nbra E;\n\
                A: shfl.sync.idx.b32 %r1, %r0, 0, 31, -1;\nE: st.global.u32 [%rd0], %r1;";
    let machine = v100();
    let reason = |words: Words| match words {
        Err(DeviceError::Failed { reason, .. }) => reason,
        other => panic!("{other:?}"),
    };
    let expected = "lanes that the membermask names can never come to this instruction";
    let found = reason(timed(&machine, PLAIN, body, 1, 32).0);
    assert!(found.contains(expected), "{found}");
    let found = reason(reference(&machine, body, 1, 32));
    assert!(found.contains("wait for others that their membermask names"), "{found}");
}
