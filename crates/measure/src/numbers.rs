//! Every number of a run by name, and how it is found: a group, as `l1d`, and a counter.

use std::sync::atomic::AtomicBool;

use strata_engine::statistics::Group;
use strata_gpu::endurance;
use strata_gpu::machine::Machine;
use strata_gpu::machine::identity::number;
use strata_gpu::results::{LaunchResult, PhaseResult, RunResult, Verdict};
use strata_gpu::{RunRequest, catalogue, run};
use strata_workloads::{HostProgram, Size};
use toml::Table;

use crate::rows::{ENERGY_SUMS, lifetime_group};
pub use crate::rows::{LIFETIME, Row, Value, area_rows, energy_rows, lifetime_rows};
use crate::setup;

/// The numbers of a whole run, looked up by name. In a group `machine.SECTION` they are those of its machine.
#[derive(Clone, Copy, Debug)]
pub struct Numbers<'a> {
    /// The rows of the run; those of single launches are passed over.
    pub rows: &'a [Row],
    /// The machine's table; `None` where none decided the numbers.
    pub machine: Option<&'a Table>,
}

impl<'a> Numbers<'a> {
    /// The value of a counter.
    #[must_use]
    pub fn get(&self, group: &str, counter: &str) -> Option<Value> {
        if let Some(section) = group.strip_prefix("machine.") {
            return number(self.machine?, &format!("{section}.{counter}")).map(Value::Real);
        }
        self.of_run().find(|row| row.group == group && row.counter == counter).map(|row| row.value)
    }

    /// Names of a group's counters; empty if there is no such group.
    #[must_use]
    pub fn counters(&self, group: &str) -> Vec<&'a str> {
        self.of_run().filter(|row| row.group == group).map(|row| row.counter.as_str()).collect()
    }

    /// Names of the groups, in order.
    #[must_use]
    pub fn groups(&self) -> Vec<&'a str> {
        let mut groups: Vec<&str> = Vec::new();
        for row in self.of_run() {
            if !groups.contains(&row.group.as_str()) {
                groups.push(&row.group);
            }
        }
        groups
    }

    fn of_run(&self) -> impl Iterator<Item = &'a Row> + use<'a> {
        self.rows.iter().filter(|row| row.launch.is_none())
    }
}

/// Names of the counters that a run on a machine records, by group.
///
/// # Errors
/// Why the machine cannot be built.
pub fn counters_of_run(machine: &Machine) -> Result<Vec<(String, Vec<String>)>, String> {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let mut of_run: Vec<String> = names(&OF_RUN);
    if machine.file().cpu_cores() > 0 {
        of_run.extend(names(&OF_PHASES));
    }
    let mut groups = vec![("run".to_owned(), of_run)];
    let statistics = catalogue::statistics(machine)?;
    let lifetimes = endurance::lifetimes(machine, &statistics, 0)?;
    for group in statistics {
        let counters = group.definitions.iter().map(|definition| definition.name.to_owned());
        groups.push((group.name.to_owned(), counters.collect()));
    }
    if let Some(energy) = &machine.file().energy {
        let mut counters: Vec<String> = names(&ENERGY_SUMS);
        for structure in energy.keys() {
            counters.extend([format!("{structure}_pj"), format!("{structure}_leakage_pj")]);
        }
        groups.push(("energy".into(), counters));
    }
    if machine.file().cpu_cores() > 0 {
        let of_setup = groups.iter().filter(|(group, _)| group != "run");
        let of_setup: Vec<_> =
            of_setup.map(|(group, counters)| (setup::group(group), counters.clone())).collect();
        groups.extend(of_setup);
    }
    groups.push(("area".into(), area_rows(machine).into_iter().map(|row| row.counter).collect()));
    for lifetime in lifetimes {
        let counters = lifetime_rows(&lifetime).into_iter().map(|row| row.counter).collect();
        groups.push((lifetime_group(&lifetime.structure), counters));
    }
    Ok(groups)
}

/// Runs a program on one thread and returns its numbers. `size` is that of a workload, for the report; `check` also compares
/// all of memory with the reference executor; `interrupt` stops the run from outside.
///
/// # Errors
/// If the run is refused, does not finish or has wrong results. Such a run yields no numbers.
pub fn measure(
    program: &dyn HostProgram,
    size: Option<Size>,
    machine: &Machine,
    check: bool,
    interrupt: Option<&'static AtomicBool>,
) -> Result<Vec<Row>, String> {
    let result = run(RunRequest {
        check,
        size: size.map(|size| size.name().to_owned()),
        interrupt,
        ..RunRequest::plain(program, machine, &mut |_| (), &mut |_| ())
    })
    .map_err(|error| error.to_string())?;
    match &result.verdict {
        Verdict::Verified | Verdict::Unchecked => {}
        Verdict::Wrong(problems) => return Err(format!("its results are wrong: {}", problems.join("; "))),
        part @ (Verdict::Cut | Verdict::NotFinished { .. }) => {
            return Err(format!("its run is {}, expected a whole one", part.name()));
        }
    }
    Ok(rows(&result, machine))
}

/// The rows of a run on a machine.
#[must_use]
pub fn rows(result: &RunResult, machine: &Machine) -> Vec<Row> {
    let mut rows = rows_of(&Counted {
        launches: &result.launches,
        phases: &result.phases,
        statistics: &result.statistics,
        core_mhz: result.facts.core_mhz,
        statistics_hash: result.statistics_hash(),
    });
    rows.extend(result.energy.iter().flat_map(energy_rows));
    rows.extend(setup::rows(&result.phases, &result.statistics, result.energy.as_ref()));
    rows.extend(area_rows(machine));
    rows.extend(result.lifetimes.iter().flat_map(lifetime_rows));
    rows
}

