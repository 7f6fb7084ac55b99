//! Random machines: built-in gtx480, made small, with a few of its numbers changed.

use proptest::prelude::*;
use strata_engine::Cycle;
use strata_gpu::gpu::GpuOptions;
use strata_gpu::machine::Machine;

use super::FOUR_CLOCKS;

/// Settings of every machine here: few SMs, little memory, and a short watchdog so that a hung test ends
/// soon.
const BASE: &[&str] = &["gpu.sms=3", "gpu.channels=2", "gpu.memory_mib=16", "gpu.watchdog_cycles=50000"];

/// Keys that may change, with their other values.
const KNOBS: &[(&str, &[&str])] = &[
    ("gpu.sms", &["1", "2", "5"]),
    ("gpu.channels", &["1", "3", "6"]),
    ("gpu.slices_per_channel", &["1", "3"]),
    ("gpu.interleave_bytes", &["128", "1024"]),
    ("gpu.dispatch_latency_cycles", &["1", "3", "20"]),
    ("gpu.launch_latency_cycles", &["0", "37"]),
    (
        "sm.scheduling",
        &[
            "\"loose-round-robin\"",
            "switch-on-memory",
            "{ two-level = { active = 2 } }",
            "ccws",
            "{ ccws = { victim_tags = 4, victim_ways = 1, k_throttle = 100, base_score = 10 } }",
        ],
    ),
    ("gpu.dispatch", &["depth-first", "{ limited = { most_per_sm = 1 } }", "{ blocks = { ctas = 3 } }"]),
    ("sm.independent_threads", &["true"]),
    ("sm.barrier_timing.latency_cycles", &["13"]),
    ("sm.barrier_timing.arrival_interval_cycles", &["2", "7"]),
    ("sm.barrier_timing.result_cycles", &["24"]),
    ("sm.schedulers", &["1", "4"]),
    ("sm.warp_slots", &["4", "7", "64"]),
    ("sm.cta_slots", &["1", "2"]),
    ("sm.registers_per_thread", &["16", "20", "255"]),
    ("sm.load_window", &["0", "4", "16"]),
    ("sm.register_allocation", &["tight", "separate"]),
    ("sm.instruction_buffer", &["1", "4"]),
    ("sm.instruction_bytes", &["4", "16", "32"]),
    ("sm.register_file.banks", &["1", "4", "32"]),
    ("sm.register_file.read_latency_cycles", &["3", "9"]),
    ("sm.units.sp", &["1", "4"]),
    ("sm.timing.int_mul.subroutine", &["true"]),
    ("sm.timing.f32_div.subroutine", &["true"]),
    ("lsu.queue", &["1", "2"]),
    ("lsu.accesses", &["32", "64"]),
    ("lsu.address_latency_cycles", &["1", "30"]),
    ("lsu.writeback_latency_cycles", &["0", "7"]),
    ("lsu.segment_bytes", &["32", "64"]),
    ("lsu.shared.banks", &["1", "16"]),
    ("lsu.shared.bank_bytes", &["8"]),
    ("lsu.shared.latency_cycles", &["1", "60"]),
    ("lsu.shared.remote_latency_cycles", &["1", "90"]),
    ("lsu.shared.pairs_together", &["true", "false"]),
    ("lsu.shared.conflict_free", &["true"]),
    ("lsu.global_in_banks", &["true", "false"]),
    ("lsu.read_only", &["own-paths", "as-global"]),
    ("l1d.sram.sets", &["1", "2", "8"]),
    ("l1d.sram.ways", &["1", "2", "8"]),
    ("l1d.sram.set_index", &["\"bits\"", "\"modulo\""]),
    (
        "l1d.sram.replacement",
        &["\"fifo\"", "\"random\"", "\"tree-plru\"", "\"srrip\"", "\"drrip\"", "\"ship\""],
    ),
    ("l1d.sram.prefetch", &["\"next-line\"", "\"stride\"", "\"stream\""]),
    ("l1d.sram.sector_bytes", &["32", "64"]),
    ("l1d.sram.accesses_per_cycle", &["2", "4"]),
    ("l1d.sram.banks", &["2", "4"]),
    ("l1d.sram.hit_latency_cycles", &["1", "2", "80"]),
    ("l1d.sram.tag_latency_cycles", &["2", "9"]),
    ("l1d.sram.fill_latency_cycles", &["3", "11"]),
    ("l1d.sram.mshr_entries", &["1", "2", "5"]),
    ("l1d.sram.mshr_merges", &["1", "2"]),
    ("l1d.sram.miss_queue", &["2", "3"]),
    ("l1d.sram.write_buffer", &["2", "3"]),
    ("l1d.sram.bypass_entries", &["1", "2"]),
    ("l1d.sram.bypass_sector_bytes", &["32", "128"]),
    ("l1d.sram.write_policy", &["\"write-through\""]),
    ("l1d.sram.write_miss_policy", &["\"fetch\"", "\"no-allocate\""]),
    ("instruction_cache.sets", &["1"]),
    ("instruction_cache.ways", &["1"]),
    ("instruction_cache.mshr_entries", &["1", "8"]),
    ("instruction_cache.prefetch_lines", &["1", "4"]),
    ("constant_cache.sets", &["1"]),
    ("constant_cache.ways", &["1"]),
    ("network.flit_bytes", &["16", "32", "128"]),
    ("network.hop_latency_cycles", &["1", "2", "25"]),
    ("network.buffer_flits", &["48", "256"]),
    ("llc.conventional.sets", &["1", "2"]),
    ("llc.conventional.ways", &["1", "2"]),
    ("llc.conventional.replacement", &["\"fifo\"", "\"srrip\"", "\"drrip\"", "\"ship\""]),
    ("llc.conventional.prefetch", &["\"next-line\"", "\"stream\""]),
    ("llc.conventional.sector_bytes", &["32", "64"]),
    ("llc.conventional.request_queue", &["1", "2"]),
    ("llc.conventional.rop_latency_cycles", &["1", "5"]),
    ("llc.conventional.reply_queue", &["1", "2"]),
    ("llc.conventional.mshr_entries", &["1", "3"]),
    ("llc.conventional.mshr_merges", &["1", "2"]),
    ("llc.conventional.dram_queue", &["2", "3"]),
    ("llc.conventional.write_buffer", &["1", "2"]),
    ("llc.conventional.atomic_cycles", &["4"]),
    ("llc.conventional.data_bytes_per_cycle", &["8", "32"]),
    ("llc.conventional.far_latency_cycles", &["1", "17", "200"]),
    ("dram.queue_entries", &["4", "8"]),
    ("dram.controller_latency_cycles", &["1", "10"]),
];

