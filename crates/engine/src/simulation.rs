//! Runs islands window by window, on any number of threads.
//!
//! A window is as long as the smallest link latency between islands, or shorter. Within a window each island
//! runs alone; between windows the mailboxes are exchanged. Islands share no state, so it does not matter
//! which thread runs which island.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use crate::barrier::Barrier;
use crate::island::{Island, Ran, Span};
use crate::link::{Doorbell, Window};
use crate::pace::Pace;
use crate::schedule::{Clock, Ledger, Overhead, Schedule, turns};
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
    now: Cycle,
    window: Window,
    every_cycle: bool,
    /// State kept by a run that paused.
    paused: Option<Memory>,
    /// What was learned about threads, for the next run.
    pace: Option<Pace>,
    pub(crate) ledger: Option<Ledger>,
}

/// What a run must remember across a pause.
#[derive(Clone, Copy)]
struct Memory {
    moved: Moved,
    /// The last cycle in which an island was ticked.
    last: Cycle,
}

/// State shared by the threads of a run.
struct Shared {
    barrier: Barrier,
    /// Earliest next event of the window that is ending, three windows deep so that one entry can be cleared
    /// while its neighbours are in use.
    next: [AtomicU64; 3],
    /// Last cycle in which an island was ticked.
    last: AtomicU64,
    /// The first window in which an island failed.
    failed: AtomicU64,
    /// Progress count of each island when it last ran.
    progress: Vec<AtomicU64>,
    /// The window that last claimed each island.
    claimed: Vec<AtomicU64>,
    /// The next event of each island, as reported when it last ran.
    wake: Vec<AtomicU64>,
}

impl<I: Island> Simulation<I> {
    /// A simulation at cycle 0. The order of `islands` does not affect results.
    pub fn new(mut islands: Vec<I>) -> Self {
        let bells: Vec<Doorbell> = islands.iter().map(|_| Doorbell::default()).collect();
        for (island, bell) in islands.iter_mut().zip(&bells) {
            island.hang(bell);
        }
        let islands = islands.into_iter().map(Mutex::new).collect();
        Simulation {
            islands,
            bells,
            now: Cycle::ZERO,
            window: Window(0),
            every_cycle: false,
            paused: None,
            pace: None,
            ledger: None,
        }
    }

