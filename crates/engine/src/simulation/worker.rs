//! What one thread of a run does.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use super::front::{Front, Open, Tally};
use super::groups::Groups;
use super::order::Order;
use crate::island::{Done, Island, Ran, Span};
use crate::link::{Doorbell, Rung, Window};
use crate::schedule::Ledger;
use crate::time::Cycle;

/// How often a waiting thread looks before it yields its core: some 20 microseconds; and before it sleeps.
const SPINS: u32 = 4_000;
const YIELDS: u32 = 200;
const NAP: Duration = Duration::from_micros(50);

/// Islands that a thread simulates before it looks again whether those put off can be.
const LOOKS_AGAIN: u32 = 4;

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
    /// Of an island that may have been set up since it last ran: it is visited once.
    pub fn new(progress: u64) -> State {
        State { progress: AtomicU64::new(progress), wake: AtomicU64::new(0) }
    }

    #[inline]
    fn wake(&self) -> Cycle {
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
    shared: &'a Shared<'b, I>,
    /// All islands in the order in which one thread alone takes them, unless it measures them or there are others.
    visited: Vec<Visited<'a, I>>,
    thread: usize,
    threads: usize,
    ledger: Option<&'a mut Ledger>,
    tally: Tally,
    /// By group, the islands that are known to have simulated the window before.
    known: Vec<u32>,
    patience: Patience,
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

    fn simulate_with_others(&mut self, window: Open) {
        let shared = self.shared;
        self.known.fill(0);
        loop {
            let mut waits = false;
            for group in shared.groups.turns(self.thread) {
                waits |= self.simulate_group(group, window);
            }
            if !waits || shared.front.is_over() {
                return;
            }
            // What this thread knows may be what the others wait for.
            shared.front.tell(window.number, &mut self.tally);
            self.patience.wait();
        }
    }

    /// Simulates those islands of a group that no other thread has taken. Returns whether any is left, since it waits for
    /// others.
    fn simulate_group(&mut self, group: usize, window: Open) -> bool {
        let groups = &self.shared.groups;
        let (mut put_off, mut visited) = (0, 0);
        loop {
            let untaken = groups.untaken(group, window.number);
            if untaken == 0 {
                return false;
            }
            // The next that has work, and those before it that have none.
            let (mut mine, mut next) = (0, None);
            let mut left = untaken & !put_off;
            while left != 0 && next.is_none() {
                let bit = left & left.wrapping_neg();
                left &= !bit;
                let island = groups.islands(group)[bit.trailing_zeros() as usize];
                if !self.is_ready(island, window) {
                    put_off |= bit;
                    continue;
                }
                mine |= bit;
                next = self.has_work(island, window).then_some(island);
            }
            if mine == 0 {
                return true;
            }
            if !groups.take(group, window.number, mine) {
                continue;
            }
            self.patience.renew();
            self.finish_idle(group, mine, next);
            if let Some(island) = next {
                self.visit(island, window);
                visited += 1;
            }
            groups.finish(group, window.number, mine);
            // Others may wait for what was put off.
            if visited % LOOKS_AGAIN == 0 {
                put_off = 0;
            }
        }
    }

    /// Whether all that an island waits for have simulated the window before.
    fn is_ready(&mut self, island: usize, window: Open) -> bool {
        let groups = &self.shared.groups;
        groups.awaited(island).iter().all(|(group, awaited)| {
            let known = &mut self.known[*group];
            if *known & awaited != *awaited {
                *known = groups.finished(*group, window.number.wrapping_sub(1));
            }
            *known & awaited == *awaited
        })
    }

    fn has_work(&self, island: usize, window: Open) -> bool {
        let (shared, number) = (self.shared, Window(window.number));
        shared.states[island].wake() < window.until
            || !shared.bells[island].is_silent(number)
            || shared.every_cycle
    }

    /// Takes note of the islands taken that have nothing to do: all but `busy`.
    fn finish_idle(&mut self, group: usize, mut taken: u32, busy: Option<usize>) {
        while taken != 0 {
            let island = self.shared.groups.islands(group)[taken.trailing_zeros() as usize];
            taken &= taken - 1;
            if busy != Some(island) {
                self.tally.finished += 1;
                self.tally.earliest = self.tally.earliest.min(self.shared.states[island].wake());
            }
        }
    }

    /// Simulates a window of an island, if it has anything to do.
    fn visit(&mut self, island: usize, window: Open) {
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
struct Patience {
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
    fn renew(&mut self) {
        self.looked = if self.shares_cores { SPINS } else { 0 };
    }

    fn wait(&mut self) {
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
