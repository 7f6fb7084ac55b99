//! Runs the jobs that a store lacks, several at a time, each in its own process.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

use strata_workloads::Measured;

use crate::job::{Job, Key};
use crate::store::{self, Store};

/// Runs a job and adds its record to the store's folder.
pub trait Launcher: Sync {
    /// Runs one job to completion. With `wait`, waits for a process that already runs it.
    ///
    /// # Errors
    /// Why the job has no record.
    fn launch(&self, job: &Job, wait: bool) -> Result<Launched, String>;

    /// Ends the jobs that run. They have no records then.
    fn stop(&self) {}
}

/// What became of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launched {
    /// The store has its result.
    Finished,
    /// Another process runs it.
    Elsewhere,
    /// Somebody killed its process, which says nothing about the job.
    Killed,
}

/// Signals by which others end a process, rather than its own faults.
const FROM_OTHERS: [i32; 5] = [libc::SIGKILL, libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGXCPU];

/// Exit status of `strata job` for [`Launched::Elsewhere`].
pub const ELSEWHERE: u8 = 3;

/// Runs `strata job` in a process for each job, so that a crash affects only that job.
#[derive(Debug)]
pub struct Processes {
    /// Path of the `strata` command.
    command: PathBuf,
    /// Folder of the store that receives the records.
    folder: PathBuf,
    /// Standard input of the jobs that run, by process; `None` once they have been stopped. A job exits when it closes, so a
    /// killed sweep leaves no processes behind.
    inputs: Mutex<Option<BTreeMap<u32, ChildStdin>>>,
    /// Whether a job that somebody killed has failed.
    killed_have_failed: bool,
}

impl Processes {
    /// Jobs run by the `strata` command at a path, for the store in a folder.
    #[must_use]
    pub fn new(command: PathBuf, folder: PathBuf) -> Processes {
        Processes { command, folder, inputs: Mutex::new(Some(BTreeMap::new())), killed_have_failed: true }
    }

    /// Leaves a job that somebody killed to whoever asked for it: on a cluster, a scheduler kills tasks that are as good as
    /// others. A job that crashed has failed nevertheless.
    #[must_use]
    pub fn leave_killed(self) -> Processes {
        Processes { killed_have_failed: false, ..self }
    }

    fn inputs(&self) -> MutexGuard<'_, Option<BTreeMap<u32, ChildStdin>>> {
        self.inputs.lock().expect("no holder panics")
    }

    /// Keeps a job's standard input open until it ends or all are stopped.
    fn keep(&self, process: u32, input: ChildStdin) {
        if let Some(inputs) = &mut *self.inputs() {
            inputs.insert(process, input);
        }
    }

    fn drop_input(&self, process: u32) {
        if let Some(inputs) = &mut *self.inputs() {
            inputs.remove(&process);
        }
    }
}

/// Begins a job's text on standard input, followed by the length of the rest of the text in bytes. The pipe then stays open
/// and silent until the sweep ends.
pub const JOB_BYTES: &str = "# bytes of the job: ";

impl Launcher for Processes {
    fn launch(&self, job: &Job, wait: bool) -> Result<Launched, String> {
        let text = job.pack()?.text();
        let run = || -> std::io::Result<Result<Launched, String>> {
            let mut child = Command::new(&self.command)
                .args(["job", "-", "--store"])
                .arg(&self.folder)
                .args(wait.then_some("--wait"))
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                // An interrupt from the terminal reaches the sweep alone, which then stops its jobs.
                .process_group(0)
                .spawn()?;
            let mut input = child.stdin.take().expect("it is piped");
            let sent = input.write_all(format!("{JOB_BYTES}{}\n{text}", text.len()).as_bytes());
            self.keep(child.id(), input);
            let mut said = String::new();
            let read = child.stderr.take().expect("it is piped").read_to_string(&mut said);
            let status = child.wait()?;
            self.drop_input(child.id());
            read?;
            if status.success() {
                return Ok(Ok(Launched::Finished));
            }
            if status.code() == Some(ELSEWHERE.into()) {
                return Ok(Ok(Launched::Elsewhere));
            }
            if !self.killed_have_failed && status.signal().is_some_and(|signal| FROM_OTHERS.contains(&signal))
            {
                return Ok(Ok(Launched::Killed));
            }
            sent?;
            let said = said.trim().trim_start_matches("error: ");
            Ok(Err(if said.is_empty() { status.to_string() } else { said.to_owned() }))
        };
        run().unwrap_or_else(|error| Err(format!("{}: {error}", self.command.display())))
    }

