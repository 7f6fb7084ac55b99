//! `explain`: the meaning of statistics, metrics, policies and energies.

use std::borrow::Cow;

use clap::Args;
use strata_engine::config::did_you_mean;
use strata_engine::statistics::{Array, Definition, Mark};
use strata_gpu::machine::{Machine, PolicyKey, policies};
use strata_gpu::{catalogue, energy};
use strata_measure::metric::{self, Metric, Metrics};
use strata_measure::numbers::COUNTERS_OF_RUN;
use strata_measure::profile;

use crate::choice::MachineChoice;
use crate::print;

/// Arguments of `explain`.
#[derive(Args)]
pub struct ExplainArguments {
    /// What to explain: a counter (`l1d.load_hits`), a group (`l1d`), a metric (`ipc`), a policy
    /// (`dram.scheduler.fcfs`) or the key that chooses it (`dram.scheduler`), `energy` for all of a machine's
    /// energies and their sources, or `energy.l1d` for those of one structure. Default: list all groups, metrics
    /// and keys of policies.
    statistic: Option<String>,
    #[command(flatten)]
    machine: MachineChoice,
}

/// Prints the explanation.
///
/// # Errors
/// An unknown metric, group, counter or structure; the message lists the known ones.
pub fn explain(arguments: &ExplainArguments) -> Result<(), String> {
    let machine = arguments.machine.load(&[])?;
    if let Some(structure) = arguments.statistic.as_deref().and_then(energies) {
        return print(&energy::explain(&machine, structure)?);
    }
    let groups = groups(&machine)?;
    let (metrics, policies) = (metric::common(), policies());
    if let Some(text) = arguments.statistic.as_deref().and_then(|asked| of_policies(asked, &policies)) {
        return print(&text);
    }
    let text = match &arguments.statistic {
        None => contents(&groups, &metrics) + &keys_of(&policies),
        Some(name) => match metrics.get(name) {
            Some(metric) => of_metric(metric, &groups),
            None => of_counters(name, &groups, &metrics)?,
        },
    };
    print(&text)
}

/// A group of counters, for readers.
struct Group {
    name: &'static str,
    counters: Vec<Counter>,
    laws: Vec<&'static str>,
}

/// A counter, or an array of counters.
struct Counter {
    /// Name of the counter, or of the array.
    name: Cow<'static, str>,
    /// Names of an array's counters; empty for a single counter.
    members: Vec<&'static str>,
    /// Unit, meaning and mark.
    text: String,
}

impl Counter {
    /// The name to print: an array's with the range of its counters.
    fn title(&self) -> String {
        match self.members[..] {
            [] => self.name.clone().into_owned(),
            [one] => one.to_owned(),
            [first, .., last] => format!("{first} to {last}"),
        }
    }

    /// Whether it has this name, or is an array with a counter of this name.
    fn is(&self, name: &str) -> bool {
        self.name == name || self.members.contains(&name)
    }
}

/// All groups: that of the run, those of the machine's parts, then those of profiles.
fn groups(machine: &Machine) -> Result<Vec<Group>, String> {
    let of_run = COUNTERS_OF_RUN.iter().map(|(name, unit, meaning)| Counter {
        name: (*name).into(),
        members: vec![],
        text: format!("[{unit}]: {meaning}"),
    });
    let mut groups = vec![Group { name: "run", counters: of_run.collect(), laws: vec![] }];
    for group in catalogue::statistics(machine)? {
        groups.push(Group {
            name: group.name,
            counters: counters(group.definitions),
            laws: group.laws.to_vec(),
        });
    }
    groups.extend(groups_of_profiles());
    Ok(groups)
}

/// The counters of a group; those of an array as one.
fn counters(definitions: &'static [Definition]) -> Vec<Counter> {
    let names: Vec<&'static str> = definitions.iter().map(|definition| definition.name).collect();
    let arrays = Array::among(&names);
    let (mut counters, mut place) = (Vec::new(), 0);
    while let Some(definition) = definitions.get(place) {
        let (name, members) = match arrays.iter().find(|array| array.first == place) {
            Some(array) => (array.name, names[place..place + array.length].to_vec()),
            None => (definition.name, vec![]),
        };
        place += members.len().max(1);
        counters.push(Counter { name: name.into(), members, text: explanation(definition) });
    }
    counters
}

