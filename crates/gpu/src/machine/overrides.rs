//! `--set door.key=value`: replaces a value of the machine file for one run, or gives one that the file leaves out.

use std::collections::BTreeSet;

use strata_engine::config::{ConfigError, Entry, RANGE, RANGES, key_at, likeness};
use toml::{Table, Value};

use super::keys::{self, is_door, step, without_designs};
use super::values::is_cited;

/// Source recorded for an overridden value.
const SOURCE: &str = "set for this run";

/// Applies `path=value` to a machine's table and returns the whole path. The path names a value of the table, or a key
/// that `root`, what the types say of a machine file, knows and the table leaves out. The value is TOML, or a bare word,
/// which is taken as a string. The path may omit the design behind a door: `l1d.ways` means `l1d.sram.ways`. Its parts may
/// be quoted.
///
/// # Errors
/// What is wrong with the assignment, or that the machine has no such key.
pub fn apply(table: &mut Table, root: &Entry, assignment: &str) -> Result<String, ConfigError> {
    if let Some(path) = assign(table, root, assignment, None)? {
        return Ok(path);
    }
    // Paths that may be meant are many, and only a refusal names one.
    let all = keys::paths(table, root);
    let path = assign(table, root, assignment, Some(&all))?;
    Ok(path.expect("what is not found is refused where all paths are given"))
}

/// As [`apply`]. A path that the machine has not is refused where all paths are given, and `None` otherwise.
fn assign(
    table: &mut Table,
    root: &Entry,
    assignment: &str,
    all: Option<&[String]>,
) -> Result<Option<String>, ConfigError> {
    let error =
        |message: String| ConfigError { file: format!("--set {assignment}").into(), place: None, message };
    let Some((path, text)) = assignment.split_once('=') else {
        return Err(error("found no `=`, expected door.key=value".into()));
    };
    let (path, text) = (path.trim(), text.trim());
    if path.is_empty() || text.is_empty() {
        return Err(error("found nothing on one side of `=`, expected door.key=value".into()));
    }
    if is_large(text) {
        let (least, most) = (i64::MIN, i64::MAX);
        return Err(error(format!("`{path}`: found {text}, expected a whole number from {least} to {most}")));
    }
    let path = unquoted(path);
    let parts: Vec<&str> = path.split('.').collect();
    let mut at = Cursor { table, entry: Some(root), section: Vec::new() };
    let mut rest = parts.as_slice();
    loop {
        at = at.behind_door(rest);
        let Some((key, left)) = at.first_key(rest) else {
            let Some(all) = all else { return Ok(None) };
            return Err(error(unknown(&path, rest, &at, all)));
        };
        if left.is_empty() {
            let whole = at.path_of(&key);
            let is_section =
                |known| error(format!("`{path}` is a section, expected one of its keys: {known}"));
            return at.set(&key, parse_value(text)).map(|()| Some(whole)).map_err(is_section);
        }
        at = at
            .into_section(key)
            .map_err(|value| error(format!("`{value}` is a value, it has no `{}`", left.join("."))))?;
        rest = left;
    }
}

/// Turns an error in the text of a machine, after overrides, into one about the override that it speaks of: the last one of the
/// key, or of the section, where the error stands. `paths` are the whole paths of `sets`.
pub(super) fn blame(sets: &[String], paths: &[String], text: &str, error: ConfigError) -> ConfigError {
    let key = error.place.and_then(|place| key_at(text, place)).unwrap_or_default();
    let within = |path: &str, section: &str| {
        path.strip_prefix(section).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    let speaks_of = |path: &String| within(path, &key) || within(&key, path);
    let blamed = paths.iter().rposition(speaks_of).unwrap_or(sets.len() - 1);
    ConfigError { file: format!("--set {}", sets[blamed]).into(), place: None, ..error }
}

/// A path without the quotes around its parts.
pub fn unquoted(path: &str) -> String {
    let parts = path.split('.').map(|part| part.trim().trim_matches(['"', '\'']));
    parts.collect::<Vec<_>>().join(".")
}

/// A section of a machine.
struct Cursor<'a> {
    /// What the machine has there.
    table: &'a mut Table,
    /// What the types say of it, if they know it.
    entry: Option<&'a Entry>,
    /// Names of the sections that it is in, and its own.
    section: Vec<String>,
}

impl<'a> Cursor<'a> {
    fn path_of(&self, key: &str) -> String {
        self.section.iter().map(String::as_str).chain([key]).collect::<Vec<_>>().join(".")
    }

    /// Whether the section has a key, or may have it.
    fn has(&self, key: &str) -> bool {
        self.table.contains_key(key) || may_have(self.entry, &self.section.join("."), key)
    }

