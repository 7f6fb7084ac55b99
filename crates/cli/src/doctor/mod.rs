//! `strata doctor`: what this host has for each feature of the command, what is missing, and how to get it.

mod finding;
mod host;
mod libraries;
mod store;
mod tools;

use std::path::PathBuf;

use clap::Args;
use serde_json::Value;

use self::finding::{Finding, State};
use crate::table::{self, Cells};
use crate::{Finished, print};

/// Arguments of `strata doctor`.
#[derive(Args)]
pub struct DoctorArguments {
    /// Folder of the result store to look at. It need not exist, and is not created.
    #[arg(long, value_name = "DIR", default_value = "strata-store")]
    store: PathBuf,
    /// Write a JSON array of objects.
    #[arg(long)]
    json: bool,
}

/// Prints one line for each feature.
///
/// # Errors
/// Standard output that cannot be written.
pub fn doctor(arguments: &DoctorArguments) -> Result<Finished, String> {
    let python = tools::python();
    let mut findings =
        vec![host::processor(), host::memory(), host::terminal(), store::finding(&arguments.store)];
    findings.extend(libraries::findings());
    findings.extend([tools::nvcc(), tools::nvrtc(&python), tools::package(&python)]);
    findings.extend([tools::slurm(), tools::hyperqueue(&python)]);
    let text = if arguments.json {
        let array = Value::Array(findings.iter().map(Finding::json).collect());
        format!("{}\n", serde_json::to_string_pretty(&array).expect("strings serialise"))
    } else {
        let rows: Vec<Cells> = findings.iter().map(Finding::cells).collect();
        table::text(&table::titles(&["feature", "state", "found"]), &rows, table::width())
    };
    print(&text)?;
    let is_broken = findings.iter().any(|finding| finding.state == State::Broken);
    Ok(if is_broken { Finished::Wrong } else { Finished::Well })
}
