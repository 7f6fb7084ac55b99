//! Measurements as JSON (`STRATA_RESULTS`): one line for each launch, then one for the process.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use strata_gpu::device::{Card, Entry};
use strata_gpu::endurance;
use strata_gpu::results::{
    Breakdown, Checked, LaunchResult, Provenance, RunResult, SimulationCost, Totals, Verdict, merge_groups,
    peak_memory_bytes,
};
use strata_gpu::{Progress, SIMULATOR};
use strata_ptx::reference::Summary;
use strata_workloads::Shape;

use crate::engine::{Engine, Launched};
use crate::output::{Output, program, sign};
use crate::settings::Settings;

/// How often a launch that runs is written about.
const PERIOD: Duration = Duration::from_millis(100);

/// The results of a process.
pub struct Results {
    output: Output,
    settings: Settings,
    /// Of the launches on the modelled GPU.
    totals: Totals,
    /// Of the launches on the reference executor.
    warp_instructions: u64,
    thread_instructions: u64,
    /// Launches, the one that was stopped among them.
    count: u64,
    /// Why the first launch that failed did.
    stopped: Option<String>,
    /// Totals of cards that no longer exist.
    kept: Kept,
    /// When the launch that runs was last written about.
    said: Option<Instant>,
}

#[derive(Clone, Default)]
struct Kept {
    statistics: Vec<strata_engine::statistics::Group>,
    seconds: f64,
    window: u64,
    ptx: String,
    inputs: String,
    checked: Option<Checked>,
    problems: Vec<String>,
    /// Only of cards that no longer exist, or at the end.
    breakdowns: Vec<Breakdown>,
}

impl Kept {
    /// Adds a card.
    fn add(&mut self, card: Option<&mut Card<Engine>>) {
        if let Some(Engine::Timed(engine)) = card.map(Card::backend_mut) {
            merge_groups(&mut self.statistics, engine.gpu.statistics());
            self.seconds += engine.gpu.seconds();
            self.window = engine.gpu.window();
            (self.ptx, self.inputs) = (engine.ptx(), engine.inputs());
            if let Some(check) = engine.check() {
                self.checked.get_or_insert_default().launches += check.launches();
                self.problems.extend(check.differences().iter().cloned());
            }
        }
    }

    /// Adds what a card's counters were broken down by.
    fn add_breakdowns(&mut self, card: Option<&mut Card<Engine>>) {
        let Some(Engine::Timed(engine)) = card.map(Card::backend_mut) else { return };
        let energy = engine.gpu.energy();
        let of_card = engine.gpu.breakdowns().iter().cloned();
        if self.breakdowns.is_empty() {
            self.breakdowns = of_card.map(|breakdown| breakdown.with_energy(energy.as_ref())).collect();
        } else {
            self.breakdowns.iter_mut().zip(of_card).for_each(|(all, more)| all.merge(more));
        }
    }
}

impl Results {
    /// Creates the files, if the settings name any.
    ///
    /// # Errors
    /// Why they cannot be created.
    pub fn new(settings: &Settings) -> Result<Option<Results>, String> {
        let Some(path) = &settings.results else { return Ok(None) };
        let mut results = Results {
            output: Output::new(path)?,
            settings: settings.clone(),
            totals: Totals::default(),
            warp_instructions: 0,
            thread_instructions: 0,
            count: 0,
            stopped: None,
            kept: Kept::default(),
            said: None,
        };
        if results.output.wants_whole() {
            let nothing = results.whole(None, &results.kept);
            results.output.whole(&nothing);
        }
        Ok(Some(results))
    }

    /// Number of the process.
    pub fn process(&self) -> u64 {
        self.output.number()
    }

    /// Writes that a launch runs now, or how far it is.
    pub fn runs(&mut self, entry: &Entry, progress: Option<&Progress>) {
        let is_early = self.said.is_some_and(|said| said.elapsed() < PERIOD);
        if progress.is_some() && is_early || !self.output.wants_whole() {
            return;
        }
        self.said = Some(Instant::now());
        let mut value = json!({
            "launch": self.count,
            "kernel": entry.kernel.name,
            "cycle": progress.map(|progress| progress.cycle),
            "ctas": progress.map(|progress| progress.ctas),
            "ctas_done": progress.map(|progress| progress.ctas_done),
        });
        sign(&mut value, self.output.number());
        self.output.now(Some(&value));
    }

    /// Writes the line of a launch that has ended.
    pub fn launched(&mut self, entry: &Entry, shape: Shape, launched: &Launched, card: &mut Card<Engine>) {
        let value = match launched {
            Launched::Timed(result) => self.timed(result),
            Launched::Functional(summary) => {
                self.warp_instructions += summary.counts.warp_instructions;
                self.thread_instructions += summary.counts.thread_instructions;
                functional(entry, shape, summary)
            }
        };
        self.line(value);
        self.so_far(card);
    }

