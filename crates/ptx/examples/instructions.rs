//! Prints the compiled kernels of PTX files as an SM would issue them, for scripts that compare them with an assembler's.
//!
//! ```console
//! cargo run -p strata-ptx --example instructions -- [KEY=VALUE...] FILE...
//! ```
//!
//! The keys are those of [`Options`]: `max_registers`, `sm_registers`, `sm_threads`, `register_unit`, `load_window`. A
//! line with a file, a kernel, its registers and the bytes that it spills, separated by tabs, stands before those of its
//! instructions. These have the line of the text, the kind, whether a branch goes there, whether the instruction has a guard, the registers
//! that it reads, and those that it writes.

use std::process::ExitCode;
use strata_ptx::back::{Options, compile};
use strata_ptx::front::{lower, parse_module};
use strata_ptx::isa::{Flow, Guard, Instruction, Order, RegList, Space};
use strata_ptx::program::Kernel;

fn set(options: &mut Options, key: &str, value: &str) -> Result<(), String> {
    let value = value.parse::<u32>().map_err(|error| format!("{key}={value}: {error}"))?;
    let option = match key {
        "max_registers" => &mut options.max_registers,
        "sm_registers" => &mut options.sm_registers,
        "sm_threads" => &mut options.sm_threads,
        "register_unit" => &mut options.register_unit,
        "load_window" => &mut options.load_window,
        _ => return Err(format!("{key}: no such option")),
    };
    *option = value;
    Ok(())
}

/// What an instruction is to one who looks for loads.
fn kind(instruction: &Instruction) -> &'static str {
    let traits = instruction.op.traits();
    match traits.order {
        Order::Access(access) => match access.mode.space {
            Space::Param | Space::Const => "constant",
            Space::Shared if access.is_load() => "shared",
            Space::Local if access.is_load() => "local",
            Space::Global | Space::Generic if access.is_load() => "global",
            _ => "other",
        },
        _ if traits.flow != Flow::Next => "branch",
        _ => "other",
    }
}

/// Where branches of a kernel go.
fn targets(kernel: &Kernel) -> Vec<bool> {
    let mut targets = vec![false; kernel.code.len() + 1];
    for instruction in &kernel.code {
        let flow = instruction.op.traits().flow;
        let table = flow.table().map_or(&[][..], |table| &kernel.branch_tables[table as usize]);
        let target = flow.has_target().then_some(&instruction.target);
        table.iter().chain(target).for_each(|pc| targets[*pc as usize] = true);
    }
    targets
}

fn print(file: &str, kernel: &Kernel) {
    println!("{file}\t{}\t{}\t{}", kernel.name, kernel.registers, kernel.spill_bytes);
    let list = |registers: &RegList| {
        let registers: Vec<String> = registers.as_slice().iter().map(|reg| reg.0.to_string()).collect();
        registers.join(",")
    };
    for (instruction, is_target) in kernel.code.iter().zip(targets(kernel)) {
        let guarded = instruction.guard != Guard::Always;
        let (reads, writes) = (list(&instruction.reads), list(&instruction.writes));
        let (target, guard) = (u8::from(is_target), u8::from(guarded));
        println!("{}\t{}\t{target}\t{guard}\t{reads}\t{writes}", instruction.line, kind(instruction));
    }
}

fn print_all(file: &str, options: &Options) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let module = parse_module(file, &text).and_then(|module| lower(&module, None));
    for function in &module.map_err(|error| error.to_string())?.functions {
        let kernel = compile(function, options).map_err(|error| format!("{file}: {error}"))?;
        print(file, &kernel);
    }
    Ok(())
}

fn main() -> ExitCode {
    let mut options = Options::default();
    let mut failed = false;
    for argument in std::env::args().skip(1) {
        let done = match argument.split_once('=') {
            Some((key, value)) => set(&mut options, key, value),
            None => print_all(&argument, &options),
        };
        if let Err(error) = done {
            eprintln!("error: {error}");
            failed = true;
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
