//! A time of its own for the threads of a run, which passes only when all have come to where they wait for it: how long they
//! take does not depend on the host.

use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// Where threads spend time.
#[derive(Debug)]
pub struct Meeting {
    threads: usize,
    /// Windows of the run.
    windows: usize,
    /// The islands that must have simulated a window before each can simulate the next.
    neighbours: Vec<Vec<usize>>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    now: u64,
    /// Windows that each island has simulated.
    done: Vec<usize>,
    /// Until when each island works, if it does.
    until: Vec<Option<u64>>,
}

/// A thread that has not come by then never will.
const WATCHDOG: Duration = Duration::from_secs(300);

impl Meeting {
    /// A run of islands with these neighbours that all have work in every window.
    pub fn new(threads: usize, windows: usize, neighbours: Vec<Vec<usize>>) -> Meeting {
        let islands = neighbours.len();
        let state = State { now: 0, done: vec![0; islands], until: vec![None; islands] };
        Meeting { threads, windows, neighbours, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// The time that has passed.
    pub fn now(&self) -> u64 {
        self.state.lock().unwrap().now
    }

    /// Lets an island work for some time. It returns when that has passed for all threads.
    pub fn spend(&self, island: usize, time: u64) {
        let mut state = self.state.lock().unwrap();
        let until = state.now + time;
        state.until[island] = Some(until);
        while state.now < until {
            if let Some(next) = self.next(&state) {
                state.now = next;
                self.changed.notify_all();
                continue;
            }
            let (woken, timeout) = self.changed.wait_timeout(state, WATCHDOG).unwrap();
            assert!(!timeout.timed_out(), "a thread leaves an island that it could simulate: {woken:?}");
            state = woken;
        }
        state.until[island] = None;
        state.done[island] += 1;
        // What has become ready must be taken before time goes on, unless nobody can.
        self.changed.notify_all();
    }

    /// When the next island ends its work, if all threads that find any are at it.
    fn next(&self, state: &State) -> Option<u64> {
        let working = state.until.iter().flatten().count();
        let is_ready = |island: &usize| {
            let done = state.done[*island];
            let others = &self.neighbours[*island];
            state.until[*island].is_none()
                && done < self.windows
                && others.iter().all(|other| state.done[*other] >= done)
        };
        let ready = (0..state.done.len()).filter(is_ready).count();
        let next = state.until.iter().flatten().copied().min()?;
        (next > state.now && working == self.threads.min(working + ready)).then_some(next)
    }
}