    fn stop(&self) {
        self.inputs().take();
    }
}

/// Resources that a sweep may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Jobs that run at once, at least 1.
    pub jobs: usize,
    /// Estimated memory that running jobs may take together, in bytes. One job always runs, whatever it
    /// needs.
    pub memory_bytes: u64,
    /// Set from outside to stop the sweep.
    pub interrupt: Option<&'static AtomicBool>,
}

impl Limits {
    fn is_interrupted(&self) -> bool {
        self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

/// Three quarters of the host's available memory; 4 GiB if the host does not say.
#[must_use]
pub fn available_memory() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kilobytes = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))
        .and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kilobytes.map_or(4 << 30, |kilobytes| kilobytes * 1024 / 4 * 3)
}

/// Progress of a sweep.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Jobs that have ended, successfully or not.
    pub ended: usize,
    /// Number of jobs in the sweep.
    pub jobs: usize,
    /// Expected work of the ended jobs, in thread-instructions.
    pub work_done: u64,
    /// Expected work of all jobs, in thread-instructions.
    pub work: u64,
    /// The job that ended most recently, if any.
    pub last: Option<&'a Job>,
}

/// What became of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// The jobs that failed.
    pub failures: Vec<Failure>,
    /// How many jobs were kept from being run to their end, by an interrupt or by who killed them; 0 for a sweep that ended.
    pub left: usize,
    /// Why nobody could see in the store that the sweep went on; `None` if they could.
    pub unannounced: Option<String>,
}

/// A job that failed to produce a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Description of the job: workload, size and machine.
    pub job: String,
    /// Why the job failed.
    pub reason: String,
}