fn explanation(definition: &Definition) -> String {
    let mark = match definition.mark {
        Mark::Plain => "",
        Mark::Energy => " Costs energy.",
        Mark::Maximum => " The largest of the parts' counts.",
    };
    format!("[{}]: {}{mark}", definition.unit, definition.meaning)
}

/// Groups of counters that only profiles have.
fn groups_of_profiles() -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for profile::Counter { group, name, unit, meaning } in profile::counters() {
        let counter =
            Counter { name: name.into(), members: vec![], text: format!("[{unit}, in profiles]: {meaning}") };
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
    let count =
        |group: &Group| group.counters.iter().map(|counter| counter.members.len().max(1)).sum::<usize>();
    let groups = groups.iter().map(|group| format!("{} ({} counters)\n", group.name, count(group)));
    let metrics = metrics.values().map(|metric| format!("{} (metric)\n", metric.name));
    groups.chain(metrics).collect()
}

/// The keys that choose a policy.
fn keys_of(policies: &[PolicyKey]) -> String {
    policies.iter().map(|key| format!("{} ({} policies)\n", key.key, key.policies.len())).collect()
}

/// A key with its policies, or one of them, which may be asked for without the key; `None` if the text is neither.
fn of_policies(asked: &str, keys: &[PolicyKey]) -> Option<String> {
    let lines = |key: &PolicyKey, is_asked: &dyn Fn(&str) -> bool| -> String {
        let asked = key.policies.iter().filter(|policy| is_asked(&policy.name));
        asked.map(|policy| format!("{} = {}: {}\n", key.key, policy.value, policy.meaning)).collect()
    };
    if let Some(key) = keys.iter().find(|key| key.key == asked || short(key.key).as_deref() == Some(asked)) {
        return Some(format!("{}: {}\n{}", key.key, key.meaning, lines(key, &|_| true)));
    }
    let of_key = |key: &PolicyKey| {
        let name = asked.strip_prefix(key.key).and_then(|rest| rest.strip_prefix('.')).unwrap_or(asked);
        lines(key, &|policy| policy == name)
    };
    Some(keys.iter().map(of_key).collect::<String>()).filter(|text| !text.is_empty())
}

/// A cache's key without its design, as `--set` takes it, too.
fn short(key: &str) -> Option<String> {
    let (door, rest) = key.split_once('.')?;
    let (_, rest) = rest.split_once('.')?;
    ["l1d", "llc"].contains(&door).then(|| format!("{door}.{rest}"))
}

/// A metric: its expression, and the meaning of each counter in it.
fn of_metric(metric: &Metric, groups: &[Group]) -> String {
    let unit = if metric.unit.is_empty() { "ratio" } else { &metric.unit };
    let mut text = format!("{} [{unit}]: {}\n= {}\n", metric.name, metric.title, metric.expression);
    for (name, counter) in metric.expression.counters() {
        let group = groups.iter().find(|group| group.name == name);
        let found = group.and_then(|group| group.counters.iter().find(|known| known.is(counter)));
        text += &match found {
            Some(found) => format!("{name}.{counter} {}\n", found.text),
            None => format!("{name}.{counter} {}\n", of_no_counter(name)),
        };
    }
    text
}

