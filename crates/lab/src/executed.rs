//! A CUDA program that `strata exec` ran, as a record: from the lines that its driver wrote about one process.

use std::collections::BTreeMap;

use serde::Deserialize;
use strata_engine::statistics::Group;
use strata_gpu::catalogue;
use strata_gpu::endurance::lifetimes;
use strata_gpu::energy::Meter;
use strata_gpu::machine::Machine;
use strata_gpu::results::{LaunchResult, SCHEMA};
use strata_measure::numbers::{Counted, area_rows, energy_rows, lifetime_rows, rows_of};
use strata_measure::setup;
use strata_workloads::Size;

use crate::SIMULATOR;
use crate::job::{FORMAT, Job, Kind};
use crate::record::Record;
use crate::store::HostTime;
use crate::variant::Variant;

/// A launch's line.
#[derive(Deserialize)]
struct Launch {
    launch: u64,
    kernel: String,
    grid: [u32; 3],
    block: [u32; 3],
    cycles: u64,
    #[serde(default)]
    overlapped_cycles: u64,
    warp_instructions: u64,
    thread_instructions: u64,
    registers_per_thread: u32,
    reuses_registers: bool,
    shared_bytes_per_cta: u32,
    #[serde(default)]
    shared_carve_out_bytes: Option<u32>,
    ctas_per_sm: u32,
    limiter: String,
}

/// The last line: the whole run.
#[derive(Deserialize)]
struct Run {
    schema: String,
    stopped: Option<String>,
    provenance: Provenance,
    workload: String,
    launch_count: u64,
    cycles: Option<u64>,
    statistics_hash: String,
    simulation: Simulation,
    statistics: BTreeMap<String, BTreeMap<String, u64>>,
}

#[derive(Deserialize)]
struct Provenance {
    simulator: String,
    machine: String,
    ptx: String,
    inputs: String,
}

#[derive(Deserialize)]
struct Simulation {
    seconds: f64,
    peak_memory_bytes: u64,
}

/// The record of a program's process, from the lines of its results (docs/driver.md), and what the run cost the host. `variant`
/// names the machine, and `command` is what ran the program.
///
/// # Errors
/// If the program did not end, a launch failed or none was timed, or the results are those of another simulator or
/// machine: nothing of that is the measurement of a whole program.
pub fn record(
    lines: &str,
    machine: &Machine,
    variant: &Variant,
    command: Vec<String>,
) -> Result<(Record, HostTime), String> {
    let lines: Vec<&str> = lines.lines().collect();
    let (last, launches) = lines.split_last().ok_or("found no results, expected those of a launch")?;
    let run: Run = serde_json::from_str(last)
        .map_err(|_| "found no results of the whole run, expected them at its end: it was stopped")?;
    if let Some(reason) = run.stopped {
        return Err(format!("a launch failed: {reason}"));
    }
    let cycles = run.cycles.ok_or("found no cycles, expected a run on the modelled GPU")?;
    let Provenance { simulator, machine: machine_hash, ptx, inputs } = run.provenance;
    for (what, found, expected) in [
        ("schema", &run.schema, SCHEMA),
        ("the driver's simulator", &simulator, SIMULATOR),
        ("the driver's machine", &machine_hash, &machine.hash()),
    ] {
        if found != expected {
            return Err(format!("{what}: found `{found}`, expected `{expected}`"));
        }
    }
    let launches = read_launches(launches, run.launch_count)?;
    let statistics = groups(machine, &run.statistics)?;
    let counted = Counted {
        launches: &launches,
        phases: &[],
        statistics: &statistics,
        core_mhz: machine.facts().core_mhz,
        statistics_hash: u64::from_str_radix(&run.statistics_hash, 16)
            .map_err(|error| format!("statistics_hash: found `{}`: {error}", run.statistics_hash))?,
    };
    let mut rows = rows_of(&counted);
    let energy = Meter::new(machine, &statistics)?.map(|meter| meter.report(&statistics, cycles));
    rows.extend(energy.iter().flat_map(energy_rows));
    rows.extend(setup::rows(&[], &statistics, energy.as_ref()));
    rows.extend(area_rows(machine));
    rows.extend(lifetimes(machine, &statistics, cycles)?.iter().flat_map(lifetime_rows));
    let job = Job {
        format: FORMAT.into(),
        simulator,
        kind: Kind::Timing,
        workload: run.workload,
        launch_file: None,
        executed: true,
        size: Size::Test,
        variant: variant.name.clone(),
        system: variant.system.clone(),
        overrides: variant.sets.clone(),
        command,
        ptx,
        inputs,
        machine: Some(machine.table().clone().into()),
        package: None,
    };
    let Simulation { seconds, peak_memory_bytes } = run.simulation;
    Ok((Record { job, rows }, HostTime { seconds, peak_memory_bytes }))
}

