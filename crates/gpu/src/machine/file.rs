//! The machine file: every number of a machine, each with its source.

use std::marker::PhantomData;
use std::ops::Deref;
use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use strata_cpu::CpuConfig;
use strata_engine::config::{ConfigError, Document};
use strata_memory::doors::{Coherence, HelperKernel, OperandAccesses};
use strata_memory::dram::DramParameters;
use strata_memory::memory_cache::MemoryCacheConfig;
use strata_memory::ownership::NODES;
use strata_memory::read_only::ReadOnlyConfig;
use strata_memory::translation::{PageTable, TranslationConfig};
use strata_memory::window;
use strata_memory::{AddressMap, LINE_BYTES, NodeId};
use strata_sm::config::{SmConfig, UnifiedStorage};
use strata_sm::lsu::LsuConfig;

use super::counts::{Clocks, GpuConfig};
use super::doors::Doors;
use super::endurance::EnduranceSection;
use crate::energy::EnergySection;

/// Contents of a machine file: the sections that every machine has, and the designs behind its doors.
#[derive(Clone, Debug)]
pub struct MachineFile {
    /// The sections that every machine has.
    pub sections: Sections,
    /// The designs behind the machine's doors.
    pub doors: Doors,
}

impl Deref for MachineFile {
    type Target = Sections;
    fn deref(&self) -> &Sections {
        &self.sections
    }
}

/// The sections that every machine has.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sections {
    /// Name of the machine in results.
    pub name: String,
    /// Description, in one sentence.
    pub description: String,
    /// Clock frequencies.
    pub clocks: Clocks,
    /// Numbers of SMs, channels and slices, and memory layout.
    pub gpu: GpuConfig,
    /// The SM, without its memories.
    pub sm: SmConfig,
    /// CPU cores beside the GPU, on its network; without this section there are none.
    pub cpu: Option<CpuConfig>,
    /// The SM's load/store unit.
    pub lsu: LsuConfig,
    /// Doors are read separately; these placeholders let errors about unknown sections list them.
    #[serde(default, rename = "lane_path")]
    #[schemars(skip)]
    _lane_path: PhantomData<()>,
    #[serde(default, rename = "scratchpad")]
    #[schemars(skip)]
    _scratchpad: PhantomData<()>,
    #[serde(default, rename = "l1d")]
    #[schemars(skip)]
    _l1d: PhantomData<()>,
    /// The SM's instruction cache.
    pub instruction_cache: ReadOnlyConfig,
    /// The SM's constant cache.
    pub constant_cache: ReadOnlyConfig,
    /// A second level behind both, in each SM. Without it they send to the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only_cache: Option<ReadOnlyConfig>,
    /// TLBs and walks of page tables; without this section, addresses are not translated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub translation: Option<TranslationConfig>,
    #[serde(default, rename = "network")]
    #[schemars(skip)]
    _network: PhantomData<()>,
    #[serde(default, rename = "llc")]
    #[schemars(skip)]
    _llc: PhantomData<()>,
    /// A further cache between each slice and its DRAM channel; without this section there is none.
    pub memory_cache: Option<MemoryCacheConfig>,
    /// The DRAM channels, which are all alike.
    pub dram: DramParameters,
    /// Energy per event and leakage, by structure. Without this section, no energy is reported.
    pub energy: Option<EnergySection>,
    /// Arrays whose cells wear out, by structure.
    #[serde(default)]
    pub endurance: EnduranceSection,
}

/// A refusal of numbers that do not fit a machine. Those of a system's file are its paper's GPU's, so another has to be shown its own.
pub(super) fn misfit(message: &str) -> String {
    format!("{message} (`strata machine fit` prints numbers that fit)")
}

impl MachineFile {
    /// Reads a machine file; `file` appears in errors.
    ///
    /// # Errors
    /// What is wrong with the file, with line and column where known.
    pub fn parse(file: &Path, text: &str) -> Result<MachineFile, ConfigError> {
        let mut document = Document::parse(file, text)?;
        let doors = Doors::take(&mut document);
        let sections = document.read()?;
        Ok(MachineFile { sections, doors: doors? })
    }

