//! Slurm: an array of tasks, by `sbatch`, `squeue` and `scancel`.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::ask::ask;
use super::scheduler::{Scheduler, Tasks};
use super::submission::Submission;

/// Array tasks that fit where nobody has changed Slurm's limit.
const ARRAY: usize = 1000;

/// A cluster that Slurm schedules.
#[derive(Debug)]
pub struct Slurm {
    options: Vec<String>,
    command: PathBuf,
}

/// Slurm starts it in the submission's folder, with the command and the store's folder. `exec`: signals for the task reach the
/// command itself. The output goes to its file from here, because Slurm may not be able to ([`output`]).
const SCRIPT: &str = r#"#!/bin/sh
exec "$1" --quiet job --store "$2" --jobs "${SLURM_CPUS_PER_TASK:-1}" --until-removed \
    "batches/$SLURM_ARRAY_TASK_ID.toml" >> "logs/$SLURM_ARRAY_TASK_ID.log" 2>&1
"#;

impl Slurm {
    /// Has the `strata` command at a path run by Slurm. `options` are further ones for `sbatch`, quoted as in a shell.
    ///
    /// # Errors
    /// A quote that does not end.
    pub fn new(options: &str, command: PathBuf) -> Result<Slurm, String> {
        let options = shlex::split(options).ok_or_else(|| {
            format!("--slurm={options}: found a quote that does not end, expected options of sbatch")
        })?;
        Ok(Slurm { options, command })
    }

    /// How Slurm knows a submission: a name that no other has.
    fn name(submission: &Submission) -> String {
        format!("--name=strata-{}", submission.id())
    }
}

/// The file for what Slurm itself says of a task, such as that its time is up: the one that the task writes to. `%` means
/// something to Slurm in all of a path, unless it is doubled; where there is a `\\`, `%a` would not mean anything either.
fn output(logs: &Path) -> PathBuf {
    let bytes = logs.as_os_str().as_bytes();
    if bytes.contains(&b'\\') {
        return "/dev/null".into();
    }
    let doubled =
        bytes.iter().flat_map(|byte| if *byte == b'%' { &b"%%"[..] } else { std::slice::from_ref(byte) });
    PathBuf::from(OsString::from_vec(doubled.copied().collect())).join("%a.log")
}

/// `--name=VALUE`, whatever bytes the value has.
fn option(name: &str, value: &Path) -> OsString {
    let mut option = OsString::from(name);
    option.push("=");
    option.push(value);
    option
}

impl Scheduler for Slurm {
    fn kind(&self) -> &'static str {
        "slurm"
    }

    fn title(&self) -> &'static str {
        "Slurm"
    }

    fn script(&self) -> &'static str {
        SCRIPT
    }

    /// Slurm's `MaxArraySize`. Unless batches are chosen, no more than its default: schedulers share their time.
    fn most_tasks(&self, is_chosen: bool) -> usize {
        if !is_chosen {
            return ARRAY;
        }
        let said = ask("scontrol", &["show".into(), "config".into()]).unwrap_or_default();
        let size = said.lines().find_map(|line| {
            line.strip_prefix("MaxArraySize")?.trim().strip_prefix('=')?.trim().parse().ok()
        });
        size.unwrap_or(ARRAY)
    }

    fn submit(&self, submission: &Submission, store: &Path) -> Result<String, String> {
        let mut arguments: Vec<OsString> = self.options.iter().map(OsString::from).collect();
        let output = output(&submission.logs());
        // Behind the user's, so that these count.
        arguments.extend([
            "--parsable".into(),
            format!("--array=0-{}", submission.tasks - 1).into(),
            format!("--job-name=strata-{}", submission.id()).into(),
            option("--chdir", &submission.folder),
            option("--output", &output),
            option("--error", &output),
            // Slurm and the task write to one file.
            "--open-mode=append".into(),
            submission.script().into(),
            self.command.clone().into(),
            store.into(),
        ]);
        let said = ask("sbatch", &arguments)?;
        // On a federation, the cluster's name follows.
        let array = said.trim().split(';').next().unwrap_or_default();
        Ok(format!("array {array}"))
    }

    fn look(&self, submission: &Submission) -> Result<Tasks, String> {
        let arguments = ["--me", "--array", "--noheader", "--format=%T %r", &Slurm::name(submission)];
        let said = ask("squeue", &arguments.map(OsString::from))?;
        let mut tasks = Tasks::default();
        for line in said.lines() {
            let (state, reason) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
            if state == "PENDING" {
                tasks.waiting += 1;
                // Of the others it is that they are behind it.
                if !["None", "Priority", "(null)"].contains(&reason) {
                    tasks.reason = Some(reason.to_owned());
                }
            } else {
                tasks.running += 1;
            }
        }
        Ok(tasks)
    }

    fn cancel(&self, submission: &Submission) -> Result<(), String> {
        ask("scancel", &["--me", &Slurm::name(submission)].map(OsString::from)).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slurm_takes_nothing_in_a_path_for_a_pattern() {
        assert_eq!(output(Path::new("/a b/\"c'\n/%j")), Path::new("/a b/\"c'\n/%%j/%a.log"));
        assert_eq!(output(Path::new("/a\\b")), Path::new("/dev/null"));
    }

    #[test]
    fn options_are_split_as_a_shell_does() {
        let slurm = Slurm::new("--time=10 --comment='two words'", PathBuf::new()).unwrap();
        assert_eq!(slurm.options, ["--time=10", "--comment=two words"]);
        let error = Slurm::new("--comment='two", PathBuf::new()).unwrap_err();
        assert_eq!(
            error,
            "--slurm=--comment='two: found a quote that does not end, expected options of sbatch"
        );
    }
}
