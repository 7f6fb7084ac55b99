//! The reference executor: what a kernel computes, without time.
//!
//! It is the oracle of the timed machine: both share [`crate::exec`] and [`crate::simt`], nothing else. A
//! race-free program leaves the same memory in both, so the executor is free in its order, but it is fair: a
//! warp runs [`QUANTUM`] instructions at most before the next one of its CTA; a CTA [`TURNS`] rounds of its
//! warps before the next resident CTA. CTAs start in order. At first one is resident; whenever a full
//! round has not finished them, twice as many become resident, up to [`Options::resident_ctas`]. So a short
//! kernel stays in the host's caches, and CTAs that wait for each other, as many as can be resident
//! together, make progress.

mod access;
mod asynchronous;
pub mod barrier;
mod cta;
mod fault;
mod global;
mod matrix;
mod observer;
#[cfg(test)]
mod tensor_tests;
pub mod testing;
#[cfg(test)]
mod tests;
mod variables;
mod warp;

pub use fault::{Fault, FaultKind, Place, WarpPlace};
pub use global::{Allocation, GlobalMemory};
pub use observer::{Access, AccessKind, Observer};
pub use variables::{pack_arguments, place_variables};

use crate::isa::{Class, Pc};
use crate::lanes::{LaneMask, Row, WARP_LANES};
use crate::program::Kernel;
use cta::{Cta, Stop, World};

/// Most instructions of a warp at a stretch.
pub const QUANTUM: u32 = 256;
/// Most rounds of a CTA's warps at a stretch.
pub const TURNS: u32 = 8;
/// Most threads of a CTA (PTX ISA, every target).
pub const MAX_THREADS: u32 = 1024;

/// Bytes of shared and local memory of one CTA, and of all that are resident: what a host can spare.
const MAX_CTA_BYTES: u64 = 1 << 30;

/// The shape and arguments of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchConfig {
    /// CTAs in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a CTA in x, y, z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory a CTA.
    pub dynamic_shared: u32,
    /// The parameter block, laid out as [`Kernel::params`] says.
    pub params: Vec<u8>,
}

/// How a run is bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Warp instructions after which the run stops with an error.
    pub instruction_limit: Option<u64>,
    /// CTAs that run together at most.
    pub resident_ctas: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options { instruction_limit: None, resident_ctas: 256 }
    }
}

/// Executed instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Counts {
    /// Instructions issued by warps, those included whose guard let no lane through.
    pub warp_instructions: u64,
    /// Instructions executed by threads: lanes that were active and passed the guard.
    pub thread_instructions: u64,
    /// `warp_instructions` by timing class.
    pub by_class: [u64; Class::COUNT],
}

impl Counts {
    #[inline(always)]
    fn add(&mut self, class: Class, lanes: LaneMask) {
        self.warp_instructions += 1;
        self.thread_instructions += u64::from(lanes.count_ones());
        self.by_class[class as usize] += 1;
    }
}

/// What a finished launch did, apart from memory.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Summary {
    /// Instructions.
    pub counts: Counts,
    /// What the threads printed, in the order of execution.
    pub printed: String,
}

/// A launch, prepared.
struct Launch<'a> {
    kernel: &'a Kernel,
    config: LaunchConfig,
    constants: Vec<Row>,
    threads: u32,
    shared_bytes: u32,
}

impl Launch<'_> {
    /// Line of an instruction; that of the last one for the end.
    fn line(&self, pc: Pc) -> u32 {
        let code = &self.kernel.code;
        let line = code.get(pc as usize).or(code.last()).map_or(0, |instruction| instruction.line);
        self.kernel.source(line).1
    }

    /// Index of a thread by its number in the CTA.
    fn thread(&self, number: u32) -> [u32; 3] {
        let [x, y, _] = self.config.block;
        [number % x, number / x % y, number / x / y]
    }

    /// Bytes of shared and local memory of a CTA.
    fn cta_bytes(&self) -> u64 {
        let threads = u64::from(self.threads).next_multiple_of(WARP_LANES as u64);
        u64::from(self.shared_bytes) + threads * u64::from(self.kernel.local_bytes)
    }
}

/// A launch of a kernel on a memory.
pub struct Executor<'a> {
    launch: Launch<'a>,
    memory: &'a mut GlobalMemory,
    options: Options,
    observer: Option<&'a mut dyn Observer>,
}

