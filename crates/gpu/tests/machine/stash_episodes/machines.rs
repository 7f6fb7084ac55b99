//! Random machines: `stash-apu` with stashes, and `apu-all` with those that are their own registries and with some of the other papers'
//! systems; made small, with some of their numbers changed.

use strata_engine::Cycle;
use strata_engine::seed::Stream;
use strata_gpu::gpu::GpuOptions;
use strata_gpu::machine::Machine;

/// Numbers of SMs and CPU cores; the mesh has 16 nodes.
const NODES: &[(u32, u32)] = &[(15, 1), (1, 15), (8, 8), (5, 3), (2, 2), (3, 1), (1, 1), (4, 12)];

/// Keys that may change, with their other values.
const KNOBS: &[(&str, &[&str])] = &[
    ("l1d.sets", &["1", "2", "4"]),
    ("l1d.ways", &["1", "2"]),
    ("l1d.banks", &["1", "2"]),
    ("l1d.replacement", &["fifo", "random"]),
    ("l1d.mshr_entries", &["1", "2", "5"]),
    ("l1d.mshr_merges", &["1", "2"]),
    ("l1d.miss_queue", &["2", "3"]),
    ("l1d.answer_queue", &["2", "3"]),
    ("l1d.write_buffer", &["1", "2"]),
    ("l1d.bypass_entries", &["1", "2"]),
    ("l1d.combined_lines", &["1", "2"]),
    ("l1d.combine_cycles", &["0", "40"]),
    ("l1d.hit_latency_cycles", &["4"]),
    ("l1d.fill_latency_cycles", &["5"]),
    ("l1d.remote_latency_cycles", &["9", "60"]),
    ("llc.sets", &["1", "2", "4"]),
    ("llc.ways", &["1", "2"]),
    ("llc.mshr_entries", &["1", "3"]),
    ("llc.mshr_merges", &["1", "2"]),
    ("llc.request_queue", &["1", "2"]),
    ("llc.reply_queue", &["1", "2"]),
    ("llc.dram_queue", &["2", "3"]),
    ("llc.write_buffer", &["1", "2"]),
    ("llc.hit_latency_cycles", &["1", "20"]),
    ("llc.atomic_cycles", &["4"]),
    ("scratchpad.translation_cycles", &["0", "40"]),
    ("scratchpad.hit_cycles", &["3", "20"]),
    ("scratchpad.line_bytes", &["64"]),
    ("scratchpad.chunk_bytes", &["16", "32"]),
    ("scratchpad.map_entries", &["32", "37"]),
    ("network.virtual_channels", &["1", "2"]),
    ("network.buffer_flits", &["1", "16"]),
    ("network.link_cycles", &["3"]),
    ("network.interface_flits", &["35"]),
    ("network.flit_bytes", &["32", "64"]),
    ("cpu.clock_mhz", &["450", "700"]),
    ("cpu.store_buffer", &["1", "2"]),
    ("sm.scheduling", &["loose-round-robin", "switch-on-memory"]),
    ("sm.warp_slots", &["4", "7"]),
    ("lsu.queue", &["1", "2"]),
    ("lsu.segment_bytes", &["32"]),
    ("lsu.address_latency_cycles", &["1", "30"]),
    ("gpu.channels", &["1", "2"]),
    ("gpu.slices_per_channel", &["1", "2"]),
    ("gpu.interleave_bytes", &["128"]),
    ("gpu.dispatch_latency_cycles", &["6"]),
    ("gpu.launch_latency_cycles", &["0", "37"]),
    ("clocks.network_mhz", &["700", "900"]),
];

/// The same of `apu-all`, whose mesh has room for more, and where Morpheus takes an SM.
const NODES_OF_ALL: &[(u32, u32)] = &[(17, 3), (2, 1), (5, 3), (3, 9), (8, 1)];

/// Systems that stand beside its stash, with their overrides.
const BESIDE: &[(&str, &[&str])] = &[
    ("dy-fuse", &[]),
    ("bypass-shared", &[]),
    ("morpheus-all", &[]),
    ("hi-end", &["sm.registers_per_thread=64", "sm.register_file.register_cache.register_bits=6"]),
];

/// Sections of [`KNOBS`] that every machine with these systems has, without keys that Morpheus's numbers need.
const OF_ALL: &[&str] =
    &["scratchpad.", "network.", "cpu.", "gpu.", "lsu.queue", "lsu.address", "sm.scheduling"];