    /// Checks constraints that the types do not express. A machine is also checked for its size (`size.rs`).
    ///
    /// # Errors
    /// The section and field that break one.
    pub(super) fn check(&self) -> Result<(), String> {
        let section = |name: &'static str| move |error: String| format!("{name}: {error}");
        let within = |field: &str, value: u64, least: u64, most: u64| {
            if (least..=most).contains(&value) {
                Ok(())
            } else {
                Err(format!("{field}: found {value}, expected {least} to {most}"))
            }
        };
        self.clocks.check()?;
        within("gpu.sms", u64::from(*self.gpu.sms), 1, 1024)?;
        self.gpu.check_modes()?;
        within("gpu.channels", u64::from(*self.gpu.channels), 1, 256)?;
        within("gpu.slices_per_channel", u64::from(*self.gpu.slices_per_channel), 1, 64)?;
        within("gpu.interleave_bytes", u64::from(*self.gpu.interleave_bytes), 128, 1 << 20)?;
        self.address_map()?;
        within("gpu.memory_mib", *self.gpu.memory_mib, 16, 1 << 18)?;
        within("gpu.dispatch_latency_cycles", *self.gpu.dispatch_latency_cycles, 1, 10_000)?;
        within("gpu.watchdog_cycles", *self.gpu.watchdog_cycles, 1_000, 1 << 40)?;
        if let Some(dispatch) = &self.gpu.dispatch {
            dispatch.check().map_err(|error| format!("gpu.dispatch: {}: {error}", dispatch.name()))?;
        }
        let patience = *self.gpu.watchdog_cycles;
        within("gpu.launch_latency_cycles", self.gpu.launch_latency(), 0, patience / 2)?;
        if let Some(interval) = self.gpu.launch_interval() {
            within("gpu.launch_interval_cycles", interval, 0, self.gpu.launch_latency())?;
        }
        // Before sizes: values that fit do not help a scratchpad that cannot stand here.
        self.check_owners()?;
        self.sm.check()?;
        self.lsu.check().map_err(section("lsu"))?;
        if let Some(cpu) = &self.cpu {
            cpu.check().map_err(|error| format!("cpu.{error}"))?;
        }
        self.doors.check()?;
        self.check_scheduling()?;
        self.check_links()?;
        self.check_coherence()?;
        self.check_unified()?;
        self.check_accesses()?;
        self.check_helpers()?;
        self.check_scratchpad()?;
        self.check_lines()?;
        self.instruction_cache.check().map_err(|error| format!("instruction_cache: {error}"))?;
        self.constant_cache.check().map_err(|error| format!("constant_cache: {error}"))?;
        if let Some(cache) = &self.read_only_cache {
            cache.check().map_err(|error| format!("read_only_cache: {error}"))?;
        }
        if let Some(translation) = &self.translation {
            translation.check(*self.gpu.sms).map_err(|error| format!("translation.{error}"))?;
        }
        let with_bytes = [
            ("constant_cache", Some(&self.constant_cache)),
            ("read_only_cache", self.read_only_cache.as_ref()),
        ];
        for (name, cache) in with_bytes {
            if cache.is_some_and(ReadOnlyConfig::is_perfect) {
                return Err(format!(
                    "{name}: perfect: found true, expected false: a line's bytes have to be fetched"
                ));
            }
        }
        if let Some(cache) = &self.memory_cache {
            cache.check().map_err(|error| format!("memory_cache: {error}"))?;
        }
        self.dram.check().map_err(|error| format!("dram: {error}"))?;
        for (name, structure) in self.energy.iter().flatten() {
            structure.check().map_err(|error| format!("energy.{name}.{error}"))?;
        }
        for (name, array) in &self.endurance {
            array.check().map_err(|error| format!("endurance.{name}.{error}"))?;
        }
        Ok(())
    }

    /// Number of CPU cores.
    pub fn cpu_cores(&self) -> u16 {
        self.cpu.as_ref().map_or(0, |cpu| *cpu.cores)
    }

    /// Number of memory management units that SMs share.
    pub fn gmmus(&self) -> u16 {
        self.translation.as_ref().map_or(0, |translation| translation.gmmu.units())
    }

