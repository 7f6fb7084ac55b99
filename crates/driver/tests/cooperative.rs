//! Cooperative launches: all CTAs wait for each other, as cooperative groups make a grid wait.

#![allow(unsafe_code, reason = "a client of a C library")]

mod support;

use support::*;

const TOO_LARGE: u32 = 720;
/// Rounds in which every CTA reads what its neighbour wrote in the round before.
const ROUNDS: u32 = 5;
const THREADS: u32 = 64;

/// How a text has a grid wait: what stands before the kernel, what writes the group's handle to `%rd1`, and what waits.
struct Barrier {
    before: &'static str,
    handle: &'static str,
    sync: &'static str,
}

/// `grid.sync()` as cooperative groups compile it: the first thread of each CTA adds to a word of the workspace whose
/// address is in `%envreg1` and `%envreg2`, and waits until the upper bit has changed.
const IN_PLACE: Barrier = Barrier {
    before: "",
    handle: "mov.u32 %r0, %envreg1; mov.u32 %r1, %envreg2; mov.b64 %rd1, {%r1, %r0};",
    sync: "add.u64 %rd2, %rd1, 4;\n\
barrier.sync 0; @%p1 bra together;\n\
mov.u32 %r8, 0x80000001; sub.u32 %r8, %r8, %r3; setp.eq.u32 %p2, %r2, 0; selp.b32 %r9, %r8, 1, %p2;\n\
atom.add.release.gpu.u32 %r10, [%rd2], %r9;\n\
wait:\n\
ld.acquire.gpu.u32 %r11, [%rd2]; xor.b32 %r12, %r11, %r10; setp.gt.s32 %p3, %r12, -1; @%p3 bra wait;\n\
together:\n\
barrier.sync 0;",
};

/// The same by the device runtime's functions, as numba compiles it.
const BY_CALLS: Barrier = Barrier {
    before: ".extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 s);\n\
.extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 h, .param .b32 f);\n",
    handle: "{ .param .b32 s; .param .b64 r; st.param.b32 [s], 1;\n\
call (r), cudaCGGetIntrinsicHandle, (s); ld.param.b64 %rd1, [r]; }",
    sync: "{ .param .b64 h; .param .b32 f; .param .b32 r; st.param.b64 [h], %rd1; st.param.b32 [f], 0;\n\
call (r), cudaCGSynchronize, (h, f); ld.param.b32 %r12, [r]; }\n\
setp.ne.u32 %p3, %r12, 0; @%p3 trap;",
};

/// In each round a CTA passes on its neighbour's number plus one.
fn program(barrier: &Barrier) -> String {
    let Barrier { before, handle, sync } = barrier;
    format!(
        "\
.version 7.0\n.target sm_80\n.address_size 64\n{before}\
.visible .entry pass(.param .u64 out, .param .u32 rounds) {{\n\
.reg .pred %p<6>; .reg .b32 %r<40>; .reg .b64 %rd<20>;\n\
ld.param.u64 %rd0, [out]; ld.param.u32 %r20, [rounds];\n\
{handle}\n\
setp.eq.u64 %p0, %rd1, 0; @%p0 trap;\n\
mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x; mov.u32 %r4, %tid.x;\n\
add.u32 %r5, %r2, 1; rem.u32 %r5, %r5, %r3;\n\
mul.wide.u32 %rd3, %r2, 4; add.u64 %rd3, %rd0, %rd3; mul.wide.u32 %rd4, %r5, 4; add.u64 %rd4, %rd0, %rd4;\n\
mul.wide.u32 %rd5, %r3, 4;\n\
mov.u32 %r6, 0;\n\
round:\n\
ld.relaxed.gpu.global.u32 %r7, [%rd4]; add.u32 %r7, %r7, 1;\n\
add.u64 %rd4, %rd4, %rd5; add.u64 %rd3, %rd3, %rd5;\n\
setp.ne.u32 %p1, %r4, 0; @%p1 bra written; st.relaxed.gpu.global.u32 [%rd3], %r7;\n\
written:\n\
{sync}\n\
add.u32 %r6, %r6, 1; setp.lt.u32 %p4, %r6, %r20; @%p4 bra round;\n\
ret;\n}}\n"
    )
}

