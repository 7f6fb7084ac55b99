//! The files that a program's results go to: all there is so far, from time to time, and everything at its end.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::ExecArguments;
use super::processes::{self, Process};
use super::progress::Shown;
use crate::output::Output;

/// Least time between two reports of a program that goes on.
const INTERVAL: Duration = Duration::from_secs(1);

/// A program may spend one part in so many of its time on reports.
const SHARE: u32 = 100;

/// Where the driver writes the spans of all processes.
pub fn spans(results: &Path) -> PathBuf {
    results.join("spans.csv")
}

/// What is shown and written of a program.
pub struct Report {
    /// Where the driver writes.
    results: PathBuf,
    json: Option<Output>,
    timeline: Option<Timeline>,
    shown: Shown,
    /// When to look next.
    next: Instant,
    /// What the file of results holds.
    written: String,
    complained: bool,
}

impl Report {
    /// Checks that the files can be written.
    ///
    /// # Errors
    /// Why one cannot.
    pub fn new(program: &str, arguments: &ExecArguments, results: &Path) -> Result<Report, String> {
        let output = |path: &Option<PathBuf>| path.as_deref().map(Output::new).transpose();
        let json = output(&arguments.json)?;
        // Written over and over while the program runs.
        if let Some(json) = json.as_ref().filter(|json| !json.is_file()) {
            return Err(format!("--json {}: not a regular file, expected one", json.path().display()));
        }
        let timeline = output(&arguments.timeline)?.map(|output| Timeline { output, files: None });
        Ok(Report {
            results: results.to_owned(),
            json,
            timeline,
            shown: Shown::new(program),
            next: Instant::now(),
            written: String::new(),
            complained: false,
        })
    }

    /// Shows and writes what there is so far, if it is time to. The program goes on if that fails.
    pub fn look(&mut self) {
        let started = Instant::now();
        let copied = self.timeline.as_mut().map_or(Ok(()), |timeline| timeline.copy(&spans(&self.results)));
        let mut written = copied.err();
        if started >= self.next {
            let mut processes = processes::read(&self.results);
            self.shown.show(&processes);
            for process in &mut processes {
                let runs = process.runs().map_or_else(String::new, |launch| format!(": {launch} runs"));
                process.stop(&format!("under way{runs}"));
            }
            written = written.or(self.write(&processes).err());
            self.next = Instant::now() + INTERVAL.max(started.elapsed() * SHARE);
        }
        if let Some(error) = written
            && !std::mem::replace(&mut self.complained, true)
        {
            eprintln!("{error}; the program goes on");
        }
    }

    /// Writes what there is at the end.
    ///
    /// # Errors
    /// If a file cannot be written any more.
    pub fn end(&mut self, processes: &[Process]) -> Result<(), String> {
        self.shown.clear();
        self.timeline.as_mut().map_or(Ok(()), |timeline| timeline.copy(&spans(&self.results)))?;
        self.write(processes)
    }

    fn write(&mut self, processes: &[Process]) -> Result<(), String> {
        let Some(json) = self.json.as_mut().filter(|_| !processes.is_empty()) else { return Ok(()) };
        let lines: String = processes.iter().map(Process::lines).collect();
        if lines != self.written {
            json.write(&lines)?;
            self.written = lines;
        }
        Ok(())
    }
}

/// The file of counters over time: it gets what the driver has written since.
struct Timeline {
    output: Output,
    /// The driver's file and this one, once there is something to write.
    files: Option<(File, File)>,
}

impl Timeline {
    fn copy(&mut self, spans: &Path) -> Result<(), String> {
        let mut copy = || {
            let (from, to) = match &mut self.files {
                Some(files) => files,
                None if !spans.exists() => return Ok(()),
                None => self.files.insert((File::open(spans)?, self.output.empty()?)),
            };
            let mut text = Vec::new();
            from.read_to_end(&mut text)?;
            to.write_all(&text)
        };
        copy().map_err(|error: std::io::Error| format!("{}: {error}", self.output.path().display()))
    }
}
