//! `strata job`: runs jobs of a sweep, one in this process, several each in its own.

use std::collections::BTreeSet;
use std::io::{BufRead, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use clap::Args;
use strata_lab::cluster::batch;
use strata_lab::job::Job;
use strata_lab::perform::{Performed, perform};
use strata_lab::sweep::{self, JOB_BYTES, Limits, Processes, available_memory};

use crate::{Finished, interrupt, print};

/// Arguments of `strata job`.
#[derive(Args)]
pub struct JobArguments {
    /// Files of jobs, as written by `strata repro --write-jobs` or `strata compare --write-jobs`, or of batches; `-` reads one
    /// job from standard input and ends when standard input closes. Of several jobs each has a process, and one that fails
    /// does not stop the others.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Folder of the result store, to which a file is added for each result. Safe to share with other writers; a job that the
    /// store already holds is not run again.
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
    /// Wait for a process that already runs the job. By default the command then ends with exit status 3. Of several jobs, such
    /// a one is always waited for.
    #[arg(long)]
    wait: bool,
    /// How many of several jobs to run at once.
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: usize,
    /// End, and leave the rest of the jobs, when a file is removed.
    #[arg(long)]
    until_removed: bool,
}

/// Runs jobs and adds their results to the store.
///
/// # Errors
/// A job file that cannot be read or was made for another simulator, or a run that fails.
pub fn job(arguments: &JobArguments) -> Result<Finished, String> {
    let JobArguments { files, store, wait, until_removed, .. } = arguments;
    if let [file] = files.as_slice()
        && file == "-"
    {
        return one(file, &from_standard_input()?, store, *wait);
    }
    let mut jobs = Vec::new();
    for file in files {
        let text = match std::fs::read_to_string(file) {
            // It was removed before this began.
            Err(error) if error.kind() == ErrorKind::NotFound && *until_removed => {
                return Ok(Finished::Interrupted);
            }
            text => text.map_err(|error| format!("{file}: {error}"))?,
        };
        match batch::read(file, &text)? {
            Some(batch) => jobs.extend(batch),
            None if files.len() == 1 && !until_removed => return one(file, &text, store, *wait),
            None => jobs.push(Job::read(file, &text)?),
        }
    }
    several(&jobs, arguments)
}

/// Runs a job in this process.
fn one(name: &str, text: &str, store: &Path, wait: bool) -> Result<Finished, String> {
    let job = Job::read(name, text)?;
    match perform(&job, store, wait, None)? {
        Performed::Elsewhere => return Ok(Finished::Elsewhere),
        Performed::Stored { path, warning } => {
            if let Some(warning) = warning {
                eprintln!("{warning}");
            }
            print(&format!("{}\n", path.display()))?;
        }
    }
    Ok(Finished::Well)
}

/// Runs each job in a process of its own, and says which failed.
fn several(jobs: &[Job], arguments: &JobArguments) -> Result<Finished, String> {
    let JobArguments { files, store, jobs: at_once, until_removed, .. } = arguments;
    if *at_once == 0 {
        return Err("--jobs 0: expected at least 1".into());
    }
    let mut seen = BTreeSet::new();
    let jobs: Vec<&Job> = jobs.iter().filter(|job| seen.insert(job.key())).collect();
    let command = std::env::current_exe().map_err(|error| format!("the command's own file: {error}"))?;
    let launcher = Processes::new(command, store.clone()).leave_killed();
    let interrupt = interrupt::flag();
    if *until_removed {
        let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
        std::thread::spawn(move || {
            while files.iter().all(|file| file.try_exists().unwrap_or(true)) {
                std::thread::sleep(LOOK);
            }
            interrupt.store(true, Ordering::Relaxed);
        });
    }
    let limits = Limits { jobs: *at_once, memory_bytes: available_memory(), interrupt: Some(interrupt) };
    let count = jobs.len();
    let swept = sweep::run_jobs(jobs, store, &launcher, limits, &mut |_| ());
    for failure in &swept.failures {
        eprintln!("failed: {}: {}", failure.job, failure.reason);
    }
    let done = count - swept.failures.len() - swept.left;
    print(&format!("{done} of {count} jobs are in {}\n", store.display()))?;
    Ok(match (swept.left, swept.failures.is_empty()) {
        (0, true) => Finished::Well,
        (0, false) => Finished::Wrong,
        _ if interrupt.load(Ordering::Relaxed) => Finished::Interrupted,
        (left, _) => return Err(format!("{left} of {count} jobs were killed")),
    })
}

/// How often to look whether the file is still there.
const LOOK: Duration = Duration::from_secs(1);

/// Reads a job of the length that its first line gives, then starts a thread that ends the process when standard input
/// closes. A job without such a line is all of standard input.
fn from_standard_input() -> Result<String, String> {
    let failed = |error: std::io::Error| format!("standard input: {error}");
    let mut input = std::io::stdin().lock();
    let mut first = String::new();
    input.read_line(&mut first).map_err(failed)?;
    let Some(length) = first.strip_prefix(JOB_BYTES) else {
        input.read_to_string(&mut first).map_err(failed)?;
        return Ok(first);
    };
    let length: u64 = length
        .trim_end()
        .parse()
        .map_err(|error| format!("standard input: found `{}`: {error}", first.trim_end()))?;
    let mut text = String::new();
    input.by_ref().take(length).read_to_string(&mut text).map_err(failed)?;
    drop(input);
    std::thread::spawn(|| {
        // Whoever asked for the job is gone, so nobody needs its result.
        let _ = std::io::stdin().lock().read_to_end(&mut Vec::new());
        std::process::exit(2);
    });
    Ok(text)
}
