//! What a run gives: numbers, their hash, and how fast they came.

mod energy;
mod host;
mod json;
mod summary;

use strata_engine::hash::Fnv;
use strata_engine::statistics::Group;
use strata_workloads::Comparison;

use crate::endurance::Lifetime;
use crate::energy::EnergyReport;
pub use crate::machine::MachineFacts;

pub use host::peak_memory_bytes;
pub use json::SCHEMA;

/// One kernel launch.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchResult {
    /// Kernel name.
    pub kernel: String,
    /// CTAs in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a CTA in x, y, z.
    pub block: [u32; 3],
    /// Core cycles from the launch to its last completion.
    pub cycles: u64,
    /// Warp instructions issued.
    pub warp_instructions: u64,
    /// Instructions times active lanes.
    pub thread_instructions: u64,
    /// Registers a thread.
    pub registers: u32,
    /// Shared memory a CTA in bytes.
    pub shared_bytes: u32,
    /// CTAs that fit an SM at once.
    pub ctas_per_sm: u32,
    /// What limits them.
    pub limiter: String,
    /// What the kernel printed.
    pub printed: Vec<String>,
    /// Its energy, when the machine has an `energy` section.
    pub energy: Option<EnergyReport>,
    /// What happened when, if that was asked for.
    pub samples: Vec<Sample>,
}

/// A span of a launch's time.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Its first cycle, counted from the launch.
    pub from: u64,
    /// The first cycle after it.
    pub to: u64,
    /// What was counted in it. Waits are counted when they end.
    pub counted: Vec<Group>,
    /// The energy that went into it, when the machine has an `energy` section.
    pub energy: Option<EnergyReport>,
}

/// Whether the results were right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every comparison passed, and the reference executor agreed where it was asked.
    Verified,
    /// Something differs: sentences.
    Wrong(Vec<String>),
    /// There was nothing to compare with.
    Unchecked,
}

/// How the simulation itself went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SimulationCost {
    /// Host seconds inside launches.
    pub seconds: f64,
    /// Worker threads.
    pub threads: usize,
    /// Cycles of a window.
    pub window: u64,
    /// Most memory the process held, in bytes; 0 where the host does not tell.
    pub peak_memory_bytes: u64,
}

/// A finished run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    /// Name of the workload or launch file.
    pub workload: String,
    /// Size, where the workload has several.
    pub size: Option<String>,
    /// Name of the machine.
    pub machine: String,
    /// Name of the system laid over it, if any.
    pub system: Option<String>,
    /// What a reader must know of it.
    pub facts: MachineFacts,
    /// `--set` overrides that were applied.
    pub overrides: Vec<String>,
    /// Whether the results were right.
    pub verdict: Verdict,
    /// Expected against found, buffer by buffer.
    pub comparisons: Vec<Comparison>,
    /// Launches in order.
    pub launches: Vec<LaunchResult>,
    /// Counters, summed over the parts of a kind and over the launches.
    pub statistics: Vec<Group>,
    /// Energy of all launches, when the machine has an `energy` section.
    pub energy: Option<EnergyReport>,
    /// How long arrays last whose cells wear out, if there are any.
    pub lifetimes: Vec<Lifetime>,
    /// How the simulation itself went.
    pub cost: SimulationCost,
}

impl RunResult {
    /// Core cycles of all launches.
    pub fn cycles(&self) -> u64 {
        self.launches.iter().map(|launch| launch.cycles).sum()
    }

    /// Warp instructions of all launches.
    pub fn warp_instructions(&self) -> u64 {
        self.launches.iter().map(|launch| launch.warp_instructions).sum()
    }

    /// Thread instructions of all launches.
    pub fn thread_instructions(&self) -> u64 {
        self.launches.iter().map(|launch| launch.thread_instructions).sum()
    }

    /// Thread instructions per core cycle.
    pub fn ipc(&self) -> f64 {
        ratio(self.thread_instructions(), self.cycles())
    }

    /// Warp instructions per host second.
    pub fn speed(&self) -> f64 {
        if self.cost.seconds > 0.0 { self.warp_instructions() as f64 / self.cost.seconds } else { 0.0 }
    }

    /// A counter by group and name.
    pub fn counter(&self, group: &str, name: &str) -> Option<u64> {
        self.statistics.iter().find(|candidate| candidate.name == group)?.get(name)
    }

    /// Hash of everything that must not depend on threads or windows: launches and counters.
    pub fn statistics_hash(&self) -> u64 {
        let mut hash = Fnv::default();
        for launch in &self.launches {
            hash.write(launch.kernel.as_bytes());
            for number in [launch.cycles, launch.warp_instructions, launch.thread_instructions] {
                hash.write(&number.to_le_bytes());
            }
        }
        for group in &self.statistics {
            group.hash_into(&mut hash);
        }
        hash.finish()
    }
}

/// `a / b`, 0 when there is nothing to divide by.
pub(crate) fn ratio(a: u64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}

/// Adds groups of the same name, counter by counter, keeping the order of first appearance.
pub fn merge_groups(into: &mut Vec<Group>, more: Vec<Group>) {
    for group in more {
        match into.iter_mut().find(|known| known.name == group.name) {
            Some(known) => known.merge(&group),
            None => into.push(group),
        }
    }
}
