//! `strata machine diff`: the keys by which two machines differ.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use clap::Args;
use strata_gpu::machine::Machine;

use crate::table::{self, Cells};
use crate::{Finished, print};

/// Arguments of `strata machine diff`.
#[derive(Args)]
pub struct DiffArguments {
    /// First machine: a built-in name or a machine file; with systems laid over it, `MACHINE+SYSTEM`.
    one: String,
    /// Second machine.
    other: String,
}

/// Prints a line for each key that one machine lacks or that has different values.
///
/// # Errors
/// A machine that cannot be loaded.
pub fn diff(arguments: &DiffArguments) -> Result<Finished, String> {
    let DiffArguments { one, other } = arguments;
    let rows = differences(&values(one)?, &values(other)?);
    let text = if rows.is_empty() {
        format!("{one} and {other} have the same values\n")
    } else {
        table::text(&vec!["KEY".to_owned(), one.clone(), other.clone()], &rows, table::width())
    };
    print(&text)?;
    Ok(Finished::Well)
}

/// The values of a machine by path, without name and description.
fn values(given: &str) -> Result<BTreeMap<String, String>, String> {
    let (machine, systems) = match given.split_once('+') {
        Some((machine, systems)) if !Path::new(given).is_file() => (machine, vec![systems]),
        _ => (given, vec![]),
    };
    let machine = Machine::load_with(machine, &systems, &[]).map_err(|error| error.to_string())?;
    let values =
        machine.values().into_iter().filter(|value| !["name", "description"].contains(&value.path.as_str()));
    Ok(values.map(|value| (value.path, value.value.to_string())).collect())
}

/// Key and both values; `-` for one that a machine lacks.
fn differences(one: &BTreeMap<String, String>, other: &BTreeMap<String, String>) -> Vec<Cells> {
    let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let of = |values: &BTreeMap<String, String>, key: &String| {
        values.get(key).map_or("-".to_owned(), String::clone)
    };
    let differ = keys.into_iter().filter(|key| one.get(*key) != other.get(*key));
    differ.map(|key| vec![key.clone(), of(one, key), of(other, key)]).collect()
}
