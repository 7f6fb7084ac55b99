//! When the reference executor looks for a livelock, and how.

use super::cluster;
use super::cta::Cta;
use super::fault::{FaultKind, WarpRound};
use super::launch::Launch;
use super::world::{Stop, World};
use crate::isa::Pc;
use crate::livelock::{Round, State, Trail, is_repeatable};

/// Instructions that each warp executes on average without a change of memory before somebody looks.
const PATIENCE: u64 = 1 << 15;

/// The least of all warps together.
const LEAST: u64 = 1 << 20;

/// States of a warp that the first look notes. A look that finds nothing doubles them, and the time until the next.
const FIRST_STATES: usize = 64;

/// When to look next.
pub(super) struct Lookout {
    next: u64,
    changes: u64,
    states: usize,
}

impl Lookout {
    /// At the beginning of a launch.
    pub fn new() -> Lookout {
        Lookout { next: LEAST, changes: 0, states: FIRST_STATES }
    }

    /// Whether nothing has changed for long.
    pub fn is_due(&mut self, resident: &[Cta], world: &World<'_>) -> bool {
        let now = world.counts.warp_instructions;
        if now < self.next {
            return false;
        }
        let warps = resident.iter().map(|cta| u64::from(cta.live_warps)).sum::<u64>();
        let since = std::mem::replace(&mut self.changes, world.changes);
        let is_still = since == world.changes;
        if !is_still {
            self.states = FIRST_STATES;
        }
        let looks = (self.states / FIRST_STATES) as u64;
        self.next = now + (PATIENCE * warps).max(LEAST).saturating_mul(looks);
        is_still
    }

    /// Executes one instruction of every warp after the other, and watches whether all go round.
    ///
    /// # Errors
    /// A livelock, or whatever else stops the kernel.
    pub fn look(
        &mut self,
        resident: &mut [Cta],
        launch: &Launch<'_>,
        world: &mut World<'_>,
        cluster: usize,
    ) -> Result<(), Stop> {
        let changes = world.changes;
        let mut watched: Vec<Vec<Watched>> =
            resident.iter().map(|cta| cta.warps.iter().map(|_| Watched::default()).collect()).collect();
        loop {
            let mut goes_on = false;
            for (place, watched) in watched.iter_mut().enumerate() {
                let cta = &resident[place];
                if cta.is_done() {
                    continue;
                }
                let from: Vec<Option<Pc>> =
                    cta.warps.iter().map(|warp| warp.is_ready().then(|| warp.stack.pc())).collect();
                let ctas = &mut resident[place / cluster * cluster..][..cluster];
                cluster::run_one(ctas, place % cluster, launch, world, 1)?;
                let cta = &resident[place];
                if world.changes != changes {
                    return Ok(());
                }
                for (number, watched) in watched.iter_mut().enumerate() {
                    let Some(from) = from[number] else { continue };
                    watched.step(cta, launch, number, from);
                    if watched.trail.is_longer_than(self.states) {
                        self.states = self.states.saturating_mul(2).min(1 << 16);
                        return Ok(());
                    }
                    goes_on |= watched.round.is_none();
                }
            }
            if !goes_on {
                return Err((FaultKind::Livelock { warps: rounds(resident, &watched) }, None));
            }
        }
    }
}

/// A warp that is watched.
#[derive(Clone, Debug, Default)]
struct Watched {
    trail: Trail,
    round: Option<Round>,
}

impl Watched {
    /// The warp has executed the instruction at `from`.
    fn step(&mut self, cta: &Cta, launch: &Launch<'_>, number: usize, from: Pc) {
        let stack = &cta.warps[number].stack;
        if self.round.is_some() {
            return;
        }
        self.trail.pass(from, stack.pc());
        if !self.trail.has_turned() {
            return;
        }
        let (registers, predicates) = cta.state(launch, number);
        let state = State::new(stack, predicates, registers.iter().copied());
        self.round = self
            .trail
            .note(state)
            .filter(|pcs| is_repeatable(launch.kernel, pcs))
            .map(|pcs| Round::new(launch.kernel, pcs, stack));
    }
}

fn rounds(resident: &[Cta], watched: &[Vec<Watched>]) -> Vec<WarpRound> {
    let of_cta = |(cta, watched): (&Cta, &Vec<Watched>)| -> Vec<WarpRound> {
        let live = cta.warps.iter().zip(watched).enumerate().filter(|(_, (warp, _))| !warp.stack.is_done());
        live.map(|(number, (_, watched))| WarpRound {
            cta: cta.ctaid,
            warp: number as u32,
            round: watched.round.clone(),
            barrier: cta.barriers.waits_at(number as u32),
        })
        .collect()
    };
    resident.iter().zip(watched).flat_map(of_cta).collect()
}
