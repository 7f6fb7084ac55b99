//! `mov.indirect` against `brx.idx` to ordinary moves, and both against a table: random lists of reads and writes, on the
//! reference executor and on machines with register files of every design.

use std::fmt::Write;

use proptest::prelude::*;
use strata_gpu::device::ReferenceDevice;
use strata_gpu::extended_llc::Indirection;
use strata_gpu::machine::Machine;
use strata_ptx::reference::Options;
use strata_workloads::{Arg, Device, Module, Shape};

use crate::support::random::check;
use crate::support::{INDIRECT_MOV, PLAIN, on_device};

/// Threads of the CTA.
const THREADS: u32 = 96;

/// Reads register `index` into the output, or writes it; only in the lower half of each warp if `half`.
#[derive(Clone, Copy, Debug)]
struct Step {
    writes: bool,
    half: bool,
    index: u8,
    value: u32,
}

/// The list on one lane's registers; what was read.
fn expected(registers: u8, steps: &[Step]) -> Vec<u32> {
    let mut arrays = vec![[0; 256]; THREADS as usize];
    let mut out = Vec::new();
    for step in steps {
        for (thread, array) in arrays.iter_mut().enumerate() {
            assert!(step.index < registers);
            let element = &mut array[usize::from(step.index)];
            let takes_part = !step.half || thread % 32 < 16;
            if step.writes && takes_part {
                *element = step.value ^ thread as u32;
            }
            out.push(if !step.writes && takes_part { *element } else { 0 });
        }
    }
    out
}

/// The kernel `moves(steps, count, out)` over so many registers.
fn text(indirection: Indirection, registers: u8) -> String {
    let (target, array) = match indirection {
        Indirection::Branch => ("sm_86", format!("%a<{registers}>")),
        Indirection::Instruction => ("sm_86, indirect_mov", format!("%a[{registers}]")),
    };
    let mut text = format!(
        ".version 7.8\n.target {target}\n.address_size 64\n\
         .visible .entry moves(.param .u64 steps, .param .u32 count, .param .u64 out) {{\n\
         .reg .pred %p, %take;\n.reg .b32 %k, %v, %t, %i, %left, {array};\n.reg .b64 %step, %to, %wide;\n\
         ld.param.u64 %step, [steps];\nld.param.u32 %left, [count];\nld.param.u64 %to, [out];\n\
         mov.u32 %t, %tid.x;\nmul.wide.u32 %wide, %t, 4;\nadd.u64 %to, %to, %wide;\n"
    );
    for register in 0..registers {
        match indirection {
            Indirection::Branch => writeln!(text, "mov.b32 %a{register}, 0;"),
            Indirection::Instruction => writeln!(text, "mov.indirect.b32 %a[{register}], 0;"),
        }
        .expect("a string grows");
    }
    text += "NEXT:\nsetp.eq.u32 %p, %left, 0;\n@%p bra END;\nld.global.u32 %k, [%step];\nld.global.u32 %v, [%step+4];\n\
             xor.b32 %v, %v, %t;\nand.b32 %i, %t, 16;\nand.b32 %i, %i, %k;\nsetp.eq.u32 %take, %i, 0;\n\
             shr.u32 %i, %k, 8;\nand.b32 %k, %k, 1;\nsetp.ne.u32 %p, %k, 0;\n@%p bra WRITE;\nmov.u32 %v, 0;\n";
    let moves = |text: &mut String, letter: char, move_of: &dyn Fn(u8) -> String, indirect: &str| {
        if indirection == Indirection::Instruction {
            return writeln!(text, "{indirect}").expect("a string grows");
        }
        let targets: Vec<String> = (0..registers).map(|register| format!("{letter}{register}")).collect();
        writeln!(text, "{letter}: .branchtargets {};\nbrx.idx %i, {letter};", targets.join(", "))
            .expect("a string grows");
        for register in 0..registers {
            writeln!(text, "{letter}{register}: {}\nbra {letter}_END;", move_of(register))
                .expect("a string grows");
        }
        writeln!(text, "{letter}_END:").expect("a string grows");
    };
    moves(
        &mut text,
        'R',
        &|register| format!("@%take mov.b32 %v, %a{register};"),
        "@%take mov.indirect.b32 %v, %a[%i];",
    );
    text += "bra DONE;\nWRITE:\n";
    moves(
        &mut text,
        'W',
        &|register| format!("@%take mov.b32 %a{register}, %v;"),
        "@%take mov.indirect.b32 %a[%i], %v;",
    );
    text += "mov.u32 %v, 0;\nDONE:\nst.global.u32 [%to], %v;\n";
    writeln!(text, "add.u64 %to, %to, {};", THREADS * 4).expect("a string grows");
    text + "add.u64 %step, %step, 8;\nsub.u32 %left, %left, 1;\nbra NEXT;\nEND:\nret;\n}\n"
}

