//! The kernel that SMs in cache mode run, as a machine's file has it: it must fit their registers and shared memory.

use std::sync::Arc;

use strata_memory::doors::HelperKernel;
use strata_ptx::back::Options;
use strata_ptx::program;
use strata_workloads::Module;

use super::MachineFile;
use crate::extended_llc::{BLOCK_BYTES, ENTRY, Indirection, Kernel, Requests};
use crate::program::Program;

/// Most registers of an array that `mov.indirect` reaches.
const MOST_INDIRECT: u32 = 128;

/// The kernel.
pub struct Helper {
    /// What the LLC's design says of it.
    pub kernel: HelperKernel,
    /// CTAs of it that an SM holds.
    pub ctas: u32,
    /// Its code.
    pub compiled: Arc<program::Kernel>,
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
    let compression = kernel.compression.is_some();
    let HelperKernel { warps, ways, shared_ways, fetches, .. } = kernel;
    let requests = if kernel.polls { Requests::Polled } else { Requests::Held };
    let warps = warps / ctas;
    let text = Kernel { warps, ctas, ways, shared_ways, indirection, requests, fetches, compression }.text();
    let module = Module { name: "extended_llc.ptx", text: &text };
    let compile = |options| {
        let mut program = Program::parse(module, options).map_err(|errors| errors.to_string())?;
        program.kernel(ENTRY).map_err(|error| format!("{ENTRY}: {error}"))
    };
    let found = options.max_registers;
    let compiled = compile(options)?;
    if compiled.spill_bytes == 0 && compiled.registers <= found {
        return Ok(Some(Helper { kernel, ctas, compiled }));
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
