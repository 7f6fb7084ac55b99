//! The counters that runs record, and the numbers of their machines, known before anything runs.

use std::collections::{BTreeMap, BTreeSet};

use strata_engine::config::did_you_mean;
use strata_gpu::machine::Machine;
use strata_gpu::machine::identity::numbers;

use super::{Kind, Metric};
use crate::numbers::counters_of_run;
use crate::profile::Counter;

type Groups = BTreeMap<String, BTreeSet<String>>;

/// Counters by group: those that a run on any of some machines records, and those of profiles. Designs differ in their
/// counters, so a metric need not be one of every machine's.
#[derive(Clone, Debug)]
pub struct Known {
    timing: Groups,
    profile: Groups,
}

impl Default for Known {
    fn default() -> Known {
        let mut profile = Groups::new();
        for Counter { group, name, .. } in crate::profile::counters() {
            profile.entry(group.to_owned()).or_default().insert(name);
        }
        Known { timing: Groups::new(), profile }
    }
}

impl Known {
    /// Adds the counters and numbers of a machine.
    ///
    /// # Errors
    /// Why the machine cannot be built.
    pub fn add(&mut self, machine: &Machine) -> Result<(), String> {
        for (group, counters) in counters_of_run(machine)? {
            self.timing.entry(group).or_default().extend(counters);
        }
        for path in numbers(machine.table()) {
            let Some((section, key)) = path.rsplit_once('.') else { continue };
            self.timing.entry(format!("machine.{section}")).or_default().insert(key.to_owned());
        }
        Ok(())
    }

    /// Refuses a metric that names a counter that no run records.
    ///
    /// # Errors
    /// The first such counter, and the known ones.
    pub fn check(&self, metric: &Metric) -> Result<(), String> {
        let groups = match metric.kind {
            Kind::Timing => &self.timing,
            Kind::Profile => &self.profile,
        };
        for (group, counter) in metric.expression.counters() {
            let Some(counters) = groups.get(group) else {
                let of_runs =
                    || groups.keys().map(String::as_str).filter(|group| !group.starts_with("machine."));
                let alike = did_you_mean(group, groups.keys().map(String::as_str));
                let known: Vec<&str> = of_runs().collect();
                let known = known.join(", ");
                return Err(format!(
                    "no counter `{group}.{counter}`: found the group `{group}`{alike}, expected one of {known}"
                ));
            };
            if !counters.contains(counter) {
                let alike = did_you_mean(counter, counters.iter().map(String::as_str));
                let known: Vec<&str> = counters.iter().map(String::as_str).collect();
                let known = known.join(", ");
                return Err(format!(
                    "no counter `{group}.{counter}`{alike}, expected one of `{group}`'s: {known}"
                ));
            }
        }
        Ok(())
    }
}
