//! Every number of a run by name, and how it is found: a group, as `l1d`, and a counter.

use std::sync::atomic::AtomicBool;

use strata_engine::statistics::Group;
use strata_gpu::area::{AreaSize, DesignArea, total};
use strata_gpu::endurance::{self, Lifetime};
use strata_gpu::energy::{EnergyReport, StructureEnergy};
use strata_gpu::machine::Machine;
use strata_gpu::machine::identity::number;
use strata_gpu::results::{LaunchResult, PhaseResult, RunResult, Verdict};
use strata_gpu::{RunRequest, catalogue, run};
use strata_workloads::{HostProgram, Size};
use toml::Table;

/// One number of a run.
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
    rows.extend(area_rows(machine));
    rows.extend(result.lifetimes.iter().flat_map(lifetime_rows));
    rows
}

/// Sums over the structures of a machine.
const ENERGY_SUMS: [&str; 2] = ["total_pj", "off_chip_pj"];

/// Energy in picojoules: each structure's (`energy.l1d_pj`) and its leakage (`energy.l1d_leakage_pj`), the total, and the
/// part spent on requests that left the SM.
pub fn energy_rows(energy: &EnergyReport) -> Vec<Row> {
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
    let of = |of: &StructureEnergy| {
        [row(format!("{}_pj", of.name), of.total_pj()), row(format!("{}_leakage_pj", of.name), of.leakage_pj)]
    };
    sums.chain(structures.flat_map(of)).collect()
}

/// The areas of a machine's designs, and of all instances of those structures of its energies that have one
/// (`area.l1d_um2`).
pub fn area_rows(machine: &Machine) -> Vec<Row> {
    let structures = machine.file().energy.iter().flatten();
    let structures = structures.filter_map(|(name, structure)| {
        let area = structure.all_area_um2(&machine.file().gpu)?;
        let (counter, value) = (format!("{name}_um2"), Value::Real(area));
        Some(Row { launch: None, group: "area".into(), counter, value })
    });
    let designs = machine.file().doors.area();
    designs.iter().flat_map(area_of).chain(structures).collect()
}

/// The size of each component of a design in its own unit, and their sum in each unit. The L1D's components go
/// by their own names (`area.data_array`), those of others have the door's before (`area.register_file_banks`);
/// sums always have it (`area.l1d_transistors`).
fn area_of(area: &DesignArea) -> Vec<Row> {
    let row = |counter: String, value: Value| Row { launch: None, group: "area".into(), counter, value };
    let door = area.door.rsplit('.').next().unwrap_or(area.door);
    let named = |name: &str| if door == "l1d" { name.to_owned() } else { format!("{door}_{name}") };
    let components = area.components.iter().map(|component| {
        let size = match component.size {
            AreaSize::Transistors(count) | AreaSize::SquareFeatures(count) | AreaSize::Bits(count) => {
                Value::Count(count)
            }
            AreaSize::SquareMicrometres(area) => Value::Real(area),
        };
        let name = component.name.to_ascii_lowercase();
        row(named(&name.replace(|c: char| !c.is_ascii_alphanumeric(), "_")), size)
    });
    let total = total(&area.components);
    let sums = [
        ("transistors", total.transistors.map(Value::Count)),
        ("square_features", total.square_features.map(Value::Count)),
        ("square_micrometres", total.square_micrometres.map(Value::Real)),
        ("bits", total.bits.map(Value::Count)),
    ];
    let sums = sums.into_iter().filter_map(|(unit, sum)| Some(row(format!("{door}_{unit}"), sum?)));
    components.chain(sums).collect()
}

/// Name of the group of a structure's lifetimes.
fn lifetime_group(structure: &str) -> String {
    format!("{LIFETIME}{structure}")
}

/// What the names of groups of lifetimes begin with.
pub const LIFETIME: &str = "lifetime.";

/// Lifetimes of a structure in months (`lifetime.l1d.hottest_months`), infinite where nothing is written, with what they
/// follow from.
pub fn lifetime_rows(lifetime: &Lifetime) -> Vec<Row> {
    let group = lifetime_group(&lifetime.structure);
    let row = |counter: String, value: f64| Row {
        launch: None,
        group: group.clone(),
        counter,
        value: Value::Real(value),
    };
    let readings = lifetime.readings.iter().flat_map(|reading| {
        let name = reading.wear.name();
        let months = lifetime.seconds(*reading) / endurance::MONTH;
        [row(format!("{name}_writes"), reading.writes), row(format!("{name}_months"), months)]
    });
    [row("cell_writes".into(), lifetime.cell_writes)].into_iter().chain(readings).collect()
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
    let setup = counted.phases.iter().filter(|phase| phase.after_launches == 0);
    let of_phases = [counted.phases.len() as u64, phase_cycles, setup.map(|phase| phase.cycles).sum()];
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
    let has_cores = statistics.iter().any(|group| group.name == "cpu");
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

    use strata_gpu::area::Component;

    use super::*;
    use crate::metric::{Known, common, find};

    #[test]
    fn areas_stand_in_a_machines_record_by_door_and_unit() {
        let components = vec![
            Component::square_micrometres("STT-MRAM banks", 38_000.5, "NVSim"),
            Component::square_micrometres("register cache", 59_267.0, "NVSim"),
            Component::transistors("bank arbiter", 900, "a guess"),
        ];
        let area = DesignArea { door: "sm.register_file", design: "made-up", components };
        let rows: Vec<(String, Value)> = area_of(&area)
            .into_iter()
            .map(|row| (format!("{}.{}", row.group, row.counter), row.value))
            .collect();
        let expected = [
            ("area.register_file_stt_mram_banks", Value::Real(38_000.5)),
            ("area.register_file_register_cache", Value::Real(59_267.0)),
            ("area.register_file_bank_arbiter", Value::Count(900)),
            ("area.register_file_transistors", Value::Count(900)),
            ("area.register_file_square_micrometres", Value::Real(97_267.5)),
        ];
        assert_eq!(rows, expected.map(|(name, value)| (name.to_owned(), value)));
    }

    #[test]
    fn structures_with_an_area_have_that_of_all_their_instances() {
        let machine = Machine::load_with("fermi-apu", &["tcbase"], &[]).unwrap();
        let rows = area_rows(&machine);
        let of = |counter: &str| match rows.iter().find(|row| row.counter == counter).map(|row| row.value) {
            Some(Value::Real(area)) => area,
            other => panic!("{counter}: {other:?}"),
        };
        // Four SMs, two slices.
        assert_eq!((of("l1d_um2"), of("l2_um2")), (4.0 * 148_439.0, 2.0 * 357_156.0));
        assert_eq!(of("tiny_cache_um2"), 4.0 * (86_762.0 + 86_813.0 + 8_744.0));
        assert!(!rows.iter().any(|row| row.counter == "dram_um2"));
    }

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
