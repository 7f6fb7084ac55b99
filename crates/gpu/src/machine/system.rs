//! Systems: what papers compare, each a file that is laid over a machine.
//!
//! A system names the designs behind some of the machine's doors, with all their numbers, and may replace
//! other values. Any system can be laid over any machine.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde::Deserialize;
use strata_designs::systems;
use strata_engine::config::{self, ConfigError, did_you_mean, key_at, place_of};
use toml::{Table, Value};

use super::{Builtin, doors, read_limited};

/// The systems that come with the program.
pub fn builtin() -> &'static [Builtin] {
    static BUILTIN: LazyLock<Vec<Builtin>> = LazyLock::new(|| {
        systems::builtin().iter().map(|file| Builtin { name: file.name, text: file.text }).collect()
    });
    &BUILTIN
}

/// A system, as read from its file.
#[derive(Clone, Debug)]
pub struct System {
    /// Path of the file, for errors.
    file: PathBuf,
    /// Text of the file, for errors.
    text: String,
    /// The `about` part of the file.
    pub about: About,
    /// The rest of the file, which replaces parts of the machine.
    overlay: Table,
}

/// What a system's file says about the system.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct About {
    /// Name of the system in results.
    pub name: String,
    /// The paper that compares it; `None` for a user's own system.
    pub paper: Option<String>,
    /// Description, in one sentence.
    pub description: String,
}

impl System {
    /// Reads a system by name or from a file (`*.toml`).
    ///
    /// # Errors
    /// What is wrong with it, with line and column where known.
    pub fn load(name_or_file: &str) -> Result<System, ConfigError> {
        if let Some(file) = systems::builtin().iter().find(|file| file.name == name_or_file) {
            return System::parse(Path::new(file.path), file.text);
        }
        let path = Path::new(name_or_file);
        if path.extension().is_none_or(|extension| extension != "toml") {
            let known: Vec<&str> = builtin().iter().map(|builtin| builtin.name).collect();
            let alike = did_you_mean(name_or_file, known.iter().copied());
            let message =
                format!("no such system{alike}, expected one of {} or a file (*.toml)", known.join(", "));
            return Err(ConfigError { file: path.into(), place: None, message });
        }
        System::parse(path, &read_limited(path)?)
    }

    /// Reads the systems to lay over one machine. Each is a name, a file, or several of them as `a+b`.
    ///
    /// # Errors
    /// As [`System::load`]; or two systems that replace the same door, structure or value.
    pub fn load_all(given: &[impl AsRef<str>]) -> Result<Vec<System>, ConfigError> {
        let several = |given: &str| match Path::new(given).is_file() {
            true => vec![given.to_owned()],
            false => given.split('+').map(str::to_owned).collect(),
        };
        let systems: Result<Vec<_>, _> =
            given.iter().flat_map(|given| several(given.as_ref())).map(|name| System::load(&name)).collect();
        let systems = systems?;
        refuse_overlap(&systems)?;
        Ok(systems)
    }

    /// Reads a system from text; `file` appears in errors.
    ///
    /// # Errors
    /// As [`System::load`].
    pub fn parse(file: &Path, text: &str) -> Result<System, ConfigError> {
        let about = config::parse(file, text)?;
        let mut overlay = config::read_table(file, text)?;
        for key in ["name", "paper", "description"] {
            overlay.remove(key);
        }
        if overlay.is_empty() {
            let doors: Vec<&str> = doors().iter().map(|door| door.name).collect();
            let message =
                format!("found nothing that it replaces, expected a table for a door: {}", doors.join(", "));
            return Err(ConfigError { file: file.into(), place: None, message });
        }
        Ok(System { file: file.into(), text: text.to_owned(), about, overlay })
    }