/// More knobs, of a stash that is its own registry.
const KNOBS_OF_ITS_OWN: &[(&str, &[&str])] =
    &[("scratchpad.accesses", &["1", "2", "7"]), ("scratchpad.combine_cycles", &["40", "10000"])];

/// A machine, how it is simulated, and what programs must keep to.
#[derive(Clone, Debug)]
pub struct Variation {
    machine: &'static str,
    systems: Vec<&'static str>,
    /// Overrides of the built-in machine.
    pub sets: Vec<String>,
    threads: usize,
    window: u64,
    /// Words from the first to behind the last of a tile, at most. The VP-map must have room for the pages of all mappings that
    /// run at a time (Stash 4.1.4).
    pub extent: u32,
}

/// Overrides for one of some numbers of SMs and CPU cores, and for memory of so many MiB.
fn of_size(nodes: &[(u32, u32)], memory_mib: u32, stream: &mut Stream) -> Vec<String> {
    let (sms, cores) = nodes[stream.below(nodes.len() as u64) as usize];
    vec![
        format!("gpu.sms={sms}"),
        format!("cpu.cores={cores}"),
        format!("gpu.memory_mib={memory_mib}"),
        "gpu.watchdog_cycles=50000".to_owned(),
    ]
}

impl Variation {
    /// Another machine for each stream.
    pub fn random(stream: &mut Stream) -> Variation {
        let mut sets = of_size(NODES, 16, stream);
        let mut extent = u32::MAX;
        // With two CTAs, eight entries of the stash-map are enough, and pages come and go.
        match stream.below(4) {
            0 => {
                sets.extend(
                    [
                        "sm.cta_slots=2",
                        "scratchpad.ctas=2",
                        "scratchpad.page_bytes=256",
                        "scratchpad.vp_entries=24",
                    ]
                    .map(str::to_owned),
                );
                sets.push(format!("scratchpad.map_entries={}", 8 + stream.below(3)));
                extent = 128;
            }
            1 => sets.push("sm.cta_slots=1".to_owned()),
            _ => {}
        }
        let mut knobs: Vec<usize> = (0..KNOBS.len()).collect();
        for _ in 0..stream.below(14) {
            let (key, values) = KNOBS[knobs.swap_remove(stream.below(knobs.len() as u64) as usize)];
            // The few entries that were chosen above stay.
            if sets.iter().any(|set| set.starts_with(key)) {
                continue;
            }
            sets.push(format!("{key}={}", values[stream.below(values.len() as u64) as usize]));
        }
        let threads = if stream.below(12) == 0 { 2 } else { 1 };
        let (machine, systems) = ("stash-apu", vec!["stash"]);
        Variation { machine, systems, sets, threads, window: stream.below(4), extent }
    }

    /// Another machine for each stream, whose L1Ds and LLC know no owners.
    pub fn without_owners(stream: &mut Stream) -> Variation {
        let mut sets = of_size(NODES_OF_ALL, 64, stream);
        let mut systems = vec!["stash-flush"];
        for (system, its) in BESIDE {
            if stream.below(2) == 0 {
                systems.push(system);
                sets.extend(its.iter().map(|set| (*set).to_owned()));
            }
        }
        let of_all = KNOBS.iter().filter(|(key, _)| OF_ALL.iter().any(|section| key.starts_with(section)));
        let mut knobs: Vec<_> = of_all.chain(KNOBS_OF_ITS_OWN).collect();
        for _ in 0..stream.below(8) {
            let (key, values) = knobs.swap_remove(stream.below(knobs.len() as u64) as usize);
            // Morpheus's rows need the slices, and 16 CTAs of four mappings all entries.
            if !["gpu.channels", "gpu.slices_per_channel", "scratchpad.map_entries"].contains(key) {
                sets.push(format!("{key}={}", values[stream.below(values.len() as u64) as usize]));
            }
        }
        let threads = if stream.below(12) == 0 { 2 } else { 1 };
        Variation { machine: "apu-all", systems, sets, threads, window: stream.below(4), extent: u32::MAX }
    }

    /// The machine, and how to run it.
    pub fn machine(&self) -> Result<(Machine, GpuOptions), String> {
        let machine =
            Machine::load_with(self.machine, &self.systems, &self.sets).map_err(|error| error.to_string())?;
        let longest = machine.file().window();
        let window = [1, longest, longest, longest.div_ceil(2)][self.window as usize];
        let options = GpuOptions {
            threads: self.threads,
            saves_threads: window % 2 == 1,
            window: Some(window),
            limit: Cycle(20_000_000),
            interrupt: None,
        };
        Ok((machine, options))
    }
}
