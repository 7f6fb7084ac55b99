//! Results of a run: the numbers, their hash, and the cost of the simulation.

mod arrays;
mod began;
mod breakdown;
mod counted;
mod energy;
mod host;
mod json;
pub(crate) mod modes;
mod phase;
mod queue;
mod rows;
mod schedule;
mod summary;
mod totals;
mod verdict;

use strata_engine::statistics::Group;
use strata_workloads::{Comparison, Expected, Glance, Output};

use crate::critical_path::Paths;
use crate::endurance::Lifetime;
use crate::energy::{EnergyReport, StructureEnergy};
pub use crate::machine::MachineFacts;
use crate::position::{Began, Position};
use crate::region::Region;

pub(crate) use breakdown::Before;
pub use breakdown::{Breakdown, By, Key, charged_groups};
pub use counted::{Counted, ELSEWHERE};
pub use host::peak_memory_bytes;
pub(crate) use host::thread_time;
pub use json::SCHEMA;
pub use phase::PhaseResult;
pub(crate) use queue::queue_groups;
pub use schedule::{PartWork, RunSchedule};
pub use summary::STALLS;
pub use totals::Totals;
pub use verdict::{Checked, Verdict};

/// Results of one kernel launch.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchResult {
    /// Name of the kernel.
    pub kernel: String,
    /// Size of the grid in CTAs: x, y, z.
    pub grid: [u32; 3],
    /// Size of a CTA in threads: x, y, z.
    pub block: [u32; 3],
    /// Whether it ran on the reference executor, in no time, as launches before a region do.
    pub functional: bool,
    /// Core cycles from the launch, or from the end of the one before it, to its last completion.
    pub cycles: u64,
    /// Cycles of its latency that had passed when the one before it ended. A profiler, which runs launches one by one, counts
    /// them too.
    pub overlapped_cycles: u64,
    /// Instructions issued by warps.
    pub warp_instructions: u64,
    /// Instructions executed by threads.
    pub thread_instructions: u64,
    /// Registers that each thread takes.
    pub registers: u32,
    /// Whether registers of PTX that are not live together may share one of them.
    pub reuses_registers: bool,
    /// Shared memory per CTA in bytes.
    pub shared_bytes: u32,
    /// What shared memory takes of the storage that it shares with the L1D, in bytes; `None` if it shares none.
    pub carve_out: Option<u32>,
    /// CTAs that fit on an SM at once.
    pub ctas_per_sm: u32,
    /// The resource that limits the CTAs per SM.
    pub limiter: String,
    /// What the kernel printed.
    pub printed: Vec<String>,
    /// Energy of the launch, if the machine has an `energy` section.
    pub energy: Option<EnergyReport>,
}

/// A span of time within a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// First cycle of the span, counted from the launch.
    pub from: u64,
    /// First cycle after the span.
    pub to: u64,
    /// Counts within the span. A wait counts in the span where it ends.
    pub counted: Vec<Group>,
    /// Energy of the span, if the machine has an `energy` section.
    pub energy: Option<EnergyReport>,
}

impl Sample {
    /// The columns of a timeline: the launch and its span, each counter and each structure's energy.
    pub fn columns(&self) -> Vec<String> {
        let place = ["launch", "kernel", "from_cycle", "to_cycle"].map(str::to_owned);
        let counters = self.counted.iter().flat_map(|group| {
            group.definitions.iter().map(|definition| format!("{}.{}", group.name, definition.name))
        });
        let energies = self.structures().flat_map(|structure| {
            ["dynamic_pj", "leakage_pj"].map(|kind| format!("energy.{}.{kind}", structure.name))
        });
        place.into_iter().chain(counters).chain(energies).collect()
    }

    /// The values of the counters and energies, in the order of the columns.
    pub(crate) fn fields(&self) -> impl Iterator<Item = String> {
        let counters = self.counted.iter().flat_map(|group| group.values.iter().map(u64::to_string));
        let energies = self
            .structures()
            .flat_map(|structure| [structure.dynamic_pj(), structure.leakage_pj].map(|pj| pj.to_string()));
        counters.chain(energies)
    }

    fn structures(&self) -> impl Iterator<Item = &StructureEnergy> {
        self.energy.iter().flat_map(|energy| &energy.structures)
    }

    /// Whether the span has no cycle and no event.
    pub fn is_empty(&self) -> bool {
        let nothing = |group: &Group| group.values.iter().all(|value| *value == 0);
        self.from == self.to && self.counted.iter().all(nothing)
    }
}

/// What the simulation cost the host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SimulationCost {
    /// Host seconds spent in launches and host phases, those outside the region included.
    pub seconds: f64,
    /// Warp instructions simulated in that time.
    pub warp_instructions: u64,
    /// Cycles simulated in that time.
    pub cycles: u64,
    /// Launches before the region that ran on the reference executor, or before its checkpoint, not in that time.
    pub fast_forwarded: u64,
    /// Number of worker threads.
    pub threads: usize,
    /// Length of a window in cycles.
    pub window: u64,
    /// Peak memory of the process in bytes; 0 if the host does not report it.
    pub peak_memory_bytes: u64,
    /// What more threads would gain, if that was asked for.
    pub schedule: Option<RunSchedule>,
}

impl SimulationCost {
    /// Warp instructions simulated in a host second.
    pub fn speed(&self) -> f64 {
        self.a_second(self.warp_instructions)
    }

    /// Cycles simulated in a host second.
    pub fn cycles_a_second(&self) -> f64 {
        self.a_second(self.cycles)
    }

    fn a_second(&self, count: u64) -> f64 {
        if self.seconds > 0.0 { count as f64 / self.seconds } else { 0.0 }
    }
}

