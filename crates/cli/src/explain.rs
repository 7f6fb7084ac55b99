//! `strata explain`: the meaning of statistics, metrics and energies.

use std::borrow::Cow;

use clap::Args;
use strata_engine::config::did_you_mean;
use strata_engine::statistics::{Definition, Mark};
use strata_gpu::machine::Machine;
use strata_gpu::{catalogue, energy};
use strata_lab::metric::{self, Metric, Metrics};
use strata_lab::profile;

use crate::choice::MachineChoice;
use crate::{Finished, print};

/// Arguments of `strata explain`.
#[derive(Args)]
pub struct ExplainArguments {
    /// What to explain: a counter (`l1d.load_hits`), a group (`l1d`), a metric (`ipc`), `energy` for all of a
    /// machine's energies and their sources, or `energy.l1d` for those of one structure. Default: list all
    /// groups and metrics.
    statistic: Option<String>,
    #[command(flatten)]
    machine: MachineChoice,
}

/// Prints the explanation.
///
/// # Errors
/// An unknown metric, group, counter or structure; the message lists the known ones.
pub fn explain(arguments: &ExplainArguments) -> Result<Finished, String> {
    let machine = arguments.machine.load(&[])?;
    if let Some(structure) = arguments.statistic.as_deref().and_then(energies) {
        print(&energy::explain(&machine, structure)?)?;
        return Ok(Finished::Well);
    }
    let groups = groups(&machine)?;
    let metrics = metric::common();
    let text = match &arguments.statistic {
        None => contents(&groups, &metrics),
        Some(name) => match metrics.get(name) {
            Some(metric) => of_metric(metric, &groups),
            None => of_counters(name, &groups, &metrics)?,
        },
    };
    print(&text)?;
    Ok(Finished::Well)
}

/// A group of counters, for readers.
struct Group {
    name: &'static str,
    counters: Vec<Counter>,
    laws: Vec<&'static str>,
}

struct Counter {
    name: Cow<'static, str>,
    /// Unit, meaning and mark.
    text: String,
}

/// Counters that every run has beside those of its parts.
const OF_RUN: &[(&str, &str, &str)] = &[
    ("launches", "launches", "Kernels that were launched."),
    ("cycles", "core cycles", "Cycles of all launches together."),
    ("warp_instructions", "instructions", "Instructions that warps issued."),
    ("thread_instructions", "instructions", "Instructions that threads executed."),
    ("core_mhz", "MHz", "The machine's core clock."),
];

/// All groups: that of the run, those of the machine's parts, then those of profiles.
fn groups(machine: &Machine) -> Result<Vec<Group>, String> {
    let of_run = OF_RUN
        .iter()
        .map(|(name, unit, meaning)| Counter { name: (*name).into(), text: format!("[{unit}]: {meaning}") });
    let mut groups = vec![Group { name: "run", counters: of_run.collect(), laws: vec![] }];
    for group in catalogue::statistics(machine)? {
        let counter = |definition: &Definition| Counter {
            name: definition.name.into(),
            text: format!(
                "[{}]: {}{}",
                definition.unit,
                definition.meaning,
                match definition.mark {
                    Mark::Plain => "",
                    Mark::Energy => " Costs energy.",
                    Mark::Maximum => " The largest of the parts' counts.",
                }
            ),
        };
        let counters = group.definitions.iter().map(counter).collect();
        groups.push(Group { name: group.name, counters, laws: group.laws.to_vec() });
    }
    groups.extend(groups_of_profiles());
    Ok(groups)
}

/// Groups of counters that only profiles have.
fn groups_of_profiles() -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for profile::Counter { group, name, unit, meaning } in profile::counters() {
        let counter = Counter { name: name.into(), text: format!("[{unit}, in profiles]: {meaning}") };
        match groups.iter_mut().find(|known| known.name == group) {
            Some(known) => known.counters.push(counter),
            None if group == "run" => {}
            None => groups.push(Group { name: group, counters: vec![counter], laws: vec![] }),
        }
    }
    groups
}

