//! What policies of prefetch do in the L1D and in the LLC, as CSV: cycles, and what became of the lines that were fetched.
//!
//! ```console
//! cargo run --release -p strata-gpu --example prefetches -- MACHINE SIZE WORKLOAD...
//! ```

use std::process::ExitCode;

use strata_gpu::machine::Machine;
use strata_gpu::results::{RunResult, Verdict};
use strata_gpu::{RunRequest, SIMULATOR, run};
use strata_memory::policy::PolicyKind;
use strata_memory::prefetch::PrefetchPolicy;
use strata_workloads::{Size, find};

/// The caches: their door, and the group that counts their prefetches.
const CACHES: [(&str, &str); 2] = [("l1d", "l1d_prefetch"), ("llc", "l2_prefetch")];

const COUNTERS: [&str; 5] = ["issued", "useful", "late", "unused", "harmful"];

fn result(machine: &str, workload: &str, size: Size, set: &str) -> Result<RunResult, String> {
    let machine = Machine::load(machine, &[set.to_owned()]).map_err(|error| error.to_string())?;
    let found = find(workload).ok_or_else(|| format!("unknown workload `{workload}`"))?;
    let program = found.program(size).map_err(|error| format!("{workload}: {error}"))?;
    let result = run(RunRequest::plain(program.as_ref(), &machine, &mut |_| (), &mut |_| ()))
        .map_err(|error| error.to_string())?;
    match result.verdict {
        Verdict::Verified => Ok(result),
        _ => Err(format!("{workload}, {set}: its results are wrong")),
    }
}

fn table(machine: &str, size: &str, workloads: &[String]) -> Result<(), String> {
    let size = size.parse::<Size>().map_err(|error| error.to_string())?;
    println!("cache,workload,size,policy,cycles,{},simulator", COUNTERS.join(","));
    for (cache, group) in CACHES {
        for workload in workloads {
            for policy in <dyn PrefetchPolicy>::family().names() {
                let result = result(machine, workload, size, &format!("{cache}.prefetch={policy}"))?;
                // Without a policy there is no such group.
                let counts = COUNTERS.map(|name| result.counter(group, name).unwrap_or(0).to_string());
                let counts = counts.join(",");
                let cycles = result.cycles();
                println!("{cache},{workload},{size},{policy},{cycles},{counts},{SIMULATOR}");
            }
        }
    }
    Ok(())
}

fn main() -> ExitCode {
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
