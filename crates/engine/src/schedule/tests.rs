use std::cell::Cell;

use super::*;
use crate::island::{Island, Ran};
use crate::link::{Doorbell, Inlet, Outlet, Window, link};
use crate::simulation::{RunOptions, Simulation, Stop};
use crate::time::Cycle;

thread_local! {
    static NANOSECONDS: Cell<u64> = const { Cell::new(0) };
}

fn clock() -> Duration {
    Duration::from_nanos(NANOSECONDS.get())
}

/// An island that takes a known time for each window, 0 if it has nothing to do.
struct Worker {
    costs: Vec<u64>,
    /// Whether it sleeps for so long, or only says that it took so long.
    sleeps: bool,
    done: usize,
    inlets: Vec<Inlet<()>>,
    outlets: Vec<Outlet<()>>,
}

impl Worker {
    fn new(costs: &[u64], sleeps: bool) -> Worker {
        Worker { costs: costs.to_vec(), sleeps, done: 0, inlets: vec![], outlets: vec![] }
    }

    /// The window of a cycle, one cycle each.
    fn due(&self) -> Cycle {
        let next = self.costs[self.done..].iter().position(|cost| *cost > 0);
        next.map_or(Cycle::NEVER, |skipped| Cycle((self.done + skipped) as u64))
    }
}

impl Island for Worker {
    fn hang(&mut self, bell: &Doorbell) {
        self.inlets.iter().for_each(|inlet| inlet.hang(bell));
        self.outlets.iter().for_each(|outlet| outlet.hang(bell));
    }
    fn collect(&mut self, _: Window) {}
    fn tick(&mut self, _: Cycle) {}
    fn run(&mut self, span: crate::island::Span) -> Ran {
        let window = span.from.0 as usize;
        if self.sleeps {
            std::thread::sleep(Duration::from_nanos(self.costs[window]));
        } else {
            NANOSECONDS.set(NANOSECONDS.get() + self.costs[window]);
        }
        self.done = window + 1;
        Ran { last: Some(span.from), due: self.due() }
    }
    fn next_event(&self, _: Cycle) -> Cycle {
        self.due()
    }
    fn flush(&mut self, _: Window) -> Cycle {
        Cycle::NEVER
    }
    fn progress(&self) -> u64 {
        self.done as u64
    }
    fn waits(&self, _: &mut Vec<String>) {}
}

const OPTIONS: RunOptions = RunOptions {
    threads: 4,
    saves_threads: false,
    window: 1,
    patience_cycles: 1000,
    limit: Cycle::NEVER,
    interrupt: None,
};

/// The schedule of islands with these costs, by island and window, when windows cost nothing beside.
fn schedule(islands: &[&[u64]]) -> Schedule {
    schedule_of(islands.iter().map(|costs| Worker::new(costs, false)).collect())
}

fn schedule_of(workers: Vec<Worker>) -> Schedule {
    let mut simulation = Simulation::new(workers);
    let free = Overhead { seconds: 0.0, is_measured: true };
    simulation.measure_schedule(clock, [free; THREADS.len()]);
    let stop = simulation.run(OPTIONS, &mut |_| {});
    assert!(matches!(stop, Stop::Quiet { .. }), "{stop:?}");
    simulation.schedule().unwrap()
}

/// Nanoseconds of each number of threads.
fn working(schedule: &Schedule) -> [u128; THREADS.len()] {
    schedule.spans.map(|span| span.working.as_nanos())
}

#[test]
fn work_is_that_of_each_island() {
    let found = schedule(&[&[10, 0, 500], &[20, 0, 0], &[30, 40, 50]]);
    assert_eq!(found.windows, 3);
    assert_eq!(found.islands, [510, 20, 120].map(Duration::from_nanos));
    assert_eq!(found.work, Duration::from_nanos(650));
    assert_eq!(found.longest, Duration::from_nanos(30 + 40 + 500));
    assert_eq!(working(&found)[0], 650, "one thread does all of it");
    assert_eq!(working(&found)[5], 570, "many wait for the longest island of each window");
}

#[test]
fn equal_islands_are_shared_out_evenly() {
    let window: &[u64] = &[100];
    assert_eq!(working(&schedule(&[window; 8])), [800, 400, 200, 100, 100, 100]);
    assert_eq!(working(&schedule(&[window; 9])), [900, 500, 300, 200, 100, 100]);
}

#[test]
fn a_thread_that_is_done_helps_the_others() {
    // Of two threads, one has 100 and 100, the other 10 and 10, and takes one of the 100.
    assert_eq!(working(&schedule(&[&[100], &[10], &[100], &[10]]))[..2], [220, 120]);
}

#[test]
#[ignore = "reads the host's clock: for a host with nothing else to do"]
fn real_threads_take_as_long_as_computed() {
    // Whoever sleeps takes no core, so any host has cores for all threads.
    let workers = |sleeps| {
        let costs = |island: u64| (0..8).map(move |window| 1_000_000 * (1 + (5 * island + 7 * window) % 6));
        let worker = |island| Worker::new(&costs(island).collect::<Vec<u64>>(), sleeps);
        let mut workers: Vec<Worker> = (0..14).map(worker).collect();
        let (leaves, hubs) = workers.split_at_mut(12);
        for leaf in leaves {
            for hub in &mut *hubs {
                let (outlet, inlet) = link(1, 1);
                leaf.outlets.push(outlet);
                hub.inlets.push(inlet);
            }
        }
        workers
    };
    let computed = schedule_of(workers(false));
    for span in &computed.spans[1..5] {
        let run = || {
            let mut simulation = Simulation::new(workers(true));
            let started = std::time::Instant::now();
            simulation.run(RunOptions { threads: span.threads, ..OPTIONS }, &mut |_| {});
            let took = started.elapsed();
            // Nobody sleeps less than asked for.
            let least = span.working.mul_f64(0.9);
            assert!(took >= least, "{} threads: {took:?}, computed {:?}", span.threads, span.working);
            took
        };
        // On a busy host many sleep longer, but not in every run.
        let most = 2 * span.working + Duration::from_millis(200);
        assert!((0..100).any(|_| run() < most), "{} threads: never {most:?} or less", span.threads);
    }
}

#[test]
fn what_windows_cost_counts_too() {
    let mut found = schedule(&[&[1000, 1000], &[1000, 1000]]);
    assert_eq!(found.speed_up(&found.spans[1]), 2.0);
    found.spans[1].overhead.seconds = 1e-6;
    assert_eq!(found.speed_up(&found.spans[1]), 1.0);
}

#[test]
fn nothing_has_no_speed_up() {
    let found = schedule(&[]);
    assert_eq!(found.speed_up(&found.spans[3]), 0.0);
}
