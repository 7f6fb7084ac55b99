//! Eight streams of requests that DRAMsim3 and Ramulator 2 have run, through a channel with their parameters.
//!
//! `reference.csv` has what both found: sarchlab/akita (MIT), commit 0cf1f9ac8447, mem/dram/validation/data/reference.csv, as
//! it is. `scenarios.csv` has the streams: traces/scenarios.json there. All requests are of 64 bytes, at multiples of the stride,
//! and there at once; one a cycle enters the queue while it has room.
//!
//! The page `docs/dram.md` shows the figures and says why they differ.

use std::path::Path;

use strata_engine::{Cited, ClockRatio, Cycle, config};
use strata_memory::doors::{DramPort, DramRequest};
use strata_memory::dram::{Channel, DramParameters};
use strata_memory::policy::Chosen;
use strata_memory::{Address, ByteMask, Line};

/// A stream of requests.
struct Scenario {
    name: &'static str,
    page: &'static str,
    write: bool,
    count: u64,
    stride: u64,
}

/// What a simulator found for a stream; what it does not tell is `None`.
#[derive(Debug, PartialEq)]
struct Found {
    activates: u64,
    reads: u64,
    writes: u64,
    /// Cycles from the entry into the queue to the last transfer of a read, mean.
    read_latency: Option<f64>,
}

/// The lines of a table, without its heading.
fn rows(text: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    text.lines().skip(1).map(|line| line.split(',').collect())
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| panic!("{text} is a number"))
}

fn scenarios() -> Vec<Scenario> {
    let of_row = |row: Vec<&'static str>| Scenario {
        name: row[0],
        page: row[1],
        write: row[2] == "write",
        count: number(row[3]),
        stride: number(row[4]),
    };
    rows(include_str!("scenarios.csv")).map(of_row).collect()
}

/// What a simulator of the reference found for a stream.
fn reference(simulator: &str, scenario: &Scenario) -> Option<Found> {
    let row =
        rows(include_str!("reference.csv")).find(|row| row[0] == scenario.name && row[1] == simulator)?;
    assert_eq!(number(row[3]), scenario.count);
    Some(Found {
        activates: number(row[4]),
        reads: number(row[5]),
        writes: number(row[6]),
        read_latency: row[7].parse().ok().filter(|_| !scenario.write),
    })
}

/// Runs a stream, with the queue of `channel.toml` or one of another size: what was found, and the cycles from the first
/// request to the last transfer.
fn run(scenario: &Scenario, queue_entries: Option<usize>) -> (Found, u64) {
    let mut parameters: DramParameters =
        config::parse(Path::new("channel.toml"), include_str!("channel.toml"))
            .expect("the channel can be read");
    if let Some(entries) = queue_entries {
        parameters.queue_entries = Cited::new(entries, "test");
    }
    let page = Chosen::named(scenario.page).expect("the page policy is known");
    parameters.page = Some(Cited::new(page, "scenarios.csv"));
    let mut channel = Channel::new(&parameters, ClockRatio::ONE, 1, 1).expect("the channel can be built");
    channel.ensure(scenario.count * scenario.stride / 128 + 1);
    let (mut offered, mut answered, mut now) = (0, 0, Cycle::ZERO);
    while answered < scenario.count {
        channel.tick(now);
        let mut port = channel.port(0);
        while port.completed(now).is_some() {
            answered += 1;
        }
        if offered < scenario.count {
            let address = Address(offered * scenario.stride);
            let bytes = ByteMask::range((address.0 % 128) as usize, 64);
            let tray = Box::new(Line::ZERO);
            let request = DramRequest { line: address.line(), bytes, write: scenario.write, tag: 0, tray };
            offered += u64::from(port.offer(request, now).is_ok());
        }
        now = now.next();
    }
    let groups = channel.statistics();
    let count = |name| groups[0].get(name).expect("the channel counts it");
    let (reads, writes) = (count("reads"), count("writes"));
    let read_latency = (reads > 0).then(|| count("read_latency_cycles") as f64 / reads as f64);
    (Found { activates: count("activates"), reads, writes, read_latency }, now.0 - 1)
}

/// The page that shows the figures.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/dram.md");

/// Runs every stream.
fn run_all() -> Vec<(Scenario, Found, u64)> {
    scenarios().into_iter().map(|scenario| with_run(scenario, None)).collect()
}

fn with_run(scenario: Scenario, queue_entries: Option<usize>) -> (Scenario, Found, u64) {
    let (found, cycles) = run(&scenario, queue_entries);
    (scenario, found, cycles)
}

#[test]
fn commands_are_those_of_both_simulators() {
    let mut compared = 0;
    for (scenario, found, _) in run_all() {
        for simulator in ["dramsim3", "ramulator2"] {
            let Some(reference) = reference(simulator, &scenario) else { continue };
            let counts = |of: &Found| (of.activates, of.reads, of.writes);
            assert_eq!(counts(&found), counts(&reference), "{} in {simulator}", scenario.name);
            compared += 1;
        }
    }
    assert_eq!(compared, 12);
}

#[test]
fn cycles_follow_from_the_timing_rules() {
    // From a request to its activate 1 cycle; from an activate to the last transfer of a read RCD 16 + CL 16 + burst 4, of a
    // write RCD 16 + WL 12 + burst 4.
    let (read, write) = (1 + 16 + 16 + 4, 1 + 16 + 12 + 4);
    // One bank: RC 55 between reads; RCD 16 + WL 12 + burst 4 + WR 18 + RP 16 between writes. Many banks: four activates in FAW 28,
    // and the last three of a window RRD 5 apart.
    let window = |activates: u64| activates / 4 * 28 + activates % 4 * 5;
    for (scenario, _, cycles) in run_all() {
        let rest = scenario.count - 1;
        let expected = match scenario.name {
            "cp_read_64" | "cp_read_256" | "op_stride_128K" => 55 * rest + read,
            "cp_write_64" | "cp_write_256" => 66 * rest + write,
            "op_stride_8K" | "op_stride_16K" => window(rest) + read,
            // Four rows of 128 bursts, CCDL 6 apart; where the end of one and the begin of the next are in the queue, CCD 4.
            _ => {
                assert!((4 * rest + read..6 * rest + read).contains(&cycles), "{}: {cycles}", scenario.name);
                continue;
            }
        };
        assert_eq!(cycles, expected, "{}", scenario.name);
    }
}