    /// Dotted paths of everything the system replaces: whole doors and structures, and single values
    /// elsewhere.
    fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        collect_paths(&self.overlay, "", &mut paths);
        // Doors first: they tell a reader more than the energies of the design behind them.
        paths.sort_by_key(|path| doors().iter().all(|door| door.name != path));
        paths
    }

    /// Path of the file, for errors.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Its file's text.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Turns an error in the text of a machine, after this system was laid over it, into one about the key in the
    /// system's file.
    pub(super) fn blame(&self, machine: &str, error: ConfigError) -> ConfigError {
        let key = error.place.and_then(|place| key_at(machine, place));
        let place = key.as_deref().and_then(|key| place_of(&self.text, key));
        let message = key.map_or(error.message.clone(), |key| format!("`{key}`: {}", error.message));
        ConfigError { file: self.file.clone(), place, message }
    }

    /// Lays the system over a machine's table. Replacing the design behind a door also removes the machine's
    /// energies for it; returns the names of the structures for which the system gives no new ones. On a
    /// machine without energies, the system's are left out, because energies of one design alone would not
    /// add up to a total.
    pub(super) fn lay_over(&self, machine: &mut Table) -> Vec<String> {
        let gone = drop_energies(machine, &self.overlay);
        let had_energies = machine.contains_key("energy");
        lay_over(machine, &self.overlay, "");
        if !had_energies {
            machine.remove("energy");
        }
        gone
    }
}

/// Refuses two systems that replace the same door, structure or value, because the result would depend on
/// their order.
fn refuse_overlap(systems: &[System]) -> Result<(), ConfigError> {
    for (index, system) in systems.iter().enumerate() {
        let paths = system.paths();
        for other in &systems[..index] {
            if let Some(path) = other.paths().into_iter().find(|path| paths.contains(path)) {
                let message = format!(
                    "`{path}` is replaced by the system `{}` already, expected one system for it",
                    other.about.name
                );
                return Err(ConfigError { file: system.file.clone(), place: None, message });
            }
        }
    }
    Ok(())
}

/// Removes the energies of structures behind the doors that `above` replaces. Returns the structures for
/// which `above` gives none.
fn drop_energies(machine: &mut Table, above: &Table) -> Vec<String> {
    let Some(Value::Table(energy)) = machine.get_mut("energy") else { return vec![] };
    let own = above.get("energy").and_then(Value::as_table);
    let door = |structure: &Value| structure.get("door").and_then(Value::as_str).map(str::to_owned);
    let replaced: Vec<(String, String)> = energy
        .iter()
        .filter_map(|(name, structure)| Some((name.clone(), door(structure)?)))
        .filter(|(_, door)| has(above, door))
        .collect();
    for (name, _) in &replaced {
        energy.remove(name);
    }
    let has_own = |wanted: &str| {
        own.is_some_and(|own| own.values().any(|structure| door(structure).as_deref() == Some(wanted)))
    };
    replaced.into_iter().filter(|(_, door)| !has_own(door)).map(|(name, _)| name).collect()
}

/// Whether a table has a dotted path.
fn has(table: &Table, path: &str) -> bool {
    match path.split_once('.') {
        None => table.contains_key(path),
        Some((first, rest)) => {
            table.get(first).and_then(Value::as_table).is_some_and(|inner| has(inner, rest))
        }
    }
}

