//! Runs islands window by window, on any number of threads.
//!
//! A window is as long as the smallest link latency between islands, or shorter. Within a window each island
//! runs alone; between windows the mailboxes are exchanged. Islands share no state, so it does not matter
//! which thread runs which island.
//!
//! Threads do not meet between windows. An island can simulate a window as soon as those that it has links with have
//! simulated the one before: then it has all that can reach it, and they have taken all that it left there.

mod front;
mod groups;
mod sharing;
mod worker;

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use self::front::Front;
use self::groups::Groups;
use self::worker::{Shared, State, Worker};
use crate::island::Island;
use crate::link::Doorbell;
use crate::order::Order;
use crate::pace::Pace;
use crate::schedule::{Clock, Ledger, Overhead, Schedule, THREADS};
use crate::time::Cycle;

/// Options of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions {
    /// Number of worker threads, at least 1.
    pub threads: usize,
    /// Whether fewer threads run while more would not be faster.
    pub saves_threads: bool,
    /// Length of a window in cycles: at least 1, at most the smallest link latency.
    pub window: u64,
    /// Cycles without progress after which the watchdog stops the run.
    pub patience_cycles: u64,
    /// The cycle at which the run stops with [`Stop::CycleLimit`].
    pub limit: Cycle,
    /// Set from outside to stop a run with [`Stop::Failed`].
    pub interrupt: Option<&'static AtomicBool>,
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// No island has anything left to do.
    Quiet {
        /// The last cycle in which any island did anything.
        last: Cycle,
    },
    /// Work is left, but nothing has moved for the watchdog's patience.
    Stuck {
        /// The cycle at which the watchdog noticed.
        at: Cycle,
    },
    /// The run reached its cycle limit.
    CycleLimit,
    /// The run reached the cycle to pause at; the next run continues from there.
    Paused,
    /// An island asked to stop, or the run was interrupted.
    Failed {
        /// End of the window in which the island asked.
        at: Cycle,
    },
}

/// A set of islands and the current simulated time.
pub struct Simulation<I> {
    islands: Vec<Mutex<I>>,
    /// One bell for each island.
    bells: Vec<Doorbell>,
    order: Order,
    now: Cycle,
    /// Number of the next window.
    window: u64,
    every_cycle: bool,
    /// State kept by a run that paused.
    paused: Option<Memory>,
    /// What was learned about threads, for the next run.
    pace: Option<Pace>,
    /// What islands cost, while that is measured.
    ledger: Option<Ledger>,
}

/// What a run must remember across a pause.
#[derive(Clone, Copy)]
struct Memory {
    moved: Moved,
    /// The last cycle in which an island was ticked.
    last: Cycle,
}

impl<I: Island> Simulation<I> {
    /// A simulation at cycle 0. The order of `islands` does not affect results.
    pub fn new(mut islands: Vec<I>) -> Self {
        let bells: Vec<Doorbell> = (0..islands.len()).map(Doorbell::of).collect();
        for (island, bell) in islands.iter_mut().zip(&bells) {
            island.hang(bell);
        }
        let islands = islands.into_iter().map(Mutex::new).collect();
        Simulation {
            islands,
            order: Order::new(bells.iter().map(Doorbell::neighbours).collect()),
            bells,
            now: Cycle::ZERO,
            window: 0,
            every_cycle: false,
            paused: None,
            pace: None,
            ledger: None,
        }
    }

    /// Measures what each island costs from now on, on one thread however many a run has; `clock` is that thread's, and
    /// `overheads` what windows cost beside their work ([`measure`](crate::empty_windows::measure)).
    pub fn measure_schedule(&mut self, clock: Clock, overheads: [Overhead; THREADS.len()]) {
        self.ledger = Some(Ledger::new(&self.order, clock, overheads));
    }

    /// What was measured, and what it would take on more threads.
    pub fn schedule(&self) -> Option<Schedule> {
        self.ledger.as_ref().map(Ledger::schedule)
    }

    /// Makes every run tick every island in every cycle, including cycles in which nothing can change.
    /// Results stay the same; tests use this to verify skipping.
    pub fn tick_every_cycle(&mut self) {
        self.every_cycle = true;
    }

    /// The current time: the first cycle not yet simulated.
    pub fn now(&self) -> Cycle {
        self.now
    }

    /// All islands, to set up or read between runs.
    pub fn islands_mut(&mut self) -> impl Iterator<Item = &mut I> {
        self.islands.iter_mut().map(|island| island.get_mut().expect("no island panicked"))
    }

    /// One island, to set up or read between runs.
    pub fn island_mut(&mut self, index: usize) -> &mut I {
        self.islands[index].get_mut().expect("no island panicked")
    }