    /// Measures what each island costs from now on, on one thread however many a run has; `clock` is that thread's.
    pub fn measure_schedule(&mut self, clock: Clock) {
        let islands = self.islands.len();
        self.ledger = Some(Ledger::new(islands, clock, Overhead::measure(islands)));
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
            let done = self.work().wrapping_sub(before) + self.now.since(from);
            pace.took(done, started.elapsed());
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
        let shared = Shared {
            barrier: Barrier::new(threads),
            next: [const { AtomicU64::new(u64::MAX) }; 3],
            last: AtomicU64::new(memory.last.0),
            failed: AtomicU64::new(u64::MAX),
            progress: progress.into_iter().map(AtomicU64::new).collect(),
            claimed: (0..count).map(|_| AtomicU64::new(u64::MAX)).collect(),
            // Islands may have been set up since the last run, so each is visited once.
            wake: (0..count).map(|_| AtomicU64::new(0)).collect(),
        };
        let idle = start == Cycle::NEVER;
        let start = if self.every_cycle && !idle { self.now } else { start };
        let begin = Position { cycle: start, window: self.window.0, moved: memory.moved };
        let islands = Islands { islands: &self.islands, bells: &self.bells, every_cycle: self.every_cycle };
        let ledger = self.ledger.as_mut();
        let (stop, end) = std::thread::scope(|scope| {
            for thread in 1..threads {
                let shared = &shared;
                scope.spawn(move || {
                    let _poison = shared.barrier.poison_on_panic();
                    work(islands, shared, options, pause, (thread, threads), begin, &mut |_| {}, None)
                });
            }
            let _poison = shared.barrier.poison_on_panic();
            work(islands, &shared, options, pause, (0, threads), begin, observe, ledger)
        });
        self.now = end.cycle;
        self.window = Window(end.window);
        if stop == Stop::Paused {
            self.paused = Some(Memory { moved: end.moved, last: Cycle(shared.last.into_inner()) });
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

/// The islands and their bells, as all threads see them.
struct Islands<'a, I> {
    islands: &'a [Mutex<I>],
    bells: &'a [Doorbell],
    every_cycle: bool,
}

impl<I> Clone for Islands<'_, I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I> Copy for Islands<'_, I> {}

/// A thread's position in the sequence of windows.
#[derive(Clone, Copy)]
struct Position {
    cycle: Cycle,
    window: u64,
    moved: Moved,
}

fn sum(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::wrapping_add)
}

/// The main loop of one thread. All threads make the same decisions because they read the same shared values.
fn work<I: Island>(
    islands: Islands<'_, I>,
    shared: &Shared,
    options: RunOptions,
    pause: Cycle,
    (thread, threads): (usize, usize),
    begin: Position,
    observe: &mut dyn FnMut(Cycle),
    mut ledger: Option<&mut Ledger>,
) -> (Stop, Position) {
    let mut at = begin;
    loop {
        if at.cycle == Cycle::NEVER {
            let last = Cycle(shared.last.load(Ordering::Relaxed));
            return (Stop::Quiet { last }, Position { cycle: last.next(), ..at });
        }
        if at.cycle >= pause {
            return (Stop::Paused, Position { cycle: pause, ..at });
        }
        if at.cycle >= options.limit {
            return (Stop::CycleLimit, at);
        }
        let until = (at.cycle + options.window).min(pause).min(options.limit);
        shared.next[((at.window + 1) % 3) as usize].store(u64::MAX, Ordering::Relaxed);
        let next = &shared.next[(at.window % 3) as usize];
        let mut earliest = Cycle::NEVER;
        if let Some(ledger) = &mut ledger {
            ledger.begin_window();
        }
        for index in turns(thread, threads, islands.islands.len()) {
            if threads > 1 && shared.claimed[index].swap(at.window, Ordering::Relaxed) == at.window {
                continue;
            }
            let wake = shared.wake[index].load(Ordering::Relaxed);
            let rung = islands.bells[index].answer(Window(at.window));
            if !rung && wake >= until.0 && !islands.every_cycle {
                earliest = earliest.min(Cycle(wake));
                continue;
            }
            let mut island = islands.islands[index].lock().expect("no island panicked");
            let due = run_window(&mut *island, at, until, islands.every_cycle, shared, index);
            earliest = earliest.min(due);
            if let Some(ledger) = &mut ledger {
                ledger.ran(index);
            }
        }
        if let Some(ledger) = &mut ledger {
            ledger.end_window();
        }
        next.fetch_min(earliest.0, Ordering::Relaxed);
        if !shared.barrier.wait() {
            return (Stop::Failed { at: until }, at);
        }
        if thread == 0 {
            observe(until);
            if options.interrupt.is_some_and(|interrupt| interrupt.load(Ordering::Relaxed)) {
                shared.failed.fetch_min(at.window + 1, Ordering::Relaxed);
            }
        }
        let window = at.window + 1;
        // A faster thread may already have seen a failure in the next window; all threads then stop after
        // that window.
        if shared.failed.load(Ordering::Relaxed) <= at.window {
            return (Stop::Failed { at: until }, Position { cycle: until, window, ..at });
        }
        if window.is_multiple_of(64) {
            let progress = sum(shared.progress.iter().map(|count| count.load(Ordering::Relaxed)));
            if progress != at.moved.progress {
                at.moved = Moved { progress, cycle: until };
            } else if until.since(at.moved.cycle) > options.patience_cycles {
                return (Stop::Stuck { at: until }, Position { cycle: until, window, ..at });
            }
            // No thread may run ahead and change the counts that another is still adding up.
            if !shared.barrier.wait() {
                return (Stop::Failed { at: until }, at);
            }
        }
        let next = Cycle(next.load(Ordering::Relaxed));
        let cycle = match next {
            Cycle::NEVER => next,
            _ if islands.every_cycle => until,
            _ => next.max(until),
        };
        at = Position { cycle, window, ..at };
    }
}

/// When the progress count last changed.
#[derive(Clone, Copy)]
struct Moved {
    progress: u64,
    cycle: Cycle,
}

/// Runs one island to the end of the window. Returns the earliest cycle at which it, or anything it sent,
/// acts next.
fn run_window<I: Island>(
    island: &mut I,
    at: Position,
    until: Cycle,
    every_cycle: bool,
    shared: &Shared,
    index: usize,
) -> Cycle {
    let window = Window(at.window);
    island.collect(window);
    let Ran { last, due } = island.run(Span { from: at.cycle, until, every_cycle });
    let sent = island.flush(window);
    shared.wake[index].store(due.0, Ordering::Relaxed);
    if let Some(last) = last {
        shared.last.fetch_max(last.0, Ordering::Relaxed);
        shared.progress[index].store(island.progress(), Ordering::Relaxed);
        if island.failed() {
            shared.failed.fetch_min(at.window, Ordering::Relaxed);
        }
    }
    due.min(sent)
}

#[cfg(test)]
mod tests;
