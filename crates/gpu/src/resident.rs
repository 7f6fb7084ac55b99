//! The kernel that SMs in cache mode run: compiled for the machine, with all of memory to load and store.

use std::sync::Arc;

use strata_memory::doors::HelperKernel;
use strata_memory::{Address, window};
use strata_ptx::texture::Headers;
use strata_sm::launch::Launch;

use crate::device::system::SystemRegion;
use crate::extended_llc::{BLOCK_BYTES, ENTRY};
use crate::machine::{Helper, Machine};

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
    let Some(Helper { kernel, ctas, compiled, registers }) = machine.helper()? else { return Ok(None) };
    let (warps, shared_ways) = (kernel.warps / ctas, kernel.shared_ways);
    let [shared_sets, l1_sets] = [kernel.shared_warps, kernel.l1_warps].map(|warps| warps / ctas);
    let params = parameters(warps, [shared_sets, l1_sets], &kernel);
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
        registers,
        headers: Arc::new(Headers::default()),
        number: 0,
        micro: strata_sm::micro::MicroCode::default(),
    };
    Ok(Some(Resident { launch, params }))
}

/// The kernel's parameter block: address of the window; rows of a CTA, its sets in registers and in shared memory (the others are in the L1D), the ways
/// of both, and the cycles of an epoch.
fn parameters(warps: u32, [shared_sets, l1_sets]: [u32; 2], kernel: &HelperKernel) -> Vec<u8> {
    let mut block = window::WINDOW.base().0.to_le_bytes().to_vec();
    let epoch = kernel.compression.map_or(0, |epochs| epochs.cycles);
    for word in [warps, warps - shared_sets - l1_sets, shared_sets, kernel.ways, kernel.shared_ways, epoch] {
        block.extend(word.to_le_bytes());
    }
    block
}
