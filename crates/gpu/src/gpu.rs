//! An assembled GPU: device memory between launches, and launches one after another.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use strata_engine::statistics::Group;
use strata_engine::{Cycle, RunOptions, Simulation, Stop};
use strata_memory::address_map::AddressMap;
use strata_memory::doors::{
    Direction, L1d, L1dDesign, L1dSite, LanePath, LanePathDesign, LanePathSite, Llc, LlcDesign, LlcSite,
    Network, NetworkDesign, NetworkSite, RegisterFile, RegisterFileDesign, RegisterFileSite,
};
use strata_memory::partition::PartitionIsland;
use strata_memory::{Address, ByteMask, LINE_BYTES, Line, ParameterError};
use strata_sm::dispatch::Dispatcher;
use strata_sm::launch::{FaultKind, Launch};
use strata_sm::occupancy::Occupancy;
use strata_sm::print::Print;
use strata_sm::sm::Sm;
use strata_workloads::Failure;

use crate::assemble::assemble;
use crate::machine::Machine;
pub use crate::makers::{Maker, Makers};
use crate::part::Part;
use crate::results::{PartWork, RunSchedule, merge_groups, thread_time};

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

/// The result of a launch that succeeded.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Core cycles from the launch to its last completion.
    pub cycles: u64,
    /// How the kernel fills an SM.
    pub occupancy: Occupancy,
    /// What the kernel printed, ordered by CTA and warp.
    pub prints: Vec<Print>,
}

/// What a launch that goes on has come to.
#[derive(Clone, Debug)]
pub struct Observed {
    /// The present cycle.
    pub cycle: Cycle,
    /// CTAs that have ended.
    pub ctas_done: u64,
    /// Every [`Gpu::sample_every`] cycles of the launch: those cycles, and all counters since the machine was built.
    pub counted: Option<(u64, Vec<Group>)>,
}

/// Why a launch failed.
#[derive(Clone, Debug)]
pub struct Stopped {
    /// What kind of failure it was.
    pub failure: Failure,
    /// Description of the failure, with its location where known.
    pub reason: String,
    /// What had happened until then; `None` if nothing ran.
    pub so_far: Option<Box<Finished>>,
    /// Address and bytes of an access to device memory that no buffer holds.
    pub outside: Option<(u64, u64)>,
}

/// A custom part, or why it cannot be built.
type Built<Part> = Result<Box<Part>, ParameterError>;

/// Maximum number of sentences in a deadlock report.
const REPORT_LINES: usize = 64;

