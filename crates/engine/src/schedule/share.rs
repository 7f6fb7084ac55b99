//! The rule by which threads share out the islands of a window, as arithmetic on what the islands cost.

use std::time::Duration;

/// The islands in the order in which a thread tries to take them: its own first, then those of others.
pub(crate) fn turns(thread: usize, threads: usize, islands: usize) -> impl Iterator<Item = usize> {
    (0..threads).flat_map(move |step| ((thread + step) % threads..islands).step_by(threads))
}

/// A number of threads, and how long they have worked.
#[derive(Debug)]
pub(super) struct Shares {
    threads: usize,
    /// The order of each thread.
    turns: Vec<Vec<usize>>,
    /// How far each thread has come in its order, and in time.
    at: Vec<(usize, u64)>,
    taken: Vec<bool>,
    elapsed: u64,
}

impl Shares {
    pub fn new(threads: usize, islands: usize) -> Shares {
        // Any more would find nothing to do.
        let threads = threads.min(islands.max(1));
        Shares {
            threads,
            turns: (0..threads).map(|thread| turns(thread, threads, islands).collect()).collect(),
            at: vec![(0, 0); threads],
            taken: vec![false; islands],
            elapsed: 0,
        }
    }

    /// Shares out a window whose islands cost so much, 0 if they have nothing to do, and waits for the last.
    pub fn add(&mut self, costs: &[u64]) {
        self.at.fill((0, 0));
        self.taken.fill(false);
        let mut left = costs.iter().filter(|cost| **cost > 0).count();
        while left > 0 {
            // The thread that is free first takes the next island.
            let thread =
                (0..self.threads).min_by_key(|thread| self.at[*thread].1).expect("a run has threads");
            let (place, time) = &mut self.at[thread];
            let turns = &self.turns[thread];
            let is_free = |island: &usize| costs[*island] > 0 && !self.taken[*island];
            let skipped = turns[*place..].iter().position(is_free).expect("an island is left");
            let island = turns[*place + skipped];
            *place += skipped + 1;
            *time += costs[island];
            self.taken[island] = true;
            left -= 1;
        }
        self.elapsed += self.at.iter().map(|(_, time)| *time).max().unwrap_or(0);
    }

    pub fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.elapsed)
    }
}
