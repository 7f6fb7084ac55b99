//! `strata exec --store`: the program's numbers in the lab's store.

use std::path::{Path, PathBuf};

use strata_gpu::machine::Machine;
use strata_lab::executed;
use strata_lab::perform::put;
use strata_lab::store;
use strata_lab::variant::Variant;

use super::ExecArguments;

/// Adds the record of a program that ended well to a store, from the lines of its results. Returns its file.
///
/// # Errors
/// If the lines are not those of a whole program, if the store has other numbers for the same doings, or if it cannot be
/// written.
pub fn add(
    arguments: &ExecArguments,
    folder: &Path,
    machine: &Machine,
    lines: &str,
) -> Result<PathBuf, String> {
    let command = std::env::args().collect();
    let (record, cost) = executed::record(lines, machine, &variant(arguments, machine), command)
        .map_err(|reason| format!("not stored: {reason}"))?;
    let key = record.job.key();
    if let Some((path, stored)) = store::finished(folder, &key)? {
        return match stored.rows == record.rows {
            true => Ok(path),
            false => Err(format!("not stored: {} has other numbers for it", path.display())),
        };
    }
    let path = put(folder, &record)?;
    cost.append(folder, &record.job)?;
    Ok(path)
}

/// The machine, under the name that a comparison would give it.
fn variant(arguments: &ExecArguments, machine: &Machine) -> Variant {
    let system = Some(arguments.machine.systems.join("+")).filter(|systems| !systems.is_empty());
    let name = system.clone().unwrap_or_else(|| machine.name().to_owned());
    Variant { name, base: arguments.machine.machine.clone(), system, sets: vec![], version: None }
        .with(&arguments.overrides)
}
