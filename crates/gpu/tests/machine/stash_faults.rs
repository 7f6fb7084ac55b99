//! Mappings that cannot be, in a whole machine and on the reference executor: each is refused with kernel, line, thread and
//! values.

use strata_gpu::device::{Lockstep, ReferenceDevice, TimedDevice};
use strata_gpu::gpu::Gpu;
use strata_gpu::machine::Machine;
use strata_workloads::{Arg, Device, DeviceError, DevicePtr, Module, Shape};

use crate::support::{PLAIN, module};

/// A kernel on two CTAs of a warp, with 256 bytes of shared memory. Its first line is line 12 of the text. One thread of the second
/// CTA alone comes to it; the array has 1024 bytes from address 0x100000 on.
fn text(body: &str) -> String {
    module(&format!(
        ".extern .func stash_add_map(.param .b32 s, .param .b64 g, .param .b32 f, .param .b32 o, .param .b32 w, .param .b32 d, \
         .param .b32 n, .param .b32 c);\n.extern .func stash_chg_map(.param .b32 i, .param .b32 s, .param .b64 g, .param .b32 f, \
         .param .b32 o, .param .b32 w, .param .b32 d, .param .b32 n, .param .b32 c);\n\
         .visible .entry k(.param .u64 a) {{\n.shared .align 64 .b8 s[256];\n.reg .pred %p; .reg .b32 %r<4>; .reg .b64 %a;\n\
         ld.param.u64 %a, [a]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r0, %r1, 32, %r0;\n\
         setp.ne.u32 %p, %r0, 37;\n@%p bra END;\n{body}\nEND: ret;\n}}\n"
    ))
}

/// What both devices say of a body, the machine first; nothing if one does not mind.
fn reasons(body: &str) -> [Option<String>; 2] {
    let machine = Machine::load_with("stash-apu", &["stash"], &[]).unwrap_or_else(|error| panic!("{error}"));
    let text = text(body);
    let module = || Module { name: "k.ptx", text: &text };
    let mut silent = |_: &_| {};
    let gpu = Gpu::new(&machine, PLAIN).expect("the machine can be built");
    let mut timed = TimedDevice::on(gpu, &machine, module(), &mut silent).expect("the module loads");
    let memory = *machine.file().gpu.memory_mib << 20;
    let mut reference = ReferenceDevice::new(module(), machine.compile_options(), memory, Default::default())
        .expect("the module loads");
    let reason = |device: &mut dyn Device| {
        let a = device.alloc("a", 1024).expect("there is memory");
        assert_eq!(a, DevicePtr(0x10_0000));
        match device.launch("k", Shape::new([2, 1, 1], [32, 1, 1]), &[Arg::Ptr(a)]) {
            Ok(()) => None,
            Err(DeviceError::Failed { kernel, reason, .. }) => {
                assert_eq!(kernel, "k");
                Some(reason)
            }
            Err(other) => panic!("{other}"),
        }
    };
    [reason(&mut timed), reason(&mut reference)]
}

const ADD: &str = "call.uni stash_add_map, (0, %a, 4, 4, 16, 0, 1, 1);";

