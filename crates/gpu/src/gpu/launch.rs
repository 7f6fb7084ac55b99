//! Launches: from the first CTA until nothing of it is under way, with pauses for all who look at it meanwhile.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use strata_engine::{Cycle, RunOptions, Stop};
use strata_sm::launch::Launch;
use strata_sm::occupancy::Occupancy;
use strata_workloads::Failure;

use super::{Finished, Gpu, LOOK_CYCLES, LaunchPart, Observed, Stopped};

impl Gpu {
    /// Runs a kernel to completion. Calls `observe` from time to time, and whenever counters are sampled.
    ///
    /// # Errors
    /// A program error with its location; a kernel that does not fit an SM; if the machine deadlocks, who waits for
    /// what; or, if no warp can make progress any more, where each goes round.
    pub fn launch(
        &mut self,
        launch: &Arc<Launch>,
        observe: &mut dyn FnMut(Observed),
    ) -> Result<Finished, Stopped> {
        self.launch_part(launch, &LaunchPart::WHOLE, observe)
    }

    /// Runs some CTAs of a kernel to their end, as [`Gpu::launch`].
    ///
    /// # Errors
    /// As there.
    pub fn launch_part(
        &mut self,
        launch: &Arc<Launch>,
        part: &LaunchPart<'_>,
        observe: &mut dyn FnMut(Observed),
    ) -> Result<Finished, Stopped> {
        let mut start = self.simulation.now();
        let occupancy = self.prepare(launch, start)?;
        self.ctas_done.store(0, Ordering::Relaxed);
        let begin = self.begin_part(launch, part, occupancy.ctas, start);
        self.begin_queues(start);
        let mut early = part.early_end(launch, self);
        let mut before = None;
        if self.follows {
            let places = self.dispatcher().most_per_sm();
            self.compute_sms.clone().for_each(|index| self.sm(index).follow_launch(start, places));
        }
        let options = self.run_options();
        let ctas_done = self.ctas_done.clone();
        let mut observe = |cycle, counted| {
            observe(Observed { cycle, ctas_done: ctas_done.load(Ordering::Relaxed), counted });
        };
        let mut samples = 0;
        let mut lookout = self.lookout();
        let mut livelock = None;
        let stop = loop {
            // A span may be longer than any launch.
            let next = |every: u64| Cycle(start.0.saturating_add(every.saturating_mul(samples + 1)));
            // Once all CTAs have ended, only draining is left.
            let running = self.dispatcher().finished_at().is_none();
            let sample = self.sample_cycles.filter(|_| running).map_or(Cycle::NEVER, next);
            let look = self.next_look(start);
            let watched = if running { self.next_watched() } else { Cycle::NEVER };
            let rows = self.next_rows();
            let end = early.as_ref().filter(|_| running).map_or(Cycle::NEVER, |early| early.next(self.now()));
            let pause = sample.min(look).min(lookout.next()).min(watched).min(rows).min(end);
            // Threads gain nothing in a cycle.
            let threads = if lookout.is_watching() { 1 } else { options.threads };
            let options = RunOptions { threads, ..options };
            match self.simulation.run_until(pause, options, &mut |now| observe(now, None)) {
                Stop::Paused => {}
                Stop::Quiet { .. } if self.dispatcher().is_held() => {
                    (start, before) = (self.simulation.now(), Some(self.go_on(launch, part)));
                    early = part.early_end(launch, self);
                    continue;
                }
                stop => break stop,
            }
            if pause == rows {
                self.count_rows_until(pause);
            }
            if pause == sample {
                if self.dispatcher().finished_at().is_none() {
                    self.settle(pause);
                    samples += 1;
                    observe(pause, Some((pause.since(start), self.statistics())));
                }
            } else if pause == look && self.is_settled() {
                break Stop::Quiet { last: pause };
            } else if pause == look && self.dispatcher().is_held() && self.memory_is_settled() {
                (start, before) = (self.simulation.now(), Some(self.go_on(launch, part)));
                early = part.early_end(launch, self);
            }
            if pause == end && early.as_ref().is_some_and(|early| early.is_reached(self)) {
                self.dispatcher().end_early();
                early = None;
            }
            if pause == watched && self.dispatcher().finished_at().is_none() {
                self.settle(pause);
                if self.show_parts(launch, start, false).is_break() {
                    break Stop::Failed { at: pause };
                }
            }
            if pause == lookout.next() {
                livelock = self.look_for_livelock(&mut lookout, pause);
                if livelock.is_some() {
                    break Stop::Paused;
                }
            }
        };
        let now = self.simulation.now();
        self.settle(now);
        self.end_rows(now);
        let end = match (&stop, self.dispatcher().finished_at()) {
            (Stop::Quiet { .. }, Some(end)) => Ok(end.next()),
            _ => Err(now),
        };
        let cycles = end.unwrap_or_else(|now| now).since(start);
        let overlapped_cycles = if before.is_some() { 0 } else { begin.overlapped };
        let latency = begin.from.since(start);
        let (prints, end_cta) = (self.take_prints(), self.dispatcher().end());
        let finished = Finished { cycles, overlapped_cycles, latency, occupancy, prints, end_cta, before };
        let mut stop = stop;
        if end.is_ok() {
            if self.show_parts(launch, start, true).is_continue() {
                return Ok(finished);
            }
            stop = Stop::Failed { at: now };
        }
        let stopped = livelock.unwrap_or_else(|| self.stopped_by(stop));
        Err(Stopped { so_far: Some(Box::new(finished)), ..stopped })
    }

    /// Gives the SMs that run programs a launch. Returns how it fills each of them.
    fn prepare(&mut self, launch: &Arc<Launch>, start: Cycle) -> Result<Occupancy, Stopped> {
        let mut occupancy = None;
        for index in self.compute_sms.clone() {
            occupancy = Some(self.sm(index).prepare(launch.clone(), start));
        }
        let occupancy = occupancy.expect("a machine has SMs");
        if occupancy.ctas == 0 {
            let reason = format!("a CTA does not fit an SM: limited by {}", occupancy.limiter);
            return Err(Stopped { failure: Failure::NoRoom, reason, so_far: None, outside: None });
        }
        let cluster = launch.cluster_ctas();
        if occupancy.ctas < cluster {
            let (fit, limiter) = (occupancy.ctas, occupancy.limiter);
            let reason =
                format!("a cluster of {cluster} CTAs does not fit an SM: {fit} do, limited by {limiter}");
            return Err(Stopped { failure: Failure::NoRoom, reason, so_far: None, outside: None });
        }
        Ok(occupancy)
    }

    /// The next cycle in which to look whether a launch is over, where the machine never comes to rest.
    pub(super) fn next_look(&self, start: Cycle) -> Cycle {
        let looks = self.simulation.now().since(start) / LOOK_CYCLES;
        if self.polls { start + (looks + 1) * LOOK_CYCLES } else { Cycle::NEVER }
    }

    /// Whether a launch is over and nothing of it is under way.
    fn is_settled(&mut self) -> bool {
        self.dispatcher().finished() && self.memory_is_settled()
    }

    /// Whether no partition has anything under way.
    pub(super) fn memory_is_settled(&mut self) -> bool {
        (0..self.channels()).all(|channel| self.partition(channel).is_settled())
    }
}
