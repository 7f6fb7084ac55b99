//! A summary of a run for readers.

use strata_engine::statistics::Group;

use super::rows::{Page, group};
use super::{RunResult, ratio};

/// Counters of the `sm` group for slots in which a scheduler did not issue, with readable descriptions.
pub const STALLS: &[(&str, &str)] = &[
    ("stall_memory", "waiting for memory"),
    ("stall_execution", "waiting for execution"),
    ("stall_control", "waiting for branch operands"),
    ("stall_barrier", "at barriers"),
    ("stall_fence", "at fences"),
    ("stall_copies", "waiting for asynchronous copies"),
    ("stall_fetch", "waiting for instructions"),
    ("stall_lsu_full", "load/store unit full"),
    ("stall_collector_full", "operand collectors full"),
    ("stall_inactive", "held back by scheduling"),
    ("stall_sleep", "asleep"),
    ("stall_drained", "warps draining"),
    ("stall_no_warp", "no warp resident"),
];

impl RunResult {
    /// The summary as text: what ran, how long it took, where the issue slots went, and how data moved.
    pub fn summary(&self) -> String {
        let mut page = Page::default();
        self.head(&mut page);
        self.issue(&mut page);
        self.memory(&mut page);
        if let Some(energy) = &self.energy {
            super::energy::rows(energy, &mut page);
        }
        super::arrays::rows(&self.statistics, &mut page);
        super::energy::lifetime_rows(&self.lifetimes, &mut page);
        self.tail(&mut page);
        page.into_text()
    }

    fn head(&self, page: &mut Page) {
        let size = self.size.as_deref().map(|size| format!(" ({size})")).unwrap_or_default();
        let verdict = self.verdict.sentence();
        let system = self.system.as_deref().map(|system| format!(" with {system}")).unwrap_or_default();
        page.line(&format!("{}{size} on {}{system}: {verdict}", self.workload, self.machine));
        if let Some(reason) = self.verdict.stopped() {
            let first = reason.lines().next().unwrap_or_default();
            page.line(&format!("  PARTIAL, until the run was stopped: {first}"));
        }
        if let Some(checked) = self.checked {
            let until = if self.verdict.stopped().is_some() { " until then" } else { "" };
            page.line(&format!("  reference executor: {}{until}", checked.sentence()));
        }
        if !self.region.is_everything() {
            let before = match self.cost.fast_forwarded {
                0 => String::new(),
                launches => format!("; {launches} before them ran on the reference executor, in no time"),
            };
            page.line(&format!("  measured: {} launches of the run{before}", self.launches.len()));
        }
        for set in &self.overrides {
            page.line(&format!("  with {set}"));
        }
        let microseconds = self.cycles() as f64 / f64::from(self.facts.core_mhz.max(1));
        page.row(
            "cycles",
            &format!("{} ({microseconds:.1} us at {} MHz)", group(self.cycles()), self.facts.core_mhz),
        );
        if self.serial_launch_cycles() > self.launch_cycles() {
            page.row("one by one", &format!("{} cycles of launches", group(self.serial_launch_cycles())));
        }
        page.row(
            "instructions",
            &format!(
                "{} warp, {} thread",
                group(self.warp_instructions()),
                group(self.thread_instructions())
            ),
        );
        page.row(
            "IPC",
            &format!(
                "{:.2} thread, {:.3} warp",
                self.ipc(),
                ratio(self.warp_instructions(), self.launch_cycles())
            ),
        );
        for launch in self.launches.iter().take(8) {
            let carve_out =
                launch.carve_out.map_or_else(String::new, |taken| format!("; carve-out {} KB", taken / 1024));
            page.row(
                "launch",
                &format!(
                    "{} {:?} x {:?}: {} cycles; {} registers, {} CTAs an SM (limit: {}){carve_out}",
                    launch.kernel,
                    launch.grid,
                    launch.block,
                    group(launch.cycles),
                    launch.registers,
                    launch.ctas_per_sm,
                    launch.limiter
                ),
            );
        }
        if self.launches.len() > 8 {
            page.row("", &format!("... and {} more launches", self.launches.len() - 8));
        }
        self.phases.iter().take(8).for_each(|phase| phase.row(page));
        if self.phases.len() > 8 {
            page.row("", &format!("... and {} more host phases", self.phases.len() - 8));
        }
    }

