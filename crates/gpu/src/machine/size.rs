//! Limits the host memory that a machine takes: a short file can describe a machine larger than any host.

use strata_memory::doors::HOST_ITEM_BYTES;
use strata_memory::read_only::ReadOnlyConfig;
use strata_sm::config::{SmConfig, UnitKind};

use super::MachineFile;

/// Most host memory that a machine may take besides device memory, in bytes. Device memory is excluded
/// because it is only allocated when touched. ASSUMED: a hundred times the need of a GPU with 150 SMs and an
/// L2 of 50 MiB.
const MOST_BYTES: u64 = 8 << 30;

/// Items of host memory per memory instruction in flight: its addresses, its rows, and what its access carries.
const ENTRY_ITEMS: u64 = 10;

/// Bytes of a result in flight: rows for its destinations, and its instruction.
const OUTCOME_BYTES: u64 = 2048;

/// Queues per link as deep as the link's buffer: mailboxes, arrivals and credits.
const QUEUES_OF_LINK: u64 = 8;

impl MachineFile {
    /// Upper bound of the host memory that a machine of a checked file takes, in bytes, besides device memory.
    pub fn host_bytes(&self) -> u64 {
        parts(self).iter().fold(0, |sum, (_, bytes)| sum.saturating_add(*bytes))
    }
}

/// Checks a file's numbers, and that this host can hold the machine.
///
/// # Errors
/// The section and field that break a limit, or how much memory the machine takes and what most of it is for.
pub(super) fn check(file: &MachineFile) -> Result<(), String> {
    file.check()?;
    let bytes = file.host_bytes();
    if bytes > MOST_BYTES {
        return Err(format!(
            "the machine takes {} MiB of this host beside device memory, most of it for `{}`, expected at most {}",
            bytes >> 20,
            largest(file),
            MOST_BYTES >> 20
        ));
    }
    Ok(())
}

/// The section that takes the most.
fn largest(file: &MachineFile) -> String {
    let largest = parts(file).into_iter().max_by_key(|(_, bytes)| *bytes);
    largest.map(|(section, _)| section).unwrap_or_default()
}

/// Upper bound of the bytes that each section's parts take.
fn parts(file: &MachineFile) -> [(String, u64); 11] {
    let link = QUEUES_OF_LINK * u64::from(file.doors.network.link_flits());
    let second = file.read_only_cache.as_ref().map_or(0, read_only);
    let caches = read_only(&file.instruction_cache) + read_only(&file.constant_cache) + second;
    let in_flight = ENTRY_ITEMS * file.lsu.most_instructions() as u64;
    let rows = 4 * u64::from(*file.sm.registers) + u64::from(*file.sm.shared_bytes);
    let rows = rows + outcomes(&file.sm) * OUTCOME_BYTES;
    let slices = u64::from(*file.gpu.slices_per_channel);
    let (sms, channels) = (u64::from(*file.gpu.sms), u64::from(*file.gpu.channels));
    let doors = &file.doors;
    let cores = u64::from(file.cpu_cores());
    let gmmus = u64::from(file.gmmus());
    let networks = if file.has_owners() { 3 } else { 2 };
    let links = networks * (sms + cores + gmmus + slices * channels) * link * HOST_ITEM_BYTES;
    [
        ("sm".to_owned(), sms * (rows + (caches + in_flight) * HOST_ITEM_BYTES)),
        (
            format!("sm.register_file.{}", doors.register_file.name),
            doors.register_file.host_bytes().saturating_mul(sms),
        ),
        ("translation".to_owned(), translation(file)),
        (format!("lane_path.{}", doors.lane_path.name), doors.lane_path.host_bytes().saturating_mul(sms)),
        (format!("scratchpad.{}", doors.scratchpad.name), doors.scratchpad.host_bytes().saturating_mul(sms)),
        (format!("l1d.{}", doors.l1d.name), doors.l1d.host_bytes().saturating_mul(sms)),
        (
            "cpu".to_owned(),
            doors.cpu_l1d().host_bytes().saturating_add(core_bytes(file)).saturating_mul(cores),
        ),
        (format!("llc.{}", doors.llc.name), doors.llc.host_bytes().saturating_mul(slices * channels)),
        (
            "memory_cache".to_owned(),
            file.memory_cache
                .as_ref()
                .map_or(0, |cache| cache.host_bytes())
                .saturating_mul(slices * channels),
        ),
        (
            format!("network.{}", doors.network.name),
            doors.network.host_bytes().saturating_mul(networks).saturating_add(links),
        ),
        ("dram".to_owned(), channels * 2 * *file.dram.return_entries as u64 * HOST_ITEM_BYTES),
    ]
}

