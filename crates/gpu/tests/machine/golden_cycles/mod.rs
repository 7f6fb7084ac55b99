//! Cycles of tiny kernels on the whole machine, computed by hand from the machine file.
//!
//! Every kernel is straight-line code of at most 16 instructions, one line of the instruction cache, run by one warp on
//! an idle machine. It reads `%clock` in the places that matter; the test walks the same instructions with the
//! formulas of `walk.rs` and must find the same clocks, to the cycle. Machine parameters come from the parsed file,
//! so every test runs on several machines that differ in a parameter which the measured path contains.

mod chase;
mod prefetches;
pub mod walk;

use crate::support::{PLAIN, four_clocks, gtx480, module, on_device};
use strata_gpu::machine::Machine;
use strata_gpu::program::Program;
use strata_ptx::isa::{Op, Special};
use strata_workloads::{Arg, Device, DevicePtr, Module, Shape};
use walk::{Step, walk};

/// What the kernels declare: an output buffer for the clocks, an input buffer.
const HEAD: &str = ".visible .entry k(.param .u64 out, .param .u64 in) {\n.reg .pred %p<4>; .reg .b32 %r<16>; \
                    .reg .b32 %c<8>; .reg .b64 %rd<16>;\n.shared .align 4 .b8 words[16384];\n\
                    ld.param.u64 %rd0, [out];\nld.param.u64 %rd1, [in];\n";

/// The module of a body.
fn text(body: &str) -> String {
    module(&format!("{HEAD}{body}\nret;\n}}\n"))
}

/// Runs a kernel on `lanes` lanes `launches` times; the clocks that the last launch stored, by warp. A word that was
/// not stored is 0.
fn clocks(machine: &Machine, body: &str, lanes: u32, launches: u32) -> Vec<u64> {
    on_device(machine, PLAIN, &text(body), |device| {
        let out = device.alloc("out", 256).unwrap();
        let input = device.alloc("in", 1 << 16).unwrap();
        device.fill(out, 0, 256).unwrap();
        device.fill(input, 0, 1 << 16).unwrap();
        for _ in 0..launches {
            device.launch("k", Shape::new([1; 3], [lanes, 1, 1]), &[Arg::Ptr(out), Arg::Ptr(input)]).unwrap();
        }
        words(device, out)
    })
}

pub fn words(device: &mut dyn Device, out: DevicePtr) -> Vec<u64> {
    let mut bytes = [0; 256];
    device.download(out, &mut bytes).unwrap();
    bytes.chunks(4).map(|word| u64::from(u32::from_le_bytes(word.try_into().unwrap()))).collect()
}

/// The places of the clocks in the compiled code.
pub fn clock_places(machine: &Machine, text: &str) -> Vec<usize> {
    let mut program = Program::parse(Module { name: "test.ptx", text }, machine.compile_options()).unwrap();
    let kernel = program.kernel("k").unwrap();
    assert!(kernel.code.len() <= 16, "{} instructions are not one line of code", kernel.code.len());
    let is_clock = |op: &Op| matches!(op, Op::ReadSpecial(Special::Clock));
    (0..kernel.code.len()).filter(|place| is_clock(&kernel.code[*place].op)).collect()
}

/// Runs `body`, which stores its clocks as words 0 and 1 (and 2) of `out`, on machines with the given settings, and
/// compares the clocks with those of the walk.
fn check(body: &str, lanes: u32, steps: &[Step], settings: &[&[&str]]) {
    for sets in settings {
        let machine = gtx480(sets);
        let found = clocks(&machine, body, lanes, 1);
        let places = clock_places(&machine, &text(body));
        let expected = walk(machine.file(), steps, &places, found[0]);
        assert_eq!(found[..expected.len()], expected, "{sets:?}\n{body}");
    }
}

#[test]
fn a_chain_of_additions() {
    // Each addition reads the one before: it issues when that is written, 2 + latency cycles after its issue
    // (sm/src/lib.rs). With 4 cycles: 6 from one to the next.
    let body = "mov.u32 %r0, %tid.x;\nadd.u32 %r0, %r0, 1;\nmov.u32 %c0, %clock;\nadd.u32 %r0, %r0, %r0;\nadd.u32 %r0, %r0, %r0;\nadd.u32 %r0, %r0, %r0;\n\
                add.u32 %r0, %r0, %r0;\nmov.u32 %c1, %clock;\nst.global.u32 [%rd0], %c0;\nst.global.u32 [%rd0+4], %c1;\n\
                st.global.u32 [%rd0+64], %r0;";
    let steps = [Step::Add, Step::Clock, Step::Add, Step::Add, Step::Add, Step::Add, Step::Clock];
    check(body, 32, &steps, &[&[], &["sm.timing.int_add.latency_cycles=9"]]);
}

#[test]
fn an_l1_hit_is_what_the_head_of_the_machine_file_says() {
    // 2 operand collection + 10 address generation + 27 L1D + 1 write-back = 40.
    let file = gtx480(&[]);
    assert_eq!(walk::l1_hit(file.file()), 40);
}