    /// The counters of a group; `None` if the design behind its door has no such group.
    fn group(&self, name: &str) -> Option<Counters<'_>> {
        self.statistics.iter().find(|group| group.name == name).map(Counters)
    }

    /// The issue slots that were lost, by cause, the most first: the counter of the `sm` group, the cause in words, and the slots.
    /// Causes of no slot are left out.
    pub fn stalls(&self) -> Vec<(&'static str, &'static str, u64)> {
        let Some(sm) = self.group("sm") else { return Vec::new() };
        let lost = STALLS.iter().filter_map(|(name, what)| Some((*name, *what, sm.get(name)?)));
        let mut stalls: Vec<_> = lost.filter(|(_, _, slots)| *slots > 0).collect();
        stalls.sort_by_key(|(_, _, slots)| std::cmp::Reverse(*slots));
        stalls
    }

    fn issue(&self, page: &mut Page) {
        let Some(sm) = self.group("sm") else { return };
        page.section("where the issue slots went");
        page.row_of("issued", || percent(sm.get("issued")?, sm.get("issue_slots")?));
        for (_, what, lost) in self.stalls() {
            page.row_of(what, || percent(lost, sm.get("issue_slots")?));
        }
        page.row_of("occupancy", || {
            let warps = quotient(sm.get("resident_warp_cycles")?, sm.get("cycles_active")?)?;
            Some(format!("{warps:.1} of {} warps while an SM is active", self.facts.warp_slots))
        });
        page.row_of("lanes", || {
            let warps = sm.get("warp_instructions")?;
            let active = quotient(sm.get("active_lanes")?, warps)?;
            let executing = quotient(sm.get("thread_instructions")?, warps)?;
            Some(format!("{active:.1} of 32 active, {executing:.1} executing"))
        });
    }

    fn memory(&self, page: &mut Page) {
        page.section("memory");
        if let Some(lsu) = self.group("lsu") {
            load_store_rows(lsu, page);
        }
        if let Some(l1d) = self.group("l1d") {
            page.row("L1D", &l1d_row(l1d));
        }
        if let Some(l1d) = self.group("cpu.l1d") {
            page.row("L1D of CPU cores", &l1d_row(l1d));
        }
        let networks = [
            ("network.request", "network, requests"),
            ("network.reply", "network, replies"),
            ("network.owner", "network, owners"),
        ];
        for (name, title) in networks {
            let Some(network) = self.group(name) else { continue };
            let latency = || quotient(network.get("latency_cycles")?, network.get("packets_out")?);
            let parts = [
                network.get("packets_out").map(|packets| format!("{} packets", group(packets))),
                network.get("wire_bytes").map(bytes),
                latency().map(|cycles| format!("{cycles:.1} cycles on average")),
            ];
            page.row(title, &joined(parts));
        }
        if let Some(l2) = self.group("l2") {
            let hits = l2.sum(&["read_hits", "write_hits", "atomic_hits"]);
            let requests = joined([
                l2.get("requests").map(|requests| format!("{} requests", group(requests))),
                hits.and_then(|hits| percent(hits, l2.get("requests")?)).map(|hit| format!("{hit} hit")),
            ]);
            let moved = joined([
                l2.get("fetch_bytes").map(|count| format!("{} from DRAM", bytes(count))),
                l2.get("write_back_bytes").map(|count| format!("{} to DRAM", bytes(count))),
            ]);
            page.row("L2", &halves(&requests, &moved));
        }
        if let Some(extended) = self.group("morpheus") {
            extended_llc_row(extended, page);
        }
        if let Some(dram) = self.group("dram") {
            self.dram_rows(dram, page);
        }
    }

    fn dram_rows(&self, dram: Counters<'_>, page: &mut Page) {
        page.row_of("DRAM", || {
            let requests = dram.sum(&["reads", "writes"])?;
            let hits = dram.get("row_hits").and_then(|hits| percent(hits, requests));
            let hits = hits.map(|hits| format!("{hits} row hits"));
            Some(joined([Some(format!("{} requests", group(requests))), hits]))
        });
        page.row_of("DRAM bandwidth", || {
            let moved = dram.sum(&["read_bytes", "written_bytes"])? as f64;
            let seconds = self.cycles() as f64 / (f64::from(self.facts.core_mhz.max(1)) * 1e6);
            let peak = self.facts.dram_bytes_per_second;
            (seconds > 0.0 && peak > 0.0).then(|| {
                let reached = moved / seconds;
                format!(
                    "{:.1} GB/s, {:.1} % of {:.1} GB/s",
                    reached / 1e9,
                    100.0 * reached / peak,
                    peak / 1e9
                )
            })
        });
    }

    fn tail(&self, page: &mut Page) {
        page.section("simulation");
        page.row(
            "speed",
            &format!(
                "{} warp instructions a second, {} cycles a second; {:.2} s on {} threads",
                group(self.cost.speed() as u64),
                group(self.cost.cycles_a_second() as u64),
                self.cost.seconds,
                self.cost.threads
            ),
        );
        page.row("peak memory", &bytes(self.cost.peak_memory_bytes));
        if let Some(schedule) = &self.cost.schedule {
            schedule.rows(page);
        }
        page.row("statistics hash", &format!("{:016x}", self.statistics_hash()));
        for comparison in &self.comparisons {
            page.row("compared", &comparison.to_string());
        }
        for glance in self.glances() {
            page.row("holds", &glance.to_string());
        }
        for text in self.printed() {
            page.row("printed", text.trim_end_matches('\n'));
        }
    }
}

