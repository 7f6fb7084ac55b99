//! `strata doctor`: what this host has for each feature of the command, what is missing, and how to get it.

mod host;
mod libraries;
mod store;
mod tools;

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

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

/// How one feature fares on this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It works.
    Ok,
    /// Something that it needs, and that the rest of the command does without, is not there.
    Missing,
    /// Something is there and does not do what the command relies on.
    Broken,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            State::Ok => "ok",
            State::Missing => "missing",
            State::Broken => "broken",
        }
    }
}

/// What was found out about one feature.
#[derive(Debug)]
struct Finding {
    feature: &'static str,
    state: State,
    /// What is there, or is not.
    found: String,
    /// How to get what is missing; empty where nothing is.
    remedy: String,
}

impl Finding {
    fn ok(feature: &'static str, found: impl Into<String>) -> Finding {
        Finding { feature, state: State::Ok, found: found.into(), remedy: String::new() }
    }

    fn missing(feature: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { feature, state: State::Missing, found: found.into(), remedy: remedy.into() }
    }

    fn broken(feature: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { state: State::Broken, ..Finding::missing(feature, found, remedy) }
    }

    fn cells(&self) -> Cells {
        let found = if self.remedy.is_empty() {
            self.found.clone()
        } else {
            format!("{}; {}", self.found, self.remedy)
        };
        vec![self.feature.to_owned(), self.state.name().to_owned(), found]
    }

    fn json(&self) -> Value {
        json!({
            "feature": self.feature,
            "state": self.state.name(),
            "found": self.found,
            "remedy": self.remedy,
        })
    }
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
    findings.extend(tools::schedulers());
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
