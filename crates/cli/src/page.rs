//! The page of a run: what it needs is counted while the run goes on.

use std::path::Path;

use strata_gpu::Progress;
use strata_gpu::machine::Machine;
use strata_gpu::results::{By, RunResult};
use strata_lab::fresh::{BY, Fresh};
use strata_lab::page;
use strata_lab::timeline::Timeline;

use crate::origin::origin;
use crate::output::Output;

/// A file for the page of a run, and what is known of the run over time.
pub struct Page {
    output: Output,
    timeline: Timeline,
}

impl Page {
    /// Checks that a file can be written.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn new(path: &Path) -> Result<Page, String> {
        Ok(Page { output: Output::new(path)?, timeline: Timeline::new() })
    }

    /// Adds the span that has just ended, if one has.
    pub fn add(&mut self, progress: &Progress) {
        self.timeline.add(progress);
    }

    /// Writes the page of a run that has ended.
    ///
    /// # Errors
    /// If the file cannot be written any more.
    pub fn end(
        &mut self,
        result: &RunResult,
        machine: &Machine,
        launch_file: Option<&Path>,
        ptx: &str,
    ) -> Result<(), String> {
        let origin = origin();
        let command = vec![origin.command.clone()];
        let fresh = Fresh::new((result, machine), (launch_file, command), &self.timeline, ptx);
        self.output.write(page::fresh(&fresh, &origin))
    }
}

/// What a run is broken down by for what was asked for, and for its page.
pub fn with_those_of_a_page(asked: Vec<By>, has_page: bool) -> Vec<By> {
    let more: &[By] = if has_page { &BY } else { &[] };
    asked.iter().chain(more.iter().filter(|by| !asked.contains(by))).copied().collect()
}

/// Takes what was not asked for from a run's breakdowns.
pub fn keep(result: &mut RunResult, asked: &[By]) {
    result.breakdowns.retain(|breakdown| asked.contains(&breakdown.by));
}