/// Adds the rows of the load/store unit.
fn load_store_rows(lsu: Counters<'_>, page: &mut Page) {
    let kind = |counter, what: &str| lsu.get(counter).map(|count| format!("{} {what}", group(count)));
    let kinds = joined([
        kind("global_instructions", "global"),
        kind("local_instructions", "local"),
        kind("shared_instructions", "shared"),
        kind("constant_instructions", "constant"),
    ]);
    let device = lsu.sum(&["global_instructions", "local_instructions"]);
    let accesses = device.and_then(|device| quotient(lsu.get("accesses")?, device));
    let accesses = accesses.map(|count| format!("{count:.2} accesses a global or local one"));
    page.row("instructions", &halves(&kinds, &accesses.unwrap_or_default()));
    page.row_of("shared memory", || {
        let passes = lsu.get("shared_passes").filter(|passes| *passes > 0)?;
        let conflicts = percent(lsu.get("shared_conflict_cycles")?, passes)?;
        Some(format!("{} passes, {conflicts} of them bank conflicts", group(passes)))
    });
}

/// Adds the row of the blocks that SMs in cache mode keep.
fn extended_llc_row(extended: Counters<'_>, page: &mut Page) {
    page.row_of("extended LLC", || {
        let requests = extended.get("requests").filter(|requests| *requests > 0)?;
        let hits = percent(extended.get("true_hits")?, requests)?;
        let misses = extended.sum(&["predicted_misses", "false_hits"])?;
        let wrong = percent(extended.get("false_hits")?, misses);
        let wrong = wrong.map(|share| format!("{share} of misses predicted to hit"));
        Some(joined([Some(format!("{} requests", group(requests))), Some(format!("{hits} hit")), wrong]))
    });
}

/// Describes an L1D's activity. Designs differ in what they count.
fn l1d_row(l1d: Counters<'_>) -> String {
    let cached = l1d.sum(&["loads", "stores"]);
    let part =
        |counters: &[&str], what: &str| Some(format!("{} {what}", percent(l1d.sum(counters)?, cached?)?));
    let done = joined([
        l1d.get("accesses").map(|accesses| format!("{} accesses", group(accesses))),
        part(&["load_hits", "store_hits"], "hit"),
        part(&["load_merges", "store_merges"], "merged"),
    ]);
    let moved = joined([
        l1d.get("bytes_out").map(|count| format!("{} out", bytes(count))),
        l1d.get("bytes_in").map(|count| format!("{} in", bytes(count))),
    ]);
    halves(&done, &moved)
}

