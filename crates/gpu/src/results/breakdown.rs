//! Counters by what they were counted in, each SM, slice, channel or launch, or by what was behind them: each line of PTX, instruction, CTA
//! or buffer.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use serde_json::{Value, json};
use strata_engine::Used;
use strata_engine::statistics::Group;
pub use strata_sm::Key;
use strata_sm::{Account, Latencies};

use super::{Counted, json::counters, merge_groups, queue_groups, since};
use crate::energy::{EnergyReport, share_out};

/// What counters are broken down by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// SMs, with their private memories.
    Sm,
    /// Slices of the last-level cache.
    Slice,
    /// Memory channels: their slices, and their DRAM.
    Channel,
    /// Launches.
    Launch,
    /// Lines of a kernel's PTX.
    Line,
    /// Instructions that the assembler has made of them.
    Instruction,
    /// CTAs.
    Cta,
    /// Buffers that the program has allocated.
    Buffer,
    /// Levels of the hierarchy that serve accesses.
    Level,
    /// Kinds of queues and MSHRs.
    Queue,
}

impl By {
    /// All of them.
    pub const ALL: [By; 10] = [
        By::Sm,
        By::Slice,
        By::Channel,
        By::Launch,
        By::Line,
        By::Instruction,
        By::Cta,
        By::Buffer,
        By::Level,
        By::Queue,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            By::Sm => "sm",
            By::Slice => "slice",
            By::Channel => "channel",
            By::Launch => "launch",
            By::Line => "line",
            By::Instruction => "instruction",
            By::Cta => "cta",
            By::Buffer => "buffer",
            By::Level => "level",
            By::Queue => "queue",
        }
    }

    /// What SMs keep accounts of for it; `None` if it needs none.
    pub const fn key(self) -> Option<Key> {
        match self {
            By::Sm | By::Slice | By::Channel | By::Launch | By::Queue => None,
            By::Line | By::Instruction => Some(Key::Instruction),
            By::Cta => Some(Key::Cta),
            By::Buffer => Some(Key::Buffer),
            By::Level => Some(Key::Whole),
        }
    }
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for By {
    type Err = String;

    fn from_str(name: &str) -> Result<By, String> {
        let names = By::ALL.map(By::name);
        let found = By::ALL.into_iter().find(|by| by.name() == name);
        found.ok_or_else(|| format!("found `{name}`, expected one of {}", names.join(", ")))
    }
}

/// The groups that parts have beside a machine's own, in which nothing is counted.
pub fn charged_groups(by: By) -> Vec<Group> {
    match by.key() {
        None if by == By::Queue => queue_groups(&Used::default()),
        None => Vec::new(),
        Some(Key::Whole) => {
            let levels = Latencies::default().levels(Account::default().served());
            levels.into_iter().next().map_or(Vec::new(), |(_, groups)| groups)
        }
        Some(key) => Account::default().groups(key),
    }
}

/// Counters before a launch or host phase.
#[derive(Clone, Debug)]
pub(crate) struct Before {
    /// In all,
    pub all: Vec<Group>,
    /// and by each part that was asked for.
    pub parts: Vec<Vec<Counted>>,
}

/// Counters of each part of a run. Those of a group that all parts have add up to the run's.
#[derive(Clone, Debug, PartialEq)]
pub struct Breakdown {
    /// By what.
    pub by: By,
    /// One for each, in order.
    pub parts: Vec<Counted>,
    /// Places of the parts, by name.
    places: HashMap<String, usize>,
}

impl Breakdown {
    /// One in which nothing is counted yet.
    pub fn new(by: By) -> Breakdown {
        Breakdown { by, parts: Vec::new(), places: HashMap::new() }
    }

    /// Adds what each part counted from `before` to `after`, which name the same parts.
    pub(crate) fn add(&mut self, before: &[Counted], after: &[Counted]) {
        for (before, after) in before.iter().zip(after) {
            self.add_part(&after.name, since(&after.groups, &before.groups));
        }
    }

    /// Adds what a part counted.
    pub(crate) fn add_part(&mut self, name: &str, groups: Vec<Group>) {
        match self.places.get(name) {
            Some(place) => merge_groups(&mut self.parts[*place].groups, groups),
            None => {
                self.places.insert(name.to_owned(), self.parts.len());
                self.parts.push(Counted::new(name.to_owned(), groups));
            }
        }
    }

    /// A counter of each part, by `GROUP.COUNTER`; `None` where a part does not have it.
    pub fn counter(&self, path: &str) -> Vec<Option<u64>> {
        let of = |part: &Counted| {
            let (group, counter) = path.split_once('.')?;
            // Groups of SMs in cache mode have a dot in their names.
            let (group, counter) = match part.groups.iter().any(|found| found.name == group) {
                true => (group, counter),
                false => path.rsplit_once('.')?,
            };
            part.groups.iter().find(|found| found.name == group)?.get(counter)
        };
        self.parts.iter().map(of).collect()
    }

    /// Every counter that some part has, by `GROUP.COUNTER`, in order.
    pub fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        let mut known: Vec<&str> = Vec::new();
        for group in self.parts.iter().flat_map(|part| &part.groups) {
            if !known.contains(&group.name) {
                known.push(group.name);
                paths.extend(
                    group.definitions.iter().map(|counter| format!("{}.{}", group.name, counter.name)),
                );
            }
        }
        paths
    }

    /// Adds the parts of another one of the same kind. Their energy is then no longer told apart.
    pub fn merge(&mut self, other: Breakdown) {
        other.parts.into_iter().for_each(|part| self.add_part(&part.name, part.groups));
        self.parts.iter_mut().for_each(|part| part.energy_pj.clear());
    }

    /// The breakdown with the energy of each line, instruction, CTA or buffer, of a run that took so much.
    #[must_use]
    pub fn with_energy(mut self, energy: Option<&EnergyReport>) -> Breakdown {
        let is_told_apart = self.by.key().is_some_and(|key| key != Key::Whole);
        if let Some(energy) = energy.filter(|_| is_told_apart) {
            share_out(energy, &mut self.parts);
        }
        self
    }

    /// By part: its counters, by group, and its energy.
    pub(super) fn to_json(&self) -> Value {
        let of = |part: &Counted| {
            let mut value = json!({ "part": part.name });
            value["statistics"] = counters(&part.groups);
            if let Some(dynamic_pj) = part.dynamic_pj() {
                value["energy"] = json!({ "dynamic_pj": dynamic_pj });
                value["energy"]["structures"] =
                    part.energy_pj.iter().map(|(name, pj)| (name.clone(), *pj)).collect();
            }
            value
        };
        self.parts.iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use strata_engine::statistics::Statistics;
    use strata_sm::ServedStatistics;

    use super::*;

    #[test]
    fn parts_of_two_runs_have_the_counters_of_both_and_no_energy() {
        let served = |l1d| vec![ServedStatistics { l1d, l1d_bytes: l1d, ..Default::default() }.report()];
        let of = |parts: &[(&str, u64)]| {
            let mut breakdown = Breakdown::new(By::Line);
            parts.iter().for_each(|(name, l1d)| breakdown.add_part(name, served(*l1d)));
            breakdown.parts.iter_mut().for_each(|part| part.energy_pj.push(("l1d".into(), 1.0)));
            breakdown
        };
        let mut both = of(&[("k:1", 3), ("k:2", 4)]);
        both.merge(of(&[("k:2", 5), ("k:3", 6)]));
        assert_eq!(both.counter("served.l1d"), [Some(3), Some(9), Some(6)]);
        assert!(both.parts.iter().all(|part| part.dynamic_pj().is_none()));
    }
}
