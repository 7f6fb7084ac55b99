//! A launch does not allocate per instruction, request or cycle: ten times the work allocates no more memory.

#[path = "machine/support/mod.rs"]
mod support;

use strata_gpu::machine::Machine;
use strata_workloads::{Arg, Device, Shape};
use support::{PLAIN, gtx480, module, on_device};

/// Exercises everything that moves data: scattered loads and stores, atomics, shared memory, barriers,
/// divergence, local memory through the L1D by volatile accesses, and fences.
const KERNEL: &str = ".visible .entry k(.param .u64 in, .param .u32 rounds) {\n.reg .pred %p<4>; .reg .b32 %r<16>; \
    .reg .b64 %rd<8>;\n.shared .align 4 .b8 words[1024];\nld.param.u64 %rd0, [in];\nld.param.u32 %r0, [rounds];\n\
    mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmad.lo.u32 %r3, %r2, 256, %r1;\nmov.u32 %r8, words;\nLOOP:\n\
    mad.lo.u32 %r3, %r3, 1664525, 1013904223;\nshr.u32 %r4, %r3, 14;\nand.b32 %r4, %r4, 0x3fffc;\n\
    cvt.u64.u32 %rd1, %r4;\nadd.s64 %rd1, %rd0, %rd1;\nld.global.u32 %r5, [%rd1];\nadd.u32 %r5, %r5, 1;\n\
    and.b32 %r6, %r4, 1020;\nadd.u32 %r6, %r6, %r8;\nst.shared.u32 [%r6], %r5;\nbar.sync 0;\nld.shared.u32 %r7, [%r6];\n\
    setp.lt.u32 %p0, %r7, 3;\n@%p0 st.global.u32 [%rd1], %r7;\n@!%p0 red.global.add.u32 [%rd1], 1;\nmembar.gl;\n\
    ld.volatile.global.u32 %r9, [%rd1];\nadd.u32 %r3, %r3, %r9;\nsub.u32 %r0, %r0, 1;\nsetp.ne.u32 %p1, %r0, 0;\n\
    @%p1 bra LOOP;\nret;\n}\n";

#[test]
fn ten_times_the_work_allocates_no_more() {
    let of = |system| Machine::load_with("gtx480", &[system], &[]).expect("a system that comes along");
    // 32 warps of 64 registers a thread would be twice what this machine has, and a thread has at most 63.
    let sets = ["llc.warps=16", "llc.ways=31", "llc.shared.warps=4", "llc.shared.ways=40"].map(str::to_owned);
    let in_cache_mode =
        Machine::load_with("gtx480", &["morpheus-all"], &sets).expect("a system that comes along");
    for machine in [
        gtx480(&[]),
        of("by-nvm"),
        of("hybrid"),
        of("dy-fuse"),
        of("stt-wb-bdi"),
        of("hi-end"),
        in_cache_mode,
    ] {
        no_more_on(&machine, &module(KERNEL), 3);
    }
}

/// What bulk copies do: a block to shared memory, whose bytes a barrier counts, and sums of its words back.
const BULK: &str = ".version 8.0\n.target sm_90\n.address_size 64\n\
    .visible .entry k(.param .u64 in, .param .u32 rounds) {\n.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<2>;\n\
    .shared .align 16 .b8 s[1024]; .shared .align 8 .b8 b[8];\nld.param.u64 %rd0, [in];\nld.param.u32 %r0, [rounds];\n\
    mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p0, %r1, 0;\nmov.u32 %r2, 1024;\nmov.u32 %r3, 0;\n\
    @%p0 mbarrier.init.shared::cta.b64 [b], 1;\nbar.sync 0;\nLOOP:\n@!%p0 bra WAIT;\n\
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [b], 1024;\n\
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd0], %r2, [b];\n\
    WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [b], %r3;\n@!%p1 bra WAIT;\nxor.b32 %r3, %r3, 1;\nbar.sync 0;\n\
    @!%p0 bra NEXT;\ncp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd0+4096], [s], %r2;\n\
    cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nNEXT:\nbar.sync 0;\n\
    sub.u32 %r0, %r0, 1;\nsetp.ne.u32 %p2, %r0, 0;\n@%p2 bra LOOP;\nret;\n}\n";

