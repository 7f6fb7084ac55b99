//! A run for a reader.

use std::fmt::Write;

use super::{RunResult, Verdict, ratio};

/// Counters of the `sm` group that say why a scheduler did not issue, and what a reader calls them.
const STALLS: &[(&str, &str)] = &[
    ("stall_memory", "waiting for memory"),
    ("stall_execution", "waiting for execution"),
    ("stall_control", "waiting for branch operands"),
    ("stall_barrier", "at barriers"),
    ("stall_fence", "at fences"),
    ("stall_copies", "waiting for asynchronous copies"),
    ("stall_fetch", "waiting for instructions"),
    ("stall_lsu_full", "load/store unit full"),
    ("stall_collector_full", "operand collectors full"),
    ("stall_sleep", "asleep"),
    ("stall_drained", "warps draining"),
    ("stall_no_warp", "no warp resident"),
];

impl RunResult {
    /// A page of text: what ran, how long it took, where the cycles went, what moved where.
    pub fn summary(&self) -> String {
        let mut page = Page(String::new());
        self.head(&mut page);
        self.issue(&mut page);
        self.memory(&mut page);
        if let Some(energy) = &self.energy {
            super::energy::rows(energy, &mut page);
        }
        super::energy::lifetime_rows(&self.lifetimes, &mut page);
        self.tail(&mut page);
        page.0
    }