fn launch_together(cuda: &Cuda, function: Any, grid: u32, arguments: &[Any]) -> u32 {
    let one = number(1);
    call!(
        cuda,
        "cuLaunchCooperativeKernel",
        function,
        number(grid.into()),
        one,
        one,
        number(THREADS.into()),
        one,
        one,
        number(0),
        none(),
        arguments.as_ptr()
    )
}

fn attribute(cuda: &Cuda, number_: u64) -> u32 {
    let mut value = 0_u32;
    assert_eq!(call!(cuda, "cuDeviceGetAttribute", to(&mut value), number(number_), number(0)), SUCCESS);
    value
}

fn check(cuda: &Cuda, barrier: &Barrier) {
    context(cuda);
    assert_eq!(attribute(cuda, 95), 1, "cooperative launches");
    let (_, pass) = function(cuda, &program(barrier), "pass");
    let mut resident = 0_u32;
    let occupancy = call!(
        cuda,
        "cuOccupancyMaxActiveBlocksPerMultiprocessor",
        to(&mut resident),
        pass,
        number(THREADS.into()),
        number(0)
    );
    assert_eq!(occupancy, SUCCESS);
    let most = resident * attribute(cuda, 16);
    assert!(most > 8);
    let rows = vec![0_u32; (most * (ROUNDS + 1)) as usize];
    let out = buffer(cuda, &rows);
    let rounds = ROUNDS;
    let arguments = [of(&out), of(&rounds)];
    assert_eq!(launch_together(cuda, pass, most + 1, &arguments), TOO_LARGE);
    for grid in [1, 7, most] {
        let start: Vec<u32> = (0..grid).map(|cta| 1000 * cta).collect();
        let bytes = u64::from(4 * grid);
        assert_eq!(call!(cuda, "cuMemcpyHtoD_v2", number(out), start.as_ptr(), number(bytes)), SUCCESS);
        assert_eq!(launch_together(cuda, pass, grid, &arguments), SUCCESS, "{grid} CTAs");
        let found = contents::<u32>(cuda, out, (grid * (ROUNDS + 1)) as usize);
        let expected: Vec<u32> = (0..grid).map(|cta| 1000 * ((cta + ROUNDS) % grid) + ROUNDS).collect();
        assert_eq!(found[(grid * ROUNDS) as usize..], expected, "{grid} CTAs");
    }
    // The same with an attribute: number, padding, value.
    let mut list = [0_u32; 18];
    (list[0], list[2]) = (2, 1);
    let config = Config([7, 1, 1, THREADS, 1, 1, 0], none(), list.as_ptr(), 1);
    assert_eq!(call!(cuda, "cuLaunchKernelEx", of(&config), pass, arguments.as_ptr(), none()), SUCCESS);
}

/// Without a cooperative launch there is no workspace: the kernel traps.
fn check_alone(cuda: &Cuda, barrier: &Barrier) {
    context(cuda);
    let (_, pass) = function(cuda, &program(barrier), "pass");
    let (out, rounds) = (buffer(cuda, &[0_u32; 7 * (ROUNDS as usize + 1)]), ROUNDS);
    assert_eq!(launch(cuda, pass, 7, THREADS, &[of(&out), of(&rounds)]), 715);
}

/// `CUlaunchConfig`.
#[repr(C)]
struct Config([u32; 7], Any, *const u32, u32);

/// Set where the test runs once more, in another mode.
const MODE: &str = "STRATA_TEST_MODE";
/// Set where the kernel that fails waits by calls.
const BY: &str = "STRATA_TEST_CALLS";

#[test]
fn a_grid_waits_for_all_its_ctas() {
    let mode = std::env::var(MODE).unwrap_or_else(|_| "timing".to_owned());
    let cuda = Cuda::with(&[("STRATA_MODE", &mode), ("STRATA_SET", "gpu.sms=4"), ("STRATA_LOG", "quiet")]);
    check(cuda, &IN_PLACE);
    check(cuda, &BY_CALLS);
    // A kernel that fails takes its context along.
    let last = if std::env::var_os(BY).is_some() { &BY_CALLS } else { &IN_PLACE };
    check_alone(cuda, last);
}

#[test]
fn a_grid_waits_without_time_too() {
    // A process has one mode.
    let mut test = std::process::Command::new(std::env::current_exe().unwrap());
    test.args(["--exact", "a_grid_waits_for_all_its_ctas"]).env(MODE, "functional").env(BY, "1");
    let done = test.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
}
