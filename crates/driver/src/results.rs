//! Measurements as JSON (`STRATA_RESULTS`): one line for each launch, then one for the process.

use std::fs::File;
use std::io::Write;

use serde_json::{Value, json};
use strata_gpu::SIMULATOR;
use strata_gpu::device::{Card, Entry};
use strata_gpu::endurance;
use strata_gpu::results::{
    LaunchResult, Provenance, RunResult, SimulationCost, Verdict, merge_groups, peak_memory_bytes,
};
use strata_ptx::reference::Summary;
use strata_workloads::Shape;

use crate::engine::{Engine, Launched};
use crate::log;
use crate::settings::Settings;

/// The results file, and what its last line needs.
pub struct Results {
    file: File,
    settings: Settings,
    launches: Vec<LaunchResult>,
    warp_instructions: u64,
    thread_instructions: u64,
    count: u64,
    /// Why the first launch that failed did.
    stopped: Option<String>,
    /// Totals of cards that no longer exist.
    kept: Kept,
}

#[derive(Default)]
struct Kept {
    statistics: Vec<strata_engine::statistics::Group>,
    seconds: f64,
    window: u64,
    ptx: String,
    inputs: String,
}

impl Results {
    /// Creates the file, if the settings name one.
    ///
    /// # Errors
    /// Why the file cannot be created.
    pub fn new(settings: &Settings) -> Result<Option<Results>, String> {
        let Some(path) = &settings.results else { return Ok(None) };
        let file = File::create(path).map_err(|error| {
            format!("STRATA_RESULTS: found `{}`, expected a file to write: {error}", path.display())
        })?;
        Ok(Some(Results {
            file,
            settings: settings.clone(),
            launches: Vec::new(),
            warp_instructions: 0,
            thread_instructions: 0,
            count: 0,
            stopped: None,
            kept: Kept::default(),
        }))
    }

    /// Writes the line of a launch.
    pub fn launched(&mut self, entry: &Entry, shape: Shape, launched: &Launched) {
        let mut value = match launched {
            Launched::Timed(result) => {
                // Printed text is in the launch's line; the totals do not need it.
                self.launches.push(LaunchResult { printed: Vec::new(), ..(**result).clone() });
                result.to_json()
            }
            Launched::Functional(summary) => {
                self.warp_instructions += summary.counts.warp_instructions;
                self.thread_instructions += summary.counts.thread_instructions;
                functional(entry, shape, summary)
            }
        };
        value["launch"] = json!(self.count);
        self.count += 1;
        self.line(&value);
    }

    /// Notes that a launch failed: what is measured is then a part of what the client wanted.
    pub fn failed(&mut self, reason: String) {
        self.stopped.get_or_insert(reason);
    }

    /// Keeps the totals of a card that is about to be dropped.
    pub fn keep(&mut self, card: Option<&mut Card<Engine>>) {
        if let Some(Engine::Timed(engine)) = card.map(Card::backend_mut) {
            merge_groups(&mut self.kept.statistics, engine.gpu.statistics());
            self.kept.seconds += engine.gpu.seconds();
            self.kept.window = engine.gpu.window();
            (self.kept.ptx, self.kept.inputs) = (engine.ptx(), engine.inputs());
        }
    }

    /// Writes the last line.
    pub fn finish(mut self, card: Option<&mut Card<Engine>>) {
        let energy = match card {
            Some(card) => {
                let energy = match card.backend_mut() {
                    Engine::Timed(engine) => engine.gpu.energy(),
                    Engine::Functional(_) => None,
                };
                self.keep(Some(card));
                energy
            }
            None => None,
        };
        let machine = &self.settings.machine;
        let cycles = self.launches.iter().map(|launch| launch.cycles).sum();
        let warp_instructions = self.launches.iter().map(|launch| launch.warp_instructions).sum();
        let lifetimes = endurance::lifetimes(machine, &self.kept.statistics, cycles).unwrap_or_default();
        let timed = self.launches.len() as u64 == self.count;
        let run = RunResult {
            provenance: Provenance {
                simulator: SIMULATOR.to_owned(),
                command: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
                machine_file: machine.path().map(str::to_owned),
                machine: machine.hash(),
                ptx: std::mem::take(&mut self.kept.ptx),
                inputs: std::mem::take(&mut self.kept.inputs),
            },
            region: Default::default(),
            workload: program(),
            size: None,
            machine: machine.name().to_owned(),
            system: machine.system_name(),
            facts: machine.facts(),
            overrides: self.settings.sets.clone(),
            verdict: self.stopped.take().map_or(Verdict::Unchecked, Verdict::not_finished),
            checked: None,
            comparisons: Vec::new(),
            outputs: Vec::new(),
            launches: std::mem::take(&mut self.launches),
            phases: Vec::new(),
            statistics: std::mem::take(&mut self.kept.statistics),
            energy,
            lifetimes,
            cost: SimulationCost {
                seconds: self.kept.seconds,
                warp_instructions,
                cycles,
                fast_forwarded: 0,
                threads: self.settings.threads,
                window: self.kept.window,
                peak_memory_bytes: peak_memory_bytes(),
                schedule: None,
            },
        };
        let mut value = run.to_json();
        if !timed {
            value["warp_instructions"] = json!(self.warp_instructions);
            value["thread_instructions"] = json!(self.thread_instructions);
            value["cycles"] = Value::Null;
            value["ipc"] = Value::Null;
        }
        // Each launch has its own line.
        value["launches"] = Value::Null;
        value["launch_count"] = json!(self.count);
        self.line(&value);
    }

    fn line(&mut self, value: &Value) {
        if let Err(error) = writeln!(self.file, "{value}") {
            log::once(format!("STRATA_RESULTS: {error}"));
        }
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

/// Name of the running program.
fn program() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
