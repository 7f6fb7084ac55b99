//! The files that a process's results go to (`STRATA_RESULTS`).
//!
//! A file holds a line for each launch and, from the end of the process on, one for the whole run. In a folder each
//! process has files of its own, which tell at any time how far it has come.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::log;

/// The files of a process.
pub struct Output {
    launches: File,
    /// Of a folder: it, and the process's number in it.
    place: Option<(PathBuf, u64)>,
}

impl Output {
    /// Creates the file, or in a folder the process's files.
    ///
    /// # Errors
    /// Why they cannot be created.
    pub fn new(path: &Path) -> Result<Output, String> {
        let created = match path.is_dir() {
            true => Output::in_folder(path),
            false => File::create(path).map(|launches| Output { launches, place: None }),
        };
        created.map_err(|error| {
            format!("STRATA_RESULTS: found `{}`, expected a file or folder to write: {error}", path.display())
        })
    }

    /// Takes the first number that no process has: they are in the order in which processes start.
    fn in_folder(folder: &Path) -> io::Result<Output> {
        let mut number = 0;
        loop {
            let path = folder.join(format!("{number}.launches"));
            match OpenOptions::new().append(true).create_new(true).open(path) {
                Ok(launches) => return Ok(Output { launches, place: Some((folder.to_owned(), number)) }),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether the whole run is wanted after every launch.
    pub fn wants_whole(&self) -> bool {
        self.place.is_some()
    }

    /// Number of the process among those with the same folder.
    pub fn number(&self) -> u64 {
        self.place.as_ref().map_or(0, |(_, number)| *number)
    }

    /// Adds the line of a launch.
    pub fn launch(&mut self, value: &Value) {
        self.report(writeln!(&self.launches, "{value}"));
    }

    /// Writes the line of the whole run, or of what there is of it: in a folder in place of the last one.
    pub fn whole(&mut self, value: &Value) {
        match &self.place {
            None => self.launch(value),
            Some(_) => self.report(self.replace("run", value)),
        }
    }

    /// Writes how far the launch is that runs now; `None` for the time between launches.
    pub fn now(&mut self, value: Option<&Value>) {
        let Some((folder, number)) = &self.place else { return };
        self.report(match value {
            Some(value) => self.replace("now", value),
            None => fs::remove_file(folder.join(format!("{number}.now"))),
        });
    }

    /// Puts a line in place of a file of the process, whole: who reads it finds the old one or the new one.
    fn replace(&self, kind: &str, value: &Value) -> io::Result<()> {
        let Some((folder, number)) = &self.place else { return Ok(()) };
        let fresh = folder.join(format!("{number}.new"));
        fs::write(&fresh, format!("{value}\n"))?;
        fs::rename(fresh, folder.join(format!("{number}.{kind}")))
    }

    fn report(&self, written: io::Result<()>) {
        if let Err(error) = written {
            log::once(format!("STRATA_RESULTS: {error}"));
        }
    }
}

/// Adds to a line which process it is of.
pub fn sign(value: &mut Value, number: u64) {
    value["process"] = json!(number);
    value["pid"] = json!(std::process::id());
    value["program"] = json!(program());
}

/// Name of the running program.
pub fn program() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
