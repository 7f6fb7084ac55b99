//! The measurements of a finished job, and how a job is run.

use std::path::Path;

use strata_engine::statistics::Group;
use strata_gpu::area::{self, AreaSize};
use strata_gpu::energy::{EnergyReport, StructureEnergy};
use strata_gpu::machine::Machine;
use strata_gpu::profile::{LineClass, Profile};
use strata_gpu::results::{LaunchResult, Verdict};
use strata_gpu::{RunRequest, catalogue, run};
use strata_workloads::HostProgram;

use crate::job::{Job, Kind};
use crate::program::Program;

/// A finished job and its measurements.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The job that was run.
    pub job: Job,
    /// The numbers: those of the whole run, then those of each launch.
    pub rows: Vec<Row>,
}

/// One number of a record.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The launch, from 0; `None` for the whole run.
    pub launch: Option<u32>,
    /// Group of the counter; in rows of launches, the name of the kernel.
    pub group: String,
    /// Name of the counter within its group.
    pub counter: String,
    /// The value that was measured.
    pub value: Value,
}

/// A value with its type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A count of events.
    Count(u64),
    /// A number that is not a count.
    Real(f64),
}

impl Value {
    /// The value as a floating-point number.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        match self {
            Value::Count(count) => count as f64,
            Value::Real(real) => real,
        }
    }
}

impl Record {
    /// The value of a counter for the whole run.
    #[must_use]
    pub fn get(&self, group: &str, counter: &str) -> Option<Value> {
        let is_it = |row: &&Row| row.launch.is_none() && row.group == group && row.counter == counter;
        self.rows.iter().find(is_it).map(|row| row.value)
    }

    /// Names of a group's counters; empty if there is no such group.
    #[must_use]
    pub fn counters(&self, group: &str) -> Vec<&str> {
        let of_run = self.rows.iter().filter(|row| row.launch.is_none());
        of_run.filter(|row| row.group == group).map(|row| row.counter.as_str()).collect()
    }

    /// Names of the groups, in order.
    #[must_use]
    pub fn groups(&self) -> Vec<&str> {
        let mut groups: Vec<&str> = Vec::new();
        for row in self.rows.iter().filter(|row| row.launch.is_none()) {
            if !groups.contains(&row.group.as_str()) {
                groups.push(&row.group);
            }
        }
        groups
    }
}

/// Names of the counters that a run on a machine records, by group.
///
/// # Errors
/// Why the machine cannot be built.
pub(crate) fn counters_of_run(machine: &Machine) -> Result<Vec<(String, Vec<String>)>, String> {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let mut groups = vec![("run".to_owned(), names(&OF_RUN))];
    for group in catalogue::statistics(machine)? {
        let counters = group.definitions.iter().map(|definition| definition.name.to_owned());
        groups.push((group.name.to_owned(), counters.collect()));
    }
    if let Some(energy) = &machine.file().energy {
        let mut counters: Vec<String> = names(&ENERGY_SUMS);
        counters.extend(energy.keys().map(|structure| format!("{structure}_pj")));
        groups.push(("energy".into(), counters));
    }
    groups.push(("area".into(), area_rows(machine).into_iter().map(|row| row.counter).collect()));
    Ok(groups)
}

/// Names of the counters that a profile records, as group and counter.
pub(crate) fn counters_of_profile() -> Vec<(String, String)> {
    rows_of_profile(&Profile::default()).into_iter().map(|row| (row.group, row.counter)).collect()
}

/// Runs a job on one thread.
///
/// # Errors
/// If the run is refused, does not finish or has wrong results. Such a run yields no numbers.
pub fn measure(job: &Job) -> Result<Record, String> {
    let program = Program::find(&job.program())?.at(job.size)?;
    let rows = match job.kind {
        Kind::Timing => timed(job, program.as_ref())?,
        Kind::Profile => profiled(program.as_ref())?,
    };
    Ok(Record { job: job.clone(), rows })
}

fn timed(job: &Job, program: &dyn HostProgram) -> Result<Vec<Row>, String> {
    let table = job.machine.as_ref().ok_or("a timing job has a machine")?;
    let text = toml::to_string(table).expect("a table is TOML");
    let machine =
        Machine::parse(Path::new("the job's machine"), &text, &[]).map_err(|error| error.to_string())?;
    let result = run(RunRequest {
        program,
        size: job.launch_file.is_none().then(|| job.size.name().to_owned()),
        machine: &machine,
        overrides: &[],
        threads: 1,
        saves_threads: false,
        window: None,
        check: false,
        max_cycles: None,
        interrupt: None,
        region: Default::default(),
        provenance: Default::default(),
        sample_cycles: None,
        progress: &mut |_| (),
        so_far: &mut |_| (),
    })
    .map_err(|error| error.to_string())?;
    if let Verdict::Wrong(problems) = &result.verdict {
        return Err(format!("its results are wrong: {}", problems.join("; ")));
    }
    let mut rows = rows_of(&Numbers {
        launches: &result.launches,
        statistics: &result.statistics,
        core_mhz: result.facts.core_mhz,
        statistics_hash: result.statistics_hash(),
    });
    rows.extend(result.energy.iter().flat_map(energy_rows));
    rows.extend(area_rows(&machine));
    Ok(rows)
}

/// Sums over the structures of a machine.
const ENERGY_SUMS: [&str; 2] = ["total_pj", "off_chip_pj"];

