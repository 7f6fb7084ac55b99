//! A run over time, as a CSV file: one line for each span of a launch, one column for each counter and for
//! each structure's energy. Each line is in the file as soon as its span has ended.

use std::fs::File;
use std::path::Path;

use strata_gpu::Progress;
use strata_gpu::results::Sample;

use crate::output::Output;

/// The spans of a run in a file.
pub struct Timeline {
    output: Output,
    /// The file, from the first span on.
    writer: Option<csv::Writer<File>>,
    /// Why a span could not be written.
    failed: Option<String>,
}

impl Timeline {
    /// Checks that a file can be written.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn new(path: &Path) -> Result<Timeline, String> {
        Ok(Timeline { output: Output::new(path)?, writer: None, failed: None })
    }

    /// Adds the span that has just ended, if one has. The run goes on if that fails, without a timeline.
    pub fn add(&mut self, progress: &Progress) {
        let Some(sample) = progress.sample.as_ref().filter(|_| self.failed.is_none()) else { return };
        if let Err(error) = self.write(progress, sample) {
            let error = format!("{}: {error}", self.output.path().display());
            eprintln!("{error}; the run goes on");
            self.failed = Some(error);
        }
    }

    fn write(&mut self, progress: &Progress, sample: &Sample) -> Result<(), csv::Error> {
        let writer = match &mut self.writer {
            Some(writer) => writer,
            None => {
                let mut writer = csv::Writer::from_writer(self.output.empty()?);
                writer.write_record(sample.columns())?;
                self.writer.insert(writer)
            }
        };
        writer.write_record(progress.fields(sample))?;
        Ok(writer.flush()?)
    }

    /// Ends the timeline.
    ///
    /// # Errors
    /// If a span is missing.
    pub fn end(self) -> Result<(), String> {
        self.failed.map_or(Ok(()), Err)
    }
}