/// Lane paths: a system of tinyCache and its overrides.
const LANE_PATHS: &[(&str, &[&str])] = &[
    ("tcbase", &[]),
    ("tcbase", &["lane_path.tiny-cache.barrier=block"]),
    ("tcbase", &["lane_path.tiny-cache.lines=1", "lane_path.tiny-cache.ways=1"]),
    ("tcbase", &["lane_path.tiny-cache.line_bytes=32", "lane_path.tiny-cache.latency_cycles=7"]),
    ("tcbase", &["lane_path.tiny-cache.lines=64", "lane_path.tiny-cache.line_bytes=128"]),
    ("bypass-shared", &[]),
    ("bypass-global", &[]),
];

/// Register files: a system of Hi-End's evaluation and its overrides.
const REGISTER_FILES: &[(&str, &[&str])] = &[
    ("stt", &["sm.register_file.write_backs=never-stall", "sm.register_file.partial_writes=whole-row"]),
    ("sram", &["sm.register_file.accesses.predicates=true"]),
    ("hi-end", &[]),
    ("hi-end", &["sm.register_file.accesses.wide=once", "sm.register_file.write_backs=never-stall"]),
    ("hi-end", &["sm.register_file.register_cache.lines=16", "sm.register_file.accesses.wide=one-number"]),
    ("stt-wb-bdi", &["sm.register_file.wear_levelling=entry"]),
];

/// What the other register files decide themselves.
fn is_of_registers(key: &str) -> bool {
    key.starts_with("sm.register_file.") || key == "sm.registers_per_thread"
}