impl<'a> Executor<'a> {
    /// Prepares a launch. `variables[n]` is the device address of the module's variable n.
    ///
    /// # Panics
    /// When a variable that the kernel names has no address.
    pub fn new(
        kernel: &'a Kernel,
        config: LaunchConfig,
        variables: &[u64],
        memory: &'a mut GlobalMemory,
    ) -> Self {
        let constants = kernel.constant_rows(&config.params, variables);
        let static_shared = if config.dynamic_shared > 0 {
            kernel.shared_bytes.next_multiple_of(16)
        } else {
            kernel.shared_bytes
        };
        let threads = config.block.iter().fold(1u32, |product, side| product.saturating_mul(*side));
        let shared_bytes = static_shared.saturating_add(config.dynamic_shared);
        let launch = Launch { kernel, config, constants, threads, shared_bytes };
        Executor { launch, memory, options: Options::default(), observer: None }
    }

    /// Bounds the run.
    #[must_use]
    pub fn with_options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Lets somebody watch.
    #[must_use]
    pub fn watched_by(mut self, observer: Option<&'a mut dyn Observer>) -> Self {
        self.observer = observer;
        self
    }

    /// Runs the launch to its end.
    ///
    /// # Errors
    /// The first [`Fault`] met; memory holds what was written before it.
    pub fn run(self) -> Result<Summary, Fault> {
        let Executor { launch, memory, options, observer } = self;
        let name = |(kind, place): Stop| {
            let kernel = launch.kernel;
            let source = place.map(|place| kernel.source(place.line));
            let place = place.zip(source.as_ref()).map(|(place, (_, line))| Place { line: *line, ..place });
            Fault { kernel: kernel.name.clone(), kind, place, text: source.and_then(|(text, _)| text) }
        };
        check(&launch).map_err(|reason| name((FaultKind::BadLaunch { reason }, None)))?;
        let mut world = World { global: memory, counts: Counts::default(), printed: String::new(), observer };
        run_ctas(&launch, &mut world, options).map_err(name)?;
        Ok(Summary { counts: world.counts, printed: world.printed })
    }
}

/// What is wrong with a launch.
fn check(launch: &Launch<'_>) -> Result<(), String> {
    let Launch { kernel, config, threads, .. } = launch;
    if config.grid.contains(&0) || config.block.contains(&0) {
        return Err(format!("an empty launch: grid {:?}, block {:?}", config.grid, config.block));
    }
    if *threads > MAX_THREADS {
        return Err(format!("{threads} threads a CTA; at most {MAX_THREADS} are possible"));
    }
    let bounds = &kernel.launch_bounds;
    if bounds.max_threads.is_some_and(|most| *threads > most) {
        return Err(format!("{threads} threads a CTA; .maxntid allows {}", bounds.max_threads.unwrap_or(0)));
    }
    if let Some(required) = bounds.required
        && required != config.block
    {
        return Err(format!("block {:?}; .reqntid demands {required:?}", config.block));
    }
    if launch.cta_bytes() > MAX_CTA_BYTES {
        return Err(format!(
            "{} bytes of shared and local memory a CTA; at most {MAX_CTA_BYTES} are possible",
            launch.cta_bytes()
        ));
    }
    if config.params.len() < kernel.param_bytes as usize {
        return Err(format!(
            "{} bytes of parameters; the kernel takes {}",
            config.params.len(),
            kernel.param_bytes
        ));
    }
    Ok(())
}

fn run_ctas(launch: &Launch<'_>, world: &mut World<'_>, options: Options) -> Result<(), Stop> {
    let [nx, ny, nz] = launch.config.grid.map(u64::from);
    let total = nx.saturating_mul(ny).saturating_mul(nz);
    let ctaid = |number: u64| [number % nx, number / nx % ny, number / nx / ny].map(|axis| axis as u32);
    let limit = options.instruction_limit.unwrap_or(u64::MAX);
    let fitting = MAX_CTA_BYTES / launch.cta_bytes().max(1);
    let most = options.resident_ctas.min(usize::try_from(fitting).unwrap_or(usize::MAX)).max(1);
    let mut resident: Vec<Cta> = Vec::new();
    let mut next = 0;
    let mut allowed = 1;
    loop {
        while resident.len() < allowed.min(most) && next < total {
            resident.push(Cta::new(launch, ctaid(next)));
            next += 1;
        }
        let mut place = 0;
        while place < resident.len() {
            let cta = &mut resident[place];
            for _ in 0..TURNS {
                cta.run(launch, world, QUANTUM)?;
                if cta.is_done() || world.counts.warp_instructions >= limit {
                    break;
                }
            }
            let cta_done = cta.is_done();
            let all_done = cta_done && next == total && resident.len() == 1;
            if world.counts.warp_instructions >= limit && !all_done {
                let warps = resident.iter().flat_map(|cta| cta.places(launch)).collect();
                return Err((FaultKind::InstructionLimit { limit, warps }, None));
            }
            if !cta_done {
                place += 1;
            } else if next < total {
                resident[place].restart(launch, ctaid(next));
                next += 1;
            } else {
                resident.remove(place);
            }
        }
        if resident.is_empty() {
            return Ok(());
        }
        allowed = allowed.saturating_mul(2).min(most);
    }
}
