//! Atomics of a warp on the same address leave the SM as one operation, and every lane gets its own old value.

use strata_engine::seed::Stream;
use strata_gpu::device::{ReferenceDevice, TimedDevice};
use strata_gpu::machine::Machine;
use strata_workloads::{Arg, Device, Module, Shape};

use crate::support::{PLAIN, counter, module, on_device};

/// Each thread adds 10 to the first word of `a`, and stores what it found.
const SAME_ADDRESS: &str = ".visible .entry test(.param .u64 a, .param .u64 found)\n{\n\
    .reg .b64 %a, %found, %wide;\n.reg .b32 %tid, %cta, %size, %n, %old;\n\
    ld.param.u64 %a, [a];\nld.param.u64 %found, [found];\nmov.u32 %tid, %tid.x;\nmov.u32 %cta, %ctaid.x;\n\
    mov.u32 %size, %ntid.x;\nmad.lo.u32 %n, %cta, %size, %tid;\natom.global.add.u32 %old, [%a], 10;\n\
    mul.wide.u32 %wide, %n, 4;\nadd.u64 %found, %found, %wide;\nst.global.u32 [%found], %old;\nret;\n}\n";

/// Cycles, and operations that L2 slices perform, of `ctas` CTAs of 1024 threads that add to one word.
fn same_address(machine: &Machine, ctas: u32) -> (u64, u64) {
    let threads = 1024 * ctas;
    on_device(machine, PLAIN, &module(SAME_ADDRESS), |device| {
        let a = device.alloc("a", 4).unwrap();
        let found = device.alloc("found", u64::from(4 * threads)).unwrap();
        device.fill(a, 0, 4).unwrap();
        let shape = Shape::new([ctas, 1, 1], [1024, 1, 1]);
        device.launch("test", shape, &[Arg::Ptr(a), Arg::Ptr(found)]).unwrap();
        assert_eq!(words(device, a, 1), [10 * threads]);
        let mut tickets = words(device, found, threads as usize);
        tickets.sort_unstable();
        assert!(tickets.into_iter().eq((0..threads).map(|ticket| 10 * ticket)), "each sum is found once");
        (device.launches()[0].cycles, counter(device, "l2", "atomic_operations"))
    })
}

fn words(device: &mut dyn Device, at: strata_workloads::DevicePtr, count: usize) -> Vec<u32> {
    let mut bytes = vec![0; 4 * count];
    device.download(at, &mut bytes).unwrap();
    bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect()
}

#[test]
fn a_volta_sends_one_operation_for_sixteen_lanes() {
    // accel-sim/gpgpu-sim_distribution, pull request 33: a QV100 performs 10,240 L2 atomics for 160 CTAs of 1024 threads.
    let volta = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        Machine::load("volta-fuse", &sets).unwrap_or_else(|error| panic!("{error}"))
    };
    let (cycles, operations) = same_address(&volta(&[]), 160);
    assert_eq!(operations, 10_240);
    let (alone, each) = same_address(&volta(&["lsu.atomic_combining_lanes=1"]), 160);
    assert_eq!(each, 163_840);
    assert!(10 * cycles < alone, "found {cycles} cycles, and {alone} without");
}

