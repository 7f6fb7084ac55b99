//! Results of a host phase: a kernel's threads on the CPU cores.

use serde_json::{Value, json};
use strata_engine::statistics::Group;

use super::energy;
use super::rows::{Page, group};
use crate::energy::EnergyReport;

/// Results of one host phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhaseResult {
    /// Name of the kernel.
    pub kernel: String,
    /// Number of threads.
    pub threads: u32,
    /// Launches that came before it.
    pub after_launches: u64,
    /// Whether it ran functionally: the machine has no CPU cores, so it took no time.
    pub functional: bool,
    /// Core cycles of the GPU from its beginning until all threads have ended and what they wrote is visible; 0 if it ran
    /// functionally.
    pub cycles: u64,
    /// Instructions that the threads executed.
    pub instructions: u64,
    /// What the threads printed.
    pub printed: Vec<String>,
    /// What the machine's parts counted during the phase; empty if it ran functionally.
    pub counted: Vec<Group>,
    /// Energy of the whole machine during the phase, if it has an `energy` section.
    pub energy: Option<EnergyReport>,
}

impl PhaseResult {
    /// The phase as JSON.
    pub fn to_json(&self) -> Value {
        json!({
            "kernel": self.kernel,
            "threads": self.threads,
            "after_launches": self.after_launches,
            "functional": self.functional,
            "cycles": self.cycles,
            "instructions": self.instructions,
            "printed": self.printed,
            "energy": self.energy.as_ref().map(energy::launch),
        })
    }

    /// The phase as a row of the summary.
    pub(super) fn row(&self, page: &mut Page) {
        let PhaseResult { kernel, threads, functional, .. } = self;
        let instructions = group(self.instructions);
        let time = if *functional {
            "no CPU cores: run functionally, in no time".to_owned()
        } else {
            format!("{} cycles", group(self.cycles))
        };
        let unit = if *threads == 1 { "thread" } else { "threads" };
        page.row("host phase", &format!("{kernel}, {threads} {unit}: {time}; {instructions} instructions"));
    }
}
