//! What is known of one of two runs: from the JSON of a run, or from a record of a store.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use strata_gpu::machine::Machine;
use strata_gpu::results::SCHEMA;

use crate::record::{Record, Value};
use crate::resolved::Resolved;

/// Counters by group and name.
pub type Counters = BTreeMap<String, BTreeMap<String, u64>>;

/// One of two runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Side {
    /// How it was named.
    pub name: String,
    /// The workload or launch file.
    pub workload: String,
    /// Size of the workload, if it has several.
    pub size: Option<String>,
    /// Name of the machine.
    pub machine: String,
    /// Systems laid over the machine.
    pub system: Option<String>,
    /// Overrides of the machine's values.
    pub overrides: Vec<String>,
    /// Version of the simulator.
    pub simulator: String,
    /// Hash of the program's PTX.
    pub ptx: String,
    /// Hash of the program's inputs.
    pub inputs: String,
    /// The launches that were measured, as text; empty for all.
    pub region: String,
    /// Hash of the machine's values, of a run's JSON.
    pub machine_hash: Option<String>,
    /// The machine's values, where they are known.
    pub values: Option<Resolved>,
    /// Issue slots in a cycle: warp schedulers of all SMs that run programs.
    pub slots_a_cycle: Option<u64>,
    /// Why the run was stopped before its end.
    pub stopped: Option<String>,
    /// What was wrong with the run's results.
    pub problems: Vec<String>,
    /// Cycles of all launches and host phases.
    pub cycles: u64,
    /// Those of host phases.
    pub host_cycles: u64,
    /// Hash of all counters.
    pub statistics_hash: String,
    /// The counters of the whole run.
    pub counters: Counters,
    /// Energy of each structure; empty where the machine has no energies.
    pub energy: Vec<Energy>,
    /// The launches, in order.
    pub launches: Vec<LaunchSide>,
    /// The counters of each SM by its name, where the run was broken down by SM.
    pub sms: BTreeMap<String, Counters>,
    /// The core clock.
    pub core_mhz: u64,
}

/// Energy of a structure in picojoules.
#[derive(Clone, Debug, PartialEq)]
pub struct Energy {
    /// Name of the structure.
    pub structure: String,
    /// All of it.
    pub pj: f64,
    /// What of it is leakage.
    pub leakage_pj: f64,
}

/// One launch of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LaunchSide {
    /// Name of the kernel.
    pub kernel: String,
    /// Its cycles.
    pub cycles: u64,
    /// Its counters, where the run was broken down by launch.
    pub counters: Option<Counters>,
}

/// Groups of a record that are no counters of the machine's parts.
const NO_COUNTERS: [&str; 3] = ["run", "area", "energy"];

