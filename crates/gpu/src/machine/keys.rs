//! Every key that `--set` takes on a machine, with what the configuration's types say of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use strata_designs::registry::registry;
use strata_engine::config::{Entry, KeyFacts, SectionFacts, facts};
use toml::{Table, Value};

use super::Machine;
use super::doors::CPU_L1D;
use super::file::Sections;
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
        collect("", root(), Some(self.table()), &mut keys);
        keys
    }
}

/// What the types say of all sections of a machine file. Behind each door stands a section for each design.
pub(super) fn root() -> &'static Entry {
    static ROOT: LazyLock<Entry> = LazyLock::new(|| {
        let mut root = facts::<Sections>();
        let known = registry();
        put(&mut root, "sm.register_file", known.register_files.facts());
        put(&mut root, "lane_path", known.lane_paths.facts());
        put(&mut root, "scratchpad", known.scratchpads.facts());
        put(&mut root, "l1d", known.l1ds.facts());
        put(&mut root, CPU_L1D, known.l1ds.facts());
        put(&mut root, "network", known.networks.facts());
        put(&mut root, "llc", known.llcs.facts());
        root
    });
    &ROOT
}

/// Puts a section at a path whose other parts are there.
fn put(root: &mut Entry, path: &str, designs: SectionFacts) {
    let (parents, name) = path.rsplit_once('.').map_or(("", path), |(parents, name)| (parents, name));
    let mut at = root;
    for part in parents.split('.').filter(|part| !part.is_empty()) {
        let Entry::Section(section) = at else { unreachable!("{path}: {part} is in a section") };
        at = section.entries.get_mut(part).unwrap_or_else(|| unreachable!("{path}: there is {part}"));
    }
    let Entry::Section(section) = at else { unreachable!("{path} is in a section") };
    section.entries.insert(name.to_owned(), Entry::Section(designs));
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
fn collect(path: &str, entry: &Entry, table: Option<&Table>, keys: &mut Vec<MachineKey>) {
    let inside = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match entry {
        Entry::Section(section) => {
            for (name, entry) in &section.entries {
                let value = table.and_then(|table| table.get(name));
                if is_door(path) && value.is_none() {
                    continue;
                }
                visit(&inside(name), entry, value, keys);
            }
        }
        Entry::Names(each) => {
            for (name, value) in table.into_iter().flatten() {
                visit(&inside(name), each, Some(value), keys);
            }
        }
        Entry::Key(_) => unreachable!("{path} is a section"),
    }
}

fn visit(path: &str, entry: &Entry, value: Option<&Value>, keys: &mut Vec<MachineKey>) {
    let Entry::Key(facts) = entry else {
        return collect(path, entry, value.and_then(Value::as_table), keys);
    };
    let (value, source) = match value {
        Some(Value::Table(cited)) if is_cited(cited) => (Some(cited["value"].clone()), source_of(cited)),
        other => (other.cloned(), None),
    };
    let mut facts = facts.clone();
    if facts.unit == "cycles" {
        facts.unit = cycles_of(path).to_owned();
    }
    keys.push(MachineKey { path: path.to_owned(), value, source, facts });
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
    collect("", root, Some(table), &mut keys);
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

/// What the types say of a path from an entry on.
pub(super) fn find<'a>(entry: &'a Entry, path: &str) -> Option<&'a Entry> {
    path.split('.').filter(|part| !part.is_empty()).try_fold(entry, |entry, part| step(entry, part))
}

/// What stands under a name in a section.
pub(super) fn step<'a>(entry: &'a Entry, name: &str) -> Option<&'a Entry> {
    match entry {
        Entry::Section(section) => section.entries.get(name),
        Entry::Names(each) => Some(each),
        Entry::Key(_) => None,
    }
}

/// The entries of a section; none elsewhere.
pub(super) fn entries(entry: &Entry) -> Option<&BTreeMap<String, Entry>> {
    match entry {
        Entry::Section(section) => Some(&section.entries),
        _ => None,
    }
}
