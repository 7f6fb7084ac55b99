//! Submits the jobs that a store lacks, waits until no task exists any more, and submits again what died.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::batch;
use super::scheduler::{Scheduler, Tasks};
use super::submission::Submission;
use crate::job::{Job, Key};
use crate::store::{Census, Store};
use crate::sweep::{self, Failure, Progress, Swept, describe, work};

/// How long to wait between looks, at least and at most.
const LOOKS: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(20)];

/// In between, looks take one part in so many of the time, and the end is noticed so much later.
const SHARE: u32 = 20;

/// How often to look for an interrupt.
const INTERRUPT: Duration = Duration::from_millis(50);

/// How long a scheduler need not answer: it may be started again meanwhile.
const SILENCE: Duration = Duration::from_secs(600);

/// How long tasks may take to end when all their jobs have.
const END: Duration = Duration::from_secs(10);

/// How a sweep is run on a cluster.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Most jobs of a task. By default, about a minute's.
    pub batch: Option<usize>,
    /// How often a job may be submitted until it has a result or has failed, at least 1.
    pub rounds: u32,
    /// Set from outside to stop the sweep.
    pub interrupt: Option<&'static AtomicBool>,
}

/// What a sweep on a cluster has to say.
#[derive(Debug)]
pub enum Event<'a> {
    /// How far it is, and what its tasks do.
    Progress(Progress<'a>, &'a str),
    /// Something that happened, as a sentence.
    Note(&'a str),
}

/// Runs each job that the store lacks on a cluster, until all have ended, rounds are used up or the sweep is interrupted. Tasks
/// that another process of this user submitted for the store and does not follow any more are followed instead of new ones.
///
/// # Errors
/// If the scheduler takes no tasks or does not answer for long, or the store cannot be read or written. A failed job is not an
/// error here.
pub fn run(
    jobs: &[Job],
    store: &mut Store,
    scheduler: &dyn Scheduler,
    options: Options,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Result<Swept, String> {
    sweep::announced(jobs, store, |missing, store| {
        Follower::new(missing, store, scheduler, options, on_event)?.run()
    })
}

/// How a wait for tasks ended.
#[derive(PartialEq, Eq)]
enum Waited {
    /// No task exists any more, or no job is missing.
    Ended,
    Interrupted,
}

/// Follows a sweep on a cluster.
struct Follower<'a> {
    store: &'a mut Store,
    /// The store's folder as tasks find it, wherever they start.
    folder: PathBuf,
    scheduler: &'a dyn Scheduler,
    options: Options,
    on_event: &'a mut dyn FnMut(Event<'_>),
    /// The jobs to run.
    jobs: BTreeMap<Key, &'a Job>,
    census: Census,
    submissions: Vec<Submission>,
    work: u64,
    work_done: u64,
    last: Option<Key>,
}

