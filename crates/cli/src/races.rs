//! `strata run --races`: the data races of a program.

use std::path::Path;

use serde_json::json;
use strata_gpu::machine::Machine;
use strata_gpu::{Raced, find_races};
use strata_workloads::HostProgram;

use crate::output::Output;
use crate::{Finished, print, report};

/// Runs a program on the reference executor and says which races it has, on standard output or as JSON.
///
/// # Errors
/// A program that cannot be loaded or does not finish, or a file that cannot be written.
pub fn find(
    program: &dyn HostProgram,
    size: Option<&str>,
    machine: &Machine,
    json: Option<&str>,
) -> Result<Finished, String> {
    let file = json.filter(|path| *path != "-").map(|path| Output::new(Path::new(path))).transpose()?;
    let Raced { races, outcome, warnings } = find_races(program, machine)?;
    for warning in warnings {
        eprintln!("warning: {warning}");
    }
    let size_shown = size.map(|size| format!(" at size {size}")).unwrap_or_default();
    let until = if outcome.is_err() { "NOT FINISHED, until then " } else { "" };
    let text = format!("{}{size_shown}: {until}{races}", program.name());
    let mut value = races.to_json();
    value["workload"] = json!(program.name());
    value["size"] = json!(size);
    value["stopped"] = json!(outcome.as_ref().err().map(ToString::to_string));
    let value = report::text(&value);
    print(if json == Some("-") { &value } else { &text })?;
    file.map_or(Ok(()), |mut file| file.write(&value))?;
    let outcome = outcome.map_err(|error| error.to_string())?;
    for comparison in outcome.comparisons.iter().filter(|comparison| !comparison.passed()) {
        eprintln!("wrong: {comparison}");
    }
    let well = races.races.is_empty() && outcome.passed();
    Ok(if well { Finished::Well } else { Finished::Wrong })
}
