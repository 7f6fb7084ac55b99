//! Sweeps by a scheduler that a test plays: it runs tasks when they are submitted, as the test says.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use strata_workloads::Size;

use super::*;
use crate::job::Job;
use crate::perform::perform;
use crate::store::{Store, fail};
use crate::sweep::Swept;
use crate::variant::Variant;

/// What a task does with its jobs: gets the number of the submission, the job and the store.
type Task = Box<dyn Fn(usize, &Job, &Path)>;

struct Play {
    task: Task,
    /// The keys of each submission's jobs, batch by batch.
    submitted: RefCell<Vec<Vec<Vec<String>>>>,
    /// What it answers, before it says that no task exists.
    answers: RefCell<Vec<Result<Tasks, String>>>,
    cancelled: Cell<usize>,
    /// What happens just before it answers for the first time.
    meanwhile: RefCell<Option<Box<dyn FnOnce()>>>,
}

impl Play {
    fn new(task: impl Fn(usize, &Job, &Path) + 'static) -> Play {
        Play {
            task: Box::new(task),
            submitted: RefCell::default(),
            answers: RefCell::default(),
            cancelled: Cell::new(0),
            meanwhile: RefCell::default(),
        }
    }
}

impl Scheduler for Play {
    fn kind(&self) -> &'static str {
        "play"
    }

    fn title(&self) -> &'static str {
        "Play"
    }

    fn script(&self) -> &'static str {
        "# Play"
    }

    fn most_tasks(&self, _: bool) -> usize {
        10
    }

    fn submit(&self, submission: &Submission, store: &Path) -> Result<String, String> {
        let round = self.submitted.borrow().len();
        let mut batches = Vec::new();
        for task in 0..submission.tasks {
            let file = submission.folder.join(format!("batches/{task}.toml"));
            let jobs = batch::read("batch", &fs::read_to_string(file).unwrap()).unwrap().unwrap();
            jobs.iter().for_each(|job| (self.task)(round, job, store));
            fs::write(submission.logs().join(format!("{task}.log")), "what it says").unwrap();
            batches.push(jobs.iter().map(|job| job.key().to_string()).collect());
        }
        self.submitted.borrow_mut().push(batches);
        Ok(format!("play {round}"))
    }

    fn look(&self, _: &Submission) -> Result<Tasks, String> {
        if let Some(meanwhile) = self.meanwhile.take() {
            meanwhile();
        }
        self.answers.borrow_mut().pop().unwrap_or(Ok(Tasks::default()))
    }

    fn cancel(&self, submission: &Submission) -> Result<(), String> {
        assert!(!submission.folder.join("batches").exists(), "tasks find nothing more to do");
        self.cancelled.set(self.cancelled.get() + 1);
        Ok(())
    }
}

fn jobs(count: usize) -> Vec<Job> {
    let variant = |entries| Variant {
        name: format!("gtx480 {entries}"),
        base: "gtx480".into(),
        system: None,
        sets: vec![format!("l1d.mshr_entries={entries}")],
        version: None,
    };
    (1..=count).map(|entries| Job::timing("saxpy", Size::Test, &variant(entries)).unwrap()).collect()
}

const OPTIONS: Options = Options { batch: Some(2), rounds: 3, interrupt: None };

fn follow(jobs: &[Job], store: &Path, play: &Play, options: Options) -> (Result<Swept, String>, Vec<String>) {
    let (mut store, _) = Store::open(store).unwrap();
    let mut notes = Vec::new();
    let swept = run(jobs, &mut store, play, options, &mut |event| match event {
        Event::Note(text) => notes.push(text.to_owned()),
        Event::Progress(progress, _) => assert!(progress.ended <= progress.jobs),
    });
    (swept, notes)
}

/// Runs a job as a task does.
fn finish(job: &Job, store: &Path) {
    perform(job, store, true, None).unwrap();
}

/// How often each job was run.
fn runs(store: &Path) -> BTreeMap<String, usize> {
    let mut runs = BTreeMap::new();
    for line in fs::read_to_string(store.join("host.log")).unwrap().lines() {
        *runs.entry(line.split(' ').next().unwrap().to_owned()).or_default() += 1;
    }
    runs
}