    /// The key that a path begins with, and the rest of the path. A key may itself contain dots.
    fn first_key<'p>(&self, path: &'p [&'p str]) -> Option<(String, &'p [&'p str])> {
        first_key(path, |key| self.has(key))
    }

    /// The section that has the first key of a path: this one or, if this one holds nothing but a design, that
    /// design's.
    fn behind_door(mut self, path: &[&str]) -> Cursor<'a> {
        let only = self.table.keys().next().filter(|_| self.table.len() == 1).cloned();
        let Some(only) = only.filter(|_| self.first_key(path).is_none()) else { return self };
        let entry = self.entry.and_then(|entry| step(entry, &only));
        let inside = self.path_of(&only);
        let is_design = self.table[&only].as_table().is_some_and(|design| {
            first_key(path, |key| design.contains_key(key) || may_have(entry, &inside, key)).is_some()
        });
        if is_design {
            self.section.push(only.clone());
            let table = self.table[&only].as_table_mut().expect("it was looked at as a table");
            return Cursor { table, entry, section: self.section };
        }
        self
    }

    /// A section in this one, which is made if the machine leaves it out.
    ///
    /// # Errors
    /// The path of a value that stands there.
    fn into_section(mut self, key: String) -> Result<Cursor<'a>, String> {
        let entry = self.entry.and_then(|entry| step(entry, &key));
        let path = self.path_of(&key);
        self.section.push(key.clone());
        if matches!(entry, Some(Entry::Key(_))) && !self.table.contains_key(&key) {
            return Err(path);
        }
        match self.table.entry(key).or_insert_with(|| Value::Table(Table::new())) {
            Value::Table(table) => Ok(Cursor { table, entry, section: self.section }),
            _ => Err(path),
        }
    }

    /// Gives a key a value.
    ///
    /// # Errors
    /// If a section stands there; its keys.
    fn set(self, key: &str, value: Value) -> Result<(), String> {
        let (entry, path) = (self.entry.and_then(|entry| step(entry, key)), self.path_of(key));
        match (self.table.get_mut(key), entry) {
            (Some(Value::Table(cited)), _) if is_cited(cited) => {
                cited.insert("value".into(), value);
                cited.insert("source".into(), SOURCE.into());
                // What is set for a run is assumed no more.
                cited.remove(RANGE);
            }
            (Some(Value::Table(inner)), _) => return Err(keys_of(inner, entry, &path)),
            (Some(plain), _) => *plain = value,
            (None, Some(Entry::Key(facts))) if facts.is_cited => {
                let cited = [("value".to_owned(), value), ("source".to_owned(), SOURCE.into())];
                self.table.insert(key.to_owned(), Value::Table(cited.into_iter().collect()));
            }
            (None, Some(Entry::Key(_)) | None) => {
                self.table.insert(key.to_owned(), value);
            }
            (None, Some(section)) => return Err(keys_of(&Table::new(), Some(section), &path)),
        }
        Ok(())
    }
}

/// Whether a section may have a key that it leaves out. Behind a door stands the one design that the machine has.
fn may_have(entry: Option<&Entry>, section: &str, key: &str) -> bool {
    let known = entry.and_then(keys::entries);
    !is_door(section) && known.is_some_and(|entries| entries.contains_key(key))
}

/// The key that a path begins with, the longest that `has` knows, and the rest of the path.
fn first_key<'p>(path: &'p [&'p str], has: impl Fn(&str) -> bool) -> Option<(String, &'p [&'p str])> {
    let lengths = (1..=path.len()).rev();
    lengths.map(|length| (path[..length].join("."), &path[length..])).find(|(key, _)| has(key))
}

/// Says that a path is unknown, which design has such a key, or which path may be meant, and the keys of the section where
/// the search ended.
fn unknown(path: &str, rest: &[&str], at: &Cursor<'_>, all: &[String]) -> String {
    // Where only a design stands, the keys are the design's.
    let (mut section, mut table, mut entry) = (at.section.clone(), &*at.table, at.entry);
    while let (Some((name, Value::Table(inner))), 1) = (table.iter().next(), table.len()) {
        if is_cited(inner) {
            break;
        }
        section.push(name.clone());
        entry = entry.and_then(|entry| step(entry, name));
        table = inner;
    }
    let section = section.join(".");
    let keys = keys_of(table, entry, &section);
    let parents: Vec<&str> = at.section.iter().map(String::as_str).collect();
    if let Some(others) = keys::other_designs(&parents, rest) {
        if is_door(&section) {
            return format!("unknown key `{path}`: {others} has it, this machine leaves `{section}` out");
        }
        return format!(
            "unknown key `{path}`: {others} has it, this machine has `{section}`, expected one of the keys: {keys}"
        );
    }
    let alike = closest(path, all).map(|alike| format!(" (did you mean `{alike}`?)")).unwrap_or_default();
    let section = if section.is_empty() { String::new() } else { format!(" of `{section}`") };
    format!("unknown key `{path}`{alike}, expected one of the keys{section}: {keys}")
}

/// Least likeness of a path that is suggested.
const ALIKE: f64 = 0.8;

/// The known path most like a misspelt one, which may leave out the designs behind doors. Their last words must be
/// alike, too: paths of one section always are.
fn closest<'a>(path: &'a str, all: &'a [String]) -> Option<&'a String> {
    let last = |path: &'a str| path.rsplit('.').next().unwrap_or(path);
    let likeness = |known: &'a String| {
        let whole = likeness(path, known).max(likeness(path, &without_designs(known)));
        whole.min(likeness(last(path), last(known)))
    };
    let scored = all.iter().map(|known| (likeness(known), known));
    let best = scored.max_by(|one, other| one.0.total_cmp(&other.0));
    best.filter(|(likeness, _)| *likeness > ALIKE).map(|(_, known)| known)
}

