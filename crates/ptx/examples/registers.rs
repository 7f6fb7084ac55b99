//! Prints, for each kernel of the PTX files given, the 32-bit registers that the text declares and uses, those
//! that the back end needs, and the bytes that it spills. Tab-separated: file, kernel, virtual, physical, spills.

use std::process::ExitCode;
use strata_ptx::back::{Options, compile};
use strata_ptx::front::{lower, parse_module};
use strata_ptx::ir::{Function, VDst, VSrc};

/// 32-bit rows of the virtual registers that a kernel mentions.
fn virtual_rows(function: &Function) -> usize {
    let mut used = vec![false; function.registers.len()];
    for inst in &function.code {
        for dst in &inst.dst {
            if let VDst::Reg(reg) = dst {
                used[reg.0 as usize] = true;
            }
        }
        for src in &inst.src {
            if let VSrc::Reg(reg, _) = src {
                used[reg.0 as usize] = true;
            }
        }
    }
    function.registers.iter().zip(used).filter(|(_, used)| *used).map(|(ty, _)| ty.rows()).sum()
}

fn main() -> ExitCode {
    let mut failed = false;
    for file in std::env::args().skip(1) {
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) => {
                eprintln!("{file}: {error}");
                failed = true;
                continue;
            }
        };
        let module = match parse_module(&file, &text).and_then(|module| lower(&module, None)) {
            Ok(module) => module,
            Err(error) => {
                eprintln!("{error}");
                failed = true;
                continue;
            }
        };
        for function in &module.functions {
            match compile(function, &Options::default()) {
                Ok(kernel) => {
                    let rows = virtual_rows(function);
                    println!("{file}\t{}\t{rows}\t{}\t{}", kernel.name, kernel.registers, kernel.spill_bytes);
                }
                Err(error) => {
                    eprintln!("{file}: {error}");
                    failed = true;
                }
            }
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
