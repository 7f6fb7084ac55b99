//! Atomics of 128 bits under contention: no halves of two values are ever seen together, and no update is lost.
//!
//! What must hold follows from the ISA's words alone: each thread's update is one step of a chain, so whatever the order, the
//! values that threads found can be put into one.

use std::collections::BTreeMap;

use strata_gpu::device::ReferenceDevice;
use strata_gpu::machine::Machine;
use strata_workloads::{Arg, Device, DevicePtr, Module, Shape};

use crate::support::{PLAIN, counter, module, on_device};

const CTAS: u32 = 3;
const THREADS: u32 = 80;

/// What a thread adds to the upper half; to the lower it adds 1.
fn weight(thread: u32) -> u64 {
    (1 << 40) + 3 * u64::from(thread)
}

/// Kernels whose thread n updates the cell that it shares with others once, and stores what it found as pair n: the CTA's in
/// shared memory or that of all in global memory, as `pick` chooses.
fn text(space: &str, pick: &str) -> String {
    module(&format!(
        ".visible .entry add(.param .u64 cell, .param .u64 found)\n{{\n\
         .shared .align 16 .b8 own[16];\n\
         .reg .b64 %c, %f, %w, %a<3>, %b<3>;\n.reg .b128 %q<3>;\n.reg .b32 %t, %cta, %n;\n.reg .pred %p, %even;\n\
         {BEGIN}\
         mad.wide.u32 %w, %n, 3, 0;\nadd.u64 %w, %w, 0x10000000000;\n\
         mov.u64 %a0, 0;\nmov.u64 %b0, 0;\n\
         AGAIN:\nadd.u64 %a1, %a0, 1;\nadd.u64 %b1, %b0, %w;\n\
         mov.b128 %q0, {{%a0, %b0}};\nmov.b128 %q1, {{%a1, %b1}};\n\
         atom{space}.cas.b128 %q2, [%c], %q0, %q1;\nmov.b128 {{%a2, %b2}}, %q2;\n\
         setp.eq.u64 %p, %a2, %a0;\nsetp.eq.and.u64 %p, %b2, %b0, %p;\n\
         mov.u64 %a0, %a2;\nmov.u64 %b0, %b2;\n@!%p bra AGAIN;\n\
         st.global.v2.u64 [%f], {{%a2, %b2}};\nret;\n}}\n\
         .visible .entry exchange(.param .u64 cell, .param .u64 found)\n{{\n\
         .shared .align 16 .b8 own[16];\n\
         .reg .b64 %c, %f, %a<2>, %b<2>;\n.reg .b128 %q<2>;\n.reg .b32 %t, %cta, %n;\n.reg .pred %even;\n\
         {BEGIN}\
         cvt.u64.u32 %a0, %n;\nadd.u64 %a0, %a0, 1;\nnot.b64 %b0, %a0;\nmov.b128 %q0, {{%a0, %b0}};\n\
         atom{space}.exch.b128 %q1, [%c], %q0;\nst.global.b128 [%f], %q1;\nret;\n}}\n"
    ))
    .replace("PICK", pick)
}

/// Finds the cell and the place of the thread's pair; the CTA's own cell begins with zeros.
const BEGIN: &str = "mov.u32 %t, %tid.x;\nmov.u32 %cta, %ctaid.x;\nmov.u32 %n, %ntid.x;\nmad.lo.u32 %n, %cta, %n, %t;\n\
    ld.param.u64 %f, [found];\nmul.wide.u32 %c, %n, 16;\nadd.u64 %f, %f, %c;\n\
    st.shared.v4.u32 [own], {0, 0, 0, 0};\nbar.sync 0;\n\
    and.b32 %t, %t, 1;\nsetp.eq.u32 %even, %t, 0;\nPICK\n";

/// A way to a cell: the space's word, how a thread finds its own, and which threads share one.
type Way = (&'static str, &'static str, fn(u32) -> u32);

/// The three ways to a cell.
const WAYS: [Way; 3] = [
    (".global", "ld.param.u64 %c, [cell];", |_| 0),
    (".shared", "mov.u64 %c, own;", |thread| 1 + thread / THREADS),
    ("", "ld.param.u64 %c, [cell];\n@%even mov.u64 %c, own;\n@%even cvta.shared.u64 %c, %c;", |thread| {
        if thread.is_multiple_of(2) { 1 + thread / THREADS } else { 0 }
    }),
];

/// A cell's value, or what a thread found: the lower and the upper half.
type Pair = (u64, u64);