/// What there is to explain.
fn contents(groups: &[Group], metrics: &Metrics) -> String {
    let groups = groups.iter().map(|group| format!("{} ({} counters)\n", group.name, group.counters.len()));
    let metrics = metrics.values().map(|metric| format!("{} (metric)\n", metric.name));
    groups.chain(metrics).collect()
}

/// A metric: its expression, and the meaning of each counter in it.
fn of_metric(metric: &Metric, groups: &[Group]) -> String {
    let unit = if metric.unit.is_empty() { "ratio" } else { &metric.unit };
    let mut text = format!("{} [{unit}]: {}\n= {}\n", metric.name, metric.title, metric.expression);
    for (name, counter) in metric.expression.counters() {
        let group = groups.iter().find(|group| group.name == name);
        let found = group.and_then(|group| group.counters.iter().find(|known| known.name == counter));
        text += &found.map_or(String::new(), |found| format!("{name}.{counter} {}\n", found.text));
    }
    text
}

/// A group, or one of its counters, with the laws that it obeys.
fn of_counters(asked: &str, groups: &[Group], metrics: &Metrics) -> Result<String, String> {
    // A group's name may itself contain a dot, so try the whole text as a group first.
    let (group_name, counter) = match asked.rsplit_once('.') {
        Some((group, counter)) if groups.iter().all(|group| group.name != asked) => (group, Some(counter)),
        _ => (asked, None),
    };
    let Some(group) = groups.iter().find(|group| group.name == group_name) else {
        return Err(no_group(group_name, groups, metrics));
    };
    let is_asked = |known: &&Counter| counter.is_none_or(|counter| counter == known.name);
    let mut text: String = group
        .counters
        .iter()
        .filter(is_asked)
        .map(|known| format!("{}.{} {}\n", group.name, known.name, known.text))
        .collect();
    if let Some(counter) = counter.filter(|_| text.is_empty()) {
        let names: Vec<&str> = group.counters.iter().map(|counter| counter.name.as_ref()).collect();
        let alike = did_you_mean(counter, names.iter().copied());
        return Err(format!("no statistic `{asked}`{alike}, `{group_name}` has {}", names.join(", ")));
    }
    for law in group.laws.iter().filter(|law| counter.is_none_or(|counter| mentions(law, counter))) {
        text += &format!("law: {law}\n");
    }
    Ok(text)
}

/// Says what is known instead of an unknown group. A counter's name without its group finds the group.
fn no_group(asked: &str, groups: &[Group], metrics: &Metrics) -> String {
    let is_counter = |group: &&Group| group.counters.iter().any(|counter| counter.name == asked);
    let whole: Vec<String> =
        groups.iter().filter(is_counter).map(|group| format!("`{}.{asked}`", group.name)).collect();
    let names: Vec<&str> = groups.iter().map(|group| group.name).collect();
    let alike = match whole.is_empty() {
        true => did_you_mean(asked, names.iter().copied().chain(metrics.keys().map(String::as_str))),
        false => format!(" (did you mean {}?)", whole.join(", ")),
    };
    let metrics: Vec<&str> = metrics.keys().map(String::as_str).collect();
    let (names, metrics) = (names.join(", "), metrics.join(", "));
    format!("no statistics group `{asked}`{alike}, expected one of {names}, or a metric: {metrics}")
}

/// For `energy`, `Some(None)`; for `energy.<structure>`, `Some(Some(structure))`; `None` for anything else.
fn energies(asked: &str) -> Option<Option<&str>> {
    match asked.strip_prefix("energy") {
        Some("") => Some(None),
        Some(rest) => rest.strip_prefix('.').map(Some),
        None => None,
    }
}

/// Whether a law mentions a counter as a whole word.
fn mentions(law: &str, counter: &str) -> bool {
    law.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == counter)
}
