//! Miss rates of the L1D by replacement policy, beside the fewest misses that any could have.
//!
//! ```console
//! cargo run --release -p strata-gpu --example miss_rates -- MACHINE SIZE WORKLOAD...
//! ```
//!
//! A policy that records what it is told stands before each policy in turn. A look-up that finds its line on the way is neither a hit
//! nor a miss here: no policy hears of it. The fewest misses are those of the stream that LRU saw; a flush between launches empties a
//! cache, which the bound does not know.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Mutex;

use schemars::JsonSchema;
use serde::Deserialize;
use strata_gpu::machine::Machine;
use strata_gpu::{RunRequest, run};
use strata_memory::policy::{Chosen, PolicyKind};
use strata_memory::replacement::optimal::fewest_misses;
use strata_memory::replacement::{Replacement, ReplacementPolicy, Shape};
use strata_memory::{LineAddress, NodeId, Touch};
use strata_workloads::{Size, find};

/// The policy that decides.
static DECIDES: Mutex<&str> = Mutex::new("lru");

/// What each SM's cache has looked up.
static SEEN: Mutex<BTreeMap<NodeId, Stream>> = Mutex::new(BTreeMap::new());

/// The sets and lines that were looked up, and how many of these missed.
#[derive(Default)]
struct Stream {
    look_ups: Vec<(usize, LineAddress)>,
    misses: u64,
}

/// Does what another policy does, and records it.
#[derive(Debug, Deserialize, JsonSchema)]
struct Recorder {}

impl ReplacementPolicy for Recorder {
    fn build(&self, shape: Shape) -> Box<dyn Replacement> {
        let name = *DECIDES.lock().expect("nobody panics with it");
        let policy = Chosen::<dyn ReplacementPolicy>::named(name).expect("it is built in");
        Box::new(Recorded(policy.build(shape)))
    }
}

struct Recorded(Box<dyn Replacement>);

impl Recorded {
    fn record(set: usize, touch: &Touch, missed: bool) {
        let mut seen = SEEN.lock().expect("nobody panics with it");
        let stream = seen.entry(touch.node).or_default();
        stream.look_ups.push((set, touch.line));
        stream.misses += u64::from(missed);
    }
}

impl Replacement for Recorded {
    fn used(&mut self, set: usize, way: usize, touch: &Touch) {
        Self::record(set, touch, false);
        self.0.used(set, way, touch);
    }

    fn filled(&mut self, set: usize, way: usize, touch: &Touch) {
        Self::record(set, touch, true);
        self.0.filled(set, way, touch);
    }

    fn victim(&mut self, set: usize, eligible: u64) -> usize {
        self.0.victim(set, eligible)
    }
}

/// Misses and look-ups of a workload under a policy, and the fewest misses of what it looked up.
fn misses(workload: &str, size: Size, machine: &Machine, policy: &'static str) -> Result<[u64; 3], String> {
    *DECIDES.lock().expect("nobody panics with it") = policy;
    SEEN.lock().expect("nobody panics with it").clear();
    let found = find(workload).ok_or_else(|| format!("unknown workload `{workload}`"))?;
    let program = found.program(size).map_err(|error| format!("{workload}: {error}"))?;
    run(RunRequest::plain(program.as_ref(), machine, &mut |_| (), &mut |_| ()))
        .map_err(|error| error.to_string())?;
    let values = machine.values();
    let ways = values.iter().find(|value| value.path == "l1d.sram.ways").ok_or("the L1D has no ways")?;
    let ways: u64 = ways.value.to_string().parse().map_err(|error| format!("l1d.sram.ways: {error}"))?;
    let seen = SEEN.lock().expect("nobody panics with it");
    Ok(seen.values().fold([0; 3], |[misses, all, fewest], stream| {
        let least = fewest_misses(&stream.look_ups, ways as usize, false);
        [misses + stream.misses, all + stream.look_ups.len() as u64, fewest + least]
    }))
}

fn table(machine: &str, size: &str, workloads: &[String]) -> Result<(), String> {
    let policies = <dyn ReplacementPolicy>::family().names();
    let policies: Vec<_> = policies.into_iter().filter(|name| *name != "recorded").collect();
    let machine = Machine::load(machine, &["l1d.replacement=recorded".to_owned()])
        .map_err(|error| error.to_string())?;
    let size = size.parse::<Size>().map_err(|error| error.to_string())?;
    println!("| workload | look-ups | {} | fewest |", policies.join(" | "));
    println!("| --- | ---: |{} ---: |", " ---: |".repeat(policies.len()));
    for workload in workloads {
        let (mut row, mut of_lru) = (Vec::new(), [0; 3]);
        for policy in &policies {
            let counts = misses(workload, size, &machine, policy)?;
            if *policy == "lru" {
                of_lru = counts;
            }
            row.push(percent(counts[0], counts[1]));
        }
        println!("| {workload} | {} | {} | {} |", of_lru[1], row.join(" | "), percent(of_lru[2], of_lru[1]));
    }
    Ok(())
}

fn percent(part: u64, all: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / all.max(1) as f64)
}

fn main() -> ExitCode {
    strata_designs::registry::extend(|known| known.with_replacement::<Recorder>("recorded"));
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.as_slice() {
        [machine, size, workloads @ ..] if !workloads.is_empty() => table(machine, size, workloads),
        _ => Err("expected MACHINE SIZE WORKLOAD...".into()),
    };
    done.map_or_else(
        |error| {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    )
}
