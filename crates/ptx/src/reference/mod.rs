//! The reference executor: what a kernel computes, without time.
//!
//! It is the oracle of the timed machine: both share [`crate::exec`] and [`crate::simt`], nothing else. A
//! race-free program leaves the same memory in both, so the executor is free in its order, but it is fair: a
//! warp runs [`QUANTUM`] instructions at most before the next one of its CTA; a CTA [`TURNS`] rounds of its
//! warps before the next resident CTA. CTAs start in order. At first one is resident; whenever a full
//! round has not finished them, twice as many become resident, up to [`Options::resident_ctas`]. So a short
//! kernel stays in the host's caches, and CTAs that wait for each other, as many as can be resident
//! together, make progress; those of a cooperative launch are all resident in the end. When none can any more though its warps run, the launch ends with a
//! [livelock](crate::livelock).

mod access;
mod asynchronous;
pub mod barrier;
mod bulk;
mod cluster;
mod control;
mod cta;
mod fault;
mod global;
mod launch;
mod livelock;
mod mapped;
#[cfg(test)]
mod mapping_tests;
mod maps;
mod matrix;
mod observer;
#[cfg(test)]
mod observer_tests;
mod part;
mod plain;
pub mod races;
mod steps;
mod straight;
#[cfg(test)]
mod straight_tests;
#[cfg(test)]
mod tensor_tests;
pub mod testing;
#[cfg(test)]
mod tests;
mod texels;
mod variables;
mod warp;
#[cfg(test)]
mod warpgroup_tests;
mod world;

pub use bulk::OUTSIDE_OF_A_CLUSTER;
pub use fault::{Fault, FaultKind, Place, WarpPlace, WarpRound};
pub use global::{Allocation, GlobalMemory};
pub use launch::{LaunchConfig, MAX_CLUSTER, MAX_THREADS, check_cluster, cluster_order};
pub use observer::{Access, AccessKind, BarrierArrival, Issuer, Observer, RegisterUse, Written};
pub use variables::{pack_arguments, place_variables};
pub use world::Counts;

use std::sync::atomic::{AtomicBool, Ordering};

use crate::program::Kernel;
use crate::texture::Headers;
use cta::Cta;
use launch::{Launch, MAX_CTA_BYTES};
use livelock::Lookout;
use world::{Stop, World};

/// Most instructions of a warp at a stretch.
pub const QUANTUM: u32 = 256;
/// Most rounds of a CTA's warps at a stretch.
pub const TURNS: u32 = 8;
/// Rounds that a CTA of a run that is to stop between CTAs has alone, before the next becomes resident.
const ALONE: u32 = 64;

/// How a run is bounded.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Warp instructions after which the run stops with an error.
    pub instruction_limit: Option<u64>,
    /// CTAs that run together at most.
    pub resident_ctas: usize,
    /// Set from outside to stop the run. It is looked at each time that a CTA's warps have had their turn.
    pub interrupt: Option<&'static AtomicBool>,
}

impl Default for Options {
    fn default() -> Self {
        Options { instruction_limit: None, resident_ctas: 256, interrupt: None }
    }
}

/// A stretch of a launch's CTAs, counted in the order in which they start. It begins and ends between clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The first CTA that runs.
    pub first: u64,
    /// The first CTA after it that does not run, at most the launch's number of CTAs.
    pub end: u64,
    /// Thread instructions of the stretch after which no more CTAs start; those that have started end. CTAs then run one
    /// after another, unless they are long or wait for each other.
    pub enough: Option<u64>,
}

impl Stretch {
    /// All CTAs.
    pub const WHOLE: Stretch = Stretch { first: 0, end: u64::MAX, enough: None };
}

/// What a finished launch did, apart from memory.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Summary {
    /// Instructions.
    pub counts: Counts,
    /// What the threads printed, in the order of execution.
    pub printed: String,
    /// The first CTA that did not run, of those after the first that did.
    pub next_cta: u64,
}