/// A machine and how it is simulated.
#[derive(Clone, Debug)]
pub struct Variation {
    /// Systems laid over the built-in gtx480.
    pub systems: Vec<&'static str>,
    /// Overrides of the built-in gtx480.
    pub sets: Vec<String>,
    /// Number of worker threads.
    pub threads: usize,
    /// Picks the window: from 1 to the machine's longest.
    pub window: usize,
    /// Cycles after which a run is given up.
    pub limit: u64,
}

impl Variation {
    /// The machine, and how to run it.
    pub fn machine(&self) -> (Machine, GpuOptions) {
        let machine =
            Machine::load_with("gtx480", &self.systems, &self.sets).unwrap_or_else(|error| panic!("{error}"));
        let longest = machine.file().window();
        let window = [1, longest, longest, longest.div_ceil(2)][self.window % 4];
        (
            machine,
            GpuOptions {
                threads: self.threads,
                saves_threads: window % 2 == 1,
                window: Some(window),
                limit: Cycle(self.limit),
                interrupt: None,
            },
        )
    }
}

/// Sub-cores, and collectors: equal shares of some for each, and one that all share.
const SUB_CORES: &[&str] = &[
    "sm.sub_cores=true",
    "sm.collectors=[{ count = { value = 8, source = \"test\" }, serves = [\"sp\", \"sfu\"] }, \
     { count = { value = 1, source = \"test\" }, serves = [\"ldst\"] }]",
];

/// The system that puts a second level behind the instruction cache and the constant cache.
const SECOND_LEVEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/machine/read_only_cache.toml");

/// The system with TLBs and a GMMU.
const TRANSLATION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/machine/translation.toml");

/// A hop that is too short for a network faster than the SMs.
const SHORT_HOP: &str = "network.hop_latency_cycles=1";

/// Up to 16 changes, a lane path in a third of the cases, and in a quarter each another register file, sub-cores, clocks of their own for network and L2,
/// a second level of read-only cache and address translation; a failing case shrinks towards none.
pub fn variation() -> impl Strategy<Value = Variation> {
    let changes = prop::collection::vec((0..KNOBS.len(), any::<prop::sample::Index>()), 0..16);
    // Several threads are slow on a busy machine and change no number, so use them only sometimes.
    let threads = prop_oneof![12 => Just(1_usize), 1 => 2..5_usize];
    let lanes = prop_oneof![2 => Just(None), 1 => (0..LANE_PATHS.len()).prop_map(Some)];
    let clocks = prop_oneof![3 => Just(false), 1 => Just(true)];
    let second = prop_oneof![3 => Just(false), 1 => Just(true)];
    let sub_cores = prop_oneof![3 => Just(&[][..]), 1 => Just(SUB_CORES)];
    let translates = prop_oneof![3 => Just(false), 1 => Just(true)];
    let files = prop_oneof![3 => Just(None), 1 => (0..REGISTER_FILES.len()).prop_map(Some)];
    let parts = (changes, threads, 0..4_usize, (lanes, files), clocks, (second, translates), sub_cores);
    parts.prop_map(|(changes, threads, window, (lanes, file), clocks, (second, translates), sub_cores)| {
        let (mut systems, of_lanes) = match lanes {
            Some(index) => (vec![LANE_PATHS[index].0], LANE_PATHS[index].1),
            None => (Vec::new(), &[][..]),
        };
        let (register_file, of_file) = file.map_or((None, &[][..]), |index| {
            let (system, sets) = REGISTER_FILES[index];
            (Some(system), sets)
        });
        systems.extend(register_file);
        let changes = changes.into_iter().filter_map(|(knob, value)| {
            let (path, values) = KNOBS[knob];
            let is_decided = register_file.is_some() && is_of_registers(path);
            (!is_decided).then(|| format!("{path}={}", value.get(values)))
        });
        let sets: Vec<String> = BASE
            .iter()
            .chain(of_lanes)
            .chain(of_file)
            .chain(sub_cores)
            .map(ToString::to_string)
            .chain(changes)
            .collect();
        if clocks && !sets.iter().any(|set| set == SHORT_HOP) {
            systems.push(FOUR_CLOCKS);
        }
        if second {
            systems.push(SECOND_LEVEL);
        }
        if translates {
            systems.push(TRANSLATION);
        }
        Variation { systems, sets, threads, window, limit: 20_000_000 }
    })
}
