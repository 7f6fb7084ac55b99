//! A run that can be made again, on its machine or on another.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use strata_gpu::checkpoint::Checkpoint;
use strata_gpu::gpu::Watch;
use strata_gpu::machine::Machine;
use strata_gpu::region::Region;
use strata_gpu::results::{By, Provenance, RunResult};
use strata_gpu::{RunError, RunRequest, run};
use strata_workloads::Size;

use super::side::Side;
use crate::SIMULATOR;
use crate::job::Job;
use crate::perform::{Performed, perform};
use crate::program::Program;
use crate::record::Record;
use crate::resolved::Resolved;
use crate::store;
use crate::variant::Variant;

/// A run that can be made again.
#[derive(Clone, Debug)]
pub struct Repeat {
    /// What runs, as [`Program::find`] finds it.
    pub program: String,
    /// Size of the workload; a launch file has one size only.
    pub size: Size,
    /// The machine's values.
    pub values: Resolved,
    /// The machine for readers: its name, systems and overrides.
    pub about: Variant,
    /// The launches that are measured.
    pub region: Region,
    /// The checkpoint that it begins with.
    pub start: Option<Arc<Checkpoint>>,
    /// Cycles after which the run is given up.
    pub max_cycles: Option<u64>,
}

/// How runs are made.
#[derive(Clone, Copy, Debug)]
pub struct How<'a> {
    /// Worker threads of each run.
    pub threads: usize,
    /// Runs at once.
    pub at_once: usize,
    /// The folder of the store that whole runs come from and go to.
    pub store: Option<&'a Path>,
    /// Stops the runs from outside.
    pub interrupt: &'static AtomicBool,
}

impl Repeat {
    /// The run of a record.
    ///
    /// # Errors
    /// Why it cannot be made again.
    pub fn of(name: &str, record: &Record) -> Result<Repeat, String> {
        let job = &record.job;
        if job.executed {
            return Err(format!("{name}: found a CUDA program, which only `strata exec` runs"));
        }
        let values = job.machine.clone().ok_or_else(|| format!("{name}: found a profile, expected a run"))?;
        let program = match &job.launch_file {
            Some(path) => path.to_string_lossy().into_owned(),
            None => job.workload.clone(),
        };
        let about = Variant {
            name: job.variant.clone(),
            base: job.variant.clone(),
            system: job.system.clone(),
            sets: job.overrides.clone(),
            version: None,
        };
        let region = Region::default();
        Ok(Repeat { program, size: job.size, values, about, region, start: None, max_cycles: None })
    }

    /// Checks that the run would be the one that was measured: the same simulator and the same program.
    ///
    /// # Errors
    /// What is another, what was found and what was expected.
    pub fn check(&self, side: &Side) -> Result<(), String> {
        let identity = Program::find(&self.program)?.identity(self.size)?;
        let machine = match &side.machine_hash {
            Some(hash) => (hash.clone(), self.machine()?.hash()),
            None => (String::new(), String::new()),
        };
        for (what, measured, now) in [
            ("simulator", side.simulator.clone(), SIMULATOR.to_owned()),
            ("PTX", side.ptx.clone(), identity.ptx),
            ("inputs", side.inputs.clone(), identity.inputs),
            ("machine", machine.0, machine.1),
        ] {
            if measured != now {
                return Err(format!(
                    "{}: {what}: found `{measured}`, expected `{now}`, to run it again",
                    side.name
                ));
            }
        }
        Ok(())
    }

