//! `strata job`: runs one job of a sweep.

use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use strata_gpu::results::peak_memory_bytes;
use strata_lab::job::Job;
use strata_lab::record::Record;
use strata_lab::store::{self, HostTime};
use strata_lab::sweep::END_OF_JOB;

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
    if let Some(path) = finished()? {
        print(&format!("{}\n", path.display()))?;
        return Ok(Finished::Well);
    }
    let Some(_claim) = store::claim(&arguments.store, &job.key(), arguments.wait)? else {
        return Ok(Finished::Elsewhere);
    };
    // Whoever held the claim before may have finished the job.
    if let Some(path) = finished()? {
        print(&format!("{}\n", path.display()))?;
        return Ok(Finished::Well);
    }
    let started = Instant::now();
    let record = strata_lab::record::measure(&job)
        .map_err(|error| format!("{}: {error}", strata_lab::sweep::describe(&job)))?;
    let path = put(&arguments.store, &record)?;
    let seconds = started.elapsed().as_secs_f64();
    HostTime { seconds, peak_memory_bytes: peak_memory_bytes() }.append(&arguments.store, &job)?;
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

/// Reads the job up to its end mark, then starts a thread that ends the process when standard input closes.
fn from_standard_input() -> Result<String, String> {
    let mut text = String::new();
    let mut input = std::io::stdin().lock();
    loop {
        let mut line = String::new();
        let read = input.read_line(&mut line).map_err(|error| format!("standard input: {error}"))?;
        if read == 0 {
            return Ok(text);
        }
        if line.trim_end() == END_OF_JOB {
            break;
        }
        text += &line;
    }
    drop(input);
    std::thread::spawn(|| {
        // Whoever asked for the job is gone, so nobody needs its result.
        let _ = std::io::stdin().lock().read_to_end(&mut Vec::new());
        std::process::exit(2);
    });
    Ok(text)
}
