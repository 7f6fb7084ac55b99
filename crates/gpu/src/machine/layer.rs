//! Files that replace parts of a machine: systems, and machine files with a base.

use std::path::{Path, PathBuf};

use strata_engine::config::{self, ConfigError, RANGES, key_at, place_of};
use toml::{Table, Value};

use super::values::is_cited;
use super::{doors, ranges};

/// Parts that a file replaces, with what errors need to know of the file.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    file: PathBuf,
    text: String,
    overlay: Table,
}

impl Layer {
    /// Everything in a file's text but the top-level keys `head`.
    ///
    /// # Errors
    /// If the text is not valid TOML, or has a number that no key may have.
    pub(super) fn new(file: &Path, text: &str, head: &[&str]) -> Result<Layer, ConfigError> {
        let mut overlay = config::read_table(file, text)?;
        ranges::check(file, text, &overlay)?;
        for key in head {
            overlay.remove(*key);
        }
        Ok(Layer { file: file.into(), text: text.to_owned(), overlay })
    }

    /// Whether it replaces nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.overlay.is_empty()
    }

    /// Path of the file, for errors.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// The file's text.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Dotted paths of everything that it replaces: whole doors and structures, and single values elsewhere.
    pub(super) fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        collect_paths(&self.overlay, "", &mut paths);
        // Doors first: they tell a reader more than the energies of the design behind them.
        paths.sort_by_key(|path| doors().iter().all(|door| door.name != path));
        paths
    }

    /// Turns an error in the text of a machine, after this was laid over it, into one about the key in this file.
    pub(super) fn blame(&self, machine: &str, error: ConfigError) -> ConfigError {
        let key = error.place.and_then(|place| key_at(machine, place));
        let place = key.as_deref().and_then(|key| place_of(&self.text, key));
        let message = key.map_or(error.message.clone(), |key| format!("`{key}`: {}", error.message));
        ConfigError { file: self.file.clone(), place, message }
    }

    /// Replaces the parts of a machine's table. Replacing the design behind a door also removes the machine's
    /// energies for it; returns the names of the structures for which the file gives no new ones. On a machine
    /// without energies, the file's are left out, because energies of one design alone would not add up to a total.
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
        let is_whole = is_replaced_whole(&path) || value.as_table().is_some_and(is_cited);
        match (below.get_mut(key), value) {
            (Some(Value::Table(inner)), Value::Table(value)) if !is_whole => lay_over(inner, value, &path),
            _ => {
                below.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Whether the value at a path is replaced whole: a door's section, a structure's energy or endurance, or a rule of ranges.
fn is_replaced_whole(path: &str) -> bool {
    doors().iter().any(|door| door.name == path)
        || ["energy.", "endurance.", "ranges."].iter().any(|section| path.starts_with(section))
}

fn collect_paths(table: &Table, parent: &str, paths: &mut Vec<String>) {
    for (key, value) in table {
        let path = if parent.is_empty() { key.clone() } else { format!("{parent}.{key}") };
        match value {
            // Rules of the same name say the same.
            _ if path == RANGES => {}
            Value::Table(inner) if !is_replaced_whole(&path) && !is_cited(inner) => {
                collect_paths(inner, &path, paths);
            }
            _ => paths.push(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doors_are_replaced_whole_and_other_values_one_by_one() {
        let mut machine: Table =
            "[l1d.sram]\nways = 4\n[gpu]\nsms = 15\nchannels = 6\n[sm]\nscheduling = \"gto\"\nwarps = 48\n"
                .parse()
                .unwrap();
        let text = "name = \"s\"\n[l1d.other]\nbanks = 2\n[gpu]\nsms = 8\n\
                    [sm.scheduling]\ntwo-level = 6\n";
        let layer = Layer::new(Path::new("s.toml"), text, &["name"]).unwrap();
        layer.lay_over(&mut machine);
        let expected: Table = "[l1d.other]\nbanks = 2\n[gpu]\nsms = 8\nchannels = 6\n[sm]\nwarps = 48\n\
                               [sm.scheduling]\ntwo-level = 6\n"
            .parse()
            .unwrap();
        assert_eq!(machine, expected);
    }
}