    /// Builds the machine.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn machine(&self) -> Result<Machine, String> {
        let text = toml::to_string(&*self.values).expect("a table is TOML");
        Machine::parse(Path::new(&self.about.name), &text, &[]).map_err(|error| error.to_string())
    }

    /// This run on a machine of other values.
    #[must_use]
    pub fn on(&self, name: String, values: Resolved) -> Repeat {
        Repeat { values, about: Variant { name, ..self.about.clone() }, ..self.clone() }
    }

    /// Makes the run, or takes it from the store, and says what was measured.
    ///
    /// # Errors
    /// Why there are no numbers.
    pub fn side(&self, name: &str, how: How<'_>) -> Result<Side, String> {
        if let Some(folder) = how.store.filter(|_| self.is_whole()) {
            return Side::from_record(name, &self.record(folder, how)?);
        }
        let machine = self.machine()?;
        let result = self.run(&machine, &[By::Launch, By::Sm], how, None)?;
        let mut side = Side::from_json(name, &result.to_json())?;
        side.system.clone_from(&self.about.system);
        side.overrides.clone_from(&self.about.sets);
        side.on(&machine);
        Ok(side)
    }

    /// Cycles of the run.
    ///
    /// # Errors
    /// As [`Repeat::side`].
    pub fn cycles(&self, how: How<'_>) -> Result<u64, String> {
        self.side(&self.about.name, how).map(|side| side.cycles)
    }

    /// Whether all of the program runs, as the jobs of a store do.
    fn is_whole(&self) -> bool {
        self.region.is_everything() && self.start.is_none() && self.max_cycles.is_none()
    }

    fn record(&self, folder: &Path, how: How<'_>) -> Result<Record, String> {
        let job = Job::profile(&self.program, self.size)?.on(&self.about, self.values.clone());
        match perform(&job, folder, true, Some(how.interrupt))? {
            Performed::Stored { .. } => {}
            Performed::Elsewhere => return Err(format!("{}: another process runs it", self.about.name)),
        }
        let found = store::finished(folder, &job.key())?;
        found.map(|(_, record)| record).ok_or_else(|| format!("{}: {} is gone", folder.display(), job.key()))
    }

    /// Makes the run.
    ///
    /// # Errors
    /// Why there is no result. A run that reached its limit of cycles has one.
    pub(super) fn run(
        &self,
        machine: &Machine,
        by: &[By],
        how: How<'_>,
        watch: Option<Watch>,
    ) -> Result<RunResult, String> {
        let program = Program::find(&self.program)?;
        let has_sizes = program.launch_file().is_none();
        let identity = program.identity(self.size).unwrap_or_default();
        let program = program.at(self.size)?;
        let (mut progress, mut so_far) = (|_: &_| (), |_: &mut dyn FnMut() -> RunResult| ());
        let outcome = run(RunRequest {
            size: has_sizes.then(|| self.size.name().to_owned()),
            overrides: &self.about.sets,
            threads: how.threads,
            saves_threads: true,
            max_cycles: self.max_cycles,
            interrupt: Some(how.interrupt),
            region: self.region.clone(),
            start: self.start.clone(),
            provenance: Provenance {
                simulator: SIMULATOR.to_owned(),
                ptx: identity.ptx,
                inputs: identity.inputs,
                ..Provenance::default()
            },
            by,
            watch,
            ..RunRequest::plain(program.as_ref(), machine, &mut progress, &mut so_far)
        });
        match outcome {
            Ok(result) => Ok(result),
            Err(RunError::Stopped(result, _))
                if self.max_cycles.is_some() && !how.interrupt.load(Ordering::Relaxed) =>
            {
                Ok(*result)
            }
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Does something with each of some items, several at once, and gives the results in the items' order.
///
/// # Errors
/// That of the first item that has one.
pub(super) fn each<Item: Sync, Done: Send>(
    items: &[Item],
    at_once: usize,
    work: impl Fn(&Item) -> Result<Done, String> + Sync,
) -> Result<Vec<Done>, String> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let worker = || {
        let mut done = Vec::new();
        while !failed.load(Ordering::Relaxed) {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(place) else { break };
            let result = work(item);
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            done.push((place, result));
        }
        done
    };
    let mut all = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..at_once.clamp(1, items.len().max(1))).map(|_| scope.spawn(worker)).collect();
        let done = threads.into_iter().map(|thread| thread.join().expect("no worker panics"));
        done.flatten().collect::<Vec<_>>()
    });
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, result)| result).collect()
}
