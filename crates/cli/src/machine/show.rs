//! `strata machine show`: a whole machine as TOML.

use strata_engine::config::RANGE;
use strata_gpu::machine::Machine;
use toml::{Table, Value};

use crate::{Finished, print};

/// Prints the machine.
///
/// # Errors
/// Output that cannot be written.
pub fn show(machine: &Machine) -> Result<Finished, String> {
    print(&text(machine.table()))?;
    Ok(Finished::Well)
}

/// The text of a machine file: a line for each value, a header for each section.
fn text(table: &Table) -> String {
    let mut text = String::new();
    section("", table, &mut text);
    text
}

fn section(path: &str, table: &Table, text: &mut String) {
    let is_line = |value: &Value| value.as_table().is_none_or(|inner| inner.contains_key("value"));
    let lines: Vec<String> = table
        .iter()
        .filter(|(_, value)| is_line(value))
        .map(|(name, value)| format!("{} = {}\n", key(name), written(value)))
        .collect();
    if !path.is_empty() && (!lines.is_empty() || table.is_empty()) {
        *text += &format!("\n[{path}]\n");
    }
    *text += &lines.concat();
    for (name, inner) in table {
        if let Some(inner) = inner.as_table().filter(|_| !is_line(inner)) {
            let name = key(name);
            section(&if path.is_empty() { name } else { format!("{path}.{name}") }, inner, text);
        }
    }
}

/// A value on one line, a cited one before its source.
fn written(value: &Value) -> String {
    match value {
        Value::Table(cited) => match (cited.get("value"), cited.get("source"), cited.len()) {
            (Some(value), Some(source), 2) => format!("{{ value = {value}, source = {source} }}"),
            (Some(value), Some(source), 3) if cited.contains_key(RANGE) => {
                let range = ranged(&cited[RANGE]);
                format!("{{ value = {value}, source = {source}, range = {range} }}")
            }
            _ => value.to_string(),
        },
        _ => value.to_string(),
    }
}

/// A range, its reason last.
fn ranged(range: &Value) -> String {
    const REASON: &str = "because";
    let fields: Vec<(&String, &Value)> = range.as_table().into_iter().flatten().collect();
    let (reason, bounds): (Vec<_>, Vec<_>) = fields.into_iter().partition(|(name, _)| *name == REASON);
    let written = bounds.iter().chain(&reason).map(|(name, value)| format!("{name} = {value}"));
    format!("{{ {} }}", written.collect::<Vec<_>>().join(", "))
}

/// A key, quoted where TOML asks for it.
fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(is_bare) {
        return name.to_owned();
    }
    Value::String(name.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use strata_gpu::machine::{builtin, system};

    use super::*;

    #[test]
    fn what_is_shown_is_the_same_machine() {
        let no_system = [None];
        let systems = system::builtin().iter().map(|system| Some(system.name));
        for machine in builtin() {
            for system in systems.clone().chain(no_system) {
                let systems: Vec<&str> = system.into_iter().collect();
                let machine = Machine::load_with(machine.name, &systems, &["l1d.ways=8".into()]);
                let Ok(machine) = machine else { continue };
                let again = Machine::parse(Path::new("m.toml"), &text(machine.table()), &[]);
                assert_eq!(again.unwrap_or_else(|error| panic!("{error}")).table(), machine.table());
            }
        }
    }

    #[test]
    fn a_value_stands_before_its_source_and_odd_keys_are_quoted() {
        let table: Table = "[a.\"b c\"]\nd = { source = \"s\", value = 4 }\n[a.e]\n".parse().unwrap();
        assert_eq!(text(&table), "\n[a.\"b c\"]\nd = { value = 4, source = \"s\" }\n\n[a.e]\n");
    }
}
