//! Batches: jobs that one task of a cluster runs, and the files that hold them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use crate::job::{self, Job};
use crate::sweep::work;

/// Name of the format of a batch's file.
const FORMAT: &str = "strata-batch-1";

/// ASSUMED: thread-instructions that a host simulates in a second.
const RATE: u64 = 1_000_000;

/// ASSUMED: what a job costs besides its work, as thread-instructions: a process, the machine, the program's inputs.
const JOB: u64 = RATE / 5;

/// What a batch should cost unless that makes too many: a minute, beside which the start of a task is nothing.
const BATCH: u64 = 60 * RATE;

#[derive(Serialize)]
struct Written<'a> {
    format: &'static str,
    jobs: &'a [Job],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    #[serde(rename = "format")]
    _format: String,
    jobs: Vec<Job>,
}

/// All that is read of a file before it is known what it is.
#[derive(Deserialize)]
struct Head {
    format: String,
}

/// The text of a batch's file. It runs on any host, like the files of jobs.
///
/// # Errors
/// A launch file that cannot be read any more.
pub(super) fn text(jobs: &[&Job]) -> Result<String, String> {
    let jobs: Vec<Job> = jobs.iter().map(|job| job.pack()).collect::<Result<_, _>>()?;
    Ok(toml::to_string(&Written { format: FORMAT, jobs: &jobs }).expect("jobs are TOML"))
}

/// The jobs of a batch's file, unchecked: whoever runs one checks it ([`Job::read`]), so one that is refused does not keep the
/// others from running. `None` if the file holds a single job.
///
/// # Errors
/// What is wrong with the text.
pub fn read(name: &str, text: &str) -> Result<Option<Vec<Job>>, String> {
    let wrong = |error: toml::de::Error| format!("{name}: {}", error.message().trim());
    let head: Head = toml::from_str(text).map_err(wrong)?;
    match head.format.as_str() {
        FORMAT => Ok(Some(toml::from_str::<Read>(text).map_err(wrong)?.jobs)),
        job::FORMAT => Ok(None),
        other => Err(format!("{name}: format: found `{other}`, expected `{}` or `{FORMAT}`", job::FORMAT)),
    }
}

/// How many batches to deal jobs out to: at most `most`, with at most `size` jobs each if that is given.
///
/// # Errors
/// If batches of `size` are more than `most`.
pub(super) fn count(jobs: &[&Job], size: Option<usize>, most: usize) -> Result<usize, String> {
    match size {
        Some(0) => Err("--batch 0: expected at least 1".into()),
        Some(size) => match jobs.len().div_ceil(size) {
            count if count > most => Err(format!(
                "--batch {size}: found {count} tasks for {} jobs, expected at most {most}, so `--batch {}` or more",
                jobs.len(),
                jobs.len().div_ceil(most)
            )),
            count => Ok(count),
        },
        None => {
            let cost: u64 = jobs.iter().map(|job| cost(job)).sum();
            let wanted = usize::try_from(cost.div_ceil(BATCH)).unwrap_or(usize::MAX);
            Ok(wanted.min(most).min(jobs.len()).max(1))
        }
    }
}

/// Deals jobs out, longest first, each to the batch that has the least to do so far. No batch is empty, none has more than
/// `size` jobs, and the batches with most to do come first.
pub(super) fn deal<'a>(jobs: &[&'a Job], count: usize, size: Option<usize>) -> Vec<Vec<&'a Job>> {
    let mut jobs = jobs.to_vec();
    jobs.sort_by_key(|job| Reverse(cost(job)));
    let size = size.unwrap_or(usize::MAX);
    let mut batches = vec![Vec::new(); count];
    let mut least: BinaryHeap<Reverse<(u64, usize)>> = (0..count).map(|batch| Reverse((0, batch))).collect();
    for job in jobs {
        let Reverse((done, batch)) = least.pop().expect("there is room for all");
        batches[batch].push(job);
        if batches[batch].len() < size {
            least.push(Reverse((done + cost(job), batch)));
        }
    }
    batches.retain(|batch| !batch.is_empty());
    batches.sort_by_key(|batch| Reverse(batch.iter().map(|job| cost(job)).sum::<u64>()));
    batches
}

fn cost(job: &Job) -> u64 {
    JOB + work(job)
}