    /// The first slice's node of the network: SMs have the first nodes, then come CPU cores and GMMUs, then slices.
    pub fn first_slice(&self) -> NodeId {
        NodeId(*self.gpu.sms + self.cpu_cores() + self.gmmus())
    }

    /// The map from device addresses to slices and channels.
    ///
    /// # Errors
    /// Names a count, a size or a hash that no map can have.
    pub fn address_map(&self) -> Result<AddressMap, String> {
        self.gpu.address_map(self.first_slice()).map_err(|error| format!("gpu: {error}"))
    }

    /// The page tables, at the top of device memory; `None` where addresses are not translated.
    pub fn page_table(&self) -> Option<PageTable> {
        self.translation.as_ref().map(|translation| PageTable::new(translation, *self.gpu.memory_mib << 20))
    }

    /// The longest possible window in core cycles: the smallest latency between islands.
    pub fn window(&self) -> u64 {
        let gmmu = self.translation.as_ref().map_or(u64::MAX, |found| *found.gmmu.link_latency_cycles);
        self.network_latency().min(*self.gpu.dispatch_latency_cycles).min(gmmu)
    }

    /// Whole core cycles in the latency of a link between a node and the network.
    fn network_latency(&self) -> u64 {
        self.clocks.network().whole_reference_cycles(self.doors.network.link_latency_cycles())
    }

    /// Storage that L1D and shared memory share; `None` if the L1D keeps its capacity.
    pub fn unified(&self) -> Option<&UnifiedStorage> {
        self.sm.unified.as_ref().filter(|_| self.doors.l1d.can_resize())
    }

    /// Capacity of an L1D beside so many bytes of shared memory.
    pub(super) fn l1d_bytes_beside(&self, shared_bytes: u32) -> u64 {
        match self.unified() {
            Some(unified) => unified.l1d_bytes(unified.carve_out(shared_bytes), 0),
            None => self.doors.l1d.capacity_bytes(),
        }
    }

    /// The L1D tells the warp scheduler what that has to hear.
    fn check_scheduling(&self) -> Result<(), String> {
        let (scheduling, l1d) = (&self.sm.scheduling, &self.doors.l1d);
        if !scheduling.hears_l1d() || l1d.tells_news() {
            return Ok(());
        }
        Err(format!(
            "sm.scheduling: found {}, which has to hear what becomes of an L1D's lines, and `l1d.{}`, which does not tell, expected \
             an L1D that does, such as `l1d.sram`",
            scheduling.name(),
            l1d.name
        ))
    }

    /// What stands behind the banks of shared memory fits the SM, and the machine has what it needs.
    fn check_scratchpad(&self) -> Result<(), String> {
        let part = &self.doors.scratchpad;
        let name = format!("scratchpad.{}", part.name);
        part.design
            .check_place(*self.sm.shared_bytes, *self.sm.cta_slots)
            .map_err(|error| format!("{name}: {error}"))?;
        let path = &self.doors.lane_path;
        if part.design.stands_there() && path.keeps_shared() {
            return Err(format!(
                "{name}: found it on a machine with `lane_path.{}`, which would keep copies of bytes that move behind the banks, \
                 expected a path past which shared memory goes, as with lane_path.tiny-cache.bypass = \"shared\", or none",
                path.name
            ));
        }
        Ok(())
    }

    /// A scratchpad whose words have owners stands on a machine that knows them.
    fn check_owners(&self) -> Result<(), String> {
        let part = &self.doors.scratchpad;
        let name = format!("scratchpad.{}", part.name);
        if part.design.needs_owners() && !self.has_owners() {
            let (l1d, llc) = (self.doors.l1d.name, self.doors.llc.name);
            return Err(format!(
                "{name}: words under its mappings have owners, whom the last-level cache has to know, found `l1d.{l1d}` and \
                 `llc.{llc}`, which know none, expected such as `l1d.denovo` and `llc.denovo`, or a stash that is its own registry (`{name}.accesses`), \
                 as the system `stash-flush` has"
            ));
        }
        Ok(())
    }

