//! Runs the variants of a machine, several at a time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use strata_gpu::machine::Machine;
use strata_gpu::results::{RunResult, Verdict};
use strata_gpu::{RunRequest, run as run_on_gpu};
use strata_workloads::Size;

use super::parts::Part;
use super::roofline::Roofline;
use super::variants::{Variant, variants};
use crate::program::Program;

/// What to run.
#[derive(Debug)]
pub struct Request<'a> {
    /// A workload's name, or the path of a launch file.
    pub program: &'a str,
    /// Size of a workload.
    pub size: Size,
    /// The machine as it is.
    pub machine: &'a Machine,
    /// The parts to make ideal, in the order of [`Part::ALL`].
    pub parts: &'a [Part],
    /// Runs at a time, at least 1. It changes no number.
    pub threads: usize,
    /// Whether all of memory is compared with the reference executor.
    pub check: bool,
    /// Set from outside to stop the runs.
    pub interrupt: Option<&'static AtomicBool>,
}

/// What limits a program.
#[derive(Debug)]
pub struct Limits {
    /// The run on the machine as it is.
    pub run: RunResult,
    /// How near it came to what the machine's parts can do.
    pub roofline: Roofline,
    /// The machine as it is, then with each part ideal alone, then with them ideal one after the other.
    pub outcomes: Vec<Outcome>,
}

/// What became of a variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The parts that were ideal.
    pub parts: Vec<Part>,
    /// What it took, or why there is no such run.
    pub ran: Result<Ran, String>,
}

/// A run that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Core cycles.
    pub cycles: u64,
    /// What its results were compared with, and how that came out.
    pub verdict: Verdict,
    /// Where an ideal L1D could not hide what is below: accesses whose bytes came later than those of a hit.
    pub late: u64,
    /// Where MSHRs were to be unlimited: refusals, and cycles of waits for one, that were left.
    pub left: u64,
}

impl Limits {
    /// How many times as fast an outcome is as the machine as it is; `None` where it did not run.
    #[must_use]
    pub fn speedup(&self, outcome: &Outcome) -> Option<f64> {
        let ran = outcome.ran.as_ref().ok()?;
        (ran.cycles > 0).then(|| self.run.cycles() as f64 / ran.cycles as f64)
    }

    /// Whether the results of each run were right, as far as they were compared with anything.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.outcomes
            .iter()
            .filter_map(|outcome| outcome.ran.as_ref().ok())
            .all(|ran| ran.verdict.problems().is_empty())
    }
}

/// Runs a program on a machine as it is and on its variants. `ended` hears how many of how many have ended.
///
/// # Errors
/// A program that cannot be loaded, or a run on the machine as it is that is refused or does not finish.
pub fn run(request: &Request<'_>, ended: &(dyn Fn(usize, usize) + Sync)) -> Result<Limits, String> {
    // What is wrong with the program is said once.
    Program::find(request.program)?.at(request.size)?;
    let variants = variants(request.machine, request.parts);
    let slots: Vec<Mutex<Option<Result<RunResult, String>>>> =
        variants.iter().map(|_| Mutex::new(None)).collect();
    let (next, count) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(variant) = variants.get(place) else { return };
            let ran =
                variant.machine.as_ref().map_err(Clone::clone).and_then(|machine| one(request, machine));
            *slots[place].lock().unwrap_or_else(PoisonError::into_inner) = Some(ran);
            ended(count.fetch_add(1, Ordering::Relaxed) + 1, variants.len());
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..request.threads.min(variants.len()) {
            scope.spawn(work);
        }
        work();
    });
    let results = slots.into_iter().map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner));
    let mut results = results.map(|ran| ran.unwrap_or_else(|| Err("it was not run".into())));
    let run = results.next().unwrap_or_else(|| Err("it was not run".into()))?;
    let outcome = |(variant, ran): (&Variant, Result<&RunResult, String>)| Outcome {
        parts: variant.parts.clone(),
        ran: ran.map(|ran| of(variant, ran)),
    };
    let mut outcomes = vec![outcome((&variants[0], Ok(&run)))];
    for (variant, ran) in variants[1..].iter().zip(results) {
        outcomes.push(outcome((variant, ran.as_ref().map_err(Clone::clone))));
    }
    let roofline = Roofline::of(&run, request.machine);
    Ok(Limits { run, roofline, outcomes })
}

fn one(request: &Request<'_>, machine: &Machine) -> Result<RunResult, String> {
    let program = Program::find(request.program)?;
    let size = program.launch_file().is_none().then(|| request.size.name().to_owned());
    let program = program.at(request.size)?;
    let result = run_on_gpu(RunRequest {
        check: request.check,
        interrupt: request.interrupt,
        size,
        ..RunRequest::plain(program.as_ref(), machine, &mut |_| (), &mut |_| ())
    });
    result.map_err(|error| error.to_string())
}

fn of(variant: &Variant, run: &RunResult) -> Ran {
    let count = |counters: &[(&str, &str)]| -> u64 {
        counters.iter().filter_map(|(group, name)| run.counter(group, name)).sum()
    };
    let mshrs =
        [("l1d", "refused_mshr"), ("l1d", "refused_merge"), ("l2", "stalled_mshr"), ("l2", "stalled_merge")];
    Ran {
        cycles: run.cycles(),
        verdict: run.verdict.clone(),
        late: count(&[("ideal_l1d", "late")]),
        left: if variant.parts.contains(&Part::Mshrs) { count(&mshrs) } else { 0 },
    }
}