/// TLBs, whose frames have room for a line, and what waits.
fn translation(file: &MachineFile) -> u64 {
    let Some(config) = &file.translation else { return 0 };
    let (of_sm, of_gmmu) = config.frames();
    let waiting = u64::from(*config.l1_tlb.queue) + *config.l1_tlb.mshr_entries as u64;
    let (sms, gmmus) = (u64::from(*file.gpu.sms), u64::from(file.gmmus()));
    (sms * (of_sm + 2 * waiting) + gmmus * of_gmmu) * HOST_ITEM_BYTES
}

/// Memory instructions in flight in a CPU core.
fn core_bytes(file: &MachineFile) -> u64 {
    let instructions = file.cpu.as_ref().map_or(0, |cpu| cpu.lsu().most_instructions() as u64);
    ENTRY_ITEMS * instructions * HOST_ITEM_BYTES
}

/// Results in flight in the execution units; there is room for twice as many as the pipelines are deep.
fn outcomes(config: &SmConfig) -> u64 {
    let deepest = |kind: UnitKind| {
        let timings = config.timing.iter().filter(|(_, _, timing)| timing.unit == kind);
        let latency = |unit: u32| unit + *config.pipeline_latency_cycles;
        timings
            .map(|(_, _, timing)| latency(*timing.latency_cycles).div_ceil(*timing.interval_cycles) + 1)
            .max()
    };
    UnitKind::ALL.map(|kind| 2 * u64::from(deepest(kind).unwrap_or(1) * config.units.of(kind))).iter().sum()
}

fn read_only(config: &ReadOnlyConfig) -> u64 {
    (*config.sets * *config.ways + 2 * *config.mshr_entries + *config.miss_queue) as u64
}

#[cfg(test)]
mod tests {
    use super::super::Machine;

    fn refusal(sets: &[&str]) -> String {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        Machine::load("gtx480", &sets).map(|_| ()).expect_err("the machine is too large").to_string()
    }

    #[test]
    fn no_number_alone_is_beyond_reason() {
        for (set, field) in [
            ("l1d.sram.sets=16777216", "lines in all"),
            ("llc.conventional.sets=16777216", "lines in all"),
            ("constant_cache.sets=16777216", "lines in all"),
            ("network.buffer_flits=4294967295", "buffer_flits"),
            ("sm.shared_bytes=4294967295", "shared_bytes"),
            ("gpu.channels=65535", "gpu.channels"),
            ("gpu.slices_per_channel=65535", "gpu.slices_per_channel"),
            ("gpu.interleave_bytes=2147483648", "gpu.interleave_bytes"),
            ("dram.return_entries=1000000000", "return_entries"),
            ("dram.burst_cycles=18446744073709551615", "burst_cycles"),
            ("dram.timing.cl=9223372036854775807", "timing.cl"),
            ("dram.controller_latency_cycles=9223372036854775807", "controller_latency_cycles"),
        ] {
            let error = refusal(&[set]);
            assert!(error.contains(field), "{set}: {error}");
        }
    }

    #[test]
    fn nor_are_all_together() {
        let error = refusal(&["gpu.sms=1000", "l1d.sram.mshr_entries=4096", "l1d.sram.mshr_merges=4096"]);
        assert!(error.contains("of this host"), "{error}");
        let error = refusal(&["gpu.sms=1000", "sm.units.sp=16", "sm.timing.int_add.latency_cycles=1000"]);
        assert!(error.contains("of this host"), "{error}");
        let error = refusal(&["gpu.sms=1000", "l1d.sram.sets=16384", "l1d.sram.ways=64"]);
        assert!(error.contains("of this host"), "{error}");
    }

    #[test]
    fn a_gpu_of_today_is_allowed() {
        let sets = ["gpu.sms=148", "l1d.sram.sets=512", "gpu.channels=64", "llc.conventional.sets=1024"];
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        let machine = Machine::load("gtx480", &sets).unwrap_or_else(|error| panic!("{error}"));
        assert!(machine.file().host_bytes() < super::MOST_BYTES / 4);
    }
}