/// Merges `above` into `below`. Designs and a structure's energies are replaced whole, anything else value by
/// value. Unknown keys are refused when the result is read as a machine.
fn lay_over(below: &mut Table, above: &Table, path: &str) {
    for (key, value) in above {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        let is_whole = is_replaced_whole(&path);
        match (below.get_mut(key), value) {
            (Some(Value::Table(inner)), Value::Table(value)) if !is_whole => lay_over(inner, value, &path),
            _ => {
                below.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Whether the value at a path is replaced whole: a door's section, or a structure's energy or endurance.
fn is_replaced_whole(path: &str) -> bool {
    doors().iter().any(|door| door.name == path)
        || ["energy.", "endurance."].iter().any(|section| path.starts_with(section))
}

fn collect_paths(table: &Table, parent: &str, paths: &mut Vec<String>) {
    for (key, value) in table {
        let path = if parent.is_empty() { key.clone() } else { format!("{parent}.{key}") };
        match value {
            Value::Table(inner) if !is_replaced_whole(&path) && !inner.contains_key("value") => {
                collect_paths(inner, &path, paths);
            }
            _ => paths.push(path),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::machine::Machine;

    /// How a machine ends the sentence that refuses a built-in system which cannot stand in it.
    fn refusal(machine: &str, system: &System) -> Option<&'static str> {
        match (machine, system.about.name.as_str(), system.about.paper.as_deref()) {
            ("rtx3080", "stash", _) => Some("expected sm.shared_bytes, 16384"),
            (owners, "stash", _) if owners != "stash-apu" => {
                Some("expected such as `l1d.denovo` and `llc.denovo`")
            }
            ("rtx3080", ..) => None,
            (_, "unified-sm-mem", _) => Some("missing field `storage_bytes`"),
            ("stash-apu", _, Some("fuse")) => Some("such as l1d.denovo, for the registry llc.denovo"),
            ("stash-apu", _, Some("morpheus")) => Some("which l1d.denovo needs"),
            ("fermi-apu", _, Some("morpheus")) => Some("expected at most 24"),
            _ => None,
        }
    }

    /// A built-in machine with a built-in system; `None` if it cannot have it and says why.
    pub(crate) fn machine_with(machine: &str, system: &str) -> Option<Machine> {
        let expected = refusal(machine, &System::load(system).unwrap_or_else(|error| panic!("{error}")));
        match (Machine::load_with(machine, &[system], &[]), expected) {
            (Ok(machine), None) => Some(machine),
            (Err(error), Some(why)) if error.to_string().ends_with(why) => None,
            (Err(error), _) => panic!("{error}"),
            (Ok(_), Some(why)) => panic!("{machine} takes {system}, expected: {why}"),
        }
    }

    #[test]
    fn doors_are_replaced_whole_and_other_values_one_by_one() {
        let mut machine: Table =
            "[l1d.sram]\nways = 4\n[gpu]\nsms = 15\nchannels = 6\n[sm]\nscheduling = \"gto\"\nwarps = 48\n"
                .parse()
                .unwrap();
        let text = "name = \"s\"\ndescription = \"d\"\n[l1d.other]\nbanks = 2\n[gpu]\nsms = 8\n\
                    [sm.scheduling]\ntwo-level = 6\n";
        let system = System::parse(Path::new("s.toml"), text).unwrap();
        system.lay_over(&mut machine);
        let expected: Table = "[l1d.other]\nbanks = 2\n[gpu]\nsms = 8\nchannels = 6\n[sm]\nwarps = 48\n\
                               [sm.scheduling]\ntwo-level = 6\n"
            .parse()
            .unwrap();
        assert_eq!(machine, expected);
    }

    #[test]
    fn mistakes_are_named() {
        let refused = |text| System::parse(Path::new("s.toml"), text).unwrap_err().to_string();
        assert_eq!(refused("name = \"s\"\n"), "s.toml:1:1: missing field `description`");
        let nothing = refused("name = \"s\"\ndescription = \"d\"\n");
        assert!(
            nothing.starts_with("s.toml: found nothing that it replaces, expected a table for a door: sm.")
        );
        let unknown = System::load("fuze").unwrap_err().to_string();
        assert!(unknown.starts_with("fuze: no such system, expected one of "), "{unknown}");
    }

    #[test]
    fn a_mistake_is_named_with_its_place_in_the_system_and_its_key() {
        let text = crate::machine::builtin()[0].text;
        let blamed = |overlay: &str| {
            let text_of = format!("name = \"s\"\ndescription = \"d\"\n{overlay}");
            let system = System::parse(Path::new("s.toml"), &text_of)?;
            super::super::Machine::build(Path::new("m.toml"), text, vec![system], &[]).map(|_| ())
        };
        for (overlay, expected) in [
            (
                "[gpu]\nsms = { value = \"x\", source = \"s\" }\n",
                "s.toml:4:1: `gpu.sms`: invalid type: string \"x\", expected a whole number from 0 to 65535",
            ),
            (
                "[gpu]\nsm = 4\n",
                "s.toml:4:1: `gpu.sm`: unknown field `sm` (did you mean `sms`?), expected one of ",
            ),
            (
                "[l1d.sram]\nways = 4\n",
                "s.toml:4:1: `l1d.sram.ways`: invalid type: integer `4`, expected a value with",
            ),
            (
                "[gpu]\nsms = 99999999999999999999\n",
                "s.toml:4:7: `gpu.sms`: found 99999999999999999999, expected a",
            ),
        ] {
            let error = blamed(overlay).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn every_system_that_comes_along_is_named_as_its_file_and_stands_in_machines() {
        for builtin in builtin() {
            let system = System::load(builtin.name).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(system.about.name, builtin.name);
            for machine in super::super::builtin() {
                machine_with(machine.name, builtin.name);
            }
        }
    }
}