/// Runs each job that the store lacks, once, longest jobs first, until all have ended or the sweep is interrupted. Announces the
/// sweep in the store meanwhile.
///
/// # Errors
/// If the store cannot be read afterwards. A failed job is not an error here.
pub fn run(
    jobs: &[Job],
    store: &mut Store,
    launcher: &dyn Launcher,
    limits: Limits,
    on_progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Swept, String> {
    announced(jobs, store, |missing, store| {
        let swept = run_jobs(missing, store.folder(), launcher, limits, on_progress);
        store.refresh()?;
        Ok(swept)
    })
}

/// Does `work` with the jobs that a store lacks, each once, and announces the sweep in the store meanwhile.
pub(crate) fn announced<'a>(
    jobs: &'a [Job],
    store: &mut Store,
    work: impl FnOnce(Vec<&'a Job>, &mut Store) -> Result<Swept, String>,
) -> Result<Swept, String> {
    let mut seen = BTreeSet::new();
    let keyed = jobs.iter().map(|job| (job.key(), job));
    let all: Vec<(Key, &Job)> = keyed.filter(|(key, _)| seen.insert(key.clone())).collect();
    let held: BTreeSet<&Key> = all.iter().map(|(key, _)| key).filter(|key| store.has(key)).collect();
    let missing: Vec<&Job> = all.iter().filter(|(key, _)| !held.contains(key)).map(|(_, job)| *job).collect();
    // Taken back when the sweep is over.
    let announcement = missing.first().map(|first| {
        let jobs = all.iter().map(|(_, job)| *job);
        store::announce(store.folder(), &first.command, jobs, |key| held.contains(key))
    });
    let swept = work(missing, store)?;
    Ok(Swept { unannounced: announcement.and_then(Result::err), ..swept })
}

/// Runs jobs for the store in a folder, longest first, until all have ended or the sweep is interrupted. Whether the store has
/// a result is looked up job by job.
pub fn run_jobs(
    mut missing: Vec<&Job>,
    folder: &Path,
    launcher: &dyn Launcher,
    limits: Limits,
    on_progress: &mut dyn FnMut(Progress<'_>),
) -> Swept {
    missing.sort_by_key(|job| std::cmp::Reverse(work(job)));
    let total: u64 = missing.iter().map(|job| work(job)).sum();
    let mut progress = Progress { ended: 0, jobs: missing.len(), work_done: 0, work: total, last: None };
    on_progress(progress);
    let queue =
        Queue { jobs: Mutex::new(missing.iter().copied().collect()), later: Mutex::new(VecDeque::new()) };
    let memory = Memory { free: Mutex::new((limits.memory_bytes, 0)), freed: Condvar::new() };
    let (send, ended) = mpsc::channel();
    let mut failures = Vec::new();
    std::thread::scope(|scope| {
        for _ in 0..limits.jobs.max(1) {
            let (send, queue, memory) = (send.clone(), &queue, &memory);
            scope.spawn(move || {
                loop {
                    let Some((job, wait)) = queue.next().filter(|_| !limits.is_interrupted()) else { return };
                    let bytes = memory.take(memory_estimate(job));
                    let outcome = launcher.launch(job, wait);
                    memory.give(bytes);
                    if outcome == Ok(Launched::Elsewhere) && !wait {
                        queue.later.lock().expect("no holder panics").push_back(job);
                        continue;
                    }
                    send.send((job, outcome)).expect("the receiver waits for all");
                }
            });
        }
        drop(send);
        loop {
            let (job, outcome) = match ended.recv_timeout(LOOK) {
                Ok(ended) => ended,
                Err(RecvTimeoutError::Timeout) => {
                    if limits.is_interrupted() {
                        launcher.stop();
                    }
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            };
            if outcome == Ok(Launched::Killed) || limits.is_interrupted() && outcome != Ok(Launched::Finished)
            {
                continue;
            }
            if let Err(reason) = outcome {
                failures.push(failed(job, &reason, folder));
            }
            progress.ended += 1;
            progress.work_done += work(job);
            on_progress(Progress { last: Some(job), ..progress });
        }
    });
    failures.sort_by(|one, other| one.job.cmp(&other.job));
    Swept { failures, left: progress.jobs - progress.ended, unannounced: None }
}

/// How often a sweep looks for an interrupt.
const LOOK: Duration = Duration::from_millis(50);

/// Notes in the store that a job failed. A job that crashed could not do so itself.
fn failed(job: &Job, reason: &str, folder: &Path) -> Failure {
    let name = describe(job);
    let reason = reason.strip_prefix(&format!("{name}: ")).unwrap_or(reason);
    let noted = store::fail(folder, job, reason);
    let reason = noted.map_or_else(|error| format!("{reason}; {error}"), |()| reason.to_owned());
    Failure { job: name, reason }
}

/// The jobs to run; those that another process runs come again at the end.
struct Queue<'a> {
    jobs: Mutex<VecDeque<&'a Job>>,
    later: Mutex<VecDeque<&'a Job>>,
}

impl<'a> Queue<'a> {
    /// The next job, and whether to wait for who runs it.
    fn next(&self) -> Option<(&'a Job, bool)> {
        let first = |jobs: &Mutex<VecDeque<&'a Job>>| jobs.lock().expect("no holder panics").pop_front();
        first(&self.jobs).map(|job| (job, false)).or_else(|| Some((first(&self.later)?, true)))
    }
}

/// Describes a job to a reader: workload, size and machine.
#[must_use]
pub fn describe(job: &Job) -> String {
    let on = if job.variant.is_empty() { String::new() } else { format!(" on {}", job.variant) };
    match &job.launch_file {
        _ if job.executed => format!("{}{on}", job.workload),
        Some(path) => format!("{}{on}", path.display()),
        None => format!("{} ({}){on}", job.workload, job.size),
    }
}

/// Expected work in thread-instructions; 1 if the program was never measured.
pub(crate) fn work(job: &Job) -> u64 {
    measured(job).map_or(1, |measured| measured.thread_instructions.max(1))
}

/// ASSUMED: memory of a run besides the program's buffers (the machine, its counters, the compiled program).
const RUN_BYTES: u64 = 256 << 20;

/// Expected memory of a job in bytes: its buffers on the device, and inputs and expected results on the host.
fn memory_estimate(job: &Job) -> u64 {
    RUN_BYTES + 3 * measured(job).map_or(RUN_BYTES, |measured| measured.footprint_bytes)
}

/// What a built-in workload is known to do.
fn measured(job: &Job) -> Option<Measured> {
    let workload = job.launch_file.is_none().then(|| strata_workloads::find(&job.workload))??;
    workload.measured(job.size)
}

/// A budget of memory shared by running jobs.
struct Memory {
    /// Free bytes, and the number of jobs that hold some.
    free: Mutex<(u64, usize)>,
    freed: Condvar,
}

impl Memory {
    /// Waits until `bytes` are free or no other job holds any. Returns the bytes actually taken.
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
