//! The systems that a paper compares: machines, and choices between machines.

use std::collections::BTreeSet;
use std::rc::Rc;

use strata_engine::config::did_you_mean;

use super::Paper;
use super::file::{SearchText, SystemText};
use crate::setup::{Best, Sets, Setup};
use crate::variant::Variant;

impl Paper {
    /// A system of the paper that is one machine, on `machine`, or on its own if `None`.
    ///
    /// # Errors
    /// If the paper has no system of that name, or the best of several.
    pub fn variant(&self, system: &str, machine: Option<&str>) -> Result<Variant, String> {
        self.setup(system, machine)?.machine()
    }

    /// A system of the paper, on `machine`, or on its own if `None`.
    ///
    /// # Errors
    /// If the paper has no system of that name, or one of those that it chooses from.
    pub fn setup(&self, system: &str, machine: Option<&str>) -> Result<Setup, String> {
        self.setup_with(system, machine, &Sets::new())
    }

    /// As [`Paper::setup`], with overrides for some systems.
    ///
    /// # Errors
    /// As [`Paper::setup`].
    pub fn setup_with(&self, system: &str, machine: Option<&str>, sets: &Sets) -> Result<Setup, String> {
        let text = self.system(system)?;
        let own = text.machine.as_deref().unwrap_or(&self.machine);
        let base = machine.unwrap_or(own).to_owned();
        let name = if base == own { system.to_owned() } else { format!("{system} on {base}") };
        let more = sets.get(system).map_or(&[][..], Vec::as_slice);
        let SystemText { system: laid_over, sets: overrides, version, .. } = text.clone();
        let one = Variant { name, base, system: laid_over, sets: overrides, version };
        match (&text.search, &text.follows, &text.least) {
            (None, None, None) if text.best_of.is_empty() => Ok(Setup::Machine(one.with(more))),
            (Some(search), None, Some(least)) if text.best_of.is_empty() && !search.sets().is_empty() => {
                self.best(one.name.clone(), least, tried(&one, search, more))
            }
            (Some(search), Some(leader), None) if text.best_of.is_empty() => {
                let led = self.leader(system, leader, search.sets().len(), machine, sets)?;
                let of = tried(&one, search, more);
                Ok(Setup::Best(Rc::new(Best { name: one.name, of, ..(*led).clone() })))
            }
            (None, None, Some(least))
                if !text.best_of.is_empty() && text.system.is_none() && text.sets.is_empty() =>
            {
                let of = text.best_of.iter().map(|one| self.candidate(system, one, machine, sets));
                self.best(one.name, least, of.collect::<Result<_, _>>()?)
            }
            _ => Err(format!(
                "`{system}`: expected `system` and `sets`, these with `search` and `least` or `as`, or `best_of` with \
                 `least`"
            )),
        }
    }

    /// The paper with more overrides on some of its systems, or on all if none is named.
    ///
    /// # Errors
    /// If the paper has no system of a name.
    pub fn with(mut self, systems: &[String], sets: &[String]) -> Result<Paper, String> {
        for name in systems {
            self.system(name)?;
        }
        let is_meant = |name: &String| systems.is_empty() || systems.contains(name);
        for (_, system) in self.systems.iter_mut().filter(|(name, _)| is_meant(name)) {
            // A choice between systems has no machine of its own; those that it chooses from have.
            if system.best_of.is_empty() {
                system.sets.extend_from_slice(sets);
            }
        }
        Ok(self)
    }

    /// The paper with no other workloads than these, or all of them if none is named.
    ///
    /// # Errors
    /// If the paper does not have one of them.
    pub fn only(mut self, workloads: &[String]) -> Result<Paper, String> {
        let known: BTreeSet<&String> = self.workloads.values().flatten().collect();
        for workload in workloads {
            if !known.contains(workload) {
                let known: Vec<&str> = known.iter().map(|name| name.as_str()).collect();
                let alike = did_you_mean(workload, known.iter().copied());
                return Err(format!(
                    "{} has no workload `{workload}`{alike}, expected some of {}",
                    self.name,
                    known.join(", ")
                ));
            }
        }
        if !workloads.is_empty() {
            for set in self.workloads.values_mut() {
                set.retain(|workload| workloads.contains(workload));
            }
        }
        Ok(self)
    }

    fn system(&self, name: &str) -> Result<&SystemText, String> {
        self.systems.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.systems.keys().map(String::as_str).collect();
            let alike = did_you_mean(name, known.iter().copied());
            format!("no system `{name}`{alike}, expected one of {}", known.join(", "))
        })
    }

    /// The machine of `of` with the least of a metric.
    fn best(&self, name: String, least: &str, of: Vec<Variant>) -> Result<Setup, String> {
        let least = self.metric(least)?.clone();
        Ok(Setup::Best(Rc::new(Best { name, least, compared: of.clone(), of })))
    }

    /// One of the systems that `system` chooses from.
    fn candidate(
        &self,
        system: &str,
        one: &str,
        machine: Option<&str>,
        sets: &Sets,
    ) -> Result<Variant, String> {
        let text = self.system(one)?;
        if text.least.is_some() || text.follows.is_some() {
            return Err(format!("`{system}` chooses from `{one}`, which is a choice itself"));
        }
        self.setup_with(one, machine, sets)?.machine()
    }

    /// The search whose choice `system` takes over; it must have as many values.
    fn leader(
        &self,
        system: &str,
        leader: &str,
        values: usize,
        machine: Option<&str>,
        sets: &Sets,
    ) -> Result<Rc<Best>, String> {
        let text = self.system(leader)?;
        if text.search.is_some() && text.least.is_some() {
            match self.setup_with(leader, machine, sets)? {
                Setup::Best(best) if best.of.len() == values => return Ok(best),
                _ => {}
            }
        }
        Err(format!("`{system}` follows `{leader}`, expected a search with `least` among {values}"))
    }
}

/// A machine with everything that a search tries.
fn tried(machine: &Variant, search: &SearchText, more: &[String]) -> Vec<Variant> {
    search.sets().iter().map(|sets| machine.clone().with(sets).with(more)).collect()
}