/// Energy in picojoules: each structure's (`energy.l1d_pj`), the total, and the part spent on requests that
/// left the SM.
pub(crate) fn energy_rows(energy: &EnergyReport) -> Vec<Row> {
    let row = |counter: String, pj: f64| Row {
        launch: None,
        group: "energy".into(),
        counter,
        value: Value::Real(pj),
    };
    // If a design has no energies, totals would look complete without being so.
    let whole = energy.unknown.is_empty();
    let off_chip = energy.structures.iter().filter(|structure| structure.off_chip);
    let off_chip: f64 = off_chip.map(StructureEnergy::total_pj).sum();
    let sums = ENERGY_SUMS.into_iter().zip([energy.total_pj(), off_chip]);
    let sums = sums.filter(|_| whole).map(|(name, pj)| row(name.into(), pj));
    let structures = energy.structures.iter();
    sums.chain(structures.map(|of| row(format!("{}_pj", of.name), of.total_pj()))).collect()
}

/// The size of each component of the L1D in its own unit (`area.data_array`), and their sum in transistors.
pub(crate) fn area_rows(machine: &Machine) -> Vec<Row> {
    let components = machine.file().doors.l1d.area();
    let row = |counter: String, count: u64| Row {
        launch: None,
        group: "area".into(),
        counter,
        value: Value::Count(count),
    };
    let rows = components.iter().map(|component| {
        let (AreaSize::Transistors(count) | AreaSize::SquareFeatures(count)) = component.size;
        row(component.name.to_ascii_lowercase().replace([' ', '-'], "_"), count)
    });
    rows.chain([row("l1d_transistors".into(), area::total(&components).0)]).collect()
}

/// Counters of the group `run`.
const OF_RUN: [&str; 6] =
    ["launches", "cycles", "warp_instructions", "thread_instructions", "core_mhz", "statistics_hash"];

/// What is counted in a run on a machine.
pub(crate) struct Numbers<'a> {
    pub launches: &'a [LaunchResult],
    pub statistics: &'a [Group],
    pub core_mhz: u32,
    pub statistics_hash: u64,
}

/// The rows of a run's counters and launches.
pub(crate) fn rows_of(numbers: &Numbers<'_>) -> Vec<Row> {
    let Numbers { launches, statistics, .. } = numbers;
    let mut rows = Vec::new();
    let mut add = |launch: Option<u32>, group: &str, counter: &str, value: u64| {
        let (group, counter) = (group.to_owned(), counter.to_owned());
        rows.push(Row { launch, group, counter, value: Value::Count(value) });
    };
    let sum = |count: fn(&LaunchResult) -> u64| launches.iter().map(count).sum();
    let of_run = [
        launches.len() as u64,
        sum(|launch| launch.cycles),
        sum(|launch| launch.warp_instructions),
        sum(|launch| launch.thread_instructions),
        u64::from(numbers.core_mhz),
        numbers.statistics_hash,
    ];
    for (counter, value) in OF_RUN.into_iter().zip(of_run) {
        add(None, "run", counter, value);
    }
    for group in *statistics {
        for (definition, value) in group.definitions.iter().zip(&group.values) {
            add(None, group.name, definition.name, *value);
        }
    }
    for (number, launch) in (0..).zip(*launches) {
        for (counter, value) in [
            ("cycles", launch.cycles),
            ("warp_instructions", launch.warp_instructions),
            ("thread_instructions", launch.thread_instructions),
            ("registers", u64::from(launch.registers)),
            ("shared_bytes", u64::from(launch.shared_bytes)),
            ("ctas_per_sm", u64::from(launch.ctas_per_sm)),
        ] {
            add(Some(number), &launch.kernel, counter, value);
        }
    }
    rows
}

fn profiled(program: &dyn HostProgram) -> Result<Vec<Row>, String> {
    // The profile barely depends on the number of registers that kernels are compiled for.
    let machine = Machine::load("gtx480", &[]).expect("a built-in machine can be built");
    let (profile, outcome) =
        strata_gpu::profile_program(program, &machine).map_err(|error| error.to_string())?;
    if !outcome.passed() {
        return Err("its results are wrong".into());
    }
    Ok(rows_of_profile(&profile))
}

fn rows_of_profile(profile: &Profile) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut add = |group: &str, counter: &str, value: u64| {
        let (group, counter) = (group.to_owned(), counter.to_owned());
        rows.push(Row { launch: None, group, counter, value: Value::Count(value) });
    };
    add("run", "launches", profile.launches);
    add("run", "warp_instructions", profile.warp_instructions);
    add("run", "thread_instructions", profile.thread_instructions);
    add("run", "footprint_bytes", profile.footprint_bytes);
    for (group, space) in [
        ("global", &profile.global),
        ("local", &profile.local),
        ("shared", &profile.shared),
        ("constant", &profile.constant),
    ] {
        add(group, "loads", space.loads);
        add(group, "stores", space.stores);
        add(group, "atomics", space.atomics);
        add(group, "accesses", space.accesses);
    }
    for class in LineClass::ALL {
        let name = class.name().to_ascii_lowercase().replace('-', "_");
        add("lines", &name, profile.lines.lines[class as usize]);
        add("line_accesses", &name, profile.lines.accesses[class as usize]);
    }
    rows
}
