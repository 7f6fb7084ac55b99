//! Binds a machine's energies to the counters of its parts.

use strata_engine::statistics::{Group, Mark};

use super::report::{EnergyReport, EventEnergy, StructureEnergy};
use super::section::{EnergySection, StructureSection};
use crate::machine::Machine;
use crate::results::modes;

/// What a machine file has no energies for.
pub(super) const CPU_CORES: &str = "CPU cores and their L1Ds";

/// Turns counters into energy.
#[derive(Clone, Debug)]
pub struct Meter {
    structures: Vec<Structure>,
    /// Structures and groups without a known energy.
    unknown: Vec<String>,
    core_hz: f64,
}

#[derive(Clone, Debug)]
struct Structure {
    name: String,
    door: Option<String>,
    off_chip: bool,
    /// Leakage of all instances, in watts.
    leakage_w: f64,
    /// Group, counter, and energy of one event in picojoules.
    events: Vec<(&'static str, &'static str, f64)>,
}

impl Meter {
    /// Binds a machine's energies to the groups that its parts report. Returns `None` if the machine has no
    /// `energy` section.
    ///
    /// # Errors
    /// File, key, what was found and what was expected, for: an energy for a group or counter that does not
    /// exist or is not marked `[energy]`; an event without an energy; an event with two.
    pub fn new(machine: &Machine, groups: &[Group]) -> Result<Option<Meter>, String> {
        let Some(section) = &machine.file().energy else { return Ok(None) };
        let bind = || {
            // Report a misspelt group or counter before the energy that it then lacks.
            let structures = bind(machine, section, groups)?;
            let mut unknown = machine.replaced_energies().to_vec();
            if machine.file().cpu_cores() > 0 {
                unknown.push(CPU_CORES.to_owned());
            }
            for name in uncovered(section, groups)? {
                if !unknown.contains(&name) {
                    unknown.push(name);
                }
            }
            Ok(Meter { structures, unknown, core_hz: f64::from(*machine.file().clocks.core_mhz) * 1e6 })
        };
        bind().map(Some).map_err(|error: String| format!("{}: energy.{error}", machine.origin()))
    }

    /// Structures and groups without a known energy. Reports leave them out.
    pub fn unknown(&self) -> &[String] {
        &self.unknown
    }

    /// The energy of the events in `counted` and of leakage over `cycles` core cycles.
    pub fn report(&self, counted: &[Group], cycles: u64) -> EnergyReport {
        let seconds = cycles as f64 / self.core_hz;
        let structure = |structure: &Structure| {
            let event = |&(name, counter, each_pj): &(&'static str, &'static str, f64)| {
                let group =
                    counted.iter().find(|group| group.name == name).expect("a bound group is reported");
                let count = group.get(counter).expect("a bound counter is reported");
                EventEnergy { group: name, counter, count, each_pj }
            };
            StructureEnergy {
                name: structure.name.clone(),
                door: structure.door.clone(),
                off_chip: structure.off_chip,
                leakage_pj: structure.leakage_w * seconds * 1e12,
                events: structure.events.iter().map(event).collect(),
            }
        };
        EnergyReport {
            seconds,
            structures: self.structures.iter().map(structure).collect(),
            unknown: self.unknown.clone(),
        }
    }
}

/// Finds the counters of every structure in the section.
fn bind(machine: &Machine, section: &EnergySection, groups: &[Group]) -> Result<Vec<Structure>, String> {
    let structure = |(name, structure): (&String, &StructureSection)| {
        let mut events = Vec::new();
        for (group_name, costs) in &structure.pj {
            let group = groups.iter().find(|group| group.name == group_name).ok_or_else(|| {
                let costly = groups.iter().filter(|group| energy_events(group).next().is_some());
                let known: Vec<&str> = costly.map(|group| group.name).collect();
                format!("{name}.pj: found the group `{group_name}`, expected one of {}", known.join(", "))
            })?;
            for (counter, pj) in costs {
                let counter = energy_events(group).find(|event| event == counter).ok_or_else(|| {
                    let known: Vec<&str> = energy_events(group).collect();
                    format!(
                        "{name}.pj.{group_name}: found `{counter}`, expected one of its energy events: {}",
                        known.join(", ")
                    )
                })?;
                events.push((group.name, counter, **pj));
                events.extend(modes::twin(groups, group.name).map(|twin| (twin.name, counter, **pj)));
            }
        }
        let leakage_mw = structure.leakage_mw.values().fold(0.0, |sum, part| sum + **part);
        Ok(Structure {
            name: name.clone(),
            door: structure.door.clone(),
            off_chip: structure.off_chip,
            leakage_w: leakage_mw * 1e-3 * structure.per.instances(&machine.file().gpu) as f64,
            events,
        })
    };
    section.iter().map(structure).collect()
}

/// The groups for whose events no structure gives an energy. It is an error if only some of a group's events
/// have an energy, or if an event has two.
fn uncovered(section: &EnergySection, groups: &[Group]) -> Result<Vec<String>, String> {
    let mut unknown = Vec::new();
    // SMs in cache mode have the energies of the others; CPU cores and their caches are left out.
    let counts = |group: &&Group| !modes::is_in_cache_mode(group) && !modes::is_of_cpu(group);
    for group in groups.iter().filter(counts) {
        let costs =
            section.iter().filter_map(|(name, structure)| Some((name, structure.pj.get(group.name)?)));
        let costs: Vec<_> = costs.collect();
        let mut events = energy_events(group).peekable();
        let Some((first, _)) = costs.first() else {
            unknown.extend(events.peek().map(|_| group.name.to_owned()));
            continue;
        };
        for event in events {
            let mut having =
                costs.iter().filter(|(_, costs)| costs.contains_key(event)).map(|(name, _)| name);
            match (having.next(), having.next()) {
                (Some(_), None) => {}
                (None, _) => {
                    return Err(format!(
                        "{first}.pj.{}: found nothing for `{event}`, expected its energy",
                        group.name
                    ));
                }
                (Some(one), Some(other)) => {
                    return Err(format!(
                        "{other}.pj.{}: found a second energy for `{event}`, expected one: `{one}` has it",
                        group.name
                    ));
                }
            }
        }
    }
    Ok(unknown)
}

/// The counters of a group that cost energy.
pub(super) fn energy_events(group: &Group) -> impl Iterator<Item = &'static str> + use<> {
    group
        .definitions
        .iter()
        .filter(|definition| definition.mark == Mark::Energy)
        .map(|definition| definition.name)
}
