//! An assembled GPU: device memory between launches, and launches and host phases one after another.

mod copies;
mod counters;
mod launch;
mod livelock;
mod outcome;
mod part;
mod phase;
mod queue;
mod rows;
mod stopped;
mod watch;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use strata_cpu::Core;
use strata_engine::{Cycle, Domain, RunOptions, Simulation, empty_windows};
use strata_memory::ParameterError;
use strata_memory::address_map::AddressMap;
use strata_memory::doors::{
    Direction, L1d, L1dDesign, L1dSite, LanePath, LanePathDesign, LanePathSite, Llc, LlcDesign, LlcSite,
    Network, NetworkDesign, NetworkSite, RegisterFile, RegisterFileDesign, RegisterFileSite, Scratchpad,
    ScratchpadDesign, ScratchpadSite,
};
use strata_memory::partition::PartitionIsland;
use strata_sm::Multiprocessor;
use strata_sm::dispatch::Dispatcher;
use strata_sm::launch::Launch;
use strata_sm::print::Print;

use self::queue::LaunchQueue;
use self::rows::RowCount;
use crate::assemble::{Islands, assemble};
use crate::machine::Machine;
pub use crate::makers::{Maker, Makers, Way};
use crate::part::Part;
use crate::queues::Queues;
use crate::results::{PartWork, RunSchedule, thread_time};

/// Options of a GPU's runs.
#[derive(Clone, Copy, Debug)]
pub struct GpuOptions {
    /// Number of worker threads, at least 1.
    pub threads: usize,
    /// Whether fewer threads run while more would not be faster.
    pub saves_threads: bool,
    /// Length of a window in cycles; by default, the machine's longest.
    pub window: Option<u64>,
    /// The cycle at which a run is given up.
    pub limit: Cycle,
    /// Set from outside to stop a run.
    pub interrupt: Option<&'static AtomicBool>,
}

pub use outcome::{Finished, Observed, Stopped};
pub use part::LaunchPart;
pub use phase::PhaseEnd;
pub use watch::{Seen, Watch};

/// A custom part, or why it cannot be built.
type Built<Part> = Result<Box<Part>, ParameterError>;

/// How often to look whether a launch is over, in cycles, where the machine never comes to rest.
const LOOK_CYCLES: u64 = 1000;

/// An assembled machine, ready to run kernels.
pub struct Gpu {
    simulation: Simulation<Part>,
    map: AddressMap,
    islands: Islands,
    /// The SMs that run programs, the first ones.
    compute_sms: Range<usize>,
    /// The SMs in cache mode, which follow. The rest have no power.
    helper_sms: Range<usize>,
    /// Whether SMs in cache mode never come to rest.
    polls: bool,
    /// Islands whose L1Ds have bytes that memory lacks, or keep lines from launch to launch: host copies ask them.
    kept: Range<usize>,
    queue: LaunchQueue,
    patience: u64,
    window: u64,
    options: GpuOptions,
    sample_cycles: Option<u64>,
    /// Cycles without an effect after which warps are watched for a livelock.
    livelock_patience: u64,
    ctas_done: Arc<AtomicU64>,
    /// Who looks at the parts.
    watch: Option<Watch>,
    /// Whether SMs remember the steps of the next launch.
    follows: bool,
    /// Counts row commands of DRAM, where a trace is asked for.
    rows: Option<RowCount>,
    /// How full queues are during launches, where that is asked for.
    queues: Option<Queues>,
}

impl Gpu {
    /// Builds a machine.
    ///
    /// # Errors
    /// The section and field that cannot be built.
    pub fn new(machine: &Machine, options: GpuOptions) -> Result<Gpu, String> {
        Gpu::with(machine, options, Makers::default())
    }

