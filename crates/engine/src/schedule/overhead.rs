//! What a window costs beside its work, measured on islands that do none.

use std::time::{Duration, Instant};

use crate::island::{Island, Ran, Span};
use crate::link::{Doorbell, Inlet, Outlet, Window, link};
use crate::simulation::{RunOptions, Simulation};
use crate::time::Cycle;

use super::THREADS;

/// Windows of a measurement, and measurements of which the shortest counts: on a busy host the others wait for a core.
const WINDOWS: u64 = 60;
const MEASUREMENTS: usize = 60;

/// What a window costs a number of threads beside its work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overhead {
    /// Seconds a window.
    pub seconds: f64,
    /// Whether the host has that many cores; otherwise it is what fewer threads cost, and an assumption about each more.
    pub is_measured: bool,
}

impl Overhead {
    /// For each of [`THREADS`], in a simulation of that many islands.
    pub(crate) fn measure(islands: usize) -> [Overhead; THREADS.len()] {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let measured: Vec<f64> = THREADS
            .iter()
            .take_while(|threads| **threads <= cores)
            .map(|threads| seconds(islands, *threads))
            .collect();
        extended(&measured)
    }
}

/// What each thread more adds, where that cannot be measured: it takes two lines of the host's caches from another core, to
/// tell what it found and to learn that the next window has begun, at some 100 ns each between cores of one die.
const EACH_MORE: f64 = 2e-7;

/// What is not measured grows with the threads, as all of them write to the same lines.
fn extended(measured: &[f64]) -> [Overhead; THREADS.len()] {
    let last = measured.len() - 1;
    std::array::from_fn(|at| match measured.get(at) {
        Some(seconds) => Overhead { seconds: *seconds, is_measured: true },
        None => {
            let more = (THREADS[at] - THREADS[last]) as f64;
            Overhead { seconds: measured[last] + more * EACH_MORE, is_measured: false }
        }
    })
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
    // Starting threads is no part of a window: each measurement is run with few windows, too.
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
    fn each_thread_beyond_the_cores_costs_as_much() {
        let found = extended(&[1.0, 3.0]);
        for (overhead, more) in found[2..].iter().zip([2.0, 6.0, 14.0, 62.0]) {
            assert!((overhead.seconds - 3.0 - more * EACH_MORE).abs() < 1e-12, "{overhead:?}");
        }
        assert_eq!(found.map(|overhead| overhead.is_measured), [true, true, false, false, false, false]);
    }

    #[test]
    fn a_window_without_work_is_measured_with_a_thread() {
        let found = Overhead::measure(20);
        assert!(found.iter().all(|overhead| overhead.seconds >= 0.0), "{found:?}");
        assert!(found[0].is_measured, "{found:?}");
    }
}
