//! The SM's part in finding livelocks: watches what its warps execute, cycle by cycle, while nothing changes memory.

use strata_memory::bits::members;
use strata_ptx::isa::{Op, Reg};
use strata_ptx::livelock::{Round, State, Trail, is_repeatable};
use strata_ptx::simt::SimtStack;

use crate::doors::Doors;
use crate::launch::Launch;
use crate::slots::MOST_SLOTS;
use crate::sm::Sm;

/// What is known of an SM's warps since the watch began; [`Multiprocessor::watch`](crate::Multiprocessor::watch) adds to it.
#[derive(Clone, Debug)]
pub struct Watch {
    warps: Vec<Option<Watched>>,
    /// States of a warp that are noted before the watch is given up.
    states: usize,
}

/// What an SM's warps do, as far as watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watching {
    /// Some warp has not come back to a state yet.
    Open,
    /// Every warp goes round, or waits at a barrier. True of an SM without warps.
    Closed,
    /// Some warp did what others may see, or does not come back for long.
    Over,
}

#[derive(Clone, Debug)]
struct Watched {
    stack: SimtStack,
    trail: Trail,
    round: Option<Round>,
}

impl Watch {
    /// A watch that is given up once a warp was in more than `states` states.
    pub fn new(states: usize) -> Watch {
        Watch { warps: vec![None; MOST_SLOTS], states }
    }

    /// Whether any warp goes round.
    pub fn has_rounds(&self) -> bool {
        self.warps.iter().flatten().any(|warp| warp.round.is_some())
    }
}

impl<D: Doors> Sm<D> {
    /// Counts what warps have done that others may see: they ended, printed, or changed memory. Whether stores change a value
    /// is not looked at.
    pub(crate) fn effects(&self) -> u64 {
        let lsu = self.lsu.statistics();
        let memory =
            lsu.stores + lsu.reductions + lsu.copies + lsu.copy_controls + self.lsu.changed_atomics();
        memory + self.statistics.ctas + self.prints.len() as u64
    }

    /// Watches the cycle that has just passed.
    pub(crate) fn watch_cycle(&self, watch: &mut Watch) -> Watching {
        let Some(launch) = &self.launch else { return Watching::Closed };
        // Warps go on that wait at a barrier.
        if !self.barrier_unit.is_idle() {
            return Watching::Over;
        }
        let mut all = Watching::Closed;
        for warp in members(self.warps.resident & !self.warps.at_barrier) {
            if self.warps.exited >> warp & 1 == 1 {
                // Others see that it has ended, and what it leaves under way.
                if watch.warps[warp].is_some() || self.warps.in_flight[warp] != 0 {
                    return Watching::Over;
                }
                continue;
            }
            let stack = &self.warps.simt[warp];
            let watched = watch.warps[warp].get_or_insert_with(|| Watched {
                stack: stack.clone(),
                trail: Trail::default(),
                round: None,
            });
            if watched.stack != *stack {
                let from = watched.stack.pc();
                // Others see that a warp has come to a barrier.
                if launch.kernel.is_barrier(from) {
                    return Watching::Over;
                }
                watched.trail.pass(from, stack.pc());
                watched.stack.clone_from(stack);
            }
            if watched.round.is_none() {
                self.look_at(launch, warp, watched);
            }
            if watched.trail.is_longer_than(watch.states) {
                return Watching::Over;
            }
            if watched.round.is_none() {
                all = Watching::Open;
            }
        }
        all
    }

    /// Notes a warp's state if it has turned back and nothing of it is under way.
    fn look_at(&self, launch: &Launch, warp: usize, watched: &mut Watched) {
        let busy = self.warps.resolving | self.warps.barrier_results_due;
        if self.warps.in_flight[warp] != 0 || busy >> warp & 1 == 1 {
            return;
        }
        let kernel = &*launch.kernel;
        let stack = &self.warps.simt[warp];
        let pc = stack.pc();
        // A branch to itself leaves everything as it is, so nobody sees it pass.
        let stays = kernel.code.get(pc as usize).is_some_and(|inst| {
            let all_go = self.warps.guarded(warp, inst.guard) == stack.active();
            matches!(inst.op, Op::Branch { .. }) && inst.target == pc && all_go
        });
        if stays {
            watched.round = Some(Round::new(kernel, &[pc], stack));
        } else if watched.trail.has_turned() {
            let registers = launch.registers_of(self.warps.contexts[warp].warp);
            let rows = (0..registers).map(|row| self.peek_register(warp as u8, Reg(row as u8)));
            let state = State::new(stack, &self.warps.predicates[warp], rows);
            let pcs = watched.trail.note(state).filter(|pcs| is_repeatable(kernel, pcs));
            watched.round = pcs.map(|pcs| Round::new(kernel, pcs, stack));
        }
    }

    /// Adds a sentence for each warp of a livelock.
    pub(crate) fn explain_livelock(&self, watch: &Watch, report: &mut Vec<String>) {
        for warp in members(self.warps.resident) {
            let cta = self.warps.cta[warp] as usize;
            let round = watch.warps[warp].as_ref().and_then(|watched| watched.round.as_ref());
            let does = match (round, self.barriers.waiting(cta, warp)) {
                (_, Some((barrier, ..))) => format!("waits at barrier {barrier}"),
                (Some(round), None) => round.to_string(),
                (None, None) => "waits".to_owned(),
            };
            let number = self.warps.contexts[warp].warp;
            let place = self.ctas.get(cta).place;
            report.push(format!("SM {}: warp {warp} (CTA {place:?}, its warp {number}): {does}", self.id.0));
        }
    }
}
