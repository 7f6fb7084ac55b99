//! The reference executor as a card's backend: correct values, no timing.

use strata_ptx::isa::Space;
use strata_ptx::reference::{
    Executor, Fault, FaultKind, GlobalMemory, LaunchConfig, Observer, Options, Stretch, Summary,
};
use strata_workloads::{DeviceError, Failure};

use super::card::{Backend, Call};
use super::heap::{Buffer, Heap};
use crate::profile::{Profile, Profiler};
use crate::progress::Progress;
use crate::races::{RaceWatch, Races};
use crate::results::PhaseResult;

/// The reference executor with its memory, and with whoever watches it.
pub struct Functional {
    capacity_bytes: u64,
    memory: GlobalMemory,
    options: Options,
    watcher: Option<Watcher>,
}

/// What watches launches.
enum Watcher {
    Profiler(Box<Profiler>),
    Races(Box<RaceWatch>),
}

impl Functional {
    /// An executor with `capacity_bytes` bytes of memory. `options` bounds its launches.
    pub fn new(capacity_bytes: u64, options: Options) -> Functional {
        Functional { capacity_bytes, memory: GlobalMemory::new(), options, watcher: None }
    }

    /// An executor with this memory.
    pub(super) fn holding(memory: GlobalMemory, options: Options) -> Functional {
        Functional { memory, ..Functional::new(u64::MAX, options) }
    }

    /// The executor's memory.
    pub(super) fn memory(&self) -> &GlobalMemory {
        &self.memory
    }

    /// Replaces the executor's memory.
    pub(super) fn remember(&mut self, memory: GlobalMemory) {
        self.memory = memory;
    }

    /// Runs some CTAs of a launch.
    ///
    /// # Errors
    /// As [`Backend::run`].
    pub(super) fn run_stretch(&mut self, call: &Call<'_>, stretch: Stretch) -> Result<Summary, DeviceError> {
        self.execute(call, stretch).map_err(|fault| failed(&fault, call.heap))
    }

    /// Profiles all launches from now on.
    pub(crate) fn watch(&mut self) {
        self.watcher = Some(Watcher::Profiler(Box::default()));
    }

    /// Looks for races in all launches from now on.
    pub(crate) fn watch_races(&mut self) {
        self.watcher = Some(Watcher::Races(Box::default()));
    }

    /// Stops profiling and returns the profile, if there is one.
    pub(crate) fn take_profile(&mut self) -> Option<Profile> {
        match self.watcher.take()? {
            Watcher::Profiler(profiler) => Some(profiler.finish()),
            Watcher::Races(_) => None,
        }
    }

    /// Stops looking for races and returns those found, if they were looked for.
    pub(crate) fn take_races(&mut self) -> Option<Races> {
        match self.watcher.take()? {
            Watcher::Profiler(_) => None,
            Watcher::Races(races) => Some(races.finish()),
        }
    }

    /// The contents of a buffer.
    pub fn bytes(&self, buffer: &Buffer) -> &[u8] {
        self.memory.bytes(buffer.start, buffer.bytes as usize).expect("a buffer of the heap is in memory")
    }
}

impl Backend for Functional {
    type Done = Summary;

    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn open(&mut self, buffer: &Buffer, _: bool) {
        let bytes = vec![0; buffer.bytes as usize];
        assert!(self.memory.insert(buffer.start, bytes), "the heap hands out disjoint buffers");
    }

    fn close(&mut self, buffer: &Buffer) {
        self.memory.remove(buffer.start).expect("a buffer of the heap is in memory");
    }

    fn write(&mut self, at: u64, data: &[u8]) {
        if !data.is_empty() {
            let to = self.memory.bytes_mut(at, data.len());
            to.expect("the range lies in a buffer").copy_from_slice(data);
        }
    }

    fn read(&mut self, at: u64, data: &mut [u8]) {
        if !data.is_empty() {
            let from = self.memory.bytes(at, data.len());
            data.copy_from_slice(from.expect("the range lies in a buffer"));
        }
    }