/// The counters of a group; a missing counter reads as `None`.
#[derive(Clone, Copy)]
struct Counters<'a>(&'a Group);

impl Counters<'_> {
    fn get(self, name: &str) -> Option<u64> {
        self.0.get(name)
    }

    fn sum(self, names: &[&str]) -> Option<u64> {
        names.iter().map(|name| self.get(name)).sum()
    }
}

/// Joins the parts that are present with commas.
fn joined<const N: usize>(parts: [Option<String>; N]) -> String {
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Joins two halves of a row, either of which may be empty.
fn halves(one: &str, other: &str) -> String {
    [one, other].into_iter().filter(|half| !half.is_empty()).collect::<Vec<_>>().join("; ")
}

/// `a / b`; `None` if `b` is 0.
fn quotient(a: u64, b: u64) -> Option<f64> {
    (b > 0).then(|| a as f64 / b as f64)
}

/// Formats a part of a whole as a percentage; `None` if the whole is 0.
fn percent(part: u64, whole: u64) -> Option<String> {
    quotient(part, whole).map(|part| format!("{:.1} %", 100.0 * part))
}

/// Formats a byte count with a binary unit.
fn bytes(count: u64) -> String {
    let mut value = count as f64;
    let mut unit = 0;
    const UNITS: [&str; 4] = ["B", "KiB", "MiB", "GiB"];
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{count} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}

#[cfg(test)]
mod tests {
    use strata_engine::statistics::{Definition, Mark};

    use super::super::{MachineFacts, SimulationCost, Verdict};
    use super::*;

    #[test]
    fn numbers_for_readers() {
        assert_eq!(group(0), "0");
        assert_eq!(group(1234567), "1 234 567");
        assert_eq!(percent(1, 3).unwrap(), "33.3 %");
        assert_eq!(percent(1, 0), None);
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1536), "1.5 KiB");
    }

    const COUNTED: &[Definition] = &[
        Definition { name: "accesses", unit: "accesses", meaning: "Taken.", mark: Mark::Plain },
        Definition { name: "bytes_out", unit: "bytes", meaning: "Sent.", mark: Mark::Plain },
    ];

    fn result(statistics: Vec<Group>) -> RunResult {
        RunResult {
            provenance: Default::default(),
            region: Default::default(),
            workload: "w".into(),
            size: None,
            machine: "m".into(),
            system: None,
            facts: MachineFacts::default(),
            overrides: vec![],
            verdict: Verdict::Unchecked,
            checked: None,
            comparisons: vec![],
            outputs: vec![],
            launches: vec![],
            phases: vec![],
            statistics,
            breakdowns: vec![],
            critical_paths: None,
            energy: None,
            lifetimes: vec![],
            cost: SimulationCost::default(),
        }
    }

    #[test]
    fn what_a_design_does_not_count_is_left_out() {
        let l1d =
            Group { name: "l1d", definitions: COUNTED, laws: vec![], values: vec![1500, 2048], broken: None };
        let page = result(vec![l1d]).summary();
        assert!(page.contains("  L1D                         1 500 accesses; 2.0 KiB out\n"), "{page}");
        for absent in [" %", "issue slots", "L2", "DRAM", "network", "accesses a global", "0 B"] {
            let lines: Vec<&str> = page.lines().filter(|line| !line.contains("peak memory")).collect();
            assert!(!lines.join("\n").contains(absent), "{absent}: {page}");
        }
    }

    #[test]
    fn accesses_are_those_of_global_and_local_instructions() {
        const DEFINITIONS: &[Definition] = &[
            Definition { name: "global_instructions", unit: "i", meaning: "Global.", mark: Mark::Plain },
            Definition { name: "local_instructions", unit: "i", meaning: "Local.", mark: Mark::Plain },
            Definition { name: "accesses", unit: "a", meaning: "Made.", mark: Mark::Plain },
        ];
        let lsu = Group {
            name: "lsu",
            definitions: DEFINITIONS,
            laws: vec![],
            values: vec![3, 1, 8],
            broken: None,
        };
        let page = result(vec![lsu]).summary();
        assert!(page.contains("3 global, 1 local; 2.00 accesses a global or local one\n"), "{page}");
    }
}
