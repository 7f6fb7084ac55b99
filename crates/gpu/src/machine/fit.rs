//! Numbers of the kernel on SMs in cache mode that fit a machine. Those in a system's file are for the GPU that its paper describes.

use strata_engine::config::ConfigError;
use strata_memory::doors::HelperKernel;
use strata_memory::window;

use super::helpers::MOST_INDIRECT;
use super::{Machine, MachineFile, System, find};
use crate::extended_llc::{BLOCK_BYTES, MOST_COMPRESSED_WAYS, MOST_WAYS};

/// The overrides with which the kernel of a system fits a machine and holds as much as it can: as many warps of each kind for one
/// another as the system has, and as many blocks as registers, shared memory and the L1D have room for.
///
/// # Errors
/// What is wrong with the machine, the systems or the overrides that are given; that there is no such kernel; why none fits.
pub fn fit(name: &str, systems: &[impl AsRef<str>], sets: &[String]) -> Result<Vec<String>, ConfigError> {
    let systems = System::load_all(systems)?;
    let (path, text) = find(name)?;
    let build = |sets: &[String]| Machine::build(&path, &text, systems.clone(), sets);
    let (file, table) = Machine::unchecked(&path, &text, &systems, sets)?;
    let (llc, refuse) = (&file.doors.llc, |message| ConfigError { file: path.clone(), place: None, message });
    let Some(kernel) = llc.helper_kernel().filter(|kernel| kernel.runs) else {
        let name = llc.name;
        return Err(refuse(format!(
            "llc: found `{name}`, expected a design whose kernel SMs in cache mode run, such as `morpheus`"
        )));
    };
    let blocks = super::values::values(&table)
        .into_iter()
        .find(|value| value.path == format!("llc.{}.compression.blocks", llc.name))
        .and_then(|value| value.value.as_integer());
    let numbers = Numbers {
        section: llc.name.to_owned(),
        kernel,
        has: [kernel.shared_warps > 0, kernel.l1_warps > 0],
        blocks: blocks.map(|blocks| (blocks as u32, kernel.ways)),
    };
    let built = |numbers: &Numbers| {
        let sets: Vec<String> = sets.iter().cloned().chain(numbers.overrides()).collect();
        build(&sets).map(|_| ())
    };
    let most = kernel.warps.min(*file.sm.warp_slots).min(*file.lsu.accesses / 2);
    let mut best: Option<Numbers> = None;
    let mut refused = None;
    for warps in (1..=4).rev().map(|quarters| most * quarters / 4) {
        match numbers.with_warps(&file, warps).map(|numbers| numbers.with_most_ways(&file, &built)) {
            None => {}
            Some(Err(error)) => refused = refused.or(Some(error)),
            Some(Ok(numbers)) => {
                best = best.filter(|best| best.bytes() >= numbers.bytes()).or(Some(numbers));
            }
        }
    }
    let none = || refuse(format!("llc.{}.warps: found room for none of the kernel's", file.doors.llc.name));
    best.map(|numbers| numbers.overrides()).ok_or_else(|| refused.unwrap_or_else(none))
}

/// Numbers of the kernel.
#[derive(Clone, Debug)]
struct Numbers {
    /// The section of the LLC's design.
    section: String,
    kernel: HelperKernel,
    /// Whether the system has sets in shared memory, and in the L1D.
    has: [bool; 2],
    /// For how many blocks compressed sets count, and of how many registers.
    blocks: Option<(u32, u32)>,
}

impl Numbers {
    /// So many warps of an SM, of each kind its share; `None` if CTAs cannot share them evenly.
    fn with_warps(&self, file: &MachineFile, warps: u32) -> Option<Numbers> {
        let of = &self.kernel;
        let share = |kind: u32| kind * warps / of.warps;
        // Two CTAs share even numbers.
        let even = |warps: u32| warps / 2 * 2;
        let room = |bytes: u64, warps: u32| (bytes / BLOCK_BYTES).checked_div(u64::from(warps)).unwrap_or(0);
        let shared_warps = even(share(of.shared_warps).min(*file.sm.shared_bytes / BLOCK_BYTES as u32));
        let l1_warps = even(share(of.l1_warps));
        let shared_ways = room((*file.sm.shared_bytes).into(), shared_warps).min(MOST_WAYS.into()) as u32;
        let shared_bytes = shared_warps * shared_ways * BLOCK_BYTES as u32;
        let l1_ways = room(file.l1d_bytes_beside(shared_bytes), l1_warps) as u32;
        let helpers = file.gpu.helper_sms().len() as u32;
        let slices = *file.gpu.channels * *file.gpu.slices_per_channel;
        let rows = window::rows_of_slice(helpers * even(warps), 0, slices).max(of.rows);
        let warps = even(warps);
        let kernel = HelperKernel { warps, shared_warps, l1_warps, shared_ways, l1_ways, rows, ..*of };
        let fits = warps > 0 && kernel.ctas().is_some_and(|ctas| ctas <= *file.sm.cta_slots);
        fits.then(|| Numbers { kernel, ..self.clone() })
    }

    /// The most blocks of sets in registers with which a machine can be built: of fewer, one can.
    fn with_most_ways(
        &self,
        file: &MachineFile,
        built: &impl Fn(&Numbers) -> Result<(), ConfigError>,
    ) -> Result<Numbers, ConfigError> {
        let with = |ways| Numbers { kernel: HelperKernel { ways, ..self.kernel }, ..self.clone() };
        let indirect = file.sm.indirect_mov.as_deref() == Some(&true);
        let most = match (self.blocks, indirect) {
            (Some(_), _) => MOST_COMPRESSED_WAYS,
            (None, true) => MOST_INDIRECT,
            (None, false) => MOST_WAYS,
        };
        built(&with(1))?;
        let (mut ways, mut over) = (1, most.min(*file.sm.registers_per_thread) + 1);
        while over - ways > 1 {
            let half = u32::midpoint(ways, over);
            *if built(&with(half)).is_ok() { &mut ways } else { &mut over } = half;
        }
        Ok(with(ways))
    }

    /// Blocks for which a set in registers counts.
    fn counted(&self) -> u32 {
        let ways = self.kernel.ways;
        self.blocks.map_or(ways, |(blocks, of)| {
            (ways * blocks / of).clamp(ways, window::MOST_COMPRESSED.min(4 * ways))
        })
    }

    /// Bytes of blocks of an SM.
    fn bytes(&self) -> u64 {
        let HelperKernel { warps, shared_warps, l1_warps, shared_ways, l1_ways, .. } = self.kernel;
        let of_registers = (warps - shared_warps - l1_warps) * self.counted();
        u64::from(of_registers + shared_warps * shared_ways + l1_warps * l1_ways) * BLOCK_BYTES
    }

    fn overrides(&self) -> Vec<String> {
        let HelperKernel { warps, shared_warps, l1_warps, ways, shared_ways, l1_ways, rows, .. } =
            self.kernel;
        let mut numbers = vec![("warps", warps), ("ways", ways), ("rows", rows)];
        if self.blocks.is_some() {
            numbers.push(("compression.blocks", self.counted()));
        }
        if self.has[0] {
            numbers.extend([("shared.warps", shared_warps), ("shared.ways", shared_ways.max(1))]);
        }
        if self.has[1] {
            numbers.extend([("l1.warps", l1_warps), ("l1.ways", l1_ways.max(1))]);
        }
        numbers.iter().map(|(key, number)| format!("llc.{}.{key}={number}", self.section)).collect()
    }
}