    /// Notes that a launch failed: what is measured is then a part of what the client wanted. What the launch had done until
    /// then is the last line.
    pub fn failed(&mut self, reason: &str, card: &mut Card<Engine>) {
        if let Engine::Timed(engine) = card.backend()
            && let Some(partial) = engine.stopped()
        {
            let mut value = self.timed(&partial);
            value["stopped"] = json!(reason);
            self.line(value);
        }
        self.stopped.get_or_insert_with(|| reason.to_owned());
        self.so_far(card);
    }

    /// Notes that a launch did not begin.
    pub fn refused(&mut self) {
        self.output.now(None);
    }

    fn timed(&mut self, result: &LaunchResult) -> Value {
        self.totals.add(result);
        result.to_json()
    }

    fn line(&mut self, mut value: Value) {
        value["launch"] = json!(self.count);
        sign(&mut value, self.output.number());
        self.count += 1;
        self.output.launch(&value);
    }

    /// Writes the whole run as though it ended now: a client may end without a word (`_exit`, a signal).
    fn so_far(&mut self, card: &mut Card<Engine>) {
        if self.output.wants_whole() {
            let kept = Kept { breakdowns: Vec::new(), ..self.kept.clone() };
            let value = self.whole(Some(card), &kept);
            self.output.whole(&value);
            self.output.now(None);
        }
    }

    /// Keeps the totals of a card that is about to be dropped.
    pub fn keep(&mut self, mut card: Option<&mut Card<Engine>>) {
        self.kept.add_breakdowns(card.as_deref_mut());
        self.kept.add(card);
    }

    /// Writes the last line.
    pub fn finish(mut self, mut card: Option<&mut Card<Engine>>) {
        let mut kept = self.kept.clone();
        kept.add_breakdowns(card.as_deref_mut());
        let value = self.whole(card, &kept);
        self.output.whole(&value);
    }

    /// The line of the whole run, as it is now, with what is kept of earlier cards.
    fn whole(&self, mut card: Option<&mut Card<Engine>>, kept: &Kept) -> Value {
        let energy = match card.as_deref_mut().map(Card::backend_mut) {
            Some(Engine::Timed(engine)) => engine.gpu.energy(),
            _ => None,
        };
        let mut kept = kept.clone();
        kept.add(card);
        let machine = &self.settings.machine;
        let totals = &self.totals;
        let lifetimes = endurance::lifetimes(machine, &kept.statistics, totals.cycles).unwrap_or_default();
        let verdict = match &self.stopped {
            Some(reason) => Verdict::NotFinished { reason: reason.clone(), problems: kept.problems },
            None => Verdict::of_ended(kept.problems, kept.checked.is_some_and(Checked::any)),
        };
        let run = RunResult {
            provenance: Provenance {
                simulator: SIMULATOR.to_owned(),
                command: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
                machine_file: machine.path().map(str::to_owned),
                machine: machine.hash(),
                ptx: kept.ptx,
                inputs: kept.inputs,
            },
            region: Default::default(),
            began: None,
            ended: None,
            workload: program(),
            size: None,
            machine: machine.name().to_owned(),
            system: machine.system_name(),
            facts: machine.facts(),
            overrides: self.settings.sets.clone(),
            verdict,
            checked: kept.checked,
            comparisons: Vec::new(),
            outputs: Vec::new(),
            // Each launch has its own line.
            launches: Vec::new(),
            phases: Vec::new(),
            statistics: kept.statistics,
            breakdowns: kept.breakdowns,
            critical_paths: None,
            energy,
            lifetimes,
            cost: SimulationCost {
                seconds: kept.seconds,
                warp_instructions: totals.warp_instructions,
                cycles: totals.cycles,
                fast_forwarded: 0,
                threads: self.settings.threads,
                window: kept.window,
                peak_memory_bytes: peak_memory_bytes(),
                schedule: None,
            },
        };
        let mut value = run.totals_to_json(totals);
        if totals.launches != self.count {
            value["warp_instructions"] = json!(self.warp_instructions);
            value["thread_instructions"] = json!(self.thread_instructions);
            value["cycles"] = Value::Null;
            value["ipc"] = Value::Null;
        }
        value["launch_count"] = json!(self.count);
        sign(&mut value, self.output.number());
        value
    }
}

fn functional(entry: &Entry, shape: Shape, summary: &Summary) -> Value {
    json!({
        "kernel": entry.kernel.name,
        "grid": shape.grid,
        "block": shape.block,
        "cycles": null,
        "warp_instructions": summary.counts.warp_instructions,
        "thread_instructions": summary.counts.thread_instructions,
        "registers_per_thread": entry.kernel.registers,
        "shared_bytes_per_cta": entry.kernel.shared_bytes.saturating_add(shape.dynamic_shared),
        "printed": summary.printed.lines().collect::<Vec<_>>(),
    })
}
