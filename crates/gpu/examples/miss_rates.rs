//! Load misses of the L1D and the LLC by replacement policy, beside the fewest that any could have, as CSV.
//!
//! ```console
//! cargo run --release -p strata-gpu --example miss_rates -- MACHINE SIZE WORKLOAD...
//! ```
//!
//! A policy that records what it is told stands before each policy in turn. A look-up that finds its line on the way is neither a hit
//! nor a miss here: no policy hears of it. The fewest misses (`fewest`) are those of the stream that LRU saw; a flush between launches
//! empties a cache, which the bound does not know. Loads and misses must be those of the cache's own counters.

use std::process::ExitCode;
use std::sync::Mutex;

use schemars::JsonSchema;
use serde::Deserialize;
use strata_gpu::machine::Machine;
use strata_gpu::results::Verdict;
use strata_gpu::{RunRequest, SIMULATOR, run};
use strata_memory::policy::{Chosen, PolicyKind};
use strata_memory::replacement::optimal::fewest_load_misses;
use strata_memory::replacement::{Replacement, ReplacementPolicy, Shape};
use strata_memory::{LineAddress, Touch, TouchKind};
use strata_workloads::{Size, find};

/// The policy that decides.
static DECIDES: Mutex<&str> = Mutex::new("lru");

/// The caches: their door, the group of their counters, and those of its loads that hit, that hit in part, and that miss.
const CACHES: [(&str, &str, [&str; 3]); 2] = [
    ("l1d", "l1d", ["load_hits", "load_partial_hits", "load_misses"]),
    ("llc", "l2", ["read_hits", "read_partial_hits", "read_misses"]),
];

/// What each cache has looked up.
static SEEN: Mutex<Vec<Stream>> = Mutex::new(Vec::new());

/// The look-ups of a cache.
struct Stream {
    ways: usize,
    /// The set and the line, and whether it was a load.
    look_ups: Vec<(usize, LineAddress, bool)>,
    /// Loads that missed.
    misses: u64,
}

/// Does what another policy does, and records it.
#[derive(Debug, Deserialize, JsonSchema)]
struct Recorder {}

impl ReplacementPolicy for Recorder {
    fn build(&self, shape: Shape) -> Box<dyn Replacement> {
        let name = *DECIDES.lock().expect("nobody panics with it");
        let policy = Chosen::<dyn ReplacementPolicy>::named(name).expect("it is built in");
        let mut seen = SEEN.lock().expect("nobody panics with it");
        seen.push(Stream { ways: shape.ways, look_ups: Vec::new(), misses: 0 });
        Box::new(Recorded { cache: seen.len() - 1, policy: policy.build(shape) })
    }
}

struct Recorded {
    /// Its place in [`SEEN`].
    cache: usize,
    policy: Box<dyn Replacement>,
}

impl Recorded {
    fn record(&self, set: usize, touch: &Touch, missed: bool) {
        let mut seen = SEEN.lock().expect("nobody panics with it");
        let (stream, loads) = (&mut seen[self.cache], touch.kind == TouchKind::Load);
        stream.look_ups.push((set, touch.line, loads));
        stream.misses += u64::from(missed && loads);
    }
}

impl Replacement for Recorded {
    fn used(&mut self, set: usize, way: usize, touch: &Touch) {
        self.record(set, touch, false);
        self.policy.used(set, way, touch);
    }

    fn filled(&mut self, set: usize, way: usize, touch: &Touch) {
        self.record(set, touch, true);
        self.policy.filled(set, way, touch);
    }

    fn victim(&mut self, set: usize, eligible: u64) -> usize {
        self.policy.victim(set, eligible)
    }
}

/// Load misses under a policy, of how many loads, and the fewest of what it looked up.
struct Counts {
    misses: u64,
    loads: u64,
    fewest: u64,
}

fn counts(
    workload: &str,
    size: Size,
    machine: &Machine,
    policy: &'static str,
    (_, group, names): (&str, &str, [&str; 3]),
) -> Result<Counts, String> {
    *DECIDES.lock().expect("nobody panics with it") = policy;
    SEEN.lock().expect("nobody panics with it").clear();
    let found = find(workload).ok_or_else(|| format!("unknown workload `{workload}`"))?;
    let program = found.program(size).map_err(|error| format!("{workload}: {error}"))?;
    let result = run(RunRequest::plain(program.as_ref(), machine, &mut |_| (), &mut |_| ()))
        .map_err(|error| error.to_string())?;
    if result.verdict != Verdict::Verified {
        return Err(format!("{workload}, {policy}: its results are wrong"));
    }
    let mut counts = Counts { misses: 0, loads: 0, fewest: 0 };
    for Stream { ways, look_ups, misses } in SEEN.lock().expect("nobody panics with it").iter() {
        counts.misses += misses;
        counts.loads += look_ups.iter().filter(|(.., loads)| *loads).count() as u64;
        if policy == "lru" {
            counts.fewest += fewest_load_misses(look_ups, *ways);
        }
    }
    let [hits, partial, misses] = names.map(|name| result.counter(group, name).unwrap_or(0));
    if (counts.loads, counts.misses) != (hits + partial + misses, misses) {
        let Counts { loads, misses: recorded, .. } = counts;
        return Err(format!(
            "{workload}, {policy}: recorded {loads} loads and {recorded} misses, expected those of `{group}`"
        ));
    }
    Ok(counts)
}

fn table(machine: &str, size: &str, workloads: &[String]) -> Result<(), String> {
    let policies = <dyn ReplacementPolicy>::family().names();
    let size = size.parse::<Size>().map_err(|error| error.to_string())?;
    println!("cache,workload,size,policy,loads,misses,simulator");
    for of in CACHES {
        let cache = of.0;
        let machine = Machine::load(machine, &[format!("{cache}.replacement=recorded")])
            .map_err(|error| error.to_string())?;
        for workload in workloads {
            for policy in policies.iter().filter(|name| **name != "recorded") {
                let Counts { misses, loads, fewest } = counts(workload, size, &machine, policy, of)?;
                println!("{cache},{workload},{size},{policy},{loads},{misses},{SIMULATOR}");
                if *policy == "lru" {
                    println!("{cache},{workload},{size},fewest,{loads},{fewest},{SIMULATOR}");
                }
            }
        }
    }
    Ok(())
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