impl Side {
    /// Reads the JSON of a run, as `strata run --json` writes it; `name` appears in errors.
    ///
    /// # Errors
    /// The field, what was found and what was expected.
    pub fn from_json(name: &str, run: &Json) -> Result<Side, String> {
        let found = &run["schema"];
        if found != SCHEMA {
            let found = if found.is_null() { "none".to_owned() } else { found.to_string() };
            return Err(format!(
                "{name}: schema: found {found}, expected \"{SCHEMA}\": the JSON of `strata run --json`"
            ));
        }
        let read = Reader { name };
        let text = |field: &str| run[field].as_str().map(str::to_owned);
        let provenance = |field: &str| run["provenance"][field].as_str().unwrap_or_default().to_owned();
        let by_launch = &run["by"]["launch"];
        let launches = read.array(run, "launches")?.iter().enumerate();
        let first = first_number(run);
        let launch = |(place, launch): (usize, &Json)| {
            let field = format!("launches[{place}]");
            let kernel = launch["kernel"].as_str().unwrap_or_default().to_owned();
            let part = format!("launch {} ({kernel})", first + place as u64);
            let counted = by_launch.as_array().into_iter().flatten().find(|found| found["part"] == *part);
            let counters = counted.map(|found| read.counters(&found["statistics"], &part)).transpose()?;
            Ok(LaunchSide {
                cycles: read.count(&launch["cycles"], &format!("{field}.cycles"))?,
                kernel,
                counters,
            })
        };
        let launches: Result<Vec<LaunchSide>, String> = launches.map(launch).collect();
        let structure = |(structure, energy): (&String, &Json)| {
            let number = |field: &str| {
                let path = format!("energy.structures.{structure}.{field}");
                energy[field].as_f64().ok_or_else(|| read.expected(&path, &energy[field], "a number"))
            };
            let (pj, leakage_pj) = (number("pj")?, number("leakage_pj")?);
            Ok(Energy { structure: structure.clone(), pj, leakage_pj })
        };
        let energy: Result<Vec<Energy>, String> =
            run["energy"]["structures"].as_object().into_iter().flatten().map(structure).collect();
        let sm = |part: &Json| {
            let name = part["part"].as_str().unwrap_or_default().to_owned();
            let counters = read.counters(&part["statistics"], &name)?;
            Ok((name, counters))
        };
        let sms: Result<BTreeMap<String, Counters>, String> =
            run["by"]["sm"].as_array().into_iter().flatten().map(sm).collect();
        let host = &run["host_phase_cycles"];
        Ok(Side {
            name: name.to_owned(),
            workload: text("workload").unwrap_or_default(),
            size: text("size"),
            machine: text("machine").unwrap_or_default(),
            system: text("system"),
            overrides: words(&run["overrides"]),
            simulator: provenance("simulator"),
            ptx: provenance("ptx"),
            inputs: provenance("inputs"),
            region: part(&run["region"]),
            machine_hash: Some(provenance("machine")).filter(|hash| !hash.is_empty()),
            values: None,
            slots_a_cycle: None,
            stopped: text("stopped"),
            problems: words(&run["problems"]),
            cycles: read.count(&run["cycles"], "cycles")?,
            host_cycles: if host.is_null() { 0 } else { read.count(host, "host_phase_cycles")? },
            statistics_hash: text("statistics_hash").unwrap_or_default(),
            counters: read.counters(&run["statistics"], "statistics")?,
            energy: energy?,
            launches: launches?,
            sms: sms?,
            core_mhz: run["core_mhz"].as_u64().unwrap_or(0),
        })
    }

    /// Takes a record of a store.
    ///
    /// # Errors
    /// If it is no measurement on a machine, or its machine cannot be built.
    pub fn from_record(name: &str, record: &Record) -> Result<Side, String> {
        let job = &record.job;
        let Some(values) = &job.machine else {
            return Err(format!("{name}: found a profile of {}, expected a run on a machine", job.workload));
        };
        let mut side = Side {
            name: name.to_owned(),
            workload: job.workload.clone(),
            size: (job.launch_file.is_none() && !job.executed).then(|| job.size.name().to_owned()),
            machine: values.get("name").and_then(toml::Value::as_str).unwrap_or(&job.variant).to_owned(),
            system: job.system.clone(),
            overrides: job.overrides.clone(),
            simulator: job.simulator.clone(),
            ptx: job.ptx.clone(),
            inputs: job.inputs.clone(),
            ..Side::default()
        };
        for row in &record.rows {
            match (row.launch, row.value) {
                (Some(launch), Value::Count(value)) => {
                    side.add_of_launch(launch, &row.group, &row.counter, value)
                }
                (None, Value::Count(value)) => side.add_count(&row.group, &row.counter, value),
                (None, Value::Real(value)) if row.group == "energy" => side.add_energy(&row.counter, value),
                (_, Value::Real(_)) => {}
            }
        }
        side.on_values(values.clone());
        Ok(side)
    }

    fn add_count(&mut self, group: &str, counter: &str, value: u64) {
        match (group, counter) {
            ("run", "cycles") => self.cycles = value,
            ("run", "host_phase_cycles") => self.host_cycles = value,
            ("run", "core_mhz") => self.core_mhz = value,
            ("run", "statistics_hash") => self.statistics_hash = format!("{value:016x}"),
            _ if NO_COUNTERS.contains(&group) || group.starts_with("setup.") => {}
            _ => drop(self.counters.entry(group.to_owned()).or_default().insert(counter.to_owned(), value)),
        }
    }

    fn add_of_launch(&mut self, launch: u32, kernel: &str, counter: &str, value: u64) {
        if counter == "cycles" && launch as usize == self.launches.len() {
            self.launches.push(LaunchSide { kernel: kernel.to_owned(), cycles: value, counters: None });
        }
    }