    /// Accesses lie in a line of the L1D that takes them.
    fn check_lines(&self) -> Result<(), String> {
        let Doors { l1d, lane_path, scratchpad, .. } = &self.doors;
        let (line, what) = (l1d.line_bytes(), format!("the line of l1d.{}", l1d.name));
        let segment = *self.lsu.segment_bytes;
        if segment > line {
            return Err(format!("lsu: segment_bytes: found {segment}, expected at most {line}, {what}"));
        }
        let access = scratchpad.design.access_bytes();
        if access > line {
            return Err(format!(
                "scratchpad.{}: found accesses of {access} bytes to the L1D, expected at most {line}, {what}",
                scratchpad.name
            ));
        }
        if lane_path.name != "none" && line < LINE_BYTES as u32 {
            return Err(format!(
                "lane_path.{}: found it before an L1D with lines of {line} bytes, expected {LINE_BYTES}, as its accesses have",
                lane_path.name
            ));
        }
        Ok(())
    }

    /// Whether words have owners: an L1D keeps what it has registered.
    pub fn has_owners(&self) -> bool {
        self.doors.l1d.coherence() == Coherence::Owners
    }

    /// Whether SMs in cache mode poll, so that the machine never comes to rest.
    pub fn polls(&self) -> bool {
        let helper = self.doors.llc.helper_kernel();
        helper.is_some_and(|kernel| kernel.polls) && !self.gpu.helper_sms().is_empty()
    }

    /// L1D, LLC and network agree on how words are kept coherent.
    fn check_coherence(&self) -> Result<(), String> {
        let (l1d, llc, network) = (&self.doors.l1d, &self.doors.llc, &self.doors.network);
        if let Some(cpu) = self.cpu.as_ref().map(|_| self.doors.cpu_l1d())
            && cpu.coherence() != l1d.coherence()
        {
            return Err(format!(
                "cpu.l1d.{}: found an L1D that is kept coherent otherwise than l1d.{}, expected one of the same protocol",
                cpu.name, l1d.name
            ));
        }
        match (l1d.coherence(), llc.coherence()) {
            (Coherence::Boundaries, Coherence::Boundaries) => return Ok(()),
            (Coherence::Owners, Coherence::Boundaries) => {
                return Err(format!(
                    "llc.{}: found an LLC that does not know who owns which word, expected a registry such as llc.denovo, \
                     which l1d.{} needs",
                    llc.name, l1d.name
                ));
            }
            (Coherence::Boundaries, Coherence::Owners) => {
                return Err(format!(
                    "l1d.{}: found an L1D that answers no requests for words that it has written, expected one that does, such as \
                     l1d.denovo, for the registry llc.{}",
                    l1d.name, llc.name
                ));
            }
            (Coherence::Owners, Coherence::Owners) => {}
        }
        if !network.joins_sms() {
            return Err(format!(
                "network.{}: found a network without ways from SMs to SMs, expected one that has them, such as network.mesh: \
                 with l1d.{}, owners of words answer those who ask for them",
                network.name, l1d.name
            ));
        }
        let (sms, cores, most) = (*self.gpu.sms, self.cpu_cores(), u16::from(NODES));
        if sms + cores > most {
            return Err(format!(
                "gpu.sms: found {sms} and {cores} CPU cores, expected at most {most} together, whose names a word of llc.{} has room for",
                llc.name
            ));
        }
        Ok(())
    }

    /// A register that is picked by a computed number has rows, and no accesses of its own.
    fn check_accesses(&self) -> Result<(), String> {
        let picks = self.sm.indirect_mov.as_deref().is_some_and(|has| *has);
        let file = &self.doors.register_file;
        match file.accesses() == OperandAccesses::default() || !picks {
            true => Ok(()),
            false => Err(format!(
                "sm.indirect_mov: found true, expected false with sm.register_file.{}.accesses",
                file.name
            )),
        }
    }

    /// The L1D can have what every carve-out leaves, and begins with the most.
    fn check_unified(&self) -> Result<(), String> {
        let l1d = &self.doors.l1d;
        let Some(unified) = self.unified() else {
            return match l1d.can_resize() {
                true => Err(format!(
                    "l1d.{}: found an L1D that shares its storage, expected sm.unified",
                    l1d.name
                )),
                false => Ok(()),
            };
        };
        let capacities = unified.l1d_capacities(4 * u64::from(*self.sm.registers));
        let most = capacities.first().copied().unwrap_or(0);
        if l1d.capacity_bytes() != most {
            return Err(format!(
                "l1d.{}: found {} bytes, expected {most}, which the smallest carve-out of sm.unified leaves",
                l1d.name,
                l1d.capacity_bytes()
            ));
        }
        for bytes in capacities {
            l1d.check_capacity(bytes).map_err(|error| format!("l1d.{}: {error}", l1d.name))?;
        }
        Ok(())
    }