    /// Runs until no work is left. Calls `observe` with the current cycle from time to time, on the calling
    /// thread.
    pub fn run(&mut self, options: RunOptions, observe: &mut dyn FnMut(Cycle)) -> Stop {
        self.run_until(Cycle::NEVER, options, observe)
    }

    /// Like [`Simulation::run`], but stops with [`Stop::Paused`] before simulating cycle `pause`. Islands may
    /// be inspected then; the next run continues as if there had been no pause.
    pub fn run_until(&mut self, pause: Cycle, options: RunOptions, observe: &mut dyn FnMut(Cycle)) -> Stop {
        assert!(options.threads >= 1 && options.window >= 1, "a run has threads and a window");
        let most = if self.ledger.is_some() { 1 } else { self.islands.len().max(1) };
        let threads = options.threads.min(most);
        if threads == 1 || !options.saves_threads {
            return self.stretch(pause, threads, options, observe);
        }
        let mut pace = self.pace.take().unwrap_or_else(|| Pace::new(threads));
        let stop = loop {
            let end = pause.min(self.now + pace.cycles());
            let (from, before, started) = (self.now, self.work(), Instant::now());
            let stop = self.stretch(end, pace.threads(), options, observe);
            let cycles = self.now.since(from);
            pace.took(cycles, self.work().wrapping_sub(before) + cycles, started.elapsed());
            if stop != Stop::Paused || end == pause {
                break stop;
            }
        };
        self.pace = Some(pace);
        stop
    }

    /// What all islands have done, as they count it.
    fn work(&mut self) -> u64 {
        sum(self.islands_mut().map(|island| island.progress()))
    }

    /// Runs with a given number of threads.
    fn stretch(
        &mut self,
        pause: Cycle,
        threads: usize,
        options: RunOptions,
        observe: &mut dyn FnMut(Cycle),
    ) -> Stop {
        let count = self.islands.len();
        let paused = self.paused.take();
        // Links may hold items that no island knows of yet.
        let start = if paused.is_some() { self.now } else { self.islands_mut_next_event() };
        let progress: Vec<u64> = self.islands_mut().map(|island| island.progress()).collect();
        let memory = paused.unwrap_or(Memory {
            moved: Moved { progress: sum(progress.iter().copied()), cycle: start },
            last: self.now,
        });
        let idle = start == Cycle::NEVER;
        let start = if self.every_cycle && !idle { self.now } else { start };
        let begin = Position { cycle: start, window: self.window, moved: memory.moved };
        let total = sum(progress.iter().copied());
        let shared = Shared {
            islands: &self.islands,
            bells: &self.bells,
            order: &self.order,
            every_cycle: self.every_cycle,
            front: Front::new(count, (begin, total, memory.last), self.every_cycle, pause, options),
            // One thread alone shares nothing out.
            groups: if threads > 1 {
                Groups::new(&self.order, threads, self.window)
            } else {
                Groups::default()
            },
            states: progress.into_iter().map(State::new).collect(),
        };
        let ledger = self.ledger.as_mut();
        std::thread::scope(|scope| {
            for thread in 1..threads {
                let shared = &shared;
                scope.spawn(move || {
                    let _poison = shared.front.poison_on_panic();
                    Worker::new(shared, (thread, threads), None).work(&mut |_| {});
                });
            }
            let _poison = shared.front.poison_on_panic();
            Worker::new(&shared, (0, threads), ledger).work(observe);
        });
        let (stop, end, last) = shared.front.into_end();
        self.now = match stop {
            // It may have passed before the run.
            Stop::CycleLimit => end.cycle.max(self.now),
            _ => end.cycle,
        };
        self.window = end.window;
        if stop == Stop::Paused {
            self.paused = Some(Memory { moved: end.moved, last });
        }
        stop
    }

    /// Who waits for what, one sentence for each wait in any island.
    pub fn waits(&mut self) -> Vec<String> {
        let mut report = Vec::new();
        for island in self.islands_mut() {
            island.waits(&mut report);
        }
        report
    }

    fn islands_mut_next_event(&mut self) -> Cycle {
        let now = self.now;
        self.islands_mut().map(|island| island.next_event(now)).min().unwrap_or(Cycle::NEVER).max(now)
    }
}

/// A position in the sequence of windows.
#[derive(Clone, Copy, Debug)]
struct Position {
    cycle: Cycle,
    window: u64,
    moved: Moved,
}

fn sum(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::wrapping_add)
}

/// When the progress count last changed.
#[derive(Clone, Copy, Debug)]
struct Moved {
    progress: u64,
    cycle: Cycle,
}

#[cfg(test)]
mod tests;