fn pairs(device: &mut dyn Device, at: DevicePtr, count: u32) -> Vec<Pair> {
    let mut bytes = vec![0; 16 * count as usize];
    device.download(at, &mut bytes).unwrap();
    let half = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    bytes.chunks(16).map(|pair| (half(&pair[..8]), half(&pair[8..]))).collect()
}

/// Runs a kernel: what every thread found, and what the global cell holds then.
fn run(device: &mut dyn Device, kernel: &str) -> (Vec<Pair>, Pair) {
    let threads = CTAS * THREADS;
    let cell = device.alloc("cell", 16).unwrap();
    let found = device.alloc("found", u64::from(16 * threads)).unwrap();
    device.fill(cell, 0, 16).unwrap();
    device.fill(found, 0xff, u64::from(16 * threads)).unwrap();
    device
        .launch(kernel, Shape::new([CTAS, 1, 1], [THREADS, 1, 1]), &[Arg::Ptr(cell), Arg::Ptr(found)])
        .unwrap();
    let found = pairs(device, found, threads);
    (found, pairs(device, cell, 1)[0])
}

/// Both kernels, and what must hold of any order of their updates.
fn check(device: &mut dyn Device, sharers: fn(u32) -> u32) {
    let (found, last) = run(device, "add");
    let mut chains: BTreeMap<u32, Vec<(Pair, u32)>> = BTreeMap::new();
    for (thread, pair) in (0..).zip(found) {
        chains.entry(sharers(thread)).or_default().push((pair, thread));
    }
    for (cell, mut chain) in chains {
        chain.sort_unstable();
        let mut next = (0, 0);
        for (pair, thread) in chain {
            assert_eq!(pair, next, "cell {cell}, thread {thread}");
            next = (pair.0 + 1, pair.1 + weight(thread));
        }
        if cell == 0 {
            assert_eq!(last, next, "the global cell");
        }
    }

    let (found, last) = run(device, "exchange");
    let mut seen: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for (thread, (low, high)) in (0..).zip(found) {
        assert!((low, high) == (0, 0) || high == !low, "thread {thread} found {low:#x} and {high:#x}");
        seen.entry(sharers(thread)).or_default().push(low);
    }
    for (cell, mut seen) in seen {
        let mut values: Vec<u64> = (0..CTAS * THREADS)
            .filter(|thread| sharers(*thread) == cell)
            .map(|thread| u64::from(thread) + 1)
            .chain([0])
            .collect();
        seen.sort_unstable();
        // All but the value that is left there.
        values.retain(|value| seen.binary_search(value).is_err());
        assert_eq!(values.len(), 1, "cell {cell}");
        seen.dedup();
        let others = (0..CTAS * THREADS).filter(|thread| sharers(*thread) == cell).count();
        assert_eq!(seen.len(), others, "cell {cell}: no value is found twice");
        if cell == 0 {
            assert_eq!(last, (values[0], !values[0]), "the global cell");
        }
    }
}

#[test]
fn no_update_is_lost_or_torn() {
    let small = ["gpu.sms=2", "gpu.channels=1", "gpu.memory_mib=16"].map(str::to_owned);
    let load = |name: &str, systems: &[&str], sets: &[String]| {
        Machine::load_with(name, systems, sets).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    let machines = [
        load("gtx480", &[], &small),
        load("volta-fuse", &[], &[]),
        load("gtx480", &["denovo"], &small),
        crate::morpheus::small(&[]),
    ];
    for (space, pick, sharers) in WAYS {
        let text = text(space, pick);
        let given = Module { name: "wide atomics", text: &text };
        let options = machines[0].compile_options();
        let mut reference = ReferenceDevice::new(given, options, 1 << 26, Default::default())
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        check(&mut reference, sharers);
        for machine in &machines {
            on_device(machine, PLAIN, &text, |device| check(device, sharers));
        }
    }
}

#[test]
fn a_packet_carries_sixteen_of_them() {
    // A warp on one cell: two batches, each with all of its lanes, once for each of 3 CTAs and 2.5 warps.
    let (space, pick, _) = WAYS[0];
    let machine = Machine::load("gtx480", &[]).unwrap_or_else(|error| panic!("{error}"));
    on_device(&machine, PLAIN, &text(space, pick), |device| {
        run(device, "exchange");
        let (operations, requests) =
            (counter(device, "l2", "atomic_operations"), counter(device, "l2", "atomics"));
        assert_eq!(operations, u64::from(CTAS * THREADS));
        assert_eq!(requests, u64::from(CTAS * THREADS.div_ceil(16)));
    });
}
