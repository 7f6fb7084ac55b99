//! Host phases: threads of a kernel on the CPU cores.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use strata_engine::{Cycle, Stop};
use strata_sm::launch::Launch;
use strata_sm::print::Print;

use super::{Gpu, Observed, Stopped};

/// What a host phase did, whether it ended or was stopped.
#[derive(Clone, Debug, Default)]
pub struct PhaseEnd {
    /// Core cycles of the GPU from the beginning until every core had ended its threads and flushed its L1D.
    pub cycles: u64,
    /// What the threads printed, ordered by thread.
    pub prints: Vec<Print>,
}

impl Gpu {
    /// Number of CPU cores.
    pub fn cpu_cores(&self) -> usize {
        self.islands.cores.len()
    }

    /// Runs every CTA of a launch, each of one thread, on the CPU cores, to the end of all of them. Calls `observe` from time
    /// to time.
    ///
    /// # Errors
    /// Beside what the phase had done until then: a program error with its location; or, if the machine deadlocks, who
    /// waits for what.
    ///
    /// # Panics
    /// On a machine without CPU cores.
    pub fn phase(
        &mut self,
        launch: &Arc<Launch>,
        observe: &mut dyn FnMut(Observed),
    ) -> (PhaseEnd, Result<(), Stopped>) {
        assert!(self.cpu_cores() > 0, "a machine without CPU cores runs its host phases elsewhere");
        self.synchronize();
        let start = self.simulation.now();
        self.ctas_done.store(0, Ordering::Relaxed);
        for index in self.islands.cores.clone() {
            let core = self.core(index);
            let now = core.first(start);
            core.island_mut().begin(launch.clone(), now);
        }
        let mut stop = self.run_phase(launch, start, observe);
        let now = self.simulation.now();
        self.settle_memory(now);
        let end = match &stop {
            Stop::Quiet { .. } => self.phase_ended_at(),
            _ => None,
        };
        let cycles = end.map_or(now, Cycle::next).since(start);
        let done = PhaseEnd { cycles, prints: self.take_phase_prints() };
        if end.is_some() {
            if self.show_parts(launch, start, true).is_continue() {
                return (done, Ok(()));
            }
            stop = Stop::Failed { at: now };
        }
        (done, Err(self.stopped_by(stop)))
    }

    fn run_phase(&mut self, launch: &Launch, start: Cycle, observe: &mut dyn FnMut(Observed)) -> Stop {
        let (options, ctas_done) = (self.run_options(), self.ctas_done.clone());
        let mut observe = |cycle| {
            observe(Observed { cycle, ctas_done: ctas_done.load(Ordering::Relaxed), counted: None });
        };
        loop {
            let look = self.next_look(start);
            let running = self.phase_ended_at().is_none();
            let watched = if running { self.next_watched() } else { Cycle::NEVER };
            let pause = look.min(watched);
            match self.simulation.run_until(pause, options, &mut observe) {
                Stop::Paused => {}
                stop => return stop,
            }
            if pause == look && self.phase_ended_at().is_some() && self.memory_is_settled() {
                return Stop::Quiet { last: pause };
            }
            if pause == watched && self.phase_ended_at().is_none() {
                self.settle_memory(pause);
                if self.show_parts(launch, start, false).is_break() {
                    return Stop::Failed { at: pause };
                }
            }
        }
    }

    /// The cycle in which the last core was done; `None` while one has something to do.
    fn phase_ended_at(&mut self) -> Option<Cycle> {
        let mut last = None;
        for index in self.islands.cores.clone() {
            let core = self.core(index);
            if !core.island().is_idle() {
                return None;
            }
            let ended = core.island().ended_at().map(|cycle| core.clock().reference(cycle.0));
            last = last.max(ended);
        }
        last
    }

    fn take_phase_prints(&mut self) -> Vec<Print> {
        let cores = self.islands.cores.clone();
        let mut prints: Vec<Print> =
            cores.flat_map(|index| self.core(index).island_mut().take_prints()).collect();
        prints.sort_by_key(|print| print.cta);
        prints
    }
}
