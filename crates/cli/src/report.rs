//! The JSON of a run in a file: what there is so far, from time to time, and everything at its end.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use strata_gpu::results::RunResult;

use crate::output::Output;

/// Least time between two reports of a run that goes on.
const INTERVAL: Duration = Duration::from_secs(1);

/// A run may spend one part in so many of its time on reports.
const SHARE: u32 = 100;

/// A file of results that can be read at any time, even if the run is killed.
pub struct Report {
    output: Output,
    /// When to write next.
    next: Option<Instant>,
    /// The first report, of a run that has launched nothing yet.
    first: Option<Value>,
    /// Whether a report could not be written.
    complained: bool,
}

impl Report {
    /// Checks that a file can be written.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn new(path: &Path) -> Result<Report, String> {
        Ok(Report { output: Output::new(path)?, next: None, first: None, complained: false })
    }

    /// Writes what there is so far, if it is time to. The run goes on if that fails.
    pub fn so_far(&mut self, result: &mut dyn FnMut() -> RunResult) {
        let started = Instant::now();
        if !self.output.is_file() || self.next.is_some_and(|next| started < next) {
            return;
        }
        let value = result().to_json();
        if let Err(error) = self.output.write(text(&value))
            && !std::mem::replace(&mut self.complained, true)
        {
            eprintln!("{error}; the run goes on");
        }
        self.first.get_or_insert(value);
        self.next = Some(Instant::now() + INTERVAL.max(started.elapsed() * SHARE));
    }

    /// Writes the results of a run that has ended.
    ///
    /// # Errors
    /// If the file cannot be written any more.
    pub fn end(&mut self, result: &RunResult) -> Result<(), String> {
        self.output.write(text(&result.to_json()))
    }

    /// Writes that a run has ended without results, if the file says that it goes on.
    ///
    /// # Errors
    /// If the file cannot be written any more.
    pub fn stop(&mut self, reason: &str) -> Result<(), String> {
        let Some(mut value) = self.first.take() else { return Ok(()) };
        // It says "not finished" already, as every report of a run that goes on.
        value["stopped"] = reason.into();
        self.output.write(text(&value))
    }
}

/// A result as text.
pub fn text(value: &Value) -> String {
    serde_json::to_string_pretty(value).expect("a value has only keys that are text") + "\n"
}