#[test]
fn loads_that_hit_the_l1d() {
    // The first load misses and brings the line; the second waits for its value and hits.
    let body = "ld.global.u64 %rd2, [%rd1];\nadd.s64 %rd3, %rd1, %rd2;\nmov.u32 %c0, %clock;\n\
                ld.global.u64 %rd4, [%rd3];\nadd.s64 %rd5, %rd3, %rd4;\nmov.u32 %c1, %clock;\n\
                ld.global.u64 %rd6, [%rd5];\nadd.s64 %rd7, %rd5, %rd6;\nmov.u32 %c2, %clock;\n\
                st.global.u32 [%rd0], %c0;\nst.global.u32 [%rd0+4], %c1;\nst.global.u32 [%rd0+8], %c2;\n\
                st.global.u64 [%rd0+64], %rd7;";
    let steps = [
        Step::Add,
        Step::Clock,
        Step::L1Hit(1),
        Step::Add,
        Step::Clock,
        Step::L1Hit(1),
        Step::Add,
        Step::Clock,
    ];
    let settings: &[&[&str]] = &[
        &[],
        &["l1d.sram.hit_latency_cycles=20"],
        &["lsu.address_latency_cycles=11", "lsu.writeback_latency_cycles=3"],
    ];
    check(body, 32, &steps, settings);
}

#[test]
fn a_load_of_32_lines_takes_31_cycles_more() {
    // Lane l reads line l. The first load brings all lines; the second makes 32 accesses, one a cycle, all hits.
    let body = "mov.u32 %r0, %tid.x;\nmul.wide.u32 %rd2, %r0, 128;\nadd.s64 %rd2, %rd2, %rd1;\n\
                ld.global.u32 %r1, [%rd2];\nadd.u32 %r2, %r1, %r1;\nmov.u32 %c0, %clock;\n\
                ld.global.u32 %r3, [%rd2];\nadd.u32 %r4, %r3, %r2;\nmov.u32 %c1, %clock;\n\
                st.global.u32 [%rd0], %c0;\nst.global.u32 [%rd0+4], %c1;\nst.global.u32 [%rd0+64], %r4;";
    for lines in [1, 2, 16, 32] {
        // With fewer lanes, fewer lines. The address is there long before.
        let steps = [Step::Clock, Step::L1Hit(lines), Step::Add, Step::Clock];
        let settings: &[&[&str]] =
            &[&[], &["l1d.sram.hit_latency_cycles=3"], &["lsu.address_latency_cycles=1"]];
        check(body, lines, &steps, settings);
    }
}

#[test]
fn conflicts_in_shared_memory_take_a_pass_each() {
    for (stride, passes) in [(4, 1), (8, 2), (16, 4), (128, 32)] {
        let body = format!(
            "mov.u32 %r0, %tid.x;\nmul.lo.u32 %r1, %r0, {stride};\nld.shared.u32 %r2, [%r1];\nadd.u32 %r3, %r1, %r2;\n\
             mov.u32 %c0, %clock;\nld.shared.u32 %r4, [%r3];\nadd.u32 %r5, %r3, %r4;\nmov.u32 %c1, %clock;\n\
             st.global.u32 [%rd0], %c0;\nst.global.u32 [%rd0+4], %c1;\nst.global.u32 [%rd0+64], %r5;"
        );
        let steps = [Step::Add, Step::Clock, Step::Shared(passes), Step::Add, Step::Clock];
        check(
            &body,
            32,
            &steps,
            &[&[], &["lsu.shared.latency_cycles=30"], &["lsu.address_latency_cycles=2"]],
        );
    }
    // Half as many banks: words 16 apart share one.
    let body = "mov.u32 %r0, %tid.x;\nmul.lo.u32 %r1, %r0, 4;\nld.shared.u32 %r2, [%r1];\nadd.u32 %r3, %r1, %r2;\n\
                mov.u32 %c0, %clock;\nld.shared.u32 %r4, [%r3];\nadd.u32 %r5, %r3, %r4;\nmov.u32 %c1, %clock;\n\
                st.global.u32 [%rd0], %c0;\nst.global.u32 [%rd0+4], %c1;\nst.global.u32 [%rd0+64], %r5;";
    let steps = [Step::Add, Step::Clock, Step::Shared(2), Step::Add, Step::Clock];
    check(body, 32, &steps, &[&["lsu.shared.banks=16"]]);
}

#[test]
fn a_barrier_lets_everybody_go_a_cycle_after_the_last() {
    // Warp 0 comes late, as it waits for memory; each warp stores its clocks at a place of its own.
    let body = "mov.u32 %r0, %tid.x;\nsetp.lt.u32 %p0, %r0, 32;\nmul.wide.u32 %rd2, %r0, 2;\n\
                add.s64 %rd2, %rd0, %rd2;\nmov.u32 %r1, 0;\n@%p0 ld.global.u32 %r1, [%rd1];\nadd.u32 %r2, %r1, %r1;\n\
                mov.u32 %c0, %clock;\nbar.sync 0;\nmov.u32 %c1, %clock;\n\
                and.b32 %r3, %r0, 31;\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 st.global.u32 [%rd2], %c0;\n\
                @%p1 st.global.u32 [%rd2+4], %c1;\n\
                st.global.u32 [%rd0+192], %r2;";
    for sets in [&[][..], &["llc.conventional.rop_latency_cycles=40"]] {
        let clocks = clocks(&gtx480(sets), body, 64, 1);
        let ([late, after_late], [early, after_early]) = ([clocks[0], clocks[1]], [clocks[16], clocks[17]]);
        assert!(early + 50 < late, "{sets:?}: warp 1 waits for warp 0: {early} {late}");
        // The clock that was read when warp 0 arrived was issued a cycle earlier or, when the barrier had to be
        // fetched, two; both warps issue the next instruction a cycle after the barrier was issued.
        assert!((2..=4).contains(&(after_late - late)), "{sets:?}: {late} {after_late}");
        assert!(after_late.abs_diff(after_early) <= 1, "{sets:?}: {after_late} {after_early}");
    }
}