    fn head(&self, page: &mut Page) {
        let size = self.size.as_deref().map(|size| format!(" ({size})")).unwrap_or_default();
        let verdict = match &self.verdict {
            Verdict::Verified => "results verified".to_owned(),
            Verdict::Wrong(problems) => format!("RESULTS WRONG ({})", problems.len()),
            Verdict::Unchecked => "results not checked".to_owned(),
        };
        let system = self.system.as_deref().map(|system| format!(" with {system}")).unwrap_or_default();
        page.line(&format!("{}{size} on {}{system}: {verdict}", self.workload, self.machine));
        for set in &self.overrides {
            page.line(&format!("  with {set}"));
        }
        let microseconds = self.cycles() as f64 / f64::from(self.facts.core_mhz.max(1));
        page.row(
            "cycles",
            &format!("{} ({microseconds:.1} us at {} MHz)", group(self.cycles()), self.facts.core_mhz),
        );
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
            &format!("{:.2} thread, {:.3} warp", self.ipc(), ratio(self.warp_instructions(), self.cycles())),
        );
        for launch in self.launches.iter().take(8) {
            page.row(
                "launch",
                &format!(
                    "{} {:?} x {:?}: {} cycles; {} registers, {} CTAs an SM (limit: {})",
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
    }

    fn issue(&self, page: &mut Page) {
        let count = |name| self.counter("sm", name).unwrap_or(0);
        let slots = count("issue_slots");
        page.section("where the issue slots went");
        page.row("issued", &percent(count("issued"), slots));
        let mut stalls: Vec<(u64, &str)> = STALLS.iter().map(|(name, what)| (count(name), *what)).collect();
        stalls.sort_by_key(|(slots, _)| std::cmp::Reverse(*slots));
        for (lost, what) in stalls.into_iter().filter(|(lost, _)| *lost > 0) {
            page.row(what, &percent(lost, slots));
        }
        let warps = ratio(count("resident_warp_cycles"), count("cycles_active"));
        page.row(
            "occupancy",
            &format!("{warps:.1} of {} warps while an SM is active", self.facts.warp_slots),
        );
        page.row(
            "lanes",
            &format!(
                "{:.1} of 32 active, {:.1} executing",
                ratio(count("active_lanes"), count("warp_instructions")),
                ratio(count("thread_instructions"), count("warp_instructions"))
            ),
        );
    }

    fn memory(&self, page: &mut Page) {
        page.section("memory");
        let lsu = |name| self.counter("lsu", name).unwrap_or(0);
        page.row(
            "instructions",
            &format!(
                "{} global, {} local, {} shared, {} constant; {:.2} accesses a global one",
                group(lsu("global_instructions")),
                group(lsu("local_instructions")),
                group(lsu("shared_instructions")),
                group(lsu("constant_instructions")),
                ratio(lsu("accesses"), lsu("global_instructions") + lsu("local_instructions"))
            ),
        );
        if lsu("shared_passes") > 0 {
            page.row(
                "shared memory",
                &format!(
                    "{} passes, {} of them bank conflicts",
                    group(lsu("shared_passes")),
                    percent(lsu("shared_conflict_cycles"), lsu("shared_passes"))
                ),
            );
        }
        let l1d = |name| self.counter("l1d", name).unwrap_or(0);
        let hits = l1d("load_hits") + l1d("store_hits");
        page.row(
            "L1D",
            &format!(
                "{} accesses, {} hit, {} merged; {} out, {} in",
                group(l1d("accesses")),
                percent(hits, l1d("loads") + l1d("stores")),
                percent(l1d("load_merges") + l1d("store_merges"), l1d("loads") + l1d("stores")),
                bytes(l1d("bytes_out")),
                bytes(l1d("bytes_in"))
            ),
        );
        for (name, title) in [("network.request", "network, requests"), ("network.reply", "network, replies")]
        {
            let count = |counter| self.counter(name, counter).unwrap_or(0);
            page.row(
                title,
                &format!(
                    "{} packets, {}, {:.1} cycles on average",
                    group(count("packets_out")),
                    bytes(count("wire_bytes")),
                    ratio(count("latency_cycles"), count("packets_out"))
                ),
            );
        }
        let l2 = |name| self.counter("l2", name).unwrap_or(0);
        let l2_hits = l2("read_hits") + l2("write_hits") + l2("atomic_hits");
        page.row(
            "L2",
            &format!(
                "{} requests, {} hit; {} from DRAM, {} to DRAM",
                group(l2("requests")),
                percent(l2_hits, l2("requests")),
                bytes(l2("fetch_bytes")),
                bytes(l2("write_back_bytes"))
            ),
        );
        let dram = |name| self.counter("dram", name).unwrap_or(0);
        let requests = dram("reads") + dram("writes");
        page.row(
            "DRAM",
            &format!("{} requests, {} row hits", group(requests), percent(dram("row_hits"), requests)),
        );
        let moved = (dram("read_bytes") + dram("written_bytes")) as f64;
        let seconds = self.cycles() as f64 / (f64::from(self.facts.core_mhz.max(1)) * 1e6);
        if seconds > 0.0 && self.facts.dram_bytes_per_second > 0.0 {
            let reached = moved / seconds;
            page.row(
                "DRAM bandwidth",
                &format!(
                    "{:.1} GB/s, {:.1} % of {:.1} GB/s",
                    reached / 1e9,
                    100.0 * reached / self.facts.dram_bytes_per_second,
                    self.facts.dram_bytes_per_second / 1e9
                ),
            );
        }
    }

    fn tail(&self, page: &mut Page) {
        page.section("simulation");
        page.row(
            "speed",
            &format!(
                "{} warp instructions a second, {} cycles a second; {:.2} s on {} threads",
                group(self.speed() as u64),
                group(if self.cost.seconds > 0.0 {
                    (self.cycles() as f64 / self.cost.seconds) as u64
                } else {
                    0
                }),
                self.cost.seconds,
                self.cost.threads
            ),
        );
        page.row("peak memory", &bytes(self.cost.peak_memory_bytes));
        page.row("statistics hash", &format!("{:016x}", self.statistics_hash()));
        for comparison in &self.comparisons {
            page.row("compared", &comparison.to_string());
        }
        for text in self.launches.iter().flat_map(|launch| &launch.printed) {
            page.row("printed", text.trim_end_matches('\n'));
        }
    }
}

pub(super) struct Page(String);

impl Page {
    fn line(&mut self, text: &str) {
        self.0.push_str(text);
        self.0.push('\n');
    }

    pub(super) fn section(&mut self, title: &str) {
        self.line(&format!(" {title}"));
    }

    pub(super) fn row(&mut self, title: &str, text: &str) {
        writeln!(self.0, "  {title:<28}{text}").expect("a string grows");
    }
}

/// Digits in groups of three.
fn group(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.1} %", 100.0 * ratio(part, whole))
}

/// Bytes with a binary unit.
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
    use super::*;

    #[test]
    fn numbers_for_readers() {
        assert_eq!(group(0), "0");
        assert_eq!(group(1234567), "1 234 567");
        assert_eq!(percent(1, 3), "33.3 %");
        assert_eq!(percent(1, 0), "0.0 %");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1536), "1.5 KiB");
    }
}
