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

#[cfg(test)]
mod tests {
    use strata_workloads::Size;

    use super::*;

    /// A job of some work: none of these is ever run.
    fn job(workload: &str, number: u64) -> Job {
        Job {
            workload: workload.into(),
            ptx: number.to_string(),
            ..Job::profile("saxpy", Size::Test).unwrap()
        }
    }

    #[test]
    fn every_job_is_dealt_out_once_and_no_batch_has_much_more_to_do_than_another() {
        let names = ["saxpy", "gemm", "gather", "2mm", "nw"];
        let jobs: Vec<Job> =
            (0..97).map(|number| job(names[number as usize % names.len()], number)).collect();
        let jobs: Vec<&Job> = jobs.iter().collect();
        for (count_, size) in [(1, None), (7, None), (96, None), (10, Some(10)), (97, Some(1)), (49, Some(2))]
        {
            let batches = deal(&jobs, count_, size);
            assert_eq!(batches.len(), count_);
            let mut dealt: Vec<String> = batches.iter().flatten().map(|job| job.ptx.clone()).collect();
            dealt.sort_by_key(|number| number.parse::<u64>().unwrap());
            assert_eq!(dealt, (0..97).map(|number| number.to_string()).collect::<Vec<_>>());
            assert!(batches.iter().all(|batch| batch.len() <= size.unwrap_or(97)));
            let costs: Vec<u64> =
                batches.iter().map(|batch| batch.iter().map(|job| cost(job)).sum()).collect();
            assert!(costs.is_sorted_by(|one, next| one >= next), "{costs:?}");
            let longest = jobs.iter().map(|job| cost(job)).max().unwrap();
            assert!(size.is_some() || costs[0] - costs[count_ - 1] <= longest, "{costs:?}");
        }
    }

    #[test]
    fn there_are_as_many_batches_as_minutes_and_as_jobs_and_limits_allow() {
        let (short, long) = (job("saxpy", 0), Job { size: Size::Paper, ..job("gemm", 1) });
        assert!(cost(&short) < BATCH / 60 && cost(&long) > BATCH);
        assert_eq!(count(&[&short; 3], None, 1000), Ok(1));
        assert_eq!(count(&[&long; 3], None, 1000), Ok(3));
        assert_eq!(count(&[&long; 3], None, 2), Ok(2));
        let many = u64::try_from(count(&[&short; 100_000], None, 1000).unwrap()).unwrap();
        assert_eq!(many, (100_000 * cost(&short)).div_ceil(BATCH));
        assert_eq!(count(&[&short; 25], Some(10), 3), Ok(3));
        assert_eq!(
            count(&[&short; 25], Some(10), 2).unwrap_err(),
            "--batch 10: found 3 tasks for 25 jobs, expected at most 2, so `--batch 13` or more"
        );
        assert_eq!(count(&[&short], Some(0), 2).unwrap_err(), "--batch 0: expected at least 1");
    }

    #[test]
    fn a_batch_s_file_gives_its_jobs_back_and_a_job_s_file_is_none() {
        let jobs = [job("saxpy", 0), Job::profile("gemm", Size::Small).unwrap()];
        let text = text(&[&jobs[0], &jobs[1]]).unwrap();
        assert_eq!(read("b.toml", &text).unwrap().unwrap(), jobs);
        assert_eq!(read("j.toml", &jobs[1].text()).unwrap(), None);
        let error = read("b.toml", &text.replace("strata-batch-1", "strata-batch-2")).unwrap_err();
        assert_eq!(
            error,
            "b.toml: format: found `strata-batch-2`, expected `strata-job-1` or `strata-batch-1`"
        );
        let error = read("b.toml", &text.replacen("kind = ", "kin = ", 1)).unwrap_err();
        assert!(error.starts_with("b.toml: ") && error.contains("kin"), "{error}");
    }
}
