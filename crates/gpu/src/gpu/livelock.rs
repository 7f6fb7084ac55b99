//! Livelocks: when to look for one, and the watch over all SMs.
//!
//! While a launch runs, somebody looks now and then whether warps have done anything that others may see: changed memory,
//! ended, printed. If they have not for long, every cycle is watched for a while: does each warp come back to a state
//! in which it was before ([`strata_ptx::livelock`])? Looking changes nothing in the machine.

use strata_engine::{Cycle, Island};
use strata_sm::livelock::{Watch, Watching};
use strata_workloads::Failure;

use super::stopped::REPORT_LINES;
use super::{Gpu, Stopped};

/// Cycles without an effect before the warps are watched.
pub(super) const PATIENCE: u64 = 1 << 20;

/// Cycles that a watch lasts at least, for what is under way without a warp that waits for it.
const LEAST: u64 = 1 << 12;

/// Cycles that a watch lasts at most.
const MOST: u64 = 1 << 18;

/// States of a warp that the first watch notes. A watch that finds nothing doubles them, and the time until the next.
const FIRST_STATES: usize = 64;

/// Most that they become.
const MOST_STATES: usize = 1 << 12;

/// When to look next.
pub(super) struct Lookout {
    patience: u64,
    next: Cycle,
    effects: u64,
    states: usize,
    watch: Option<LaunchWatch>,
}

/// A watch over all SMs that run programs.
struct LaunchWatch {
    from: Cycle,
    sms: Vec<Watch>,
}

impl Lookout {
    /// The cycle before which nothing need be looked at.
    pub fn next(&self) -> Cycle {
        self.next
    }

    /// Whether every cycle is watched.
    pub fn is_watching(&self) -> bool {
        self.watch.is_some()
    }

    /// The next look, after one that found nothing.
    fn wait(&mut self, now: Cycle) {
        self.watch = None;
        let looks = (self.states / FIRST_STATES) as u64;
        self.next = Cycle(now.0.saturating_add(self.patience.saturating_mul(looks)));
    }
}

impl Gpu {
    /// Watches warps whenever nothing has had an effect for `cycles` cycles, at least 1. Results do not change.
    pub fn look_for_livelocks_every(&mut self, cycles: u64) {
        self.livelock_patience = cycles.max(1);
    }

    /// The lookout of a launch that begins now.
    pub(super) fn lookout(&mut self) -> Lookout {
        let mut lookout = Lookout {
            patience: self.livelock_patience,
            next: Cycle::ZERO,
            effects: self.effects(),
            states: FIRST_STATES,
            watch: None,
        };
        lookout.wait(self.simulation.now());
        lookout
    }

    /// Looks once, `now` being the next cycle to simulate. Returns the livelock, if it is proven.
    pub(super) fn look_for_livelock(&mut self, lookout: &mut Lookout, now: Cycle) -> Option<Stopped> {
        let effects = self.effects();
        if effects != lookout.effects {
            lookout.effects = effects;
            lookout.states = FIRST_STATES;
            lookout.wait(now);
            return None;
        }
        let compute_sms = self.compute_sms.clone();
        let states = lookout.states;
        let new_watch = || LaunchWatch { from: now, sms: vec![Watch::new(states); compute_sms.len()] };
        let watch = lookout.watch.get_or_insert_with(new_watch);
        let mut all_closed = true;
        let mut is_over = now.since(watch.from) > MOST;
        for (sm, watch) in compute_sms.clone().zip(&mut watch.sms) {
            match self.sm(sm).watch(watch) {
                Watching::Open => all_closed = false,
                Watching::Closed => {}
                Watching::Over => is_over = true,
            }
        }
        if is_over {
            lookout.states = lookout.states.saturating_mul(2).min(MOST_STATES);
            lookout.wait(now);
            return None;
        }
        lookout.next = now.next();
        let has_rounds = watch.sms.iter().any(Watch::has_rounds);
        if !all_closed || !has_rounds || now.since(watch.from) < LEAST {
            return None;
        }
        let mut lines = Vec::new();
        for (sm, watch) in compute_sms.zip(&watch.sms) {
            self.sm(sm).explain_livelock(watch, &mut lines);
        }
        let more = lines.len().saturating_sub(REPORT_LINES);
        lines.truncate(REPORT_LINES);
        if more > 0 {
            lines.push(format!("... and {more} more"));
        }
        self.dispatcher().waits(&mut lines);
        let reason = format!(
            "the kernel can never finish, a livelock (cycle {now}): its warps go round for ever, and no memory changes:\n  {}",
            lines.join("\n  ")
        );
        Some(Stopped { failure: Failure::Unfinished, reason, so_far: None, outside: None })
    }

    /// What warps have done that others may see, and CTAs that have begun or ended.
    fn effects(&mut self) -> u64 {
        let of_sms: u64 = self.compute_sms.clone().map(|sm| self.sm(sm).effects()).sum();
        of_sms.wrapping_add(self.dispatcher().progress())
    }
}