#[test]
fn read_latencies_are_those_of_dramsim3_where_as_much_is_in_flight() {
    let mut compared = 0;
    for (scenario, found, _) in run_all() {
        let Some(reference) = reference("dramsim3", &scenario).and_then(|of| of.read_latency) else {
            continue;
        };
        let deviation = found.read_latency.expect("it reads") / reference - 1.0;
        let (least, most) = match scenario.name {
            "cp_read_64" | "cp_read_256" | "op_stride_128K" => (0.0, 0.0005),
            // Deviations 1 and 2 of the page.
            "op_seq_64B" => (-0.06, -0.05),
            "op_stride_8K" => (-0.64, -0.63),
            "op_stride_16K" => (-0.54, -0.53),
            other => panic!("{other} is a stream of reads"),
        };
        assert!((least..=most).contains(&deviation), "{}: {deviation}", scenario.name);
        compared += 1;
    }
    assert_eq!(compared, 6);
}

/// Mean latency of a stream whose requests are served in order, of which request i is done in cycle `done(i)`, and of which at most
/// `entries` wait for their burst. A request enters a cycle after the one before, and `late` cycles after an entry is free, which
/// is CL 16 + burst 4 before an earlier request is done.
fn in_order(count: u64, done: impl Fn(u64) -> u64, entries: u64, late: u64) -> f64 {
    let mut entered = 0;
    let latencies = (0..count).map(|request| {
        let free = request.checked_sub(entries).map_or(0, |earlier| done(earlier) - 20 + late);
        entered = if request == 0 { 0 } else { (entered + 1).max(free) };
        done(request) - entered
    });
    latencies.sum::<u64>() as f64 / count as f64
}

#[test]
fn latencies_follow_from_what_is_in_flight() {
    let one_bank = |request: u64| 55 * request + 37;
    let many_banks = |request: u64| request / 4 * 28 + request % 4 * 5 + 37;
    let of = |name: &str, entries: usize| {
        let scenario = scenarios().into_iter().find(|scenario| scenario.name == name).expect("it is listed");
        with_run(scenario, Some(entries)).1.read_latency.expect("it reads")
    };
    let theirs = |name: &str| {
        let scenario = scenarios().into_iter().find(|scenario| scenario.name == name).expect("it is listed");
        reference("dramsim3", &scenario).and_then(|found| found.read_latency).expect("it reads")
    };
    // Ours: exactly.
    assert_eq!(of("op_stride_128K", 40), in_order(512, one_bank, 40, 0));
    for (name, entries) in
        [("op_stride_8K", 40), ("op_stride_8K", 64), ("op_stride_16K", 40), ("op_stride_16K", 64)]
    {
        assert_eq!(of(name, entries), in_order(512, many_banks, entries as u64, 0), "{name} with {entries}");
    }
    // DRAMsim3's, with another number in flight, each of which enters a cycle later (deviations 2 and 3 of the page).
    for (name, expected) in [
        ("cp_read_64", in_order(64, one_bank, 40, 1)),
        ("cp_read_256", in_order(256, one_bank, 40, 1)),
        ("op_stride_128K", in_order(512, one_bank, 40, 1)),
        ("op_stride_8K", in_order(512, many_banks, 128, 1)),
        ("op_stride_16K", in_order(512, many_banks, 96, 1)),
    ] {
        let found = theirs(name);
        assert!((found - expected).abs() < 0.15, "{name}: {found}, {expected} expected");
    }
    // Deviation 1: between those of queues of 40 and of 48, which is a bank's queue more.
    let (least, most) = (of("op_seq_64B", 40), of("op_seq_64B", 48));
    assert!((least..most).contains(&theirs("op_seq_64B")), "{least} to {most}");
}

/// A line of the page's table.
fn line((scenario, found, cycles): &(Scenario, Found, u64)) -> String {
    let latency = |found: Option<&Found>| match found.map(|found| found.read_latency) {
        Some(Some(latency)) => format!("{latency:.1}"),
        _ => "-".to_owned(),
    };
    let dramsim = reference("dramsim3", scenario);
    let activates = |simulator| {
        reference(simulator, scenario).map_or_else(|| "-".to_owned(), |found| found.activates.to_string())
    };
    let moved = 64.0 * scenario.count as f64;
    let deviation = match (found.read_latency, dramsim.as_ref().and_then(|found| found.read_latency)) {
        (Some(ours), Some(theirs)) => format!("{:+.1} %", 100.0 * (ours / theirs - 1.0)),
        _ => "-".to_owned(),
    };
    format!(
        "| `{}` | {} | {} | {} | {} | {} | {deviation} | {:.2} |",
        scenario.name,
        found.activates,
        activates("dramsim3"),
        activates("ramulator2"),
        latency(Some(found)),
        latency(dramsim.as_ref()),
        moved / *cycles as f64,
    )
}

#[test]
fn the_page_shows_what_is_found() {
    let page = std::fs::read_to_string(PAGE).expect("the page can be read");
    let lines: Vec<String> = run_all().iter().map(line).collect();
    let table = lines.join("\n");
    assert!(page.contains(&table), "docs/dram.md: expected\n{table}");
}