#[test]
fn other_machines_send_one_for_each_lane() {
    for name in ["gtx480", "rtx3080"] {
        let machine = Machine::load(name, &[]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(same_address(&machine, 2).1, 2048, "{name}");
    }
}

/// One warp's atomics, one after the other, of every operation that is combined and some that are not. Lane `n` has counter
/// `%pick`, and its operand is `%v` or `%wide`.
const OPERATIONS: &[&str] = &[
    "add.u32", "add.s32", "add.u64", "min.u32", "min.s32", "min.u64", "min.s64", "max.u32", "max.s32",
    "max.u64", "max.s64", "and.b32", "and.b64", "or.b32", "or.b64", "xor.b32", "xor.b64", "exch.b32",
    "inc.u32", "add.f32",
];

/// The text of a kernel that performs `operation` on `counters[picks[lane]]` with `operands[lane]`, in lanes of `mask`, once
/// with a result and once without.
fn text(operation: &str) -> String {
    let wide = operation.ends_with("64");
    let (value, ty) = if wide { ("%v", "b64") } else { ("%w", "b32") };
    let register = match (wide, operation.ends_with("f32")) {
        (true, _) => "%o",
        (false, true) => "%f",
        (false, false) => "%p",
    };
    let value = if register == "%f" { "%g" } else { value };
    module(&format!(
        ".visible .entry test(.param .u64 counters, .param .u64 picks, .param .u64 operands, .param .u64 found, .param .u32 mask)\n{{\n\
         .reg .b64 %c, %i, %v, %o, %at, %n;\n.reg .b32 %w, %p, %t, %m;\n.reg .f32 %f, %g;\n.reg .pred %q;\n\
         mov.u32 %t, %tid.x;\nmul.wide.u32 %n, %t, 8;\n\
         ld.param.u64 %at, [operands];\nadd.u64 %at, %at, %n;\nld.global.u64 %v, [%at];\ncvt.u32.u64 %w, %v;\n\
         shr.u32 %m, %w, 9;\nor.b32 %m, %m, 0x3f800000;\nmov.b32 %g, %m;\n\
         ld.param.u64 %at, [picks];\nadd.u64 %at, %at, %n;\nld.global.u64 %i, [%at];\n\
         ld.param.u64 %c, [counters];\nadd.u64 %c, %c, %i;\n\
         ld.param.u32 %m, [mask];\nshr.u32 %m, %m, %t;\nand.b32 %m, %m, 1;\nsetp.ne.u32 %q, %m, 0;\n@!%q bra END;\n\
         atom.global.{operation} {register}, [%c], {value};\n\
         ld.param.u64 %at, [found];\nadd.u64 %at, %at, %n;\nst.global.{ty} [%at], {register};\n\
         red.global.{reduction} [%c], {value};\nEND:\nret;\n}}\n",
        reduction = if operation.starts_with("exch") { "add.u32" } else { operation },
    ))
}

/// What a warp leaves in its counters, and what its lanes found.
fn warp(device: &mut dyn Device, seed: u64) -> (Vec<u32>, Vec<u32>) {
    let mut stream = Stream::new(seed, "atomics");
    // Few counters, so that lanes meet; 8 bytes apart, over two lines.
    let spread = 1 + stream.below(5);
    let mut bytes = |most: u64, scale: u64| -> Vec<u8> {
        (0..32).flat_map(|_| (scale * stream.below(most)).to_le_bytes()).collect()
    };
    let (picks, operands, at_first) =
        (bytes(spread, 8 * (seed % 2 * 15 + 1)), bytes(u64::MAX, 1), bytes(u64::MAX, 1));
    let mask = if stream.below(2) == 0 { u32::MAX } else { stream.next() as u32 | 1 };
    let mut buffer = |name: &str, bytes: &[u8]| {
        let at = device.alloc(name, 1024).unwrap();
        device.fill(at, 0, 1024).unwrap();
        device.upload(at, bytes).unwrap();
        at
    };
    let counters = buffer("counters", &at_first);
    let arguments = [counters, buffer("picks", &picks), buffer("operands", &operands)].map(Arg::Ptr);
    let found = buffer("found", &[]);
    let arguments: Vec<Arg> = arguments.into_iter().chain([Arg::Ptr(found), Arg::U32(mask)]).collect();
    device.launch("test", Shape::new([1, 1, 1], [32, 1, 1]), &arguments).unwrap();
    (words(device, counters, 256), words(device, found, 64))
}

#[test]
fn lanes_find_what_they_would_find_one_after_the_other() {
    // The reference executor performs a warp's atomics lane by lane.
    for operation in OPERATIONS {
        let text = text(operation);
        let module = Module { name: operation, text: &text };
        for lanes in [1, 2, 16, 32] {
            let set = format!("lsu.atomic_combining_lanes={lanes}");
            let small = ["gpu.sms=1", "gpu.channels=1", "gpu.memory_mib=16", &set].map(str::to_owned);
            let machine = Machine::load("gtx480", &small).unwrap_or_else(|error| panic!("{error}"));
            for seed in 0..6 {
                let mut silent = |_: &_| {};
                let mut timed = TimedDevice::new(&machine, module, PLAIN, &mut silent)
                    .unwrap_or_else(|error| panic!("{operation}: {error}\n{text}"));
                let mut reference =
                    ReferenceDevice::new(module, machine.compile_options(), 1 << 30, Default::default())
                        .unwrap_or_else(|error| panic!("{operation}: {error}"));
                let expected = warp(&mut reference, seed);
                assert_eq!(warp(&mut timed, seed), expected, "{operation}, {lanes} lanes, seed {seed}");
            }
        }
    }
}