    /// SMs in cache mode have a kernel to run, with a row of the window for each warp.
    fn check_helpers(&self) -> Result<(), String> {
        let (helpers, llc) = (self.gpu.helper_sms().len() as u32, &self.doors.llc);
        if helpers == 0 {
            return Ok(());
        }
        let Some(kernel) = llc.helper_kernel() else {
            return Err(format!(
                "gpu.cache_sms: found {helpers}, expected 0: the LLC design `{}` has no use for SMs in cache mode",
                llc.name
            ));
        };
        let most = *self.sm.warp_slots;
        if kernel.warps > most {
            let message = format!("llc.{}.warps: found {}, expected at most {most}", llc.name, kernel.warps);
            return Err(if kernel.runs { misfit(&message) } else { message });
        }
        let (shared_warps, name) = (kernel.shared_warps, llc.name);
        let slots = *self.sm.cta_slots;
        let in_l1 = match kernel.l1_warps {
            0 => String::new(),
            warps => format!(" and {warps} in the L1D"),
        };
        if kernel.runs && kernel.ctas().is_none_or(|ctas| ctas > slots) {
            return Err(format!(
                "llc.{name}.warps: found {}, {shared_warps} of them with sets in shared memory{in_l1}, expected numbers that at \
                 most {slots} CTAs of at most 32 warps can share evenly",
                kernel.warps
            ));
        }
        let slices = *self.gpu.channels * *self.gpu.slices_per_channel;
        let rows = window::rows_of_slice(helpers * kernel.warps, 0, slices);
        if rows > kernel.rows {
            return Err(format!(
                "llc.{}.rows: found {}, expected {rows} for {helpers} SMs in cache mode of {} warps and {slices} slices",
                llc.name, kernel.rows, kernel.warps
            ));
        }
        self.check_sets_in_l1(&kernel)?;
        // Each warp may have a load that waits, and needs room for another access.
        let (found, least) = (*self.lsu.accesses, 2 * kernel.warps);
        if found < least {
            return Err(format!("lsu.accesses: found {found}, expected {least} for an SM in cache mode"));
        }
        Ok(())
    }

    /// Sets in the L1D need one that host copies can follow, with room for what they count for.
    fn check_sets_in_l1(&self, kernel: &HelperKernel) -> Result<(), String> {
        let (name, l1d) = (self.doors.llc.name, &self.doors.l1d);
        if kernel.l1_warps == 0 {
            return Ok(());
        }
        if !l1d.follows_host_copies() {
            return Err(format!(
                "llc.{name}.l1.warps: found {}, expected 0: the L1D design `{}` keeps no lines from launch to launch",
                kernel.l1_warps, l1d.name
            ));
        }
        let bytes = self.l1d_bytes_beside(kernel.shared_warps * kernel.shared_ways * LINE_BYTES as u32);
        let most = bytes / LINE_BYTES as u64 / u64::from(kernel.l1_warps);
        if u64::from(kernel.l1_ways) > most {
            return Err(format!(
                "llc.{name}.l1.ways: found {}, expected at most {most}: {} warps have the {bytes} bytes of the L1D",
                kernel.l1_ways, kernel.l1_warps
            ));
        }
        Ok(())
    }

    /// A link takes at least a core cycle.
    fn check_links(&self) -> Result<(), String> {
        let (latency, core_mhz) = (self.doors.network.link_latency_cycles(), *self.clocks.core_mhz);
        match &self.clocks.network_mhz {
            Some(found) if self.network_latency() == 0 => Err(format!(
                "clocks.network_mhz: found {}, expected at most {}, with which a hop of {latency} cycles takes a core cycle",
                **found,
                u64::from(core_mhz).saturating_mul(latency)
            )),
            _ => Ok(()),
        }
    }
}
