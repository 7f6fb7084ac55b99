//! HyperQueue: a job of many tasks, by its Python package.
//!
//! The package is the interface that a registry hands out, so tests run it for real: PyPI's wheel holds server, worker and client,
//! but no `hq` command. It talks to any server of its version, those that `hq` started included.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::ask::ask;
use super::scheduler::{Scheduler, Tasks};
use super::submission::Submission;

/// Tasks of a job. A server manages a million; more files than this help nobody.
const TASKS: usize = 10_000;

/// A HyperQueue server and its workers.
#[derive(Debug)]
pub struct HyperQueue {
    /// The server's folder; empty for the one that `hq` takes.
    server: PathBuf,
    command: PathBuf,
}

/// A worker starts it with the submission's folder, the task's number, the command and the store's folder. The output goes to
/// its file from here, because HyperQueue takes `%{` in paths for its own.
const SCRIPT: &str = r#"#!/bin/sh
cd -- "$1" && exec "$3" --quiet job --store "$4" --until-removed "batches/$2.toml" >> "logs/$2.log" 2>&1
"#;

/// Talks to the server.
const CLIENT: &str = include_str!("hyperqueue.py");

impl HyperQueue {
    /// Has the `strata` command at a path run by the server with a folder; an empty path is the folder that `hq` takes.
    #[must_use]
    pub fn new(server: PathBuf, command: PathBuf) -> HyperQueue {
        HyperQueue { server, command }
    }

    fn ask(&self, arguments: impl IntoIterator<Item = OsString>) -> Result<String, String> {
        let fixed = ["-c".into(), CLIENT.into(), self.server.clone().into()];
        let arguments: Vec<OsString> = fixed.into_iter().chain(arguments).collect();
        ask("python3", &arguments).map_err(|error| error.replacen("python3: hyperqueue: ", "hyperqueue: ", 1))
    }
}

impl Scheduler for HyperQueue {
    fn kind(&self) -> &'static str {
        "hyperqueue"
    }

    fn title(&self) -> &'static str {
        "HyperQueue"
    }

    fn script(&self) -> &'static str {
        SCRIPT
    }

    fn most_tasks(&self, _: bool) -> usize {
        TASKS
    }

    fn submit(&self, submission: &Submission, store: &Path) -> Result<String, String> {
        let said = self.ask([
            "submit".into(),
            format!("strata-{}", submission.id()).into(),
            submission.tasks.to_string().into(),
            submission.script().into(),
            submission.folder.clone().into(),
            self.command.clone().into(),
            store.into(),
        ])?;
        Ok(said.trim().to_owned())
    }

    fn look(&self, submission: &Submission) -> Result<Tasks, String> {
        // One that was never submitted has no tasks.
        let Some(name) = &submission.name else { return Ok(Tasks::default()) };
        let said = self.ask(["look".into(), name.into()])?;
        let running = said
            .trim()
            .parse()
            .map_err(|_| format!("python3: found `{}`, expected a number", said.trim()))?;
        Ok(Tasks { running, ..Tasks::default() })
    }

    /// The package has no call for that. Tasks see that their batches have been withdrawn.
    fn cancel(&self, _: &Submission) -> Result<(), String> {
        Ok(())
    }
}