impl<'a> Follower<'a> {
    fn new(
        jobs: Vec<&'a Job>,
        store: &'a mut Store,
        scheduler: &'a dyn Scheduler,
        options: Options,
        on_event: &'a mut dyn FnMut(Event<'_>),
    ) -> Result<Follower<'a>, String> {
        let jobs: BTreeMap<Key, &Job> = jobs.into_iter().map(|job| (job.key(), job)).collect();
        let folder = std::path::absolute(store.folder())
            .map_err(|error| format!("{}: {error}", store.folder().display()))?;
        let census = Census::begin(&folder, jobs.keys().cloned().collect())?;
        let work = jobs.values().map(|job| work(job)).sum();
        Ok(Follower {
            store,
            folder,
            scheduler,
            options,
            on_event,
            jobs,
            census,
            submissions: vec![],
            work,
            work_done: 0,
            last: None,
        })
    }

    fn run(mut self) -> Result<Swept, String> {
        self.progress("");
        if self.jobs.is_empty() {
            return Ok(Swept::default());
        }
        let followed = self.rounds();
        // Tasks whose results nobody waits for would only cost.
        if !matches!(followed, Ok(Waited::Ended)) {
            self.cancel();
        }
        let refreshed = self.store.refresh();
        let waited = followed?;
        refreshed?;
        Ok(self.swept(&waited))
    }

    fn rounds(&mut self) -> Result<Waited, String> {
        self.find_again()?;
        for _ in 0..self.options.rounds.max(1) {
            let under_way: BTreeSet<&Key> = self.submissions.iter().flat_map(|of| &of.keys).collect();
            let rest: Vec<&Job> = self
                .pending()
                .into_iter()
                .filter(|key| !under_way.contains(key))
                .map(|key| self.jobs[&key])
                .collect();
            if !rest.is_empty() {
                self.submit(&rest)?;
            }
            if self.wait()? == Waited::Interrupted {
                return Ok(Waited::Interrupted);
            }
            self.store.refresh()?;
            self.census.look()?;
            if self.pending().is_empty() {
                break;
            }
            self.end_submissions();
        }
        Ok(Waited::Ended)
    }

    /// The jobs without a result that have not failed since the start.
    fn pending(&self) -> Vec<Key> {
        let is_pending = |key: &&Key| !self.store.has(key) && !self.census.has_failed(key);
        self.jobs.keys().filter(is_pending).cloned().collect()
    }

    /// Takes over what a follower that died has submitted.
    fn find_again(&mut self) -> Result<(), String> {
        let mut has_ended = false;
        for submission in Submission::abandoned(&self.folder, self.scheduler.kind())? {
            let tasks = self.scheduler.look(&submission)?;
            if tasks == Tasks::default() {
                submission.close(false);
                has_ended = true;
                continue;
            }
            if !submission.keys.iter().any(|key| self.jobs.contains_key(key)) {
                // Another sweep's, which may come back for it.
                continue;
            }
            let name = submission.name.clone().unwrap_or_default();
            self.note(&format!("found {name} of {} again", self.scheduler.title()));
            self.submissions.push(submission);
        }
        // The last tasks may have ended since the store was read.
        if has_ended {
            self.store.refresh()?;
            self.census.look()?;
        }
        Ok(())
    }

    fn submit(&mut self, jobs: &[&Job]) -> Result<(), String> {
        let Options { batch: size, .. } = self.options;
        let count = batch::count(jobs, size, self.scheduler.most_tasks(size.is_some()))?;
        let batches = batch::deal(jobs, count, size);
        let kind = self.scheduler.kind();
        let mut submission = Submission::write(&self.folder, kind, self.scheduler.script(), &batches)?;
        let name = match self.scheduler.submit(&submission, &self.folder) {
            Ok(name) => name,
            Err(error) => {
                submission.close(false);
                return Err(error);
            }
        };
        let noted = submission.submitted(name.clone());
        let (tasks, logs) = (plural(submission.tasks, "task"), submission.logs());
        self.submissions.push(submission);
        noted?;
        self.note(&format!(
            "{} runs {} in {tasks}, {name}; what they say goes to {}",
            self.scheduler.title(),
            plural(jobs.len(), "job"),
            logs.display()
        ));
        Ok(())
    }

    fn wait(&mut self) -> Result<Waited, String> {
        let mut pause = LOOKS[0];
        let begin = Instant::now();
        let mut answered = begin;
        let mut complete: Option<Instant> = None;
        loop {
            let until = Instant::now() + pause;
            while Instant::now() < until {
                if self.options.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
                    return Ok(Waited::Interrupted);
                }
                std::thread::sleep(INTERRUPT.min(until.saturating_duration_since(Instant::now())));
            }
            let began = Instant::now();
            for key in self.census.look()? {
                self.work_done += self.jobs.get(&key).map_or(0, |job| work(job));
                self.last = Some(key);
            }
            let is_complete = self.census.ended() == self.jobs.len();
            match self.look() {
                Ok(tasks) if tasks == Tasks::default() => {
                    self.progress("");
                    return Ok(Waited::Ended);
                }
                Ok(tasks) => {
                    answered = began;
                    self.progress(&said(&tasks));
                }
                Err(error) if answered.elapsed() > SILENCE => {
                    let title = self.scheduler.title();
                    return Err(format!(
                        "{error}; {title} has not answered for {} minutes",
                        SILENCE.as_secs() / 60
                    ));
                }
                Err(error) => self.progress(&format!("asking again: {error}")),
            }
            if is_complete && complete.get_or_insert(began).elapsed() > END {
                return Ok(Waited::Ended);
            }
            let [least, most] = LOOKS;
            let wanted = if is_complete { least } else { begin.elapsed() / SHARE };
            pause = wanted.max(began.elapsed() * SHARE).clamp(least, most);
        }
    }

    /// All tasks that have not ended.
    fn look(&self) -> Result<Tasks, String> {
        let mut all = Tasks::default();
        for submission in &self.submissions {
            let Tasks { running, waiting, reason } = self.scheduler.look(submission)?;
            all.running += running;
            all.waiting += waiting;
            all.reason = all.reason.or(reason);
        }
        Ok(all)
    }

    fn cancel(&mut self) {
        for submission in std::mem::take(&mut self.submissions) {
            submission.withdraw();
            if let Err(error) = self.scheduler.cancel(&submission) {
                self.note(&format!(
                    "{error}; tasks that have begun end when they find no jobs in {}",
                    submission.folder.display()
                ));
            }
            submission.close(false);
        }
    }

    /// Closes what has no tasks any more, and keeps the output of those that died.
    fn end_submissions(&mut self) {
        for submission in std::mem::take(&mut self.submissions) {
            let is_wanted =
                submission.keys.iter().any(|key| self.jobs.contains_key(key) && !self.store.has(key));
            let what = submission.name.clone().unwrap_or_default();
            if let Some(logs) = submission.close(is_wanted) {
                self.note(&format!("what the tasks of {what} said is in {}", logs.display()));
            }
        }
    }

    fn swept(mut self, waited: &Waited) -> Swept {
        self.end_submissions();
        let missing: Vec<(&Key, &&Job)> = self.jobs.iter().filter(|(key, _)| !self.store.has(key)).collect();
        if *waited == Waited::Interrupted {
            return Swept { left: missing.len(), ..Swept::default() };
        }
        let rounds = self.options.rounds.max(1);
        let reason = |key: &Key| match self.store.failure(key) {
            Some(failure) if self.census.has_failed(key) => failure.reason.clone(),
            _ if rounds == 1 => "its task ended without a result".to_owned(),
            _ => format!("its task ended without a result, {rounds} times"),
        };
        let mut failures: Vec<Failure> =
            missing.iter().map(|(key, job)| Failure { job: describe(job), reason: reason(key) }).collect();
        failures.sort_by(|one, other| one.job.cmp(&other.job));
        Swept { failures, ..Swept::default() }
    }

    fn progress(&mut self, tasks: &str) {
        let progress = Progress {
            ended: self.census.ended(),
            jobs: self.jobs.len(),
            work_done: self.work_done,
            work: self.work,
            last: self.last.as_ref().and_then(|key| self.jobs.get(key).copied()),
        };
        (self.on_event)(Event::Progress(progress, tasks));
    }

    fn note(&mut self, text: &str) {
        (self.on_event)(Event::Note(text));
    }
}

/// What tasks do, in a few words.
fn said(tasks: &Tasks) -> String {
    let waiting = match (&tasks.reason, tasks.waiting) {
        (_, 0) => String::new(),
        (Some(reason), waiting) => format!(", {waiting} wait ({reason})"),
        (None, waiting) => format!(", {waiting} wait"),
    };
    format!("{} run{waiting}", plural(tasks.running, "task"))
}

fn plural(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
