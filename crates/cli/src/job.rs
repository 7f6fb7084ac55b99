//! `strata job`: runs one job of a sweep.

use std::io::{BufRead, Read};
use std::path::PathBuf;

use clap::Args;
use strata_lab::job::Job;
use strata_lab::perform::{Performed, perform};
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
    match perform(&job, &arguments.store, arguments.wait, None)? {
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