/// Counters that every run has beside those of its parts: name, unit and meaning.
pub const COUNTERS_OF_RUN: &[(&str, &str, &str)] = &[
    ("launches", "launches", "Kernels that were launched."),
    ("cycles", "core cycles", "Cycles of all launches and host phases together."),
    ("warp_instructions", "instructions", "Instructions that warps issued."),
    ("thread_instructions", "instructions", "Instructions that threads executed."),
    ("core_mhz", "MHz", "The machine's core clock."),
    ("host_phases", "phases", "Host phases; only of machines with CPU cores and programs with host phases."),
    ("host_phase_cycles", "core cycles", "Cycles of all host phases together; only of the same."),
    ("setup_cycles", "core cycles", "Cycles of the host phases before the first launch; only of the same."),
];

/// Counters of the group `run`.
const OF_RUN: [&str; 6] =
    ["launches", "cycles", "warp_instructions", "thread_instructions", "core_mhz", "statistics_hash"];

/// More of them, of machines with CPU cores and of programs with host phases.
const OF_PHASES: [&str; 3] = ["host_phases", "host_phase_cycles", "setup_cycles"];

/// What is counted in a run on a machine.
pub struct Counted<'a> {
    /// The launches, in order.
    pub launches: &'a [LaunchResult],
    /// The host phases, in order.
    pub phases: &'a [PhaseResult],
    /// The counters of the machine's parts.
    pub statistics: &'a [Group],
    /// The core clock.
    pub core_mhz: u32,
    /// Hash of the counters.
    pub statistics_hash: u64,
}

/// The rows of a run's counters and launches.
pub fn rows_of(counted: &Counted<'_>) -> Vec<Row> {
    let Counted { launches, statistics, .. } = counted;
    let mut rows = Vec::new();
    let mut add = |launch: Option<u32>, group: &str, counter: &str, value: u64| {
        let (group, counter) = (group.to_owned(), counter.to_owned());
        rows.push(Row { launch, group, counter, value: Value::Count(value) });
    };
    let sum = |count: fn(&LaunchResult) -> u64| launches.iter().map(count).sum();
    let phase_cycles: u64 = counted.phases.iter().map(|phase| phase.cycles).sum();
    let setup_cycles = setup::phases(counted.phases).map(|phase| phase.cycles).sum();
    let of_phases = [counted.phases.len() as u64, phase_cycles, setup_cycles];
    let of_run = [
        launches.len() as u64,
        sum(|launch| launch.cycles) + phase_cycles,
        sum(|launch| launch.warp_instructions),
        sum(|launch| launch.thread_instructions),
        u64::from(counted.core_mhz),
        counted.statistics_hash,
    ];
    for (counter, value) in OF_RUN.into_iter().zip(of_run) {
        add(None, "run", counter, value);
    }
    // Older results of machines without CPU cores stay what they are.
    let has_cores = setup::has_cores(statistics);
    if has_cores || !counted.phases.is_empty() {
        for (counter, value) in OF_PHASES.into_iter().zip(of_phases) {
            add(None, "run", counter, value);
        }
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
        if launch.overlapped_cycles > 0 {
            add(Some(number), &launch.kernel, "overlapped_cycles", launch.overlapped_cycles);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::metric::{Known, common, find};

    #[test]
    fn an_expression_may_use_lifetimes_and_one_without_end_is_undefined() {
        let machine = Machine::load_with("gtx480", &["by-nvm"], &[]).unwrap();
        let metric = find(&common(), "lifetime.l1d.hottest_months").unwrap();
        let mut known = Known::default();
        known.add(&machine).unwrap();
        assert_eq!(known.check(&metric), Ok(()));
        let unknown = find(&common(), "lifetime.l1d.bank_months").unwrap();
        assert!(
            known
                .check(&unknown)
                .unwrap_err()
                .contains("expected one of `lifetime.l1d`'s: cell_writes, hottest_months")
        );

        let idle = catalogue::statistics(&machine).unwrap();
        let lifetimes = endurance::lifetimes(&machine, &idle, 700).unwrap();
        let rows: Vec<Row> = lifetimes.iter().flat_map(lifetime_rows).collect();
        let numbers = Numbers { rows: &rows, machine: None };
        assert_eq!(numbers.get("lifetime.l1d", "hottest_months"), Some(Value::Real(f64::INFINITY)));
        assert!(metric.expression.is_undefined(numbers));
        let error = metric.expression.evaluate(numbers).unwrap_err();
        assert_eq!(error, "`lifetime.l1d.hottest_months` is infinite");
    }

    #[test]
    fn an_expression_may_use_the_area_of_the_register_file_where_a_machine_has_it() {
        let text = strata_gpu::machine::builtin()[0].text;
        let key = "register_file.sram.area_um2 = { value = 194000, source = \"a paper\" }";
        let text = text.replacen("\n[[sm.collectors]]", &format!("\n{key}\n\n[[sm.collectors]]"), 1);
        let machine = Machine::parse(Path::new("m.toml"), &text, &[]).unwrap();
        let metric = find(&common(), "area.register_file_square_micrometres / 1000").unwrap();
        let (mut with, mut without) = (Known::default(), Known::default());
        with.add(&machine).unwrap();
        without.add(&Machine::load("gtx480", &[]).unwrap()).unwrap();
        assert_eq!(with.check(&metric), Ok(()));
        assert!(
            without.check(&metric).unwrap_err().contains("expected one of `area`'s: comparator, data_array")
        );
    }
}