fn left(store: &Path) -> Vec<PathBuf> {
    fs::read_dir(store.join(submission::FOLDER))
        .map_or(vec![], |entries| entries.map(|of| of.unwrap().path()).collect())
}

#[test]
fn what_dies_is_submitted_again_and_what_is_finished_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = jobs(5);
    let killed: Vec<String> = jobs[1..3].iter().map(|job| job.key().to_string()).collect();
    let dies = killed.clone();
    let play = Play::new(move |round, job, store| {
        if round > 0 || !dies.contains(&job.key().to_string()) {
            finish(job, store);
        }
    });
    let (swept, notes) = follow(&jobs, folder.path(), &play, OPTIONS);
    assert_eq!(swept.unwrap(), Swept::default());
    let submitted = play.submitted.borrow();
    assert_eq!(submitted[0].iter().map(Vec::len).sum::<usize>(), 5);
    assert_eq!(submitted[0].len(), 3, "two jobs a task");
    let mut again: Vec<&String> = submitted[1].iter().flatten().collect();
    again.sort();
    let mut expected: Vec<&String> = killed.iter().collect();
    expected.sort();
    assert_eq!((submitted.len(), again), (2, expected));
    assert!(runs(folder.path()).values().all(|count| *count == 1));
    assert_eq!(runs(folder.path()).len(), 5);
    assert_eq!(play.cancelled.get(), 0);
    // Only the output of tasks that died is kept, where the note says.
    let [kept] = &left(folder.path())[..] else { panic!("{notes:?}") };
    assert!(
        notes.iter().any(|note| note.ends_with(&format!("is in {}", kept.join("logs").display()))),
        "{notes:?}"
    );
    assert_eq!(fs::read_dir(kept).unwrap().count(), 1);
}

#[test]
fn a_job_that_fails_is_not_submitted_again_unless_it_failed_before() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = jobs(2);
    fail(folder.path(), &jobs[0], "of old").unwrap();
    let failing = jobs[1].key();
    let play = Play::new(move |_, job, store| match job.key() == failing {
        true => fail(store, job, "no luck").unwrap(),
        false => finish(job, store),
    });
    let (swept, _) = follow(&jobs, folder.path(), &play, OPTIONS);
    let Swept { failures, left, unannounced } = swept.unwrap();
    assert_eq!(unannounced, None);
    assert_eq!((failures.len(), failures[0].reason.as_str(), left), (1, "no luck", 0));
    assert_eq!(play.submitted.borrow().len(), 1);
    // The next sweep tries again, and a failure like the one before is a failure.
    let (swept, _) = follow(&jobs, folder.path(), &play, OPTIONS);
    assert_eq!(swept.unwrap().failures[0].reason, "no luck");
    assert_eq!(play.submitted.borrow()[1].concat(), [jobs[1].key().to_string()]);
    assert_eq!(play.submitted.borrow().len(), 2);
}

#[test]
fn rounds_are_bounded_and_what_is_left_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let play = Play::new(|_, _, _| ());
    let (swept, notes) = follow(&jobs(3), folder.path(), &play, Options { rounds: 2, ..OPTIONS });
    let failures = swept.unwrap().failures;
    assert_eq!(play.submitted.borrow().len(), 2);
    assert_eq!(failures.len(), 3);
    assert_eq!(failures[0].reason, "its task ended without a result, 2 times");
    assert!(failures[0].job.starts_with("saxpy (test) on gtx480"));
    assert_eq!(notes.iter().filter(|note| note.contains("said is in")).count(), 2, "{notes:?}");
}

#[test]
fn an_interrupt_cancels_and_leaves_no_failure_and_nothing_behind() {
    static INTERRUPT: AtomicBool = AtomicBool::new(false);
    let folder = tempfile::tempdir().unwrap();
    let jobs = jobs(3);
    let only = jobs[0].key();
    let play = Play::new(move |_, job, store| {
        if job.key() == only {
            finish(job, store);
        }
        INTERRUPT.store(true, Ordering::Relaxed);
    });
    let (swept, _) = follow(&jobs, folder.path(), &play, Options { interrupt: Some(&INTERRUPT), ..OPTIONS });
    assert_eq!(swept.unwrap(), Swept { left: 2, ..Swept::default() });
    assert_eq!(play.cancelled.get(), 1);
    assert_eq!(left(folder.path()), Vec::<PathBuf>::new());
}

