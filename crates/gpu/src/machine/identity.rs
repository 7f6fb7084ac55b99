//! What makes a machine the one it is: its values, one per line, whatever file and spelling they come from.

use sha2::{Digest, Sha256};
use strata_engine::config::{RANGE, RANGES};
use toml::{Table, Value};

/// Lines `path = value` of a machine's table, sorted. Names, descriptions, sources and ranges are left out: they decide no
/// number.
#[must_use]
pub fn lines(machine: &Table) -> Vec<String> {
    let mut lines = Vec::new();
    for (key, value) in machine {
        if key != "name" && key != "description" && key != RANGES {
            flatten(key, value, &mut lines);
        }
    }
    lines.sort();
    lines
}

/// A machine's value, if it is a number; `path` as `gpu.sms`.
#[must_use]
pub fn number(machine: &Table, path: &str) -> Option<f64> {
    let mut parts = path.split('.');
    let first = machine.get(parts.next()?)?;
    let found = parts.try_fold(first, |value, part| value.get(part))?;
    match found.get("value").unwrap_or(found) {
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}

/// Paths of all values that [`number`] finds.
#[must_use]
pub fn numbers(machine: &Table) -> Vec<String> {
    let lines = lines(machine);
    let paths = lines.iter().filter_map(|line| line.split_once(" = ")).map(|(path, _)| path.to_owned());
    paths.filter(|path| number(machine, path).is_some()).collect()
}

/// The first 128 bits of the SHA-256 of some bytes, in hexadecimal.
#[must_use]
pub fn digest(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// The first 128 bits of a hash, in hexadecimal.
#[must_use]
pub fn hexadecimal(hash: &[u8]) -> String {
    hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Appends `path = value` for each value; a cited value loses its source and its range.
fn flatten(path: &str, value: &Value, lines: &mut Vec<String>) {
    match value {
        Value::Table(table) => match (table.get("value"), table.get("source"), table.len()) {
            (Some(value), Some(_), 2) => flatten(path, value, lines),
            (Some(value), Some(_), 3) if table.contains_key(RANGE) => flatten(path, value, lines),
            _ => table.iter().for_each(|(key, value)| flatten(&format!("{path}.{key}"), value, lines)),
        },
        Value::Array(items) => {
            lines.push(format!("{path} has {}\n", items.len()));
            items
                .iter()
                .enumerate()
                .for_each(|(place, item)| flatten(&format!("{path}[{place}]"), item, lines));
        }
        value => lines.push(format!("{path} = {value}\n")),
    }
}
