mod meeting;

use std::cell::Cell;
use std::sync::Arc;

use self::meeting::Meeting;
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
    /// Where its thread waits until the time has passed for all threads, and its number there; else it only says that it took
    /// so long.
    meeting: Option<(Arc<Meeting>, usize)>,
    done: usize,
    inlets: Vec<Inlet<()>>,
    outlets: Vec<Outlet<()>>,
}

impl Worker {
    fn new(costs: &[u64]) -> Worker {
        Worker { costs: costs.to_vec(), meeting: None, done: 0, inlets: vec![], outlets: vec![] }
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
        match &self.meeting {
            Some((meeting, island)) => meeting.spend(*island, self.costs[window]),
            None => NANOSECONDS.set(NANOSECONDS.get() + self.costs[window]),
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
    schedule_of(islands.iter().map(|costs| Worker::new(costs)).collect())
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
fn real_threads_take_as_long_as_computed() {
    const WINDOWS: u64 = 8;
    let (leaves, hubs) = (0..12, 12..14);
    let costs = |island: u64| (0..WINDOWS).map(move |window| 1 + (5 * island + 7 * window) % 6);
    let workers = |time: Option<&Arc<Meeting>>| {
        let worker = |island: usize| {
            let worker = Worker::new(&costs(island as u64).collect::<Vec<u64>>());
            Worker { meeting: time.map(|time| (time.clone(), island)), ..worker }
        };
        let mut workers: Vec<Worker> = (0..hubs.end).map(worker).collect();
        let (ends, middles) = workers.split_at_mut(leaves.end);
        for leaf in ends {
            for hub in &mut *middles {
                let (outlet, inlet) = link(1, 1);
                leaf.outlets.push(outlet);
                hub.inlets.push(inlet);
            }
        }
        workers
    };
    let neighbours = |island| if leaves.contains(&island) { hubs.clone() } else { leaves.clone() };
    let neighbours: Vec<Vec<usize>> = (0..hubs.end).map(|island| neighbours(island).collect()).collect();
    let computed = schedule_of(workers(None));
    for span in &computed.spans[1..5] {
        let meeting = Arc::new(Meeting::new(span.threads, WINDOWS as usize, neighbours.clone()));
        let mut simulation = Simulation::new(workers(Some(&meeting)));
        simulation.run(RunOptions { threads: span.threads, ..OPTIONS }, &mut |_| {});
        let (took, computed) = (meeting.now() as f64, span.working.as_nanos() as f64);
        // Which of two threads that are free at once takes an island is a matter of chance.
        let ratio = took / computed;
        assert!((0.9..1.15).contains(&ratio), "{} threads: {took}, computed {computed}", span.threads);
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