    fn run(&mut self, call: &Call<'_>, _: &mut dyn FnMut(&Progress)) -> Result<Summary, DeviceError> {
        let Call { kernel, shape, .. } = *call;
        let done = self.execute(call, Stretch::WHOLE);
        match (&mut self.watcher, &done) {
            (Some(Watcher::Profiler(profiler)), Ok(summary)) => {
                let threads = shape.block.iter().product();
                profiler.launched(kernel, threads, shape.dynamic_shared, &summary.counts);
            }
            // Those of a launch that failed, too.
            (Some(Watcher::Races(races)), _) => races.launched(call.heap),
            _ => {}
        }
        done.map_err(|fault| failed(&fault, call.heap))
    }

    /// Runs a phase as a launch of CTAs of one thread. Races among its threads are found; a profile is of the GPU alone and
    /// leaves it out.
    fn run_on_cpu(
        &mut self,
        call: &Call<'_>,
        _: &mut dyn FnMut(&Progress),
    ) -> Result<PhaseResult, DeviceError> {
        let is_profiled = |watcher: &mut Watcher| matches!(watcher, Watcher::Profiler(_));
        let profiler = self.watcher.take_if(is_profiled);
        let done = self.execute(call, Stretch::WHOLE);
        self.watcher = profiler.or(self.watcher.take());
        if let Some(Watcher::Races(races)) = &mut self.watcher {
            races.launched(call.heap);
        }
        done.map(|summary| executed(call, summary)).map_err(|fault| failed(&fault, call.heap))
    }
}

impl Functional {
    /// Runs some CTAs of a call, watched by whoever watches.
    fn execute(&mut self, call: &Call<'_>, stretch: Stretch) -> Result<Summary, Fault> {
        let Call { kernel, shape, params, variables, .. } = *call;
        let config = LaunchConfig {
            grid: shape.grid,
            block: shape.block,
            cluster: shape.cluster,
            dynamic_shared: shape.dynamic_shared,
            params: params.to_vec(),
        };
        let observer = self.watcher.as_mut().map(|watcher| match watcher {
            Watcher::Profiler(profiler) => &mut **profiler as &mut dyn Observer,
            Watcher::Races(races) => &mut races.check,
        });
        Executor::new(kernel, config, variables, &mut self.memory)
            .with_options(self.options)
            .only(stretch)
            .with_headers(call.headers)
            .watched_by(observer)
            .run()
    }
}

pub(super) fn failed(fault: &Fault, heap: &Heap) -> DeviceError {
    let failure = match fault.kind {
        FaultKind::OutOfBounds { .. } | FaultKind::NotShared { .. } | FaultKind::ReadOnly { .. } => {
            Failure::Address
        }
        FaultKind::Misaligned { .. } => Failure::Misaligned,
        FaultKind::Trap => Failure::Trap,
        FaultKind::Assertion { .. } => Failure::Assertion,
        FaultKind::Deadlock { .. }
        | FaultKind::Livelock { .. }
        | FaultKind::InstructionLimit { .. }
        | FaultKind::Interrupted { .. } => Failure::Unfinished,
        FaultKind::BadLaunch { .. } => Failure::NoRoom,
        FaultKind::DivergentBarrier { .. }
        | FaultKind::MissingLanes { .. }
        | FaultKind::BadBarrier { .. }
        | FaultKind::BadBranch { .. }
        | FaultKind::Mapping { .. }
        | FaultKind::BadCall { .. }
        | FaultKind::Texture { .. }
        | FaultKind::StackOverflow { .. } => Failure::Other,
    };
    let mut reason = fault.to_string();
    if let FaultKind::OutOfBounds { space: Space::Global | Space::Const, address, bytes } = fault.kind {
        reason += &heap.nearest(address, bytes as u64);
    }
    DeviceError::Failed { kernel: fault.kernel.clone(), failure, reason }
}

/// What a phase on the reference executor did.
pub(super) fn executed(call: &Call<'_>, summary: Summary) -> PhaseResult {
    PhaseResult {
        kernel: call.kernel.name.clone(),
        threads: call.shape.grid[0],
        functional: true,
        // A thread is a warp: those that its guard left out count too, as on a CPU core.
        instructions: summary.counts.warp_instructions,
        printed: (!summary.printed.is_empty()).then_some(summary.printed).into_iter().collect(),
        ..PhaseResult::default()
    }
}
