//! `strata job`: runs one job of a sweep.

use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use strata_gpu::results::peak_memory_bytes;
use strata_lab::job::Job;
use strata_lab::record::Record;
use strata_lab::store::{self, HostTime};
use strata_lab::sweep::JOB_BYTES;

use crate::{Finished, print};

/// Arguments of `strata job`.
#[derive(Args)]
pub struct JobArguments {
    /// Job file, as written by `strata repro --write-jobs` or `strata compare --write-jobs`; `-` reads the
    /// job from standard input and ends when standard input closes.
    file: String,
    /// Folder of the result store, to which one result file is added. Safe to share with other writers; a job
    /// that the store already holds is not run again.
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
    /// Wait for a process that already runs the job. By default the command then ends with exit status 3.
    #[arg(long)]
    wait: bool,
}

/// Runs one job and adds its result to the store.
///
/// # Errors
/// A job file that cannot be read or was made for another simulator, or a run that fails.
pub fn job(arguments: &JobArguments) -> Result<Finished, String> {
    let name = &arguments.file;
    let text = if name == "-" {
        from_standard_input()?
    } else {
        std::fs::read_to_string(name).map_err(|error| format!("{name}: {error}"))?
    };
    let job = Job::read(name, &text)?;
    let finished = || store::finished(&arguments.store, &job.key());
    if let Some((path, _)) = finished()? {
        print(&format!("{}\n", path.display()))?;
        return Ok(Finished::Well);
    }
    let Some(_claim) = store::claim(&arguments.store, &job.key(), arguments.wait)? else {
        return Ok(Finished::Elsewhere);
    };
    // Whoever held the claim before may have finished the job.
    if let Some((path, _)) = finished()? {
        print(&format!("{}\n", path.display()))?;
        return Ok(Finished::Well);
    }
    let started = Instant::now();
    let record = strata_lab::record::measure(&job).map_err(|reason| {
        let error = format!("{}: {reason}", strata_lab::sweep::describe(&job));
        match store::fail(&arguments.store, &job, &reason) {
            Ok(()) => error,
            Err(other) => format!("{error}; {other}"),
        }
    })?;
    let path = put(&arguments.store, &record)?;
    let seconds = started.elapsed().as_secs_f64();
    let cost = HostTime { seconds, peak_memory_bytes: peak_memory_bytes() };
    if let Err(error) = cost.append(&arguments.store, &job) {
        eprintln!("{error}; the result is stored");
    }
    print(&format!("{}\n", path.display()))?;
    Ok(Finished::Well)
}

/// Adds a record to a store and returns its file. A record that the store does not take is kept in the host's temporary
/// folder.
///
/// # Errors
/// Why the store did not take it, and where it is.
pub fn put(folder: &Path, record: &Record) -> Result<PathBuf, String> {
    store::put(folder, record).map_err(|error| {
        let rescue = std::env::temp_dir().join("strata-rescued");
        match store::put(&rescue, record) {
            Ok(path) => format!("{error}; the result is kept in {}", path.display()),
            Err(other) => format!("{error}; {other}"),
        }
    })
}

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