/// The launches, which must all be there, in order.
fn read_launches(lines: &[&str], count: u64) -> Result<Vec<LaunchResult>, String> {
    if lines.is_empty() {
        return Err("it launched nothing".into());
    }
    let mut launches = Vec::new();
    for (number, line) in (0..).zip(lines) {
        let launch: Launch =
            serde_json::from_str(line).map_err(|error| format!("line {}: {error}", number + 1))?;
        if launch.launch != number {
            let (line, found) = (number + 1, launch.launch);
            return Err(format!(
                "line {line}: found launch {found}, expected launch {number}: the launches are not those of one process"
            ));
        }
        launches.push(LaunchResult {
            kernel: launch.kernel,
            grid: launch.grid,
            block: launch.block,
            functional: false,
            cycles: launch.cycles,
            overlapped_cycles: launch.overlapped_cycles,
            warp_instructions: launch.warp_instructions,
            thread_instructions: launch.thread_instructions,
            registers: launch.registers_per_thread,
            reuses_registers: launch.reuses_registers,
            shared_bytes: launch.shared_bytes_per_cta,
            carve_out: launch.shared_carve_out_bytes,
            ctas_per_sm: launch.ctas_per_sm,
            limiter: launch.limiter,
            printed: Vec::new(),
            energy: None,
        });
    }
    if launches.len() as u64 != count {
        return Err(format!("found {} launches, expected {count}", launches.len()));
    }
    Ok(launches)
}

/// The machine's groups of counters with the values that were found.
fn groups(machine: &Machine, found: &BTreeMap<String, BTreeMap<String, u64>>) -> Result<Vec<Group>, String> {
    let mut groups = catalogue::statistics(machine)?;
    for group in &mut groups {
        for (definition, value) in group.definitions.iter().zip(&mut group.values) {
            *value = *found.get(group.name).and_then(|counters| counters.get(definition.name)).ok_or_else(
                || format!("statistics: found no `{}.{}`, expected it", group.name, definition.name),
            )?;
        }
    }
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use strata_gpu::{RunRequest, run};

    use super::*;
    use crate::record::measure;

    fn variant() -> Variant {
        let sets = vec!["gpu.sms=2".into()];
        Variant { name: "small".into(), base: "gtx480".into(), system: None, sets, version: None }
    }

    /// The lines that a driver writes about a program that does what a workload does.
    fn lines(machine: &Machine) -> Vec<Value> {
        let program = strata_workloads::find("bfs").unwrap().program(Size::Test).unwrap();
        let result = run(RunRequest::plain(program.as_ref(), machine, &mut |_| (), &mut |_| ()));
        let mut whole = result.unwrap().to_json();
        let mut lines: Vec<Value> = whole["launches"].take().as_array().unwrap().clone();
        for (number, launch) in lines.iter_mut().enumerate() {
            launch["launch"] = json!(number);
        }
        whole["launch_count"] = json!(lines.len());
        whole["provenance"]["simulator"] = json!(SIMULATOR);
        lines.push(whole);
        lines
    }

    fn read(lines: &[Value], machine: &Machine) -> Result<Record, String> {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        record(&text, machine, &variant(), vec!["strata".into()]).map(|(record, _)| record)
    }

    #[test]
    fn a_program_is_recorded_as_a_job_that_does_the_same_is() {
        let machine = variant().machine().unwrap();
        let lines = lines(&machine);
        let found = read(&lines, &machine).unwrap();
        let job = Job::timing("bfs", Size::Test, &variant()).unwrap();
        assert!(found.rows == measure(&job, None).unwrap().rows, "rows differ");
        assert_ne!(found.job.key(), job.key(), "a workload's job is found by its name, not by what it does");
        assert_eq!((found.job.variant.as_str(), found.job.command.len()), ("small", 1));
        let mut other = lines.clone();
        other.last_mut().unwrap()["provenance"]["inputs"] = json!("other");
        assert_ne!(read(&other, &machine).unwrap().job.key(), found.job.key());
    }

    #[test]
    fn what_is_no_whole_program_is_refused() {
        let machine = variant().machine().unwrap();
        let lines = lines(&machine);
        let end = lines.len() - 1;
        type Change<'a> = &'a dyn Fn(&mut Vec<Value>);
        let changes: [(&str, Change<'_>); 8] = [
            ("found no results of the whole run", &|lines| drop(lines.pop())),
            ("a launch failed: it trapped", &|lines| lines[end]["stopped"] = json!("it trapped")),
            ("found no cycles, expected a run on the modelled GPU", &|lines| {
                lines[end]["cycles"] = json!(null)
            }),
            ("the driver's simulator: found `old`, expected `", &|lines| {
                lines[end]["provenance"]["simulator"] = json!("old");
            }),
            ("the driver's machine: found `else`, expected `", &|lines| {
                lines[end]["provenance"]["machine"] = json!("else");
            }),
            (
                "line 2: found launch 2, expected launch 1: the launches are not those of one process",
                &|lines| drop(lines.remove(1)),
            ),
            ("it launched nothing", &|lines| drop(lines.drain(..end))),
            ("statistics: found no `l1d.accesses`, expected it", &|lines| {
                lines[end]["statistics"]["l1d"].as_object_mut().unwrap().remove("accesses");
            }),
        ];
        for (expected, change) in changes {
            let mut other = lines.clone();
            change(&mut other);
            let error = read(&other, &machine).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
        assert_eq!(read(&[], &machine).unwrap_err(), "found no results, expected those of a launch");
    }
}
