//! What commands that run jobs share: their options, the progress bar and the report of failures.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use strata_lab::cluster::{self, Event, Scheduler};
use strata_lab::job::Job;
use strata_lab::store::{Findings, Store, check_writable};
use strata_lab::sweep::{self, Limits, Processes, Swept, available_memory};

use crate::cluster::ClusterArguments;
use crate::progress::{Display, during};
use crate::{interrupt, print};

/// Where results are stored and how jobs are run.
#[derive(Args)]
pub struct SweepArguments {
    /// Folder of the result store. Results are added to it, and jobs that it holds are not run again.
    #[arg(long, value_name = "DIR", default_value = "strata-store")]
    pub store: PathBuf,
    /// Number of jobs to run at once, each a single-threaded process. Default: one per core.
    #[arg(long, value_name = "N", conflicts_with = "cluster")]
    jobs: Option<usize>,
    /// Memory that all running jobs may use together, in GiB. Default: three quarters of the available
    /// memory.
    #[arg(long, value_name = "GIB", conflicts_with = "cluster")]
    memory: Option<u64>,
    /// Run nothing; show what the store holds.
    #[arg(long, conflicts_with = "cluster")]
    no_run: bool,
    /// With `--no-run`, show the results of another version of the simulator, or of `any` version.
    #[arg(long, value_name = "VERSION", requires = "no_run")]
    simulator: Option<String>,
    /// Write the missing jobs to this folder instead of running them; run each with `strata job FILE --store
    /// DIR`.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["no_run", "cluster"])]
    write_jobs: Option<PathBuf>,
    #[command(flatten)]
    cluster: ClusterArguments,
}

impl SweepArguments {
    /// Opens the store and reports any damage found in it.
    pub fn open(&self) -> Result<Store, String> {
        if !self.no_run {
            return open_to_write(&self.store);
        }
        open(&self.store, self.simulator.as_deref())
    }

    /// Whether jobs are only written to a folder, so that there is nothing to show yet.
    pub fn only_writes(&self) -> bool {
        self.write_jobs.is_some()
    }

    /// Runs the jobs that the store lacks, or writes them to a folder. Says which jobs failed, and of an interrupted sweep how
    /// to go on.
    ///
    /// # Errors
    /// A store or a folder that cannot be read or written.
    pub fn run(&self, jobs: &[Job], store: &mut Store) -> Result<Swept, String> {
        if self.no_run {
            return Ok(Swept::default());
        }
        let command: Vec<String> = std::env::args().collect();
        let jobs: Vec<Job> = jobs.iter().map(|job| Job { command: command.clone(), ..job.clone() }).collect();
        if let Some(folder) = &self.write_jobs {
            let count = write_jobs(&jobs, store, folder)?;
            print(&format!("{count} jobs are in {}\n", folder.display()))?;
            return Ok(Swept::default());
        }
        if jobs.iter().any(|job| !store.has(&job.key())) {
            check_writable(store.folder())?;
        }
        let command = std::env::current_exe().map_err(|error| format!("the command's own file: {error}"))?;
        let swept = match self.cluster.scheduler(&command)? {
            Some(scheduler) => self.on_cluster(&jobs, store, scheduler.as_ref()),
            None => self.here(&jobs, store, command),
        }?;
        if let Some(error) = &swept.unannounced {
            eprintln!("{error}; `strata serve` did not show this sweep");
        }
        for failure in &swept.failures {
            eprintln!("failed: {}: {}", failure.job, failure.reason);
        }
        if swept.left > 0 {
            let keys: BTreeSet<_> = jobs.iter().map(Job::key).collect();
            let done = keys.iter().filter(|key| store.has(key)).count();
            eprintln!(
                "interrupted: {done} of {} jobs are in {}; the same command goes on with the rest",
                keys.len(),
                store.folder().display()
            );
        }
        Ok(swept)
    }