/// Explains a name in an expression that is not a counter of the machine.
fn of_no_counter(group: &str) -> &'static str {
    match group {
        "energy" => {
            "[pJ]: Energy of a structure, or its leakage: counts times the energies that `strata explain energy` lists."
        }
        "area" => "[the component's unit]: Area, as `strata area` lists it.",
        _ if group.starts_with("lifetime.") => {
            "[months, writes]: Lifetime of a structure whose cells wear out, of machines with an `endurance` section for it."
        }
        _ => ": counted by other machines than this one.",
    }
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
    let is_asked = |known: &&Counter| counter.is_none_or(|counter| known.is(counter));
    let mut text: String = group
        .counters
        .iter()
        .filter(is_asked)
        .map(|known| format!("{}.{} {}\n", group.name, known.title(), known.text))
        .collect();
    if let Some(counter) = counter.filter(|_| text.is_empty()) {
        let names: Vec<&str> = group.counters.iter().map(|counter| counter.name.as_ref()).collect();
        let alike = did_you_mean(counter, names.iter().copied());
        let known: Vec<String> = group.counters.iter().map(Counter::title).collect();
        return Err(format!("no statistic `{asked}`{alike}, `{group_name}` has {}", known.join(", ")));
    }
    for law in group.laws.iter().filter(|law| counter.is_none_or(|counter| mentions(law, counter))) {
        text += &format!("law: {law}\n");
    }
    Ok(text)
}

/// Says what is known instead of an unknown group. A counter's name without its group finds the group.
fn no_group(asked: &str, groups: &[Group], metrics: &Metrics) -> String {
    let is_counter = |group: &&Group| group.counters.iter().any(|counter| counter.is(asked));
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

#[cfg(test)]
mod tests {
    use strata_engine::statistics::array_group;

    use super::*;

    #[test]
    fn policies_are_explained_by_key_and_by_name() {
        let keys = policies();
        let of = |asked| of_policies(asked, &keys);
        let all = of("dram.page").unwrap();
        let lines: Vec<&str> = all.lines().collect();
        assert!(
            lines[0].starts_with("dram.page: When a row that no queued request wants is closed"),
            "{all}"
        );
        assert!(lines[3].starts_with("dram.page = { timeout = { cycles = ... } }: "), "{all}");
        assert!(lines[3].ends_with(" `cycles`: DRAM cycles from the last burst's command on."), "{all}");
        for asked in ["dram.scheduler.fcfs", "fcfs"] {
            assert!(
                of(asked).unwrap().starts_with("dram.scheduler = fcfs: First come, first served"),
                "{asked}"
            );
        }
        assert_eq!((of("dram"), of("dram.scheduler.timeout"), of("l1d")), (None, None, None));
        assert_eq!(of("llc.prefetch"), of("llc.conventional.prefetch"));
        assert!(of("llc.prefetch").unwrap().contains("llc.conventional.prefetch = stream: "));
        let listed = keys_of(&keys);
        assert!(listed.lines().any(|line| line == "l1d.sram.replacement (8 policies)"), "{listed}");
    }

    #[test]
    fn an_array_is_explained_in_one_line() {
        let definition = |name, mark| Definition { name, unit: "writes", meaning: "Writes of it.", mark };
        let (bank, word) = (definition("bank", Mark::Plain), definition("word", Mark::Maximum));
        let made_up = array_group("made_up", &[(bank, &[0; 64]), (word, &[0; 64])]);
        let groups = [Group { name: "made_up", counters: counters(made_up.definitions), laws: vec![] }];
        let metrics = Metrics::default();
        let banks = "made_up.bank_00 to bank_63 [writes]: Writes of it.\n";
        let words = "made_up.word_00 to word_63 [writes]: Writes of it. The largest of the parts' counts.\n";
        let explain = |asked: &str| of_counters(asked, &groups, &metrics);
        assert_eq!(explain("made_up").unwrap(), format!("{banks}{words}"));
        for asked in ["made_up.bank", "made_up.bank_07"] {
            assert_eq!(explain(asked).unwrap(), banks, "{asked}");
        }
        let error = explain("made_up.bank_64").unwrap_err();
        assert!(error.ends_with("`made_up` has bank_00 to bank_63, word_00 to word_63"), "{error}");
        assert_eq!(contents(&groups, &metrics), "made_up (128 counters)\n");
        assert!(explain("word_01").unwrap_err().contains("did you mean `made_up.word_01`?"));
    }
}
