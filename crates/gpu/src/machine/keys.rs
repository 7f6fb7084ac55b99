//! Every key that `--set` takes on a machine, with what the configuration's types say of it.

use std::collections::BTreeSet;

use strata_engine::config::{Entry, KeyFacts};
use toml::{Table, Value};

use super::Machine;
use super::ranges::{Range, Rules};
pub(super) use super::schema::{entries, find, root, step};
use super::values::{self, is_cited, source_of};

/// A key of a machine, whether its file has it or not.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineKey {
    /// Its path, as in `l1d.sram.ways`.
    pub path: String,
    /// Its value on this machine; `None` if it is left out.
    pub value: Option<Value>,
    /// Where the value comes from; `None` for a name, a list or a key that is left out.
    pub source: Option<String>,
    /// Between what the value may lie, if it is assumed and its file, or a rule of the machine, says so.
    pub range: Option<Range>,
    /// Meaning, unit, bounds and choices.
    pub facts: KeyFacts,
}

impl MachineKey {
    /// The path without the names of the designs behind doors: `l1d.ways` for `l1d.sram.ways`. `--set` takes it, too.
    pub fn short_path(&self) -> String {
        without_designs(&self.path)
    }
}

impl Machine {
    /// Every key that `--set` takes, by path: those that the machine has, and those that it leaves out.
    pub fn keys(&self) -> Vec<MachineKey> {
        let mut keys = Vec::new();
        collect("", root(), Some(self.table()), &Rules::of(self.table()), &mut keys);
        keys
    }
}

/// Whether designs stand at a path, one of which a machine has.
pub(super) fn is_door(path: &str) -> bool {
    super::doors().iter().any(|door| door.name == path)
}

/// A path as a user may write it: `l1d.ways` for `l1d.sram.ways`.
pub(super) fn without_designs(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let mut parent = String::new();
    for part in path.split('.') {
        if !is_door(&parent) {
            parts.push(part);
        }
        parent = if parent.is_empty() { part.to_owned() } else { format!("{parent}.{part}") };
    }
    parts.join(".")
}

/// Collects the keys of an entry, with the values of the machine's table at its path, if it has one there.
fn collect(path: &str, entry: &Entry, table: Option<&Table>, rules: &Rules, keys: &mut Vec<MachineKey>) {
    let inside = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match entry {
        Entry::Section(section) => {
            for (name, entry) in &section.entries {
                let value = table.and_then(|table| table.get(name));
                if is_door(path) && value.is_none() {
                    continue;
                }
                visit(&inside(name), entry, value, rules, keys);
            }
        }
        Entry::Names(each) => {
            for (name, value) in table.into_iter().flatten() {
                visit(&inside(name), each, Some(value), rules, keys);
            }
        }
        Entry::Key(_) => unreachable!("{path} is a section"),
    }
}

fn visit(path: &str, entry: &Entry, value: Option<&Value>, rules: &Rules, keys: &mut Vec<MachineKey>) {
    let Entry::Key(facts) = entry else {
        return collect(path, entry, value.and_then(Value::as_table), rules, keys);
    };
    let (value, source, range) = match value {
        Some(Value::Table(cited)) if is_cited(cited) => {
            let range = rules.range(path, cited).unwrap_or_default();
            (Some(cited["value"].clone()), source_of(cited), range)
        }
        other => (other.cloned(), None, None),
    };
    let mut facts = facts.clone();
    if facts.unit == "cycles" {
        facts.unit = cycles_of(path).to_owned();
    }
    keys.push(MachineKey { path: path.to_owned(), value, source, range, facts });
}

/// Sections of parts with a clock of their own, and the unit of their cycles.
const CLOCKS: &[(&str, &str)] = &[
    ("network.", "network cycles"),
    ("llc.", "L2 cycles"),
    ("memory_cache.", "L2 cycles"),
    ("dram.", "DRAM command cycles"),
    ("cpu.", "CPU cycles"),
];

/// The clock whose cycles a key counts.
fn cycles_of(path: &str) -> &'static str {
    CLOCKS.iter().find(|(section, _)| path.starts_with(section)).map_or("core cycles", |(_, unit)| unit)
}

/// The paths of every key that a machine's table has, and of those that it may have.
pub(super) fn paths(table: &Table, root: &Entry) -> Vec<String> {
    let mut keys = Vec::new();
    collect("", root, Some(table), &Rules::default(), &mut keys);
    let known: BTreeSet<String> = keys.into_iter().map(|key| key.path).collect();
    let has = values::values(table).into_iter().map(|value| value.path);
    known.into_iter().chain(has).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The designs, by the paths that name them, that have a key which ends a path such as `l1d.stt.ways`; `None` if no design
/// has it.
pub fn designs_with_key(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split('.').collect();
    let door = (1..parts.len()).rev().find(|length| is_door(&parts[..*length].join(".")))?;
    other_designs(&parts[..door], &parts[door..])
}

/// The designs behind a section's door that have a key which a machine's design has not; `section` may name the machine's
/// design, `rest` the one that is meant.
pub(super) fn other_designs(section: &[&str], rest: &[&str]) -> Option<String> {
    let whole: Vec<&str> = section.iter().chain(rest).copied().collect();
    let length = (1..=section.len()).rev().find(|length| is_door(&whole[..*length].join(".")))?;
    let (door, key) = (whole[..length].join("."), &whole[length..]);
    let mut found = designs_with(&door, key);
    if let ([design, inner @ ..], true) = (key, found.is_empty()) {
        found = designs_with(&door, inner);
        let named = format!("{door}.{design}");
        // A design that is named is meant, if it has the key.
        if section.len() == length && found.contains(&named) {
            found = vec![named];
        }
    }
    let found: Vec<String> = found.into_iter().map(|design| format!("`{design}`")).collect();
    (!found.is_empty()).then(|| found.join(" or "))
}

/// Designs behind a door that have a key, by the path that names them: `l1d.fuse` for `l1d` and `stt.ways`.
fn designs_with(door: &str, key: &[&str]) -> Vec<String> {
    let Some(Entry::Section(designs)) = find(root(), door) else { return vec![] };
    let has = |design: &Entry| matches!(find(design, &key.join(".")), Some(Entry::Key(_)));
    designs
        .entries
        .iter()
        .filter(|(_, design)| has(design))
        .map(|(name, _)| format!("{door}.{name}"))
        .collect()
}