/// Bodies, the line at fault, and what the machine and the reference executor say of it.
fn cases() -> Vec<(String, u32, &'static str, &'static str)> {
    let add = |arguments: &str| format!("call.uni stash_add_map, ({arguments});");
    let second = |arguments: &str| format!("{ADD}\nadd.u64 %a, %a, 512;\n{}", add(arguments));
    let fifth: Vec<String> =
        (0..5).map(|n| add(&format!("{}, %a, 4, 4, 1, 0, 1, 0", 64 * (n % 4)))).collect();
    vec![
        (
            fifth.join("\n"),
            16,
            "stash_add_map: a CTA may add 4 mappings, found one more",
            "stash_add_map: a CTA may add 4 mappings, found one more",
        ),
        (
            format!("add.u64 %a, %a, 992;\n{}", add("0, %a, 4, 4, 16, 0, 1, 1")),
            13,
            "stash_add_map: the tile must lie in memory, found 0x1003e0, which holds none",
            "stash_add_map: the tile must lie in memory, found 0x100400, which holds none",
        ),
        (
            add("0, 0, 4, 16, 8, 0, 1, 1"),
            12,
            "stash_add_map: the tile must lie in memory, found 0x0, which holds none",
            "stash_add_map: the tile must lie in memory, found 0x0, which holds none",
        ),
        (
            add("32, %a, 4, 4, 16, 0, 1, 1"),
            12,
            "stash_add_map: stashBase must be a multiple of 64, found 0x20",
            "stash_add_map: stashBase must be a multiple of 64, found 0x20",
        ),
        (
            second("0, %a, 4, 4, 16, 0, 1, 1"),
            14,
            "stash_add_map: a mapping must have chunks of its own, found bytes 0 to 64 mapped already",
            "stash_add_map: a mapping must have chunks of its own, found bytes 0x0 to 0x40 in mapping 0",
        ),
        (
            add("0, %a, 4, 4, 65, 0, 1, 1"),
            12,
            "stash_add_map: the tile must end in the CTA's 256 bytes of shared memory, found its end at 260",
            "stash_add_map: the tile must end in the CTA's 256 bytes of shared memory, found its end at 260",
        ),
        (
            format!("{ADD}\ncall.uni stash_chg_map, (1, 0, %a, 4, 4, 16, 0, 1, 1);"),
            13,
            "stash_chg_map: expected one of the 1 mappings that the CTA has added, found index 1",
            "stash_chg_map: expected one of the 1 mappings that the CTA has added, found index 1",
        ),
        (
            add("0, %a, 20, 16, 4, 0, 1, 1"),
            12,
            "stash_add_map: fieldSize must be at most objectSize (16), found 20",
            "stash_add_map: fieldSize must be at most objectSize (16), found 20",
        ),
    ]
}

#[test]
fn a_mapping_that_cannot_be_is_refused_with_kernel_line_and_values() {
    let mut wrong = Vec::new();
    for (body, line, machine, reference) in cases() {
        let [timed, functional] = reasons(&body).map(|reason| reason.unwrap_or_default());
        let place = format!("kernel k, line {line}, CTA [1, 0, 0], thread [5, 0, 0]: ");
        if timed != format!("{place}{machine}") {
            wrong.push(format!("machine: {timed}"));
        }
        let place = format!("kernel k, line {line}, CTA (1, 0, 0), thread (5, 0, 0): ");
        if functional != format!("{place}{reference}") {
            wrong.push(format!("reference: {functional}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A word that is coherent in two mappings of a CTA would have two places at once. The machine goes on, as hardware would, which
/// compares no mappings; a checked run ends with the reference executor's refusal.
#[test]
fn a_word_that_is_coherent_in_two_mappings_ends_a_checked_run() {
    let body = format!("{ADD}\ncall.uni stash_add_map, (64, %a, 4, 8, 8, 0, 1, 1);");
    let [timed, reference] = reasons(&body);
    assert_eq!(timed, None);
    let reference = reference.expect("the reference executor minds");
    let says = "kernel k, line 13, CTA (1, 0, 0), thread (5, 0, 0): stash_add_map: a global word may be coherent in one mapping of a \
                CTA, found 0x100000 in mapping 0, too";
    assert_eq!(reference, says);
    let machine = Machine::load_with("stash-apu", &["stash"], &[]).unwrap_or_else(|error| panic!("{error}"));
    let text = text(&body);
    let module = || Module { name: "k.ptx", text: &text };
    let mut silent = |_: &_| {};
    let gpu = Gpu::new(&machine, PLAIN).expect("the machine can be built");
    let mut timed = TimedDevice::on(gpu, &machine, module(), &mut silent).expect("the module loads");
    let memory = *machine.file().gpu.memory_mib << 20;
    let mut reference = ReferenceDevice::new(module(), machine.compile_options(), memory, Default::default())
        .expect("the module loads");
    let mut both = Lockstep::new(&mut timed, &mut reference);
    let a = both.alloc("a", 1024).expect("there is memory");
    let end = both.launch("k", Shape::new([2, 1, 1], [32, 1, 1]), &[Arg::Ptr(a)]);
    let error = end.expect_err("the run ends").to_string();
    assert!(error.contains(says), "{error}");
}