    fn add_energy(&mut self, counter: &str, pj: f64) {
        let Some(name) = counter.strip_suffix("_pj").filter(|name| !["total", "off_chip"].contains(name))
        else {
            return;
        };
        let leaks = name.strip_suffix("_leakage");
        let structure = leaks.unwrap_or(name);
        let place = self.energy.iter().position(|known| known.structure == structure);
        let place = place.unwrap_or_else(|| {
            self.energy.push(Energy { structure: structure.to_owned(), pj: 0.0, leakage_pj: 0.0 });
            self.energy.len() - 1
        });
        let energy = &mut self.energy[place];
        *(if leaks.is_some() { &mut energy.leakage_pj } else { &mut energy.pj }) = pj;
    }

    /// Whether a machine is the one that the run was on.
    #[must_use]
    pub fn was_on(&self, machine: &Machine) -> bool {
        self.machine_hash.as_ref().is_some_and(|hash| *hash == machine.hash())
    }

    /// Takes the values of the machine that the run was on.
    pub fn on(&mut self, machine: &Machine) {
        let file = machine.file();
        self.slots_a_cycle = Some(file.gpu.compute_sms().len() as u64 * u64::from(*file.sm.schedulers));
        self.values = Some(machine.table().clone().into());
    }

    /// As [`Side::on`], of a machine that may be of a version that cannot be built any more.
    fn on_values(&mut self, values: Resolved) {
        let text = toml::to_string(&*values).expect("a table is TOML");
        match Machine::parse(std::path::Path::new(&self.name), &text, &[]) {
            Ok(machine) => self.on(&machine),
            Err(_) => self.values = Some(values),
        }
    }

    /// A counter of the whole run.
    #[must_use]
    pub fn counter(&self, group: &str, counter: &str) -> Option<u64> {
        self.counters.get(group)?.get(counter).copied()
    }

    /// Cycles of launches.
    #[must_use]
    pub fn launch_cycles(&self) -> u64 {
        self.cycles.saturating_sub(self.host_cycles)
    }
}

/// The part of a run that was measured, by the options that say something; nothing for a whole run.
fn part(region: &Json) -> String {
    let says = |(_, value): &(&String, &Json)| !matches!(value, Json::Null | Json::Bool(false));
    let options = region.as_object().into_iter().flatten().filter(says);
    let options = options.filter(|(name, value)| name.as_str() != "warm_ctas" || value.as_u64() != Some(0));
    options.map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
}

/// Number of the first launch that was measured.
fn first_number(run: &Json) -> u64 {
    run["region"]["from_launch"].as_u64().unwrap_or(0)
}

fn words(array: &Json) -> Vec<String> {
    array.as_array().into_iter().flatten().filter_map(|word| word.as_str().map(str::to_owned)).collect()
}

/// Reads fields, and names in errors what they are of.
struct Reader<'a> {
    name: &'a str,
}

impl Reader<'_> {
    fn expected(&self, field: &str, found: &Json, expected: &str) -> String {
        let found = match found {
            Json::Null => "nothing".to_owned(),
            Json::Array(_) => "an array".to_owned(),
            Json::Object(_) => "an object".to_owned(),
            found => found.to_string(),
        };
        format!("{}: {field}: found {found}, expected {expected}", self.name)
    }

    fn count(&self, value: &Json, field: &str) -> Result<u64, String> {
        value.as_u64().ok_or_else(|| self.expected(field, value, "a count"))
    }

    fn array<'a>(&self, run: &'a Json, field: &str) -> Result<&'a Vec<Json>, String> {
        run[field].as_array().ok_or_else(|| self.expected(field, &run[field], "an array"))
    }

    fn counters(&self, groups: &Json, field: &str) -> Result<Counters, String> {
        let all = groups.as_object().ok_or_else(|| self.expected(field, groups, "groups of counters"))?;
        let group = |(group, counters): (&String, &Json)| {
            let path = format!("{field}.{group}");
            let all = counters.as_object().ok_or_else(|| self.expected(&path, counters, "counters"))?;
            let counter = |(name, value): (&String, &Json)| {
                Ok((name.clone(), self.count(value, &format!("{path}.{name}"))?))
            };
            Ok((group.clone(), all.iter().map(counter).collect::<Result<_, String>>()?))
        };
        all.iter().map(group).collect()
    }
}
