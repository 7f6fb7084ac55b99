//! What a window costs beside its work, measured on islands that do none.

use std::time::{Duration, Instant};

use crate::island::{Island, Ran, Span};
use crate::link::{Doorbell, Window};
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
    /// Whether the host has that many cores; otherwise each thread more costs what the others do.
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

/// What is not measured grows with the threads, as all of them write to the same few lines of the host's caches.
fn extended(measured: &[f64]) -> [Overhead; THREADS.len()] {
    let (first, last) = (measured[0], measured[measured.len() - 1]);
    let more = THREADS[measured.len() - 1] - 1;
    let each = if more == 0 { first } else { (last - first).max(0.0) / more as f64 };
    std::array::from_fn(|at| match measured.get(at) {
        Some(seconds) => Overhead { seconds: *seconds, is_measured: true },
        None => Overhead { seconds: first + (THREADS[at] - 1) as f64 * each, is_measured: false },
    })
}

/// Seconds of an empty window.
fn seconds(islands: usize, threads: usize) -> f64 {
    let mut simulation = Simulation::new((0..islands).map(|index| Idle { keeps_time: index == 0 }).collect());
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

/// An island without work, one of which goes through every cycle.
struct Idle {
    keeps_time: bool,
}

impl Island for Idle {
    fn hang(&mut self, _: &Doorbell) {}
    fn collect(&mut self, _: Window) {}
    fn tick(&mut self, _: Cycle) {}
    fn run(&mut self, span: Span) -> Ran {
        Ran { last: None, due: self.next_event(span.until) }
    }
    fn next_event(&self, now: Cycle) -> Cycle {
        if self.keeps_time { now } else { Cycle::NEVER }
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
    fn threads_beyond_the_cores_cost_what_the_others_do() {
        let found = extended(&[1.0, 3.0]);
        assert_eq!(found.map(|overhead| overhead.seconds), [1.0, 3.0, 7.0, 15.0, 31.0, 127.0]);
        assert_eq!(found.map(|overhead| overhead.is_measured), [true, true, false, false, false, false]);
        let alone = extended(&[2.0]);
        assert_eq!(alone[1], Overhead { seconds: 4.0, is_measured: false });
    }

    #[test]
    fn a_window_without_work_takes_some_time() {
        let found = Overhead::measure(20);
        assert!(found.iter().all(|overhead| (0.0..1e-3).contains(&overhead.seconds)), "{found:?}");
        assert!(found[0].is_measured && found[0].seconds > 0.0);
    }
}
