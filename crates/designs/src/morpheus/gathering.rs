//! Which requests have bytes that wait for the rest of their block, and until when.

use std::collections::VecDeque;

use strata_engine::Cycle;

/// The requests whose bytes wait, the oldest first.
#[derive(Debug)]
pub struct Gathering {
    cycles: u64,
    waiting: VecDeque<Waiting>,
}

/// A request whose bytes wait.
#[derive(Debug)]
pub struct Waiting {
    pub job: u32,
    until: Cycle,
    /// Its set was said to have the block.
    pub is_late: bool,
}

impl Gathering {
    /// Bytes wait for so many cycles; with 0, none does.
    pub fn new(cycles: u64) -> Gathering {
        Gathering { cycles, waiting: VecDeque::new() }
    }

    /// Whether bytes wait at all.
    pub fn is_on(&self) -> bool {
        self.cycles > 0
    }

    /// The bytes of a request begin to wait.
    pub fn add(&mut self, job: u32, is_late: bool, now: Cycle) {
        self.waiting.push_back(Waiting { job, until: now + self.cycles, is_late });
    }

    /// When the next one has waited long enough.
    pub fn next(&self) -> Cycle {
        self.waiting.front().map_or(Cycle::NEVER, |waiting| waiting.until)
    }

    /// Takes the next one, if it has waited long enough.
    pub fn take_next(&mut self, now: Cycle) -> Option<Waiting> {
        if self.next() <= now { self.waiting.pop_front() } else { None }
    }

    /// Takes a request whose bytes need not wait any longer.
    pub fn take(&mut self, job: u32) -> Option<Waiting> {
        let place = self.waiting.iter().position(|waiting| waiting.job == job)?;
        self.waiting.remove(place)
    }
}
