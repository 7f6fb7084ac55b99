//! Cooperative launches: all CTAs wait for each other, as cooperative groups make a grid wait.

#![allow(unsafe_code, reason = "a client of a C library")]

mod support;

use support::*;

const TOO_LARGE: u32 = 720;
/// Rounds in which every CTA reads what its neighbour wrote in the round before.
const ROUNDS: u32 = 5;
const THREADS: u32 = 64;

/// `grid.sync()` as cooperative groups compile it: the first thread of each CTA adds to a word of the workspace whose
/// address is in `%envreg1` and `%envreg2`, and waits until the upper bit has changed. In each round a CTA passes on its
/// neighbour's number plus one.
fn program() -> String {
    "\
.version 7.0\n.target sm_80\n.address_size 64\n\
.visible .entry pass(.param .u64 out, .param .u32 rounds) {\n\
.reg .pred %p<6>; .reg .b32 %r<40>; .reg .b64 %rd<20>;\n\
ld.param.u64 %rd0, [out]; ld.param.u32 %r20, [rounds];\n\
mov.u32 %r0, %envreg1; mov.u32 %r1, %envreg2; mov.b64 %rd1, {%r1, %r0};\n\
setp.eq.u64 %p0, %rd1, 0; @%p0 trap; add.u64 %rd2, %rd1, 4;\n\
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
barrier.sync 0; @%p1 bra together;\n\
mov.u32 %r8, 0x80000001; sub.u32 %r8, %r8, %r3; setp.eq.u32 %p2, %r2, 0; selp.b32 %r9, %r8, 1, %p2;\n\
atom.add.release.gpu.u32 %r10, [%rd2], %r9;\n\
wait:\n\
ld.acquire.gpu.u32 %r11, [%rd2]; xor.b32 %r12, %r11, %r10; setp.gt.s32 %p3, %r12, -1; @%p3 bra wait;\n\
together:\n\
barrier.sync 0;\n\
add.u32 %r6, %r6, 1; setp.lt.u32 %p4, %r6, %r20; @%p4 bra round;\n\
ret;\n}\n"
        .to_owned()
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

fn check(cuda: &Cuda) {
    context(cuda);
    assert_eq!(attribute(cuda, 95), 1, "cooperative launches");
    let (_, pass) = function(cuda, &program(), "pass");
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
    // Without, there is no workspace: the kernel traps.
    assert_eq!(launch(cuda, pass, 7, THREADS, &arguments), 715);
}

/// `CUlaunchConfig`.
#[repr(C)]
struct Config([u32; 7], Any, *const u32, u32);

/// Set where the test runs once more, in another mode.
const MODE: &str = "STRATA_TEST_MODE";

#[test]
fn a_grid_waits_for_all_its_ctas() {
    let mode = std::env::var(MODE).unwrap_or_else(|_| "timing".to_owned());
    check(Cuda::with(&[("STRATA_MODE", &mode), ("STRATA_SET", "gpu.sms=4"), ("STRATA_LOG", "quiet")]));
}

#[test]
fn a_grid_waits_without_time_too() {
    // A process has one mode.
    let mut test = std::process::Command::new(std::env::current_exe().unwrap());
    test.args(["--exact", "a_grid_waits_for_all_its_ctas"]).env(MODE, "functional");
    let done = test.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
}