/// A launch of a kernel on a memory.
pub struct Executor<'a> {
    launch: Launch<'a>,
    memory: &'a mut GlobalMemory,
    options: Options,
    stretch: Stretch,
    headers: &'a Headers,
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
        let launch = Launch::new(kernel, config, variables);
        let (options, stretch) = (Options::default(), Stretch::WHOLE);
        Executor { launch, memory, options, stretch, headers: Headers::NONE, observer: None }
    }

    /// Runs only a stretch of the launch's CTAs. The grid is what it was.
    #[must_use]
    pub fn only(mut self, stretch: Stretch) -> Self {
        self.stretch = stretch;
        self
    }

    /// Bounds the run.
    #[must_use]
    pub fn with_options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// The textures and surfaces that handles stand for; without, none is.
    #[must_use]
    pub fn with_headers(mut self, headers: &'a Headers) -> Self {
        self.headers = headers;
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
        let Executor { launch, memory, options, stretch, headers, observer } = self;
        let name = |(kind, place): Stop| {
            let kernel = launch.kernel;
            let source = place.map(|place| kernel.source(place.line));
            let place = place.zip(source.as_ref()).map(|(place, (_, line))| Place { line: *line, ..place });
            Fault { kernel: kernel.name.clone(), kind, place, text: source.and_then(|(text, _)| text) }
        };
        launch.check().map_err(|reason| name((FaultKind::BadLaunch { reason }, None)))?;
        let counts = Counts::default();
        let watches_registers = observer.as_ref().is_some_and(|observer| observer.watches_registers());
        let printed = String::new();
        let mut world = World {
            global: memory,
            headers,
            counts,
            changes: 0,
            printed,
            observer,
            peers: Vec::new(),
            watches_registers,
        };
        if let Some(observer) = &mut world.observer {
            observer.begins(launch.kernel, &launch.config);
        }
        let next_cta = run_ctas(&launch, &mut world, options, stretch).map_err(name)?;
        Ok(Summary { counts: world.counts, printed: world.printed, next_cta })
    }
}

/// Runs a stretch of a launch, and gives the first CTA that did not run.
fn run_ctas(
    launch: &Launch<'_>,
    world: &mut World<'_>,
    options: Options,
    stretch: Stretch,
) -> Result<u64, Stop> {
    let [nx, ny, nz] = launch.config.grid.map(u64::from);
    let mut end = nx.saturating_mul(ny).saturating_mul(nz).min(stretch.end);
    let cluster = launch.cluster().map_or(1, |shape| shape.iter().product::<u32>()) as usize;
    let limit = options.instruction_limit.unwrap_or(u64::MAX);
    let fitting = MAX_CTA_BYTES / launch.cta_bytes().max(1);
    let fitting = usize::try_from(fitting).unwrap_or(usize::MAX);
    let most = if launch.kernel.cooperative { fitting } else { options.resident_ctas.min(fitting) }.max(1);
    // CTAs of a cluster are resident together.
    let most = (most / cluster).max(1) * cluster;
    let mut resident: Vec<Cta> = Vec::new();
    let mut next = stretch.first;
    let rounds_alone = if stretch.enough.is_some() { ALONE } else { 0 };
    let mut alone = rounds_alone;
    let is_enough =
        |world: &World<'_>| stretch.enough.is_some_and(|enough| world.counts.thread_instructions >= enough);
    let mut allowed = cluster;
    let mut lookout = Lookout::new();
    loop {
        if is_enough(world) {
            end = next;
        }
        while resident.len() < allowed.min(most) && next < end {
            let cta = Cta::new(launch, launch.ctaid(next));
            show_begin(world, cta.number);
            resident.push(cta);
            next += 1;
        }
        let mut place = 0;
        while place < resident.len() {
            let ctas = &mut resident[place..place + cluster];
            for _ in 0..TURNS {
                // They may have ended while somebody looked whether they go round.
                if ctas.iter().all(Cta::is_done) {
                    break;
                }
                cluster::run(ctas, launch, world, QUANTUM)?;
                if options.interrupt.is_some_and(|interrupt| interrupt.load(Ordering::Relaxed)) {
                    return Err((
                        FaultKind::Interrupted { instructions: world.counts.warp_instructions },
                        None,
                    ));
                }
                if world.counts.warp_instructions >= limit {
                    break;
                }
            }
            let done = ctas.iter().all(Cta::is_done);
            world.changes += u64::from(done);
            if done && let Some(observer) = &mut world.observer {
                ctas.iter().for_each(|cta| observer.cta_ends(cta.number));
            }
            if done {
                alone = rounds_alone;
                if is_enough(world) {
                    end = next;
                }
            }
            let all_done = done && next == end && resident.len() == cluster;
            if world.counts.warp_instructions >= limit && !all_done {
                let warps = resident.iter().flat_map(|cta| cta.places(launch)).collect();
                return Err((FaultKind::InstructionLimit { limit, warps }, None));
            }
            if !done {
                place += cluster;
            } else if next < end {
                for cta in &mut resident[place..place + cluster] {
                    cta.restart(launch, launch.ctaid(next));
                    show_begin(world, cta.number);
                    next += 1;
                }
            } else {
                resident.drain(place..place + cluster);
            }
        }
        if resident.is_empty() {
            return Ok(next);
        }
        // CTAs that have not begun may change what others wait for.
        let all_begun = next == end || resident.len() == most;
        if all_begun && lookout.is_due(&resident, world) {
            lookout.look(&mut resident, launch, world, cluster)?;
        }
        if alone > 0 && allowed == cluster {
            alone -= 1;
        } else {
            allowed = allowed.saturating_mul(2).min(most);
        }
    }
}

fn show_begin(world: &mut World<'_>, cta: u64) {
    if let Some(observer) = &mut world.observer {
        observer.cta_begins(cta);
    }
}
