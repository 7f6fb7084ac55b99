//! A machine that has lost one message stops, and says where packets are stuck, and which words are waited for, from whom.

use strata_gpu::device::TimedDevice;
use strata_gpu::machine::Machine;
use strata_memory::ownership::Message;
use strata_workloads::{Arg, Device, Module, Shape};

use super::tap::Bug;
use super::{Part, build};
use crate::support::{PLAIN, module};

/// `own`: each CTA maps 32 words, a line each, and stores to them. `change`: the same, and then it maps others there. `read`: each thread
/// reads a line of its own, from a place on.
fn text() -> String {
    let map = |index: &str, function: &str| {
        format!(
            "@%p bra AFTER_{function};\ncall.uni {function}, ({index}0, %rd0, 4, 4, 32, 0, 1, 1);\nAFTER_{function}:\nbar.sync 0;\n"
        )
    };
    let head = ".shared .align 64 .b8 s[128];\n.reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd<4>;\n\
                ld.param.u64 %rd0, [a]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd1, %r1, 128;\n\
                add.u64 %rd0, %rd0, %rd1; setp.ne.u32 %p, %r0, 0; shl.b32 %r2, %r0, 2; add.u32 %r2, %r2, 0x10000000;\n";
    let (add, change) = (map("", "stash_add_map"), map("0, ", "stash_chg_map"));
    module(&format!(
        ".extern .func stash_add_map(.param .b32 s, .param .b64 g, .param .b32 f, .param .b32 o, .param .b32 w, \
         .param .b32 d, .param .b32 n, .param .b32 c);\n\
         .extern .func stash_chg_map(.param .b32 i, .param .b32 s, .param .b64 g, .param .b32 f, .param .b32 o, \
         .param .b32 w, .param .b32 d, .param .b32 n, .param .b32 c);\n\
         .visible .entry own(.param .u64 a) {{\n{head}{add}st.shared.u32 [%r2], %r0;\nret;\n}}\n\
         .visible .entry change(.param .u64 a) {{\n{head}{add}st.shared.u32 [%r2], %r0;\nbar.sync 0;\n\
         add.u64 %rd0, %rd0, 4096;\n{change}ld.shared.u32 %r3, [%r2]; st.shared.u32 [%r2], %r3;\nret;\n}}\n\
         .visible .entry read(.param .u64 a) {{\n.reg .b32 %r<4>; .reg .b64 %rd<4>;\nld.param.u64 %rd0, [a];\n\
         mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r0, %r1, 32, %r0; mul.wide.u32 %rd1, %r0, 128;\n\
         add.u64 %rd0, %rd0, %rd1; ld.global.u32 %r2, [%rd0+4]; st.global.u32 [%rd0+64], %r2;\nret;\n}}\n"
    ))
}

/// How these launches end on a machine that loses one message of a kind. The array begins at 0x100000.
fn report(lost: (Message, Part), sets: &[&str], launches: &[(&str, u32)]) -> String {
    let sets: Vec<String> =
        ["gpu.sms=2", "gpu.watchdog_cycles=20000", "gpu.channels=1", "gpu.slices_per_channel=2"]
            .iter()
            .chain(sets)
            .map(|set| (*set).to_owned())
            .collect();
    let machine =
        Machine::load_with("stash-apu", &["stash"], &sets).unwrap_or_else(|error| panic!("{error}"));
    let gpu = build(&machine, PLAIN, (Bug::Swallowed(lost.0), lost.1), 1).expect("the machine can be built");
    let text = text();
    let mut silent = |_: &_| {};
    let module = Module { name: "stuck.ptx", text: &text };
    let mut device = TimedDevice::on(gpu, &machine, module, &mut silent).expect("the module loads");
    let a = device.alloc("a", 1 << 15).expect("there is memory");
    assert_eq!(a.0, 0x10_0000);
    let run = |&(kernel, ctas): &(&str, u32)| {
        device.launch(kernel, Shape::new([ctas, 1, 1], [32, 1, 1]), &[Arg::Ptr(a)]).err()
    };
    let error = launches.iter().find_map(run);
    let report = error.expect("a machine without the message cannot end").to_string();
    println!("{lost:?}:\n{report}\n");
    assert!(report.contains("can never finish") || report.contains("is stuck"), "{report}");
    report
}

fn says(report: &str, parts: &[&str]) {
    assert!(
        report.lines().any(|line| parts.iter().all(|part| line.contains(part))),
        "{parts:?} in none of {report}"
    );
}

// Nodes 0 and 1 are SMs, 2 is the CPU core, 3 and 4 are banks of the L2, which share lines in pairs.

#[test]
fn a_registration_of_a_stash() {
    let report = report((Message::Register, Part::Stash), &[], &[("own", 1)]);
    let wait = "words 0xffffffff of line 0x100000 under stash-map entry 0 wait for their registration from the L2 at node 3";
    says(&report, &["SM 0: the stash: ", wait]);
}

#[test]
fn data_for_a_stash() {
    let report = report((Message::Data, Part::L2), &["llc.sets=1"], &[("change", 1)]);
    says(
        &report,
        &["SM 0: ", "of line 0x101000 under stash-map entry 0 wait for their data from the L2 at node 3"],
    );
    says(&report, &["SM 0: ", "memory instruction at line"]);
}

#[test]
fn an_acknowledgement_for_a_stash() {
    let report = report((Message::WrittenBack, Part::L2), &[], &[("change", 1)]);
    let wait = "words 0xffffffff of line 0x100000 under stash-map entry 0 wait for the acknowledgement of their writeback from the L2 at \
                node 3";
    says(&report, &["SM 0: the stash: ", wait]);
}

#[test]
fn an_answer_of_an_owner() {
    // The first CTA of the second launch reads on SM 1 what SM 0's stash has.
    let report = report((Message::Data, Part::Stash), &[], &[("own", 2), ("read", 2)]);
    says(
        &report,
        &["L1D", "line 0x100000", "1 accesses wait", "reads of words 0x2", "asked of the L2 at node 3"],
    );
}

#[test]
fn words_that_a_stash_returns() {
    // Each bank has a few lines, of which one has to leave before another can come; requests fill the way to it.
    let sets = [
        "llc.sets=1",
        "llc.ways=4",
        "llc.request_queue=1",
        "llc.mshr_entries=1",
        "llc.mshr_merges=1",
        "network.interface_flits=35",
        "network.virtual_channels=1",
        "network.buffer_flits=1",
        "l1d.mshr_entries=32",
    ];
    let report = report((Message::Return, Part::Stash), &sets, &[("own", 2), ("read", 4)]);
    says(&report, &["L2 slice", "are recalled from map 0 of the stash of node "]);
    says(
        &report,
        &[
            "network.request: router ",
            "input ",
            "virtual channel 0: the packet of node ",
            "has waited since cycle",
        ],
    );
}
