//! Runs the jobs that a store lacks, several at once, in processes of their own.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Condvar, Mutex, mpsc};

use crate::job::{Job, find_workload};
use crate::store::Store;

/// How to run a job: it adds its record to the store's folder.
pub trait Launcher: Sync {
    /// Runs one job to its end.
    ///
    /// # Errors
    /// Why it has no record.
    fn launch(&self, job: &Job) -> Result<(), String>;
}

/// Runs `strata job` for each job. A run that breaks takes only its process along.
#[derive(Clone, Debug)]
pub struct Processes {
    /// The `strata` command.
    pub command: PathBuf,
    /// The store's folder.
    pub folder: PathBuf,
}

/// Ends a job's text on standard input. What follows is silence for as long as the sweep lives.
pub const END_OF_JOB: &str = "# end of job";

impl Launcher for Processes {
    fn launch(&self, job: &Job) -> Result<(), String> {
        let run = || -> std::io::Result<Result<(), String>> {
            let mut child = Command::new(&self.command)
                .args(["job", "-", "--store"])
                .arg(&self.folder)
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()?;
            // Kept open: a job whose standard input ends, ends too, so a killed sweep leaves nothing running.
            let mut input = child.stdin.take().expect("it is piped");
            let sent = input.write_all(format!("{}{END_OF_JOB}\n", job.text()).as_bytes());
            let mut said = String::new();
            child.stderr.take().expect("it is piped").read_to_string(&mut said)?;
            let status = child.wait()?;
            drop(input);
            if status.success() {
                return Ok(Ok(()));
            }
            sent?;
            let said = said.trim().trim_start_matches("error: ");
            Ok(Err(if said.is_empty() { status.to_string() } else { said.to_owned() }))
        };
        run().unwrap_or_else(|error| Err(format!("{}: {error}", self.command.display())))
    }
}

/// What a sweep may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Jobs at once, at least 1.
    pub jobs: usize,
    /// Bytes of memory that they may take together, by estimate; one job always runs.
    pub memory_bytes: u64,
}

/// How far a sweep is.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Jobs that ended, well or not.
    pub ended: usize,
    /// Jobs in all.
    pub jobs: usize,
    /// Expected work of the jobs that ended, in thread-instructions.
    pub work_done: u64,
    /// Of all jobs.
    pub work: u64,
    /// The job that ended last, if any.
    pub last: Option<&'a Job>,
}

/// A job that has no record, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What it was: workload, size, machine.
    pub job: String,
    /// Why.
    pub reason: String,
}

/// Runs each job that the store lacks, once. Long jobs start first.
///
/// # Errors
/// When the store cannot be read afterwards. A job that fails is none: it is in the answer.
pub fn run(
    jobs: &[Job],
    store: &mut Store,
    launcher: &dyn Launcher,
    limits: Limits,
    on_progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Vec<Failure>, String> {
    let mut seen = BTreeSet::new();
    let mut missing: Vec<&Job> = jobs
        .iter()
        .filter(|job| {
            let key = job.key();
            !store.has(&key) && seen.insert(key)
        })
        .collect();
    missing.sort_by_key(|job| std::cmp::Reverse(work(job)));
    let total: u64 = missing.iter().map(|job| work(job)).sum();
    let mut progress = Progress { ended: 0, jobs: missing.len(), work_done: 0, work: total, last: None };
    on_progress(progress);
    let queue = Mutex::new(missing.iter().copied());
    let memory = Memory { free: Mutex::new((limits.memory_bytes, 0)), freed: Condvar::new() };
    let (send, ended) = mpsc::channel();
    let mut failures = Vec::new();
    std::thread::scope(|scope| {
        for _ in 0..limits.jobs.max(1) {
            let (send, queue, memory) = (send.clone(), &queue, &memory);
            scope.spawn(move || {
                loop {
                    let Some(job) = queue.lock().expect("no holder panics").next() else { return };
                    let bytes = memory.take(memory_estimate(job));
                    let outcome = launcher.launch(job);
                    memory.give(bytes);
                    send.send((job, outcome)).expect("the receiver waits for all");
                }
            });
        }
        drop(send);
        for (job, outcome) in ended {
            if let Err(reason) = outcome {
                failures.push(Failure { job: describe(job), reason });
            }
            progress.ended += 1;
            progress.work_done += work(job);
            on_progress(Progress { last: Some(job), ..progress });
        }
    });
    failures.sort_by(|one, other| one.job.cmp(&other.job));
    store.refresh()?;
    Ok(failures)
}

/// What a reader calls a job.
#[must_use]
pub fn describe(job: &Job) -> String {
    let on = if job.variant.is_empty() { String::new() } else { format!(" on {}", job.variant) };
    format!("{} ({}){on}", job.workload, job.size)
}

/// Expected work in thread-instructions; 1 where it was not measured.
fn work(job: &Job) -> u64 {
    let workload = find_workload(&job.workload).ok();
    workload
        .and_then(|workload| workload.measured(job.size))
        .map_or(1, |measured| measured.thread_instructions.max(1))
}

/// ASSUMED: what a run takes beside the program's buffers (the machine, its counters, the compiled program).
const RUN_BYTES: u64 = 256 << 20;

/// Expected memory of a job: its buffers on the device and, as inputs and expected results, on the host.
fn memory_estimate(job: &Job) -> u64 {
    let workload = find_workload(&job.workload).ok();
    let measured = workload.and_then(|workload| workload.measured(job.size));
    RUN_BYTES + 3 * measured.map_or(RUN_BYTES, |measured| measured.footprint_bytes)
}

/// Memory that may be taken.
struct Memory {
    /// Bytes that are free, and jobs that have taken some.
    free: Mutex<(u64, usize)>,
    freed: Condvar,
}

impl Memory {
    /// Waits until there is enough, or nobody else has any. Gives what was taken.
    fn take(&self, bytes: u64) -> u64 {
        let free = self.free.lock().expect("no holder panics");
        let mut free = self
            .freed
            .wait_while(free, |(free, takers)| *free < bytes && *takers > 0)
            .expect("no holder panics");
        let taken = bytes.min(free.0);
        free.0 -= taken;
        free.1 += 1;
        taken
    }

    fn give(&self, bytes: u64) {
        let mut free = self.free.lock().expect("no holder panics");
        free.0 += bytes;
        free.1 -= 1;
        self.freed.notify_all();
    }
}
