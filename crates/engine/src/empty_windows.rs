//! Windows of islands that do no work, and what they cost.

use std::time::{Duration, Instant};

use crate::island::{Island, Ran, Span};
use crate::link::{Doorbell, Inlet, Outlet, Window, link};
use crate::schedule::{Overhead, THREADS};
use crate::simulation::{RunOptions, Simulation};
use crate::time::Cycle;

/// Windows of a measurement, and measurements of which the shortest counts: on a busy host the others wait for a core.
const WINDOWS: u64 = 60;
const MEASUREMENTS: usize = 60;

/// What a window costs each of [`THREADS`], in a simulation of so many islands.
pub fn measure(islands: usize) -> [Overhead; THREADS.len()] {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let measured: Vec<f64> = THREADS
        .iter()
        .take_while(|threads| **threads <= cores)
        .map(|threads| seconds(islands, *threads))
        .collect();
    Overhead::of_each(&measured)
}

/// Seconds of an empty window.
fn seconds(islands: usize, threads: usize) -> f64 {
    let (outlets, inlets) = (1..islands).map(|_| link(1, 1)).unzip();
    let hub = Idle { is_hub: true, outlet: None, inlets };
    let leaf = |outlet| Idle { is_hub: false, outlet: Some(outlet), inlets: vec![] };
    let outlets: Vec<Outlet<()>> = outlets;
    let mut simulation = Simulation::new(outlets.into_iter().map(leaf).chain([hub]).collect());
    let options = RunOptions {
        threads,
        saves_threads: false,
        window: 1,
        patience_cycles: u64::MAX,
        limit: Cycle::NEVER,
        interrupt: None,
    };
    // Starting threads is not part of a window: each measurement is run with few windows, too.
    let mut least = |windows: u64| {
        let run = |_| {
            let started = Instant::now();
            let pause = simulation.now() + windows;
            simulation.run_until(pause, options, &mut |_| {});
            started.elapsed()
        };
        (0..MEASUREMENTS).map(run).min().unwrap_or(Duration::ZERO)
    };
    let (short, long) = (least(1), least(1 + WINDOWS));
    long.saturating_sub(short).as_secs_f64() / WINDOWS as f64
}

/// An island without work. One goes through every cycle, and all others have a link with it.
struct Idle {
    is_hub: bool,
    outlet: Option<Outlet<()>>,
    inlets: Vec<Inlet<()>>,
}

impl Island for Idle {
    fn hang(&mut self, bell: &Doorbell) {
        self.outlet.iter().for_each(|outlet| outlet.hang(bell));
        self.inlets.iter().for_each(|inlet| inlet.hang(bell));
    }
    fn collect(&mut self, _: Window) {}
    fn tick(&mut self, _: Cycle) {}
    fn run(&mut self, span: Span) -> Ran {
        Ran { last: None, due: self.next_event(span.until) }
    }
    fn next_event(&self, now: Cycle) -> Cycle {
        if self.is_hub { now } else { Cycle::NEVER }
    }
    fn flush(&mut self, _: Window) -> Cycle {
        Cycle::NEVER
    }
    fn progress(&self) -> u64 {
        0
    }
    fn waits(&self, _: &mut Vec<String>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_without_work_is_measured_with_a_thread() {
        let found = measure(20);
        assert!(found.iter().all(|overhead| overhead.seconds >= 0.0), "{found:?}");
        assert!(found[0].is_measured, "{found:?}");
    }
}