#[test]
fn nor_do_bulk_copies() {
    no_more_on(&gtx480(&[]), BULK, 4);
}

fn no_more_on(machine: &Machine, text: &str, rounds: u32) {
    on_device(machine, PLAIN, text, |device| {
        let input = device.alloc("in", 1 << 18).unwrap();
        device.fill(input, 0, 1 << 18).unwrap();
        let mut launch = |rounds: u32| {
            let shape = Shape::new([30, 1, 1], [256, 1, 1]);
            let args = [Arg::Ptr(input), Arg::U32(rounds)];
            // With one worker thread, the machine runs on the test's thread, whose allocations are counted.
            let counted = allocation_counter::measure(|| device.launch("k", shape, &args).unwrap());
            (counted.count_total, device.launches().last().unwrap().warp_instructions)
        };
        // The first launch compiles the kernel, and has as much in flight at once as any later one.
        launch(60);
        let (few, short) = launch(rounds);
        let (many, long) = launch(10 * rounds);
        assert!(long > 8 * short, "{short} and {long} warp instructions");
        // A few more where a new peak of what is in flight is reached.
        assert!(many <= few + 64, "{few} allocations in a short launch, {many} in one ten times as long");
    });
}

/// What threads on CPU cores do: scattered loads and stores, atomics, fences and sleep.
const THREAD: &str = ".visible .entry k(.param .u64 in, .param .u32 rounds) {\n.reg .pred %p<4>; .reg .b32 %r<16>; \
    .reg .b64 %rd<8>;\nld.param.u64 %rd0, [in];\nld.param.u32 %r0, [rounds];\nmov.u32 %r3, %ctaid.x;\nLOOP:\n\
    mad.lo.u32 %r3, %r3, 1664525, 1013904223;\nshr.u32 %r4, %r3, 14;\nand.b32 %r4, %r4, 0x3fffc;\n\
    cvt.u64.u32 %rd1, %r4;\nadd.s64 %rd1, %rd0, %rd1;\nld.global.u32 %r5, [%rd1];\nadd.u32 %r5, %r5, 1;\n\
    st.global.u32 [%rd1], %r5;\nred.global.add.u32 [%rd0], 1;\natom.global.add.u32 %r6, [%rd0+4], %r5;\nmembar.gl;\n\
    ld.volatile.global.u32 %r9, [%rd1];\nnanosleep.u32 20;\nsub.u32 %r0, %r0, 1;\nsetp.ne.u32 %p1, %r0, 0;\n\
    @%p1 bra LOOP;\nret;\n}\n";

#[test]
fn nor_does_a_host_phase() {
    let system = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/cpu-cores/cpu-cores.toml");
    let sets = ["cpu.cores=3", "gpu.sms=3"].map(str::to_owned);
    let machine = Machine::load_with("gtx480", &[system], &sets).unwrap_or_else(|error| panic!("{error}"));
    on_device(&machine, PLAIN, &module(THREAD), |device| {
        let input = device.alloc("in", 1 << 18).unwrap();
        device.fill(input, 0, 1 << 18).unwrap();
        let mut phase = |threads: u32, rounds: u32| {
            let args = [Arg::Ptr(input), Arg::U32(rounds)];
            let counted = allocation_counter::measure(|| device.on_cpu("k", threads, &args).unwrap());
            (counted.count_total, device.phases().last().unwrap().instructions)
        };
        phase(30, 60);
        let (few, short) = phase(6, 10);
        let (many, long) = phase(60, 10);
        let (most, longest) = phase(6, 1000);
        assert!(long > 9 * short && longest > 90 * short, "{short}, {long} and {longest} instructions");
        assert!(many <= few + 64 && most <= few + 64, "{few}, {many} and {most} allocations");
    });
}
