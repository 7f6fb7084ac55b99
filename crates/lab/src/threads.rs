//! Runs the jobs of a sweep on threads of this process, for programs that have the lab as a library.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::job::Job;
use crate::perform::{Performed, perform};
use crate::sweep::{Launched, Launcher};

/// Runs each job on the thread that asks for it. A panic fails its job alone, where panics unwind.
#[derive(Debug)]
pub struct Threads {
    folder: PathBuf,
    interrupt: &'static AtomicBool,
}

/// How often a job that another process runs is looked at.
const LOOK: Duration = Duration::from_millis(100);

impl Threads {
    /// Jobs for the store in a folder, which `interrupt` stops.
    #[must_use]
    pub fn new(folder: PathBuf, interrupt: &'static AtomicBool) -> Threads {
        Threads { folder, interrupt }
    }
}

impl Launcher for Threads {
    fn launch(&self, job: &Job, wait: bool) -> Result<Launched, String> {
        loop {
            // What a job has shared with others (its program, its machine) is only read, so a panic leaves it whole.
            let performed =
                catch_unwind(AssertUnwindSafe(|| perform(job, &self.folder, false, Some(self.interrupt))))
                    .unwrap_or_else(|panic| Err(format!("panicked: {}", message(panic.as_ref()))))?;
            match performed {
                Performed::Stored { .. } => return Ok(Launched::Finished),
                Performed::Elsewhere if wait && !self.interrupt.load(Ordering::Relaxed) => {
                    std::thread::sleep(LOOK);
                }
                Performed::Elsewhere => return Ok(Launched::Elsewhere),
            }
        }
    }

    fn stop(&self) {
        self.interrupt.store(true, Ordering::Relaxed);
    }
}

/// What a panic said.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("of no known reason")
}

#[cfg(test)]
mod tests {
    use strata_workloads::Size;

    use super::*;
    use crate::store::Store;
    use crate::sweep::{self, Limits};
    use crate::variant::Variant;

    fn job(sets: &[&str]) -> Job {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        let name = format!("gtx480 {sets:?}");
        let variant = Variant { name, base: "gtx480".into(), system: None, sets, version: None };
        Job::timing("saxpy", Size::Test, &variant).unwrap()
    }

    fn limits(interrupt: &'static AtomicBool) -> Limits {
        Limits { jobs: 2, memory_bytes: 4 << 30, interrupt: Some(interrupt) }
    }

    #[test]
    fn a_sweep_runs_in_this_process_and_finds_what_processes_find() {
        static INTERRUPT: AtomicBool = AtomicBool::new(false);
        let folder = tempfile::tempdir().unwrap();
        let jobs = [job(&[]), job(&["l1d.ways=8"])];
        let (mut store, _) = Store::open(folder.path()).unwrap();
        let launcher = Threads::new(folder.path().to_owned(), &INTERRUPT);
        let swept = sweep::run(&jobs, &mut store, &launcher, limits(&INTERRUPT), &mut |_| ()).unwrap();
        assert_eq!((swept.failures, swept.left), (vec![], 0));
        for job in &jobs {
            let expected = crate::record::measure(job, None).unwrap();
            assert_eq!(store.get(&job.key()).unwrap().unwrap().rows, expected.rows);
        }
    }

    #[test]
    fn an_interrupted_sweep_leaves_no_failure_behind() {
        static INTERRUPT: AtomicBool = AtomicBool::new(true);
        let folder = tempfile::tempdir().unwrap();
        let job = job(&[]);
        let launcher = Threads::new(folder.path().to_owned(), &INTERRUPT);
        assert!(launcher.launch(&job, false).unwrap_err().contains("interrupted"));
        let (store, _) = Store::open(folder.path()).unwrap();
        assert!(store.is_empty());
    }
}
