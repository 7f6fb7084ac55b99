//! Counters and energy over time as CSV (`STRATA_TIMELINE`): a line for each span of a launch.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

use strata_gpu::Progress;
use strata_gpu::results::Sample;

use crate::log;
use crate::settings::Settings;

/// The file, to which every process of a run adds its lines.
pub struct Timeline {
    path: PathBuf,
    file: File,
}

impl Timeline {
    /// Opens the file, if the settings name one.
    ///
    /// # Errors
    /// Why it cannot be written.
    pub fn new(settings: &Settings) -> Result<Option<Timeline>, String> {
        let Some(path) = &settings.timeline else { return Ok(None) };
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(|error| {
            format!("STRATA_TIMELINE: found `{}`, expected a file to write: {error}", path.display())
        })?;
        Ok(Some(Timeline { path: path.clone(), file }))
    }

    /// Adds the span that has just ended, if one has.
    pub fn add(&mut self, process: u64, progress: &Progress) {
        let Some(sample) = &progress.sample else { return };
        if let Err(error) = self.write(process, progress, sample) {
            log::once(format!("STRATA_TIMELINE: {}: {error}", self.path.display()));
        }
    }

    /// Writes a line at once, and before the first one the header, so that lines of several processes stay whole.
    fn write(&mut self, process: u64, progress: &Progress, sample: &Sample) -> io::Result<()> {
        let mut text = csv::Writer::from_writer(Vec::new());
        let mut add = |first: &str, others: Vec<String>| {
            let fields = std::iter::once(first).chain(others.iter().map(String::as_str));
            text.write_record(fields).map_err(io::Error::other)
        };
        self.file.lock()?;
        if self.file.metadata()?.len() == 0 {
            add("process", sample.columns())?;
        }
        add(&process.to_string(), progress.fields(sample))?;
        let text = text.into_inner().map_err(|error| error.into_error())?;
        let written = self.file.write_all(&text);
        self.file.unlock()?;
        written
    }
}