/// Where a result comes from: with these, it can be had again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// Version of the simulator, with a hash of its sources.
    pub simulator: String,
    /// The command line.
    pub command: Vec<String>,
    /// Hash of the program's PTX.
    pub ptx: String,
    /// Hash of the program's inputs.
    pub inputs: String,
    /// File of the machine, unless it is built in.
    pub machine_file: Option<String>,
    /// Hash of the machine's values, after systems and overrides.
    pub machine: String,
}

/// Results of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    /// Where they come from.
    pub provenance: Provenance,
    /// The launches that everything here is of.
    pub region: Region,
    /// Where they begin, if something came before them.
    pub began: Option<Began>,
    /// The place behind the last CTA, if the region was bounded by CTAs, cycles or instructions.
    pub ended: Option<Position>,
    /// Name of the workload or launch file.
    pub workload: String,
    /// Size of the workload, if it has several.
    pub size: Option<String>,
    /// Name of the machine.
    pub machine: String,
    /// Name of the systems laid over the machine, if any.
    pub system: Option<String>,
    /// Figures of the machine that are needed to read the results.
    pub facts: MachineFacts,
    /// The `--set` overrides that were applied.
    pub overrides: Vec<String>,
    /// How the run ended, and whether its results were right.
    pub verdict: Verdict,
    /// What the reference executor was compared with; `None` where that was not asked for.
    pub checked: Option<Checked>,
    /// Comparison of expected and actual contents, for each buffer.
    pub comparisons: Vec<Comparison>,
    /// What the program read back at its end, in its order.
    pub outputs: Vec<Output>,
    /// Results of the launches, in order.
    pub launches: Vec<LaunchResult>,
    /// Results of the host phases, in order; each says how many launches came before it.
    pub phases: Vec<PhaseResult>,
    /// Counters, summed over the parts of each kind and over all launches.
    pub statistics: Vec<Group>,
    /// The same counters by what was asked for.
    pub breakdowns: Vec<Breakdown>,
    /// Critical paths of launches, if they were asked for.
    pub critical_paths: Option<Paths>,
    /// Energy of all launches, if the machine has an `energy` section.
    pub energy: Option<EnergyReport>,
    /// Lifetimes of arrays whose cells wear out.
    pub lifetimes: Vec<Lifetime>,
    /// What the simulation cost the host.
    pub cost: SimulationCost,
}

impl RunResult {
    /// Core cycles of all launches and host phases: the execution time.
    pub fn cycles(&self) -> u64 {
        self.launch_cycles() + self.phase_cycles()
    }

    /// Core cycles of all launches.
    pub fn launch_cycles(&self) -> u64 {
        self.launches.iter().map(|launch| launch.cycles).sum()
    }

    /// Core cycles of all launches as a profiler counts them, which runs them one by one.
    pub fn serial_launch_cycles(&self) -> u64 {
        self.launches.iter().map(|launch| launch.cycles + launch.overlapped_cycles).sum()
    }

    /// Core cycles of all host phases.
    pub fn phase_cycles(&self) -> u64 {
        self.phases.iter().map(|phase| phase.cycles).sum()
    }

    /// What launches and host phases printed, in their order.
    pub fn printed(&self) -> impl Iterator<Item = &String> {
        let phases_after = |count: u64| {
            let phases = self.phases.iter().filter(move |phase| phase.after_launches == count);
            phases.flat_map(|phase| &phase.printed)
        };
        let rounds = (0..).zip(&self.launches);
        let launches = rounds.flat_map(move |(count, launch)| phases_after(count).chain(&launch.printed));
        launches.chain(phases_after(self.launches.len() as u64))
    }

    /// Warp instructions of all launches.
    pub fn warp_instructions(&self) -> u64 {
        self.launches.iter().map(|launch| launch.warp_instructions).sum()
    }

    /// Thread instructions of all launches.
    pub fn thread_instructions(&self) -> u64 {
        self.launches.iter().map(|launch| launch.thread_instructions).sum()
    }

    /// Thread instructions per core cycle of the launches.
    pub fn ipc(&self) -> f64 {
        ratio(self.thread_instructions(), self.launch_cycles())
    }

    /// Summaries of the outputs that nothing was expected of.
    pub fn glances(&self) -> impl Iterator<Item = Glance> {
        self.outputs.iter().filter(|output| output.expected == Expected::Anything).map(Output::glance)
    }

    /// The value of a counter, by group and name.
    pub fn counter(&self, group: &str, name: &str) -> Option<u64> {
        self.statistics.iter().find(|candidate| candidate.name == group)?.get(name)
    }

    /// Hash of everything that must not depend on threads or windows: launches, host phases and counters.
    pub fn statistics_hash(&self) -> u64 {
        self.hash_after(&Totals::of(&self.launches))
    }

    /// The hash of a run whose launches have these totals.
    fn hash_after(&self, totals: &Totals) -> u64 {
        let mut hash = totals.hash;
        for phase in &self.phases {
            hash.write(phase.kernel.as_bytes());
            for number in [phase.after_launches, phase.cycles, phase.instructions] {
                hash.write(&number.to_le_bytes());
            }
        }
        for group in &self.statistics {
            group.hash_into(&mut hash);
        }
        hash.finish()
    }
}

/// `a / b`; 0 if `b` is 0.
pub(crate) fn ratio(a: u64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}

/// Merges groups of the same name, counter by counter. Groups keep the order of their first appearance.
pub fn merge_groups(into: &mut Vec<Group>, more: Vec<Group>) {
    for group in more {
        match into.iter_mut().find(|known| known.name == group.name) {
            Some(known) => known.merge(&group),
            None => into.push(group),
        }
    }
}

/// What was counted since.
pub(crate) fn since(after: &[Group], before: &[Group]) -> Vec<Group> {
    after.iter().zip(before).map(|(after, before)| after.since(before)).collect()
}
