//! What one thread of a run does.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use super::front::{Front, Open, Tally};
use super::groups::Groups;
use crate::island::{Done, Island, Ran, Span};
use crate::link::{Doorbell, Rung, Window};
use crate::order::Order;
use crate::schedule::Ledger;
use crate::time::Cycle;

/// How often a waiting thread looks before it yields its core: some 20 microseconds; and before it sleeps.
const SPINS: u32 = 4_000;
const YIELDS: u32 = 200;
const NAP: Duration = Duration::from_micros(50);

/// What the threads of a run share.
pub(super) struct Shared<'a, I> {
    pub islands: &'a [Mutex<I>],
    pub bells: &'a [Doorbell],
    pub order: &'a Order,
    pub every_cycle: bool,
    pub front: Front,
    pub groups: Groups,
    /// How far each island has come.
    pub states: Vec<State>,
}

/// How far an island has come. Each in a line of the host's caches of its own: who has taken the island writes it.
#[repr(align(64))]
pub(super) struct State {
    /// Progress count when it last ran.
    progress: AtomicU64,
    /// The next event, as reported when it last ran.
    wake: AtomicU64,
}

impl State {
    /// Creates the state of an island that may have changed since its last run; it is visited once.
    pub fn new(progress: u64) -> State {
        State { progress: AtomicU64::new(progress), wake: AtomicU64::new(0) }
    }

    #[inline]
    pub fn wake(&self) -> Cycle {
        Cycle(self.wake.load(Ordering::Relaxed))
    }
}

/// An island as one thread alone visits it: its own as long as the thread works.
struct Visited<'a, I> {
    island: MutexGuard<'a, I>,
    state: &'a State,
    bell: &'a Doorbell,
}

/// A thread of a run.
pub(super) struct Worker<'a, 'b, I> {
    pub(super) shared: &'a Shared<'b, I>,
    /// All islands in the order in which one thread alone takes them, unless it measures them or there are others.
    visited: Vec<Visited<'a, I>>,
    pub(super) thread: usize,
    threads: usize,
    ledger: Option<&'a mut Ledger>,
    pub(super) tally: Tally,
    /// By group, the islands that are known to have simulated the window before.
    pub(super) known: Vec<u32>,
    pub(super) patience: Patience,
}

impl<'a, 'b, I: Island> Worker<'a, 'b, I> {
    pub fn new(
        shared: &'a Shared<'b, I>,
        (thread, threads): (usize, usize),
        ledger: Option<&'a mut Ledger>,
    ) -> Self {
        let visited = |island: &usize| Visited {
            island: lock(&shared.islands[*island]),
            state: &shared.states[*island],
            bell: &shared.bells[*island],
        };
        let alone = if threads == 1 && ledger.is_none() { shared.order.islands() } else { &[] };
        Worker {
            shared,
            visited: alone.iter().map(visited).collect(),
            thread,
            threads,
            ledger,
            tally: Tally::default(),
            known: vec![0; shared.groups.len()],
            patience: Patience::new(threads),
        }
    }

    /// Simulates windows until the run ends. Calls `observe` after each.
    pub fn work(mut self, observe: &mut dyn FnMut(Cycle)) {
        let front = &self.shared.front;
        let mut window = front.first();
        while !front.is_over() {
            self.simulate(window);
            front.tell(window.number, &mut self.tally);
            observe(window.until);
            window = loop {
                match front.next(window.number) {
                    Some(next) => break next,
                    None if front.is_over() => return,
                    None => self.patience.wait(),
                }
            };
            self.patience.renew();
        }
    }

    /// Simulates the islands of a window that no other thread has taken.
    fn simulate(&mut self, window: Open) {
        if self.threads > 1 {
            self.simulate_with_others(window);
        } else if self.ledger.is_none() {
            self.simulate_alone(window);
        } else {
            self.measure(window);
        }
    }

    /// Simulates all islands of a window. Most have nothing to do in most windows, so a visit to one of those is short.
    fn simulate_alone(&mut self, window: Open) {
        let shared = self.shared;
        let mut earliest = Cycle::NEVER;
        for Visited { island, state, bell } in &mut self.visited {
            let wake = state.wake();
            let rung = bell.answer(Window(window.number));
            let due = if !rung.is_silent() || wake < window.until || shared.every_cycle {
                run(&mut **island, state, &mut self.tally, (rung, shared.every_cycle), window)
            } else {
                wake
            };
            earliest = earliest.min(due);
        }
        self.tally.finished += self.visited.len();
        self.tally.earliest = self.tally.earliest.min(earliest);
    }

    /// Simulates all islands of a window and measures what each costs.
    #[cold]
    fn measure(&mut self, window: Open) {
        if let Some(ledger) = &mut self.ledger {
            ledger.begin_window();
        }
        self.shared.order.islands().iter().for_each(|island| self.visit(*island, window));
        if let Some(ledger) = &mut self.ledger {
            ledger.end_window(self.shared.order);
        }
    }

    /// Simulates a window of an island, if it has anything to do.
    pub(super) fn visit(&mut self, island: usize, window: Open) {
        let (shared, state) = (self.shared, &self.shared.states[island]);
        let wake = state.wake();
        let rung = shared.bells[island].answer(Window(window.number));
        let has_work = !rung.is_silent() || wake < window.until || shared.every_cycle;
        let due = if has_work {
            let mut island = lock(&shared.islands[island]);
            run(&mut *island, state, &mut self.tally, (rung, shared.every_cycle), window)
        } else {
            wake
        };
        self.tally.finished += 1;
        self.tally.earliest = self.tally.earliest.min(due);
        if let Some(ledger) = &mut self.ledger {
            ledger.visited(island, has_work, due <= window.until);
        }
    }
}

fn lock<I>(island: &Mutex<I>) -> MutexGuard<'_, I> {
    island.lock().expect("no island panicked")
}

/// Runs an island to the end of the window. Returns the earliest cycle at which it, or anything it sent, acts next.
#[inline(never)]
fn run<I: Island>(
    island: &mut I,
    state: &State,
    tally: &mut Tally,
    (rung, every_cycle): (Rung, bool),
    window: Open,
) -> Cycle {
    let span = Span { from: window.from, until: window.until, every_cycle };
    let Done { ran: Ran { last, due }, sent, progress, failed } =
        island.simulate(Window(window.number), span, rung);
    state.wake.store(due.0, Ordering::Relaxed);
    if let Some(last) = last {
        // Only the thread that has taken the island is here.
        let before = state.progress.load(Ordering::Relaxed);
        state.progress.store(progress, Ordering::Relaxed);
        tally.progress = tally.progress.wrapping_add(progress.wrapping_sub(before));
        tally.last = tally.last.max(last);
        tally.has_failed |= failed;
    }
    due.min(sent)
}

/// How a thread waits: the longer, the less it takes of its core.
pub(super) struct Patience {
    shares_cores: bool,
    looked: u32,
}

impl Patience {
    fn new(threads: usize) -> Patience {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let mut patience = Patience { shares_cores: threads > cores, looked: 0 };
        patience.renew();
        patience
    }

    /// What was waited for has come.
    pub fn renew(&mut self) {
        self.looked = if self.shares_cores { SPINS } else { 0 };
    }

    pub fn wait(&mut self) {
        self.looked = self.looked.saturating_add(1);
        if self.looked <= SPINS {
            std::hint::spin_loop();
        } else if self.looked <= SPINS + YIELDS {
            std::thread::yield_now();
        } else {
            std::thread::sleep(NAP);
        }
    }
}