/// Whether a text is a whole number that TOML cannot write.
fn is_large(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-']);
    !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit()) && text.parse::<i64>().is_err()
}

fn parse_value(text: &str) -> Value {
    match format!("value = {text}").parse::<Table>() {
        Ok(mut table) => table.remove("value").expect("the text was an assignment to `value`"),
        Err(_) => Value::String(text.to_owned()),
    }
}

/// The keys that a section has, and those that it may have.
fn keys_of(table: &Table, entry: Option<&Entry>, section: &str) -> String {
    let known = entry.and_then(keys::entries).filter(|_| !is_door(section));
    let keys: BTreeSet<&String> =
        table.keys().chain(known.into_iter().flatten().map(|(key, _)| key)).collect();
    // Rules say between what values lie, and are none.
    let keys = keys.into_iter().filter(|key| !section.is_empty() || *key != RANGES);
    keys.map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use strata_engine::config::SectionFacts;

    use super::super::Machine;
    use super::*;

    fn table() -> Table {
        "name = \"m\"\n[l1d]\nkind = \"sram\"\nways = { value = 4, source = \"Table I\" }\n".parse().unwrap()
    }

    /// Of a machine file of which nothing is known but what it has.
    fn apply(table: &mut Table, assignment: &str) -> Result<String, ConfigError> {
        super::apply(table, &Entry::Section(SectionFacts::default()), assignment)
    }

    #[test]
    fn a_cited_value_and_its_source_are_replaced() {
        let mut table = table();
        apply(&mut table, "l1d.ways=8").unwrap();
        apply(&mut table, "l1d.kind = fa").unwrap();
        assert_eq!(table["l1d"]["ways"]["value"].as_integer(), Some(8));
        assert_eq!(table["l1d"]["ways"]["source"].as_str(), Some(SOURCE));
        assert_eq!(table["l1d"]["kind"].as_str(), Some("fa"));
    }

    #[test]
    fn the_design_behind_a_door_need_not_be_named() {
        let mut table: Table = "[l1d.sram]\nways = { value = 4, source = \"Table I\" }\n".parse().unwrap();
        assert_eq!(apply(&mut table, "l1d.ways=8").unwrap(), "l1d.sram.ways");
        assert_eq!(table["l1d"]["sram"]["ways"]["value"].as_integer(), Some(8));
        for spelling in ["l1d.sram.ways=2", "\"l1d\".'sram'.ways = 2", "l1d . sram . ways=2"] {
            apply(&mut table, "l1d.ways=1").unwrap();
            apply(&mut table, spelling).unwrap();
            assert_eq!(table["l1d"]["sram"]["ways"]["value"].as_integer(), Some(2), "{spelling}");
        }
        let error = apply(&mut table, "l1d.way_count=2").unwrap_err().to_string();
        assert_eq!(
            error,
            "--set l1d.way_count=2: unknown key `l1d.way_count`, expected one of the keys of `l1d.sram`: `ways`"
        );
    }

    #[test]
    fn a_key_may_contain_dots() {
        let mut table: Table = "[pj.\"network.reply\"]\nhops = 1\n".parse().unwrap();
        for (number, path) in [(2, "pj.network.reply.hops"), (3, "pj.\"network.reply\".hops")] {
            apply(&mut table, &format!("{path}={number}")).unwrap();
            assert_eq!(table["pj"]["network.reply"]["hops"].as_integer(), Some(number));
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (assignment, expected) in [
            ("l1d.ways", "--set l1d.ways: found no `=`, expected door.key=value"),
            (
                "l1d.way=1",
                "--set l1d.way=1: unknown key `l1d.way` (did you mean `l1d.ways`?), expected one of the keys of `l1d`: `kind`, `ways`",
            ),
            (
                "l2.ways=1",
                "--set l2.ways=1: unknown key `l2.ways` (did you mean `l1d.ways`?), expected one of the keys: `l1d`, `name`",
            ),
            ("l1d=1", "--set l1d=1: `l1d` is a section, expected one of its keys: `kind`, `ways`"),
            ("name.x=1", "--set name.x=1: `name` is a value, it has no `x`"),
            ("=1", "--set =1: found nothing on one side of `=`, expected door.key=value"),
        ] {
            assert_eq!(apply(&mut table(), assignment).unwrap_err().to_string(), expected);
        }
    }

    /// What `--set` changes on a GTX 480, as text without sources.
    fn set(sets: &[&str]) -> Result<Machine, String> {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        Machine::load("gtx480", &sets).map_err(|error| error.to_string())
    }

    #[test]
    fn keys_that_the_file_leaves_out_can_be_set() {
        let machine = set(&["gpu.cache_sms=0", "clocks.l2_mhz=350", "sm.indirect_mov=true"]).unwrap();
        let file = machine.file();
        assert_eq!(file.gpu.cache_sms.as_deref(), Some(&0));
        assert_eq!(file.clocks.l2_mhz.as_ref().map(|mhz| mhz.source.as_str()), Some(SOURCE));
        assert!(file.sm.indirect_mov.as_deref().is_some_and(|has| *has));
        // A whole section, key by key.
        let cpu = ["cpu.cores=2", "cpu.clock_mhz=2000", "cpu.model=in-order", "cpu.store_buffer=4"];
        let error = set(&cpu).unwrap_err();
        assert!(error.contains("missing field `address_latency_cycles`"), "{error}");
        let machine = set(&[&cpu[..], &["cpu.address_latency_cycles=1"]].concat()).unwrap();
        assert_eq!(machine.file().cpu_cores(), 2);
        // A value that cannot be is refused as one that the file has.
        let error = set(&["clocks.l2_mhz=0"]).unwrap_err();
        assert!(error.contains("clocks.l2_mhz: found 0, expected 1 to 100000"), "{error}");
        let error = set(&["gpu.sms=4", "clocks.l2_mhz=fast", "gpu.channels=2"]).unwrap_err();
        assert!(error.starts_with("--set clocks.l2_mhz=fast: "), "{error}");
        let error = set(&["gpu.gate_sms=1"]).unwrap_err();
        assert!(error.contains("unknown key `gpu.gate_sms` (did you mean `gpu.gated_sms`?)"), "{error}");
    }

    #[test]
    fn a_key_of_another_design_is_named_with_the_design() {
        for (assignment, expected) in [
            (
                "l1d.stt.ways=2",
                "unknown key `l1d.stt.ways`: `l1d.fuse` has it, this machine has `l1d.sram`, expected",
            ),
            (
                "l1d.fuse.mshr_entries=2",
                "unknown key `l1d.fuse.mshr_entries`: `l1d.fuse` has it, this machine has `l1d.sram`",
            ),
            (
                "network.columns=2",
                "unknown key `network.columns`: `network.mesh` has it, this machine has `network.multistage`",
            ),
            (
                "llc.rows=8",
                "unknown key `llc.rows`: `llc.morpheus` has it, this machine has `llc.conventional`",
            ),
            (
                "scratchpad.vp_entries=8",
                "unknown key `scratchpad.vp_entries`: `scratchpad.stash` has it, this machine leaves `scratchpad` out",
            ),
            (
                "l1d.wayz=2",
                "unknown key `l1d.wayz` (did you mean `l1d.sram.ways`?), expected one of the keys of `l1d.sram`: `",
            ),
        ] {
            let error = set(&[assignment]).unwrap_err();
            assert!(error.starts_with(&format!("--set {assignment}: {expected}")), "{error}");
        }
    }

    #[test]
    fn a_policy_that_a_design_has_no_place_for_is_refused_with_those_that_have_one() {
        for (system, design) in [("dy-fuse", "fuse"), ("denovo", "denovo")] {
            let assignment = "l1d.prefetch=stride";
            let error = Machine::load_with("gtx480", &[system], &[assignment.to_owned()]).unwrap_err();
            let expected = format!(
                "--set {assignment}: unknown key `l1d.prefetch`: `l1d.sram` has it, this machine has `l1d.{design}`"
            );
            assert!(error.to_string().starts_with(&expected), "{error}");
        }
    }

    #[test]
    fn what_is_not_set_changes_nothing() {
        let plain = Machine::load("gtx480", &[]).unwrap();
        assert!(plain.keys().iter().any(|key| key.value.is_none()));
        assert_eq!(plain.table(), &crate::machine::builtin()[0].text.parse::<Table>().unwrap());
    }
}
