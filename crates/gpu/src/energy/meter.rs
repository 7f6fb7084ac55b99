//! A machine's energies bound to what its parts count.

use strata_engine::statistics::{Group, Mark};

use super::report::{EnergyReport, EventEnergy, StructureEnergy};
use super::section::EnergySection;
use crate::machine::Machine;

/// Turns counters into energy.
#[derive(Clone, Debug)]
pub struct Meter {
    structures: Vec<Structure>,
    /// Structures and events of which no energy is known.
    unknown: Vec<String>,
    core_hz: f64,
}

#[derive(Clone, Debug)]
struct Structure {
    name: String,
    off_chip: bool,
    /// Watts of all instances.
    leakage_w: f64,
    /// The group of its events, if it has any.
    group: String,
    /// Counters and picojoules of one event.
    events: Vec<(&'static str, f64)>,
}

impl Meter {
    /// Binds a machine's energies to the groups that its parts report. None when the machine has no `energy` section.
    ///
    /// # Errors
    /// File, key, what was found and what was expected: an energy for a group or counter that there is not, or that
    /// counts no energy event; an event without an energy; an event with two.
    pub fn new(machine: &Machine, groups: &[Group]) -> Result<Option<Meter>, String> {
        let Some(section) = &machine.file().energy else { return Ok(None) };
        let bind = || {
            let mut unknown = machine.replaced_energies().to_vec();
            unknown.extend(uncovered(section, groups)?);
            Ok(Meter {
                structures: bind(machine, section, groups)?,
                unknown,
                core_hz: f64::from(*machine.file().clocks.core_mhz) * 1e6,
            })
        };
        bind().map(Some).map_err(|error: String| format!("{}: energy.{error}", machine.origin()))
    }

    /// Structures and groups of which no energy is known: nothing of them is in a report.
    pub fn unknown(&self) -> &[String] {
        &self.unknown
    }

    /// The energy of what was counted in `cycles` core cycles.
    pub fn report(&self, counted: &[Group], cycles: u64) -> EnergyReport {
        let seconds = cycles as f64 / self.core_hz;
        let structure = |structure: &Structure| {
            let group = counted.iter().find(|group| group.name == structure.group);
            let event = |(counter, each_pj): &(&'static str, f64)| EventEnergy {
                counter,
                count: group.and_then(|group| group.get(counter)).unwrap_or(0),
                each_pj: *each_pj,
            };
            StructureEnergy {
                name: structure.name.clone(),
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

/// Every structure of the section with its group and counters found.
fn bind(machine: &Machine, section: &EnergySection, groups: &[Group]) -> Result<Vec<Structure>, String> {
    let structure = |(name, structure): (&String, &super::StructureSection)| {
        let group = match &structure.counts {
            None => None,
            Some(counts) => Some(groups.iter().find(|group| group.name == counts).ok_or_else(|| {
                let known: Vec<&str> = groups.iter().map(|group| group.name).collect();
                format!("{name}.counts: found `{counts}`, expected one of {}", known.join(", "))
            })?),
        };
        let event = |counter: &String, pj: f64| {
            let group = group.expect("a section with events names its group");
            energy_events(group).find(|event| event == counter).map(|event| (event, pj)).ok_or_else(|| {
                let known: Vec<&str> = energy_events(group).collect();
                format!(
                    "{name}.pj.{counter}: found no such energy event in `{}`, expected one of {}",
                    group.name,
                    known.join(", ")
                )
            })
        };
        let events = structure.pj.iter().map(|(counter, pj)| event(counter, **pj)).collect::<Result<_, _>>()?;
        let leakage_mw: f64 = structure.leakage_mw.values().map(|part| **part).sum();
        Ok(Structure {
            name: name.clone(),
            off_chip: structure.off_chip,
            leakage_w: leakage_mw * 1e-3 * structure.per.instances(machine.file()) as f64,
            group: structure.counts.clone().unwrap_or_default(),
            events,
        })
    };
    section.iter().map(structure).collect()
}

/// The groups whose events no structure has an energy for. A group of which only some events have one is an error, and
/// so is an event with two.
fn uncovered(section: &EnergySection, groups: &[Group]) -> Result<Vec<String>, String> {
    let mut unknown = Vec::new();
    for group in groups {
        let structures: Vec<_> =
            section.iter().filter(|(_, structure)| structure.counts.as_deref() == Some(group.name)).collect();
        let events: Vec<&str> = energy_events(group).collect();
        let Some((first, _)) = structures.first() else {
            unknown.extend((!events.is_empty()).then(|| group.name.to_owned()));
            continue;
        };
        for event in events {
            let having: Vec<&str> = structures
                .iter()
                .filter(|(_, structure)| structure.pj.contains_key(event))
                .map(|(name, _)| name.as_str())
                .collect();
            match having.as_slice() {
                [_] => {}
                [] => return Err(format!("{first}.pj.{event}: found no energy of it, expected one")),
                [_, second, ..] => {
                    return Err(format!(
                        "{second}.pj.{event}: found a second energy of it, expected one; it has one in `{}`",
                        having[0]
                    ));
                }
            }
        }
    }
    Ok(unknown)
}

/// The counters of a group that cost energy.
fn energy_events(group: &Group) -> impl Iterator<Item = &'static str> + use<> {
    group.definitions.iter().filter(|definition| definition.mark == Mark::Energy).map(|definition| definition.name)
}