    /// Runs the missing jobs in processes of this host.
    fn here(&self, jobs: &[Job], store: &mut Store, command: PathBuf) -> Result<Swept, String> {
        let launcher = Processes::new(command, store.folder().to_owned());
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let jobs_at_once = self.jobs.unwrap_or(cores);
        if jobs_at_once == 0 {
            return Err("--jobs 0: expected at least 1".into());
        }
        let memory_bytes = self.memory.map_or_else(available_memory, |gib| gib << 30);
        let mut bar = Display::new("", true);
        let mut show = |progress: sweep::Progress<'_>| show(&mut bar, progress, "");
        let limits = Limits { jobs: jobs_at_once, memory_bytes, interrupt: Some(interrupt::flag()) };
        let swept = sweep::run(jobs, store, &launcher, limits, &mut show);
        bar.finish();
        swept
    }

    /// Has a scheduler run the missing jobs.
    fn on_cluster(
        &self,
        jobs: &[Job],
        store: &mut Store,
        scheduler: &dyn Scheduler,
    ) -> Result<Swept, String> {
        let mut bar = Display::new("", true);
        let mut on_event = |event: Event<'_>| match event {
            Event::Progress(progress, tasks) => show(&mut bar, progress, tasks),
            Event::Note(text) => bar.say(text),
        };
        let options = cluster::Options {
            batch: self.cluster.batch,
            rounds: self.cluster.rounds,
            interrupt: Some(interrupt::flag()),
        };
        let swept = cluster::run(jobs, store, scheduler, options, &mut on_event);
        bar.finish();
        swept
    }
}

/// Shows how far a sweep is, and what its tasks on a cluster do.
fn show(bar: &mut Display, progress: sweep::Progress<'_>, tasks: &str) {
    let last = progress.last.map(sweep::describe).unwrap_or_default();
    let tasks = if tasks.is_empty() { String::new() } else { format!("{tasks}: ") };
    let message = format!("{tasks}{} of {} jobs {last}", progress.ended, progress.jobs);
    bar.show(progress.work_done, progress.work, message);
}

/// Opens a store whose missing jobs are to be run: removes what killed processes left behind, and says what is no
/// result.
fn open_to_write(folder: &Path) -> Result<Store, String> {
    let (store, findings) = during(&opening(folder), || Store::open(folder))?;
    findings.clean()?;
    report(&findings);
    Ok(store)
}

/// Opens a store to read it, changes nothing, and says what is no result. `simulator` names another version whose
/// results to look up.
///
/// # Errors
/// A folder that is not there, or holds no such results.
pub fn open(folder: &Path, simulator: Option<&str>) -> Result<Store, String> {
    check_there(folder)?;
    let (mut store, findings) = during(&opening(folder), || Store::open(folder))?;
    report(&findings);
    if let Some(version) = simulator {
        during(&opening(folder), || store.look_up(version))?;
    }
    Ok(store)
}

/// Refuses a store that is not there.
pub fn check_there(folder: &Path) -> Result<(), String> {
    match folder.is_dir() {
        true => Ok(()),
        false => Err(format!("{}: found no store, expected a folder of results", folder.display())),
    }
}

/// What is shown while a store is opened.
fn opening(folder: &Path) -> String {
    format!("opening {}", folder.display())
}

/// Says what lies in a store and is not a result.
pub fn report(findings: &Findings) {
    for finding in &findings.passed_over {
        eprintln!("passed over: {finding}");
    }
}

/// Writes the jobs that the store lacks to a folder, and returns how many.
fn write_jobs(jobs: &[Job], store: &Store, folder: &Path) -> Result<usize, String> {
    let named = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    std::fs::create_dir_all(folder).map_err(|error| named(folder, error))?;
    let mut count = 0;
    for job in jobs.iter().filter(|job| !store.has(&job.key())) {
        let path = folder.join(format!("{}.toml", job.key()));
        std::fs::write(&path, job.pack()?.text()).map_err(|error| named(&path, error))?;
        count += 1;
    }
    Ok(count)
}