fn run(device: &mut dyn Device, steps: &[Step]) -> Vec<u32> {
    let words = steps.iter().flat_map(|step| {
        let kind = u32::from(step.index) << 8 | u32::from(step.half) << 4 | u32::from(step.writes);
        [kind, step.value]
    });
    let list: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    let mut bytes = vec![0; steps.len() * THREADS as usize * 4];
    let at = device.alloc("steps", list.len() as u64).unwrap();
    let out = device.alloc("out", bytes.len() as u64).unwrap();
    device.upload(at, &list).unwrap();
    let arguments = [Arg::Ptr(at), Arg::U32(steps.len() as u32), Arg::Ptr(out)];
    device.launch("moves", Shape::new([1; 3], [THREADS, 1, 1]), &arguments).unwrap();
    device.download(out, &mut bytes).unwrap();
    bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

fn machine(systems: &[&str], sets: &[&str]) -> Machine {
    let base = ["gpu.sms=1", "gpu.channels=1", "gpu.memory_mib=16"];
    let sets: Vec<String> = base.iter().chain(sets).map(ToString::to_string).collect();
    let systems = [&[INDIRECT_MOV], systems].concat();
    Machine::load_with("gtx480", &systems, &sets).unwrap_or_else(|error| panic!("{error}"))
}

/// Systems and overrides of gtx480 whose register files and collectors differ.
const MACHINES: &[(&[&str], &[&str])] = &[
    (&[], &[]),
    (&[], &["sm.register_file.banks=1", "sm.register_file.read_latency_cycles=5"]),
    (&["stt"], &["sm.schedulers=1"]),
    (&["stt-wb-bdi"], &["sm.scheduling=loose-round-robin"]),
    (&["hi-end"], &[]),
];

fn steps() -> impl Strategy<Value = (u8, usize, Vec<Step>)> {
    let registers = prop_oneof![Just(32_u8), 1..40_u8];
    let lists = registers.prop_flat_map(|registers| {
        let step = (any::<bool>(), any::<bool>(), 0..registers, any::<u32>());
        let step = step.prop_map(|(writes, half, index, value)| Step { writes, half, index, value });
        (Just(registers), prop::collection::vec(step, 1..40))
    });
    (lists, 0..MACHINES.len()).prop_map(|((registers, steps), machine)| (registers, machine, steps))
}

#[test]
fn both_forms_are_a_table() {
    check(24, 200, &steps(), |(registers, on, steps)| {
        let expected = expected(registers, &steps);
        let (systems, sets) = MACHINES[on];
        let machine = machine(systems, sets);
        for indirection in [Indirection::Branch, Indirection::Instruction] {
            let text = text(indirection, registers);
            let module = Module { name: "moves.ptx", text: &text };
            let mut reference =
                ReferenceDevice::new(module, machine.compile_options(), 1 << 24, Options::default())?;
            if run(&mut reference, &steps) != expected {
                return Err(format!("{indirection:?} on the reference executor"));
            }
            let found = on_device(&machine, PLAIN, &text, |device| run(device, &steps));
            if found != expected {
                return Err(format!("{indirection:?} on {systems:?} {sets:?}"));
            }
        }
        Ok(())
    });
}
