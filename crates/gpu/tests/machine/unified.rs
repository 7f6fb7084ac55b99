//! Storage that L1D and shared memory share: a launch takes what its CTAs need of it, and the L1D has the rest.

use crate::support::{How, PLAIN, counter, module, on_device, run_on, ticked, verified};
use strata_gpu::machine::Machine;
use strata_workloads::{Arg, Device, Shape, Size, find};

/// One warp a CTA reads 64 KB twice, a line a lane, 16 loads each time.
fn text() -> String {
    // The sum of 16 words 0x01010101 has no bit 31: the second walk waits for the first and begins where it began.
    let walk = "shr.u32 %r1, %r3, 31;\ncvt.u64.u32 %rd4, %r1;\nadd.s64 %rd2, %rd1, %rd4;\n";
    let step = "ld.global.u32 %r2, [%rd2];\nadd.u32 %r3, %r3, %r2;\nadd.s64 %rd2, %rd2, 4096;\n";
    let body = format!("{walk}{steps}{walk}{steps}", steps = step.repeat(16));
    module(&format!(
        ".visible .entry k(.param .u64 out, .param .u64 in) {{\n.reg .b32 %r<8>; .reg .b64 %rd<8>;\n\
         .extern .shared .align 4 .b8 words[];\nld.param.u64 %rd0, [out];\nld.param.u64 %rd1, [in];\n\
         mov.u32 %r0, %tid.x;\nmul.wide.u32 %rd3, %r0, 128;\nadd.s64 %rd1, %rd1, %rd3;\nmov.u32 %r3, 0;\n\
         {body}st.global.u32 [%rd0], %r3;\nret;\n}}\n"
    ))
}

fn machine(sets: &[&str]) -> Machine {
    let small = ["gpu.sms=1", "gpu.memory_mib=64"];
    let sets: Vec<String> = small.iter().chain(sets).map(ToString::to_string).collect();
    Machine::load("rtx3080", &sets).unwrap_or_else(|error| panic!("{error}"))
}

/// Loads that miss the L1D in launches of one CTA with these bytes of shared memory, one after the other.
fn misses(machine: &Machine, shared: &[u32]) -> Vec<u64> {
    on_device(machine, PLAIN, &text(), |device| {
        let out = device.alloc("out", 256).unwrap();
        let lines = device.alloc("lines", 1 << 16).unwrap();
        device.fill(lines, 1, 1 << 16).unwrap();
        let mut before = 0;
        let launch = |bytes: &u32| {
            let shape = Shape { dynamic_shared: *bytes, ..Shape::new([1; 3], [32, 1, 1]) };
            device.launch("k", shape, &[Arg::Ptr(out), Arg::Ptr(lines)]).unwrap();
            let misses = counter(device, "l1d", "load_misses");
            std::mem::replace(&mut before, misses).abs_diff(misses)
        };
        shared.iter().map(launch).collect()
    })
}

#[test]
fn a_launch_leaves_the_l1d_what_its_ctas_do_not_need() {
    // 512 lines, read twice. An SM holds 16 CTAs of a warp: of 1 KB each they take 16 KB and leave 112 KB, in which the
    // second walk hits. Of 6 KB each they take 96 KB, in a carve-out of 100 KB: of the 32 lines that come to each set 14
    // stay, and the least recently used are evicted before they are used again. No launch finds anything of another.
    let misses = misses(&machine(&[]), &[0, 6144, 1024, 1024, 6144, 0]);
    assert_eq!(misses, [512, 1024, 512, 512, 1024, 512]);
}

#[test]
fn shared_memory_that_limits_the_ctas_takes_the_largest_carve_out() {
    // Two CTAs of 40 KB fit 100 KB; 64 KB would hold one.
    assert_eq!(misses(&machine(&[]), &[40_960]), [1024]);
    // Without the steps between, a byte takes as much.
    let sets = ["sm.unified.carve_outs_bytes=[0, 102400]"];
    assert_eq!(misses(&machine(&sets), &[0, 128]), [512, 1024]);
}

#[test]
fn registers_that_no_cta_takes_are_the_l1ds() {
    // 16 CTAs of a warp take 96 KB of shared memory, in a carve-out of 100 KB, and at most 32 registers a lane: 64 KB. The
    // L1D has 28 KB and at least 192 KB, in which the second walk hits.
    let small = ["gpu.sms=1".to_owned(), "gpu.memory_mib=64".to_owned()];
    let machine = Machine::load_with("rtx3080", &["unified-sm-mem"], &small).unwrap();
    assert_eq!(misses(&machine, &[6144, 0]), [512, 512]);
}

#[test]
fn programs_are_right_and_neither_threads_nor_windows_nor_skipping_change_a_number() {
    for (name, systems) in [("pathfinder", &[][..]), ("hotspot", &["unified-sm-mem"]), ("bfs", &[])] {
        let small = ["gpu.sms=3".to_owned(), "gpu.memory_mib=64".to_owned()];
        let machine = Machine::load_with("rtx3080", systems, &small).unwrap();
        let program = find(name).unwrap().program(Size::Test).unwrap();
        let one = verified(&machine, program.as_ref(), How::CHECKED, "a unified L1D");
        for (threads, window) in [(2, Some(3)), (1, Some(1))] {
            let other = verified(&machine, program.as_ref(), How { threads, window, ..How::PLAIN }, "");
            assert_eq!(one.statistics, other.statistics, "{name}: {threads}, {window:?}");
        }
        let skipping = run_on(&machine, program.as_ref(), How::PLAIN).unwrap();
        assert_eq!(skipping.launches, ticked(&machine, program.as_ref()).0, "{name}");
    }
}

#[test]
fn an_l1d_of_a_fixed_size_stands_beside_shared_memory() {
    for system in ["dy-fuse", "l1-sram"] {
        let machine = Machine::load_with("rtx3080", &[system], &["gpu.sms=2".to_owned()]).unwrap();
        assert!(machine.file().unified().is_none(), "{system}");
        let program = find("pathfinder").unwrap().program(Size::Test).unwrap();
        verified(&machine, program.as_ref(), How::CHECKED, system);
    }
    assert_eq!(misses(&machine(&["l1d.unified=false"]), &[0, 6144]), [512, 512]);
}

#[test]
fn what_does_not_fit_is_refused() {
    for (set, expected) in [
        (
            "l1d.ways=32",
            "l1d.sram: found 65536 bytes, expected 131072, which the smallest carve-out of sm.unified leaves",
        ),
        (
            "sm.unified.carve_outs_bytes=[0, 1000, 102400]",
            "l1d.sram: ways: found a capacity of 130072 bytes, expected 1 to 64 ways of 2048",
        ),
        (
            "sm.shared_bytes=65536",
            "sm.unified.carve_outs_bytes: found 102400 as the largest size of shared memory, expected 65536, as sm.shared_bytes has: set both",
        ),
    ] {
        let error = Machine::load("rtx3080", &[set.to_owned()]).unwrap_err().to_string();
        assert!(error.ends_with(expected), "{set}: {error}");
    }
}