#[test]
fn what_a_scheduler_refuses_is_passed_on_and_nothing_stays() {
    struct Refuses(Play);
    impl Scheduler for Refuses {
        fn kind(&self) -> &'static str {
            self.0.kind()
        }
        fn title(&self) -> &'static str {
            self.0.title()
        }
        fn script(&self) -> &'static str {
            self.0.script()
        }
        fn most_tasks(&self, is_chosen: bool) -> usize {
            self.0.most_tasks(is_chosen)
        }
        fn submit(&self, _: &Submission, _: &Path) -> Result<String, String> {
            Err("no such partition".into())
        }
        fn look(&self, submission: &Submission) -> Result<Tasks, String> {
            self.0.look(submission)
        }
        fn cancel(&self, submission: &Submission) -> Result<(), String> {
            self.0.cancel(submission)
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let (mut store, _) = Store::open(folder.path()).unwrap();
    let refuses = Refuses(Play::new(|_, _, _| ()));
    let error = run(&jobs(1), &mut store, &refuses, OPTIONS, &mut |_| ()).unwrap_err();
    assert_eq!(error, "no such partition");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_submission_whose_follower_died_is_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = jobs(3);
    let keys: Vec<&Job> = jobs[..2].iter().collect();
    let mut abandoned = Submission::write(folder.path(), "play", "# Play", &[keys]).unwrap();
    abandoned.submitted("play 7".into()).unwrap();
    assert_eq!(Submission::abandoned(folder.path(), "play").unwrap().len(), 0, "it is followed");
    drop(abandoned);
    assert_eq!(Submission::abandoned(folder.path(), "slurm").unwrap().len(), 0, "it is another scheduler's");
    let play = Play::new(|_, job, store| finish(job, store));
    let running = Tasks { running: 1, ..Tasks::default() };
    // The scheduler is away for a moment, then the tasks end without a result.
    *play.answers.borrow_mut() = vec![Err("away".into()), Ok(running)];
    let (swept, notes) = follow(&jobs, folder.path(), &play, OPTIONS);
    assert_eq!(swept.unwrap(), Swept::default());
    assert_eq!(notes[0], "found play 7 of Play again");
    let submitted = play.submitted.borrow();
    assert_eq!(submitted[0].concat(), [jobs[2].key().to_string()], "only what nobody runs");
    let mut again = submitted[1].concat();
    again.sort();
    let mut expected: Vec<String> = jobs[..2].iter().map(|job| job.key().to_string()).collect();
    expected.sort();
    assert_eq!(again, expected, "and what the dead left");
}

#[test]
fn what_ends_while_the_scheduler_is_asked_is_not_submitted_again() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = jobs(2);
    drop(Submission::write(folder.path(), "play", "# Play", &[jobs.iter().collect()]).unwrap());
    let play = Play::new(|_, _, _| panic!("nothing is left to do"));
    let (late, store) = (jobs.clone(), folder.path().to_owned());
    *play.meanwhile.borrow_mut() = Some(Box::new(move || late.iter().for_each(|job| finish(job, &store))));
    let (swept, notes) = follow(&jobs, folder.path(), &play, OPTIONS);
    assert_eq!((swept.unwrap(), notes), (Swept::default(), vec![]));
    assert!(play.submitted.borrow().is_empty());
    assert_eq!(left(folder.path()), Vec::<PathBuf>::new());
}

#[test]
fn one_without_tasks_is_cleared_away_and_one_of_another_sweep_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let jobs = jobs(2);
    let write = |job| drop(Submission::write(folder.path(), "play", "# Play", &[vec![job]]).unwrap());
    write(&jobs[0]);
    let play = Play::new(|_, job, store| finish(job, store));
    follow(&jobs[..1], folder.path(), &play, OPTIONS).0.unwrap();
    assert_eq!(left(folder.path()), Vec::<PathBuf>::new());
    write(&jobs[0]);
    *play.answers.borrow_mut() = vec![Ok(Tasks { waiting: 1, ..Tasks::default() })];
    follow(&jobs, folder.path(), &play, OPTIONS).0.unwrap();
    assert_eq!(left(folder.path()).len(), 1);
}
