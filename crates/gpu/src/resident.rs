//! The kernel that SMs in cache mode run: compiled for the machine, with all of memory to load and store.

use std::sync::Arc;

use strata_memory::doors::HelperKernel;
use strata_memory::{Address, window};
use strata_ptx::texture::Headers;
use strata_sm::launch::Launch;
use strata_workloads::Module;

use crate::device::system::SystemRegion;
use crate::extended_llc::{BLOCK_BYTES, ENTRY, Indirection, Kernel, Requests};
use crate::machine::Machine;
use crate::program::Program;

/// Most registers of an array that `mov.indirect` reaches.
const MOST_INDIRECT: u32 = 128;

/// What the launch of a resident kernel needs of memory beside what it says itself.
pub(crate) struct Resident {
    /// The launch, with as many CTAs for each SM in cache mode as it holds.
    pub launch: Launch,
    /// Parameters, to be written where the launch says.
    pub params: Vec<u8>,
}

/// Prepares the resident kernel of a machine; `None` if it has no SMs in cache mode, or these rest.
///
/// # Errors
/// What is wrong with the kernel's text on this machine, or that memory is full.
pub(crate) fn resident(machine: &Machine, system: &mut SystemRegion) -> Result<Option<Resident>, String> {
    let file = machine.file();
    let sms = file.gpu.helper_sms().len() as u32;
    let Some(kernel) = file.doors.llc.helper_kernel().filter(|kernel| sms > 0 && kernel.runs) else {
        return Ok(None);
    };
    let options = machine.compile_options_for(kernel.warps);
    let ctas = kernel.ctas().expect("the machine file was checked");
    let warps = kernel.warps / ctas;
    let indirection = if options.indirect_mov { Indirection::Instruction } else { Indirection::Branch };
    if options.indirect_mov && kernel.ways > MOST_INDIRECT {
        let (name, ways) = (file.doors.llc.name, kernel.ways);
        return Err(format!(
            "llc.{name}.ways: found {ways}, expected at most {MOST_INDIRECT} with sm.indirect_mov"
        ));
    }
    let shared = u64::from(kernel.shared_warps) * u64::from(kernel.shared_ways) * BLOCK_BYTES;
    if shared > u64::from(*file.sm.shared_bytes) {
        let (name, warps, bytes) = (file.doors.llc.name, kernel.shared_warps, *file.sm.shared_bytes);
        let most = bytes / warps / BLOCK_BYTES as u32;
        return Err(format!(
            "llc.{name}.shared.ways: found {}, expected at most {most}: {warps} warps have the {bytes} bytes of sm.shared_bytes",
            kernel.shared_ways
        ));
    }
    let compression = kernel.compression.is_some();
    let HelperKernel { ways, shared_ways, fetches, .. } = kernel;
    let requests = if kernel.polls { Requests::Polled } else { Requests::Held };
    let text = Kernel { warps, ctas, ways, shared_ways, indirection, requests, fetches, compression }.text();
    let module = Module { name: "extended_llc.ptx", text: &text };
    let mut program = Program::parse(module, options).map_err(|errors| errors.to_string())?;
    let compiled = program.kernel(ENTRY).map_err(|error| format!("{ENTRY}: {error}"))?;
    if compiled.spill_bytes > 0 || compiled.registers > options.max_registers {
        return Err(format!(
            "{ENTRY}: found {} registers a thread, expected room for more: fewer of llc.morpheus.warps or llc.morpheus.ways need fewer",
            options.max_registers
        ));
    }
    let shared_sets = kernel.shared_warps / ctas;
    let params = parameters(warps, shared_sets, &kernel);
    let mut room = |bytes: u64| {
        system.alloc(bytes, 0).ok_or_else(|| format!("{ENTRY}: device memory has no room for {bytes} bytes"))
    };
    let code_at = room(compiled.code.len() as u64 * u64::from(file.sm.instruction_bytes()))?;
    let params_at = room(params.len() as u64)?;
    let slots = u64::from(*file.gpu.sms) * u64::from(*file.sm.warp_slots);
    let local_at = match Launch::local_region_bytes(&compiled, slots) {
        0 => 0,
        bytes => room(bytes)?,
    };
    let window = (window::WINDOW.base().0, window::line_of(u64::from(sms * kernel.warps), 0).base().0);
    let launch = Launch {
        constants: compiled.constant_rows(&params, &[]),
        kernel: compiled,
        params: params.clone(),
        params_at: Address(params_at),
        code_at: Address(code_at),
        code_version: 0,
        grid: [sms * ctas, 1, 1],
        block: [32 * warps, 1, 1],
        cluster: None,
        dynamic_shared: shared_sets * shared_ways * BLOCK_BYTES as u32,
        local_at: Address(local_at),
        allocations: vec![(0, *file.gpu.memory_mib << 20), window],
        headers: Arc::new(Headers::default()),
        number: 0,
        micro: strata_sm::micro::MicroCode::default(),
    };
    Ok(Some(Resident { launch, params }))
}

/// The kernel's parameter block: address of the window; rows of a CTA, its sets in registers and in shared memory, the ways
/// of both, and the cycles of an epoch.
fn parameters(warps: u32, shared_sets: u32, kernel: &HelperKernel) -> Vec<u8> {
    let mut block = window::WINDOW.base().0.to_le_bytes().to_vec();
    let epoch = kernel.compression.unwrap_or(0);
    for word in [warps, warps - shared_sets, shared_sets, kernel.ways, kernel.shared_ways, epoch] {
        block.extend(word.to_le_bytes());
    }
    block
}