    /// Builds a machine with custom register files.
    ///
    /// # Errors
    /// As [`Gpu::new`].
    pub fn with_register_file<'a>(
        machine: &Machine,
        options: GpuOptions,
        make: impl FnMut(&dyn RegisterFileDesign, RegisterFileSite) -> Built<dyn RegisterFile> + 'a,
    ) -> Result<Gpu, String> {
        Gpu::with(machine, options, Makers { register_file: Box::new(make), ..Makers::default() })
    }

    /// Builds a machine with custom L1Ds.
    ///
    /// # Errors
    /// As [`Gpu::new`].
    pub fn with_l1d<'a>(
        machine: &Machine,
        options: GpuOptions,
        make: impl FnMut(&dyn L1dDesign, L1dSite) -> Built<dyn L1d> + 'a,
    ) -> Result<Gpu, String> {
        Gpu::with(machine, options, Makers { l1d: Box::new(make), ..Makers::default() })
    }

    /// Builds a machine with a custom network.
    ///
    /// # Errors
    /// As [`Gpu::new`].
    pub fn with_network<'a>(
        machine: &Machine,
        options: GpuOptions,
        make: impl FnMut(&dyn NetworkDesign, NetworkSite) -> Built<dyn Network> + 'a,
    ) -> Result<Gpu, String> {
        Gpu::with(machine, options, Makers { network: Box::new(make), ..Makers::default() })
    }

    /// Builds a machine with custom slices of the last-level cache.
    ///
    /// # Errors
    /// As [`Gpu::new`].
    pub fn with_llc<'a>(
        machine: &Machine,
        options: GpuOptions,
        make: impl FnMut(&dyn LlcDesign, LlcSite) -> Built<dyn Llc> + 'a,
    ) -> Result<Gpu, String> {
        Gpu::with(machine, options, Makers { llc: Box::new(make), ..Makers::default() })
    }

    /// Builds a machine with a custom lane path, or with none.
    ///
    /// # Errors
    /// As [`Gpu::new`].
    pub fn with_lane_path<'a>(
        machine: &Machine,
        options: GpuOptions,
        make: impl FnMut(&dyn LanePathDesign, LanePathSite) -> Result<Option<Box<dyn LanePath>>, ParameterError>
        + 'a,
    ) -> Result<Gpu, String> {
        Gpu::with(machine, options, Makers { lane_path: Box::new(make), ..Makers::default() })
    }

    /// Builds a machine with a custom part behind the banks of shared memory, or with none.
    ///
    /// # Errors
    /// As [`Gpu::new`].
    pub fn with_scratchpad<'a>(
        machine: &Machine,
        options: GpuOptions,
        make: impl FnMut(
            &dyn ScratchpadDesign,
            ScratchpadSite,
        ) -> Result<Option<Box<dyn Scratchpad>>, ParameterError>
        + 'a,
    ) -> Result<Gpu, String> {
        Gpu::with(machine, options, Makers { scratchpad: Box::new(make), ..Makers::default() })
    }

    /// Builds a machine whose parts behind the doors come from `make`.
    ///
    /// # Errors
    /// As [`Gpu::new`].
    pub fn with(machine: &Machine, options: GpuOptions, mut make: Makers<'_>) -> Result<Gpu, String> {
        let file = machine.file();
        let longest = file.window();
        let window = options.window.unwrap_or(longest);
        if !(1..=longest).contains(&window) {
            return Err(format!(
                "window: found {window}, expected 1 to {longest}, the smallest link latency"
            ));
        }
        let assembly = assemble(file, &mut make)?;
        let sets_in_l1 =
            file.doors.llc.helper_kernel().is_some_and(|kernel| kernel.runs && kernel.l1_warps > 0);
        let kept = match () {
            () if file.has_owners() => 0..assembly.islands.cores.end,
            () if sets_in_l1 => file.gpu.helper_sms(),
            () => 0..0,
        };
        let mut gpu = Gpu {
            simulation: Simulation::new(assembly.parts),
            map: assembly.map,
            islands: assembly.islands,
            compute_sms: file.gpu.compute_sms(),
            helper_sms: file.gpu.helper_sms(),
            polls: file.polls(),
            kept,
            queue: LaunchQueue::new(file.gpu.launch_latency(), file.gpu.launch_interval()),
            patience: *file.gpu.watchdog_cycles,
            window,
            options,
            sample_cycles: None,
            livelock_patience: livelock::PATIENCE,
            ctas_done: Arc::new(AtomicU64::new(0)),
            watch: None,
            follows: false,
            queues: None,
            rows: None,
        };
        let bytes = *file.gpu.memory_mib << 20;
        for channel in 0..gpu.channels() {
            gpu.partition(channel).ensure(bytes);
        }
        let ctas_done = gpu.ctas_done.clone();
        gpu.dispatcher().report_to(ctas_done.clone());
        for index in gpu.islands.cores.clone() {
            gpu.core(index).island_mut().report_to(ctas_done.clone());
        }
        Ok(gpu)
    }

    /// Simulates every cycle from now on, without skipping idle ones. Slower, with the same results; for
    /// tests.
    pub fn tick_every_cycle(&mut self) {
        self.simulation.tick_every_cycle();
    }

    /// Samples the counters of later launches every `cycles` cycles, at least 1. Results do not change.
    pub fn sample_every(&mut self, cycles: u64) {
        self.sample_cycles = Some(cycles.max(1));
    }

    /// Whether launches sample their counters.
    pub fn is_sampled(&self) -> bool {
        self.sample_cycles.is_some()
    }

    /// Measures from now on what each island costs the host, on one thread.
    pub fn measure_schedule(&mut self) {
        let islands = self.simulation.islands_mut().count();
        self.simulation.measure_schedule(thread_time, empty_windows::measure(islands));
    }

    /// What was measured, and what more threads would gain.
    pub fn schedule(&mut self) -> Option<RunSchedule> {
        let schedule = self.simulation.schedule()?;
        let mut parts: Vec<PartWork> = Vec::new();
        // Of the networks, that of requests comes first.
        let mut directions = [Direction::Request, Direction::Reply, Direction::Owner].into_iter();
        for (part, work) in self.simulation.islands_mut().zip(&schedule.islands) {
            let kind = match part {
                Part::Network(_) => directions.next().expect("a machine has at most three networks").group(),
                _ => part.kind(),
            };
            match parts.last_mut().filter(|last| last.kind == kind) {
                Some(last) => (last.islands, last.work) = (last.islands + 1, last.work + *work),
                None => parts.push(PartWork { kind, islands: 1, work: *work }),
            }
        }
        Some(RunSchedule { schedule, parts })
    }

    /// Length of a window in cycles.
    pub fn window(&self) -> u64 {
        self.window
    }

    /// The present core cycle.
    pub fn now(&self) -> Cycle {
        self.simulation.now()
    }

    /// Gives the SMs in cache mode their kernel, as many CTAs each as its grid has for them. It begins with the first launch, and lives across launches:
    /// they end while it waits for requests.
    ///
    /// # Errors
    /// What limits the kernel, if it does not fit an SM.
    pub fn reside(&mut self, launch: &Arc<Launch>) -> Result<(), String> {
        let now = self.simulation.now();
        let per_sm = launch.ctas() as usize / self.helper_sms.len().max(1);
        for index in self.helper_sms.clone() {
            let occupancy = self.sm(index).prepare(launch.clone(), now);
            let ctas = occupancy.ctas as usize;
            if ctas < per_sm {
                let (name, limiter) = (&launch.kernel.name, occupancy.limiter);
                return Err(format!(
                    "{name}: {ctas} CTAs fit an SM in cache mode, expected {per_sm}: limited by {limiter}"
                ));
            }
        }
        let sms = self.helper_sms.clone();
        self.dispatcher().begin_resident(sms, per_sm as u32);
        Ok(())
    }

    /// The host waits for all launches so far, so the next one overlaps with none of them.
    pub fn synchronize(&mut self) {
        self.queue.drain();
    }

    fn run_options(&self) -> RunOptions {
        RunOptions {
            threads: self.options.threads,
            saves_threads: self.options.saves_threads,
            window: self.window,
            patience_cycles: self.patience,
            limit: self.options.limit,
            interrupt: self.options.interrupt,
        }
    }

    /// What the kernel has printed since the last call, ordered by CTA and warp.
    fn take_prints(&mut self) -> Vec<Print> {
        let mut prints = Vec::new();
        for index in self.islands.sms.clone() {
            prints.extend(self.sm(index).take_prints());
        }
        prints.sort_by_key(|print| (print.cta, print.warp));
        prints
    }

    /// Completes the statistics of all SMs with power, of the memory and of the CPU cores for all cycles before `end`.
    fn settle(&mut self, end: Cycle) {
        for index in 0..self.helper_sms.end {
            self.sm(index).settle(end);
        }
        self.settle_memory(end);
    }

    /// Completes the statistics of the memory and of the CPU cores for all cycles before `end`.
    fn settle_memory(&mut self, end: Cycle) {
        self.simulation.islands_mut().for_each(|part| part.settle_memory(end));
    }

    /// Cycles until the runs of this GPU are given up; `None` if they never are.
    pub fn cycles_left(&self) -> Option<u64> {
        (self.options.limit != Cycle::NEVER).then(|| self.options.limit.since(self.simulation.now()))
    }

    /// What stops the runs of this GPU from outside.
    pub fn interrupt(&self) -> Option<&'static AtomicBool> {
        self.options.interrupt
    }

    fn sm(&mut self, index: usize) -> &mut dyn Multiprocessor {
        match self.simulation.island_mut(index) {
            Part::Sm(sm) => &mut **sm,
            _ => unreachable!("the island is an SM"),
        }
    }

    fn core(&mut self, index: usize) -> &mut Domain<Core> {
        match self.simulation.island_mut(index) {
            Part::Cpu(core) => core,
            _ => unreachable!("the island is a CPU core"),
        }
    }

    fn channels(&self) -> usize {
        self.islands.partitions.len()
    }

    fn partition(&mut self, channel: usize) -> &mut PartitionIsland {
        match self.simulation.island_mut(self.islands.partitions.start + channel) {
            Part::Partition(partition) => partition,
            Part::PartitionDomain(domain) => domain.island_mut(),
            _ => unreachable!("the island is a partition"),
        }
    }

    fn dispatcher(&mut self) -> &mut Dispatcher {
        match self.simulation.island_mut(self.islands.dispatcher) {
            Part::Dispatcher(dispatcher) => dispatcher,
            _ => unreachable!("the island is the dispatcher"),
        }
    }
}
