//! The kernel that SMs in cache mode run, as a machine's file has it: it must fit their registers and shared memory.

mod registers;

use std::sync::Arc;

use strata_memory::doors::HelperKernel;
use strata_ptx::back::{Options, RegisterAllocation};
use strata_ptx::program;
use strata_workloads::Module;

use super::MachineFile;
use crate::extended_llc::{BLOCK_BYTES, ENTRY, Indirection, Kernel, Levels, Requests};
use crate::program::Program;
use registers::Registers;

/// Most registers of an array that `mov.indirect` reaches.
pub(super) const MOST_INDIRECT: u32 = 128;

/// The kernel.
pub struct Helper {
    /// What the LLC's design says of it.
    pub kernel: HelperKernel,
    /// CTAs of it that an SM holds.
    pub ctas: u32,
    /// Its code.
    pub compiled: Arc<program::Kernel>,
    /// Registers of each warp of a CTA, where places of sets are launches of their own.
    pub registers: Option<Vec<u32>>,
}

/// Compiles the kernel with options for so many warps; `None` if the machine has no SMs in cache mode, or these rest.
///
/// # Errors
/// The keys with which the kernel does not fit the SM, what was found and what was expected.
pub(super) fn compile(
    file: &MachineFile,
    options: impl Fn(u32) -> Options,
) -> Result<Option<Helper>, String> {
    let sms = file.gpu.helper_sms().len();
    let Some(kernel) = file.doors.llc.helper_kernel().filter(|kernel| sms > 0 && kernel.runs) else {
        return Ok(None);
    };
    let name = file.doors.llc.name;
    let options = options(kernel.warps);
    let ctas = kernel.ctas().expect("the machine file was checked");
    let indirection = if options.indirect_mov { Indirection::Instruction } else { Indirection::Branch };
    if options.indirect_mov && kernel.ways > MOST_INDIRECT {
        return Err(format!(
            "llc.{name}.ways: found {}, expected at most {MOST_INDIRECT} with sm.indirect_mov",
            kernel.ways
        ));
    }
    let shared = u64::from(kernel.shared_warps) * u64::from(kernel.shared_ways) * BLOCK_BYTES;
    if shared > u64::from(*file.sm.shared_bytes) {
        let (warps, bytes) = (kernel.shared_warps, *file.sm.shared_bytes);
        let most = bytes / warps / BLOCK_BYTES as u32;
        return Err(format!(
            "llc.{name}.shared.ways: found {}, expected at most {most}: {warps} warps have the {bytes} bytes of sm.shared_bytes",
            kernel.shared_ways
        ));
    }
    let compression = kernel.compression.map(|epochs| match epochs.count_anew {
        false => Levels::History,
        true => Levels::Epoch,
    });
    let HelperKernel { warps, ways, shared_ways, fetches, .. } = kernel;
    let requests = if kernel.polls { Requests::Polled } else { Requests::Held };
    let warps = warps / ctas;
    let bound = if kernel.by_place { 0 } else { ctas };
    let text =
        Kernel { warps, ctas: bound, ways, shared_ways, indirection, requests, fetches, compression }.text();
    let module = Module { name: "extended_llc.ptx", text: &text };
    let compile = |options| {
        let mut program = Program::parse(module, options).map_err(|errors| errors.to_string())?;
        program.kernel(ENTRY).map_err(|error| format!("{ENTRY}: {error}"))
    };
    if kernel.by_place {
        // No part is to have more registers than it needs.
        let options = Options { allocation: RegisterAllocation::Tight, ..options };
        let compile = |max_registers| compile(Options { max_registers, ..options });
        return by_place(file, &kernel, &text, compile).map(|(compiled, registers)| {
            Some(Helper { kernel, ctas, compiled, registers: Some(registers.of_cta(ctas)) })
        });
    }
    let found = options.max_registers;
    let compiled = compile(options)?;
    if compiled.spill_bytes == 0 && compiled.registers <= found {
        return Ok(Some(Helper { kernel, ctas, compiled, registers: None }));
    }
    // What it takes without a limit, if that is more: it can spill with as many, too.
    let wanted = match compile(Options { max_registers: 255, ..options })?.registers {
        wanted if wanted > found => format!("at least {wanted}"),
        _ => "more".to_owned(),
    };
    let limit = match found < *file.sm.registers_per_thread {
        true => format!("sm.registers: found {found} for each thread of {} warps", kernel.warps),
        false => format!("sm.registers_per_thread: found {found}"),
    };
    Err(format!(
        "{limit}, expected {wanted}, which the kernel of the SMs in cache mode takes; fewer of llc.{name}.warps or \
         llc.{name}.ways need fewer"
    ))
}

/// Compiles the kernel for warps that have as many registers as those of their place need: those with sets in registers have what the
/// others leave.
fn by_place(
    file: &MachineFile,
    kernel: &HelperKernel,
    text: &str,
    compile: impl Fn(u32) -> Result<Arc<program::Kernel>, String>,
) -> Result<(Arc<program::Kernel>, Registers), String> {
    let (all, unit, most) = (*file.sm.registers, *file.sm.register_unit, *file.sm.registers_per_thread);
    let wanted = compile(most)?;
    let left = Registers::needed(&wanted, text, kernel).left(all, unit).min(most);
    let compiled = compile(left)?;
    let needed = Registers::needed(&compiled, text, kernel);
    if compiled.spill_bytes == 0 && needed.all(unit) <= all {
        return Ok((compiled, needed));
    }
    let [shared, l1] = needed.of_others();
    Err(format!(
        "llc.{}.ways: found {}, expected fewer: {} warps with sets in shared memory have {shared} registers a thread and {} with \
         sets in the L1D {l1}, which leaves {left} to each of the others of sm.registers, and the kernel takes {}",
        file.doors.llc.name, kernel.ways, kernel.shared_warps, kernel.l1_warps, wanted.registers
    ))
}