/// An assembled machine, ready to run kernels.
pub struct Gpu {
    simulation: Simulation<Part>,
    map: AddressMap,
    sms: usize,
    channels: usize,
    patience: u64,
    window: u64,
    options: GpuOptions,
    sample_cycles: Option<u64>,
    ctas_done: Arc<AtomicU64>,
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
        let mut gpu = Gpu {
            simulation: Simulation::new(assembly.parts),
            map: assembly.map,
            sms: usize::from(*file.gpu.sms),
            channels: usize::from(*file.gpu.channels),
            patience: *file.gpu.watchdog_cycles,
            window,
            options,
            sample_cycles: None,
            ctas_done: Arc::new(AtomicU64::new(0)),
        };
        let bytes = *file.gpu.memory_mib << 20;
        for channel in 0..gpu.channels {
            gpu.partition(channel).ensure(bytes);
        }
        let ctas_done = gpu.ctas_done.clone();
        gpu.dispatcher().report_to(ctas_done);
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
        self.simulation.measure_schedule(thread_time);
    }

    /// What was measured, and what more threads would gain.
    pub fn schedule(&mut self) -> Option<RunSchedule> {
        let schedule = self.simulation.schedule()?;
        let mut parts: Vec<PartWork> = Vec::new();
        // Of the two directions of the network, requests come first.
        let mut directions = [Direction::Request, Direction::Reply].into_iter();
        for (part, work) in self.simulation.islands_mut().zip(&schedule.islands) {
            let kind = match part {
                Part::Network(_) => directions.next().expect("a network has two directions").group(),
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

    /// Runs a kernel to completion. Calls `observe` from time to time, and whenever counters are sampled.
    ///
    /// # Errors
    /// A program error with its location; a kernel that does not fit an SM; or, if the machine deadlocks, who
    /// waits for what.
    pub fn launch(
        &mut self,
        launch: &Arc<Launch>,
        observe: &mut dyn FnMut(Observed),
    ) -> Result<Finished, Stopped> {
        let start = self.simulation.now();
        let mut occupancy = None;
        for index in 0..self.sms {
            occupancy = Some(self.sm(index).prepare(launch.clone(), start));
        }
        let occupancy = occupancy.expect("a machine has SMs");
        if occupancy.ctas == 0 {
            let reason = format!("a CTA does not fit an SM: limited by {}", occupancy.limiter);
            return Err(Stopped { failure: Failure::NoRoom, reason, so_far: None, outside: None });
        }
        self.ctas_done.store(0, Ordering::Relaxed);
        self.dispatcher().begin(launch.ctas(), occupancy.ctas);
        let options = RunOptions {
            threads: self.options.threads,
            saves_threads: self.options.saves_threads,
            window: self.window,
            patience_cycles: self.patience,
            limit: self.options.limit,
            interrupt: self.options.interrupt,
        };
        let ctas_done = self.ctas_done.clone();
        let mut observe = |cycle, counted| {
            observe(Observed { cycle, ctas_done: ctas_done.load(Ordering::Relaxed), counted });
        };
        let mut samples = 0;
        let stop = loop {
            let next = |every: u64| start + every * (samples + 1);
            // Once all CTAs have ended, only draining is left.
            let running = self.dispatcher().finished_at().is_none();
            let pause = self.sample_cycles.filter(|_| running).map_or(Cycle::NEVER, next);
            match self.simulation.run_until(pause, options, &mut |now| observe(now, None)) {
                Stop::Paused if self.dispatcher().finished_at().is_none() => {
                    self.settle(pause);
                    samples += 1;
                    observe(pause, Some((pause.since(start), self.statistics())));
                }
                Stop::Paused => {}
                stop => break stop,
            }
        };
        let now = self.simulation.now();
        self.settle(now);
        let end = match (&stop, self.dispatcher().finished_at()) {
            (Stop::Quiet { .. }, Some(end)) => Ok(end.next()),
            _ => Err(now),
        };
        let cycles = end.unwrap_or_else(|now| now).since(start);
        let finished = Finished { cycles, occupancy, prints: self.take_prints() };
        let stopped = match stop {
            _ if end.is_ok() => return Ok(finished),
            Stop::Quiet { last } => self.explain("can never finish", last),
            Stop::Stuck { at } => self.explain("is stuck", at),
            Stop::CycleLimit => self.unfinished("reached the cycle limit", self.options.limit),
            Stop::Failed { at } => {
                self.first_fault().unwrap_or_else(|| self.unfinished("was interrupted", at))
            }
            Stop::Paused => unreachable!("a launch goes on after a pause"),
        };
        Err(Stopped { so_far: Some(Box::new(finished)), ..stopped })
    }

    /// What the kernel has printed since the last call, ordered by CTA and warp.
    fn take_prints(&mut self) -> Vec<Print> {
        let mut prints = Vec::new();
        for index in 0..self.sms {
            prints.extend(self.sm(index).take_prints());
        }
        prints.sort_by_key(|print| (print.cta, print.warp));
        prints
    }

    /// Completes the SMs' statistics for all cycles before `end`.
    fn settle(&mut self, end: Cycle) {
        for index in 0..self.sms {
            self.sm(index).settle(end);
        }
    }

    /// Writes device memory between launches, and updates every cached copy.
    pub fn write(&mut self, address: u64, data: &[u8]) {
        self.each_line(address, data.len(), |partition, line, offset, range| {
            let mut bytes = Line::ZERO;
            bytes.0[offset..offset + range.len()].copy_from_slice(&data[range.clone()]);
            partition.poke_line(line, ByteMask::range(offset, range.len()), &bytes);
        });
    }

    /// Reads device memory between launches, through every cached copy.
    pub fn read(&mut self, address: u64, data: &mut [u8]) {
        self.each_line(address, data.len(), |partition, line, offset, range| {
            let mut bytes = Line::ZERO;
            partition.peek_line(line, &mut bytes);
            let length = range.len();
            data[range].copy_from_slice(&bytes.0[offset..offset + length]);
        });
    }

    /// All counters, summed over the parts of each kind.
    pub fn statistics(&mut self) -> Vec<Group> {
        let mut groups = Vec::new();
        for part in self.simulation.islands_mut() {
            merge_groups(&mut groups, part.statistics());
        }
        groups
    }

    /// Calls `visit` for each line of a range with its partition, the first byte within the line, and the
    /// bytes' offset in the range.
    fn each_line(
        &mut self,
        address: u64,
        length: usize,
        mut visit: impl FnMut(&mut PartitionIsland, strata_memory::LineAddress, usize, std::ops::Range<usize>),
    ) {
        let mut done = 0;
        while done < length {
            let at = Address(address + done as u64);
            let offset = at.offset();
            let step = (LINE_BYTES - offset).min(length - done);
            let line = at.line();
            let (channel, _) = self.map.channel_of(self.map.home(line).slice);
            visit(self.partition(usize::from(channel)), line, offset, done..done + step);
            done += step;
        }
    }

    /// The first fault; of several in one cycle, that of the lowest SM, so that the choice does not depend on
    /// the window length.
    fn first_fault(&mut self) -> Option<Stopped> {
        let faults = (0..self.sms)
            .filter_map(|index| self.sm(index).fault().map(|(cycle, fault)| (cycle, index, fault.clone())));
        let first = faults.min_by_key(|(cycle, index, _)| (*cycle, *index));
        let (_, _, fault) = first?;
        let failure = match fault.kind {
            FaultKind::OutOfBounds { .. } => Failure::Address,
            FaultKind::Misaligned { .. } => Failure::Misaligned,
            FaultKind::Trap => Failure::Trap,
            FaultKind::Assertion { .. } => Failure::Assertion,
            FaultKind::Unsupported { .. }
            | FaultKind::DivergentBarrier
            | FaultKind::BadCall { .. }
            | FaultKind::Texture { .. }
            | FaultKind::StackOverflow { .. } => Failure::Other,
        };
        let outside = match fault.kind {
            FaultKind::OutOfBounds { address, bytes, space: "global" | "constant" | "texture" } => {
                Some((address, bytes.into()))
            }
            _ => None,
        };
        Some(Stopped { failure, reason: fault.to_string(), so_far: None, outside })
    }

    fn explain(&mut self, what: &str, at: Cycle) -> Stopped {
        let mut lines = self.simulation.waits();
        let more = lines.len().saturating_sub(REPORT_LINES);
        lines.truncate(REPORT_LINES);
        if more > 0 {
            lines.push(format!("... and {more} more"));
        }
        let reason = format!("the kernel {what} (cycle {at}):\n  {}", lines.join("\n  "));
        Stopped { failure: Failure::Unfinished, reason, so_far: None, outside: None }
    }

    /// A launch that was stopped from outside.
    fn unfinished(&mut self, what: &str, at: Cycle) -> Stopped {
        let ended = self.ctas_done.load(Ordering::Relaxed);
        let reason = format!("the kernel {what} (cycle {at}); {ended} CTAs have ended");
        Stopped { failure: Failure::Unfinished, reason, so_far: None, outside: None }
    }

    fn sm(&mut self, index: usize) -> &mut Sm {
        match self.simulation.island_mut(index) {
            Part::Sm(sm) => sm,
            _ => unreachable!("SMs come first"),
        }
    }

    fn partition(&mut self, channel: usize) -> &mut PartitionIsland {
        match self.simulation.island_mut(self.sms + channel) {
            Part::Partition(partition) => partition,
            Part::PartitionDomain(domain) => domain.island_mut(),
            _ => unreachable!("partitions follow the SMs"),
        }
    }

    fn dispatcher(&mut self) -> &mut Dispatcher {
        let last = self.sms + self.channels + 2;
        match self.simulation.island_mut(last) {
            Part::Dispatcher(dispatcher) => dispatcher,
            _ => unreachable!("the dispatcher comes last"),
        }
    }
}
