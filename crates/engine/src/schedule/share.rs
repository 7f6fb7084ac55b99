//! The rule by which threads share out islands, as arithmetic on what these cost.

use std::time::Duration;

use crate::order::Order;

/// A number of threads, and how far they have come. Times are nanoseconds.
#[derive(Debug)]
pub(super) struct Shares {
    threads: usize,
    /// The order of each thread.
    turns: Vec<Vec<usize>>,
    /// When each thread has done its share.
    free: Vec<u64>,
    /// When the window begins.
    begin: u64,
    /// When each island has simulated its last window.
    finished: Vec<u64>,
    /// When all have.
    all_finished: u64,
    /// When each island can simulate the window, and below whether a thread has taken it.
    ready: Vec<u64>,
    taken: Vec<bool>,
    /// Whether each thread has found that the next window follows at once.
    knows: Vec<bool>,
}

impl Shares {
    pub fn new(threads: usize, order: &Order) -> Shares {
        let islands = order.len();
        // Any more would find nothing to do.
        let threads = threads.min(islands.max(1));
        Shares {
            threads,
            turns: (0..threads).map(|thread| order.turns(thread, threads).collect()).collect(),
            free: vec![0; threads],
            begin: 0,
            finished: vec![0; islands],
            all_finished: 0,
            ready: vec![0; islands],
            taken: vec![false; islands],
            knows: vec![false; threads],
        }
    }

    /// Shares out a window whose islands cost so much, 0 if they have nothing to do, and of which some go on in the next.
    pub fn add(&mut self, order: &Order, costs: &[u64], go_on: &[bool]) {
        for island in 0..order.len() {
            let neighbours = order.awaited(island).iter().map(|neighbour| self.finished[*neighbour]);
            self.ready[island] = neighbours.fold(self.begin, u64::max);
        }
        self.finished.copy_from_slice(&self.ready);
        for (taken, cost) in self.taken.iter_mut().zip(costs) {
            *taken = *cost == 0;
        }
        for free in &mut self.free {
            *free = (*free).max(self.begin);
        }
        self.knows.fill(false);
        for _ in 0..costs.iter().filter(|cost| **cost > 0).count() {
            let (thread, island) = self.next();
            self.taken[island] = true;
            self.free[thread] += costs[island];
            self.finished[island] = self.free[thread];
            self.knows[thread] |= go_on[island];
        }
        let before = self.all_finished;
        self.all_finished = self.finished.iter().copied().max().unwrap_or(0);
        let know = self.free.iter().zip(&self.knows).filter(|(_, knows)| **knows);
        let known = know.map(|(free, _)| *free).min().unwrap_or(u64::MAX);
        // The next window begins when that is known, and all islands have finished the one before this.
        self.begin = known.min(self.all_finished).max(before);
    }

    /// The thread that is free first, and the first island that it can take then.
    fn next(&mut self) -> (usize, usize) {
        loop {
            let thread =
                (0..self.threads).min_by_key(|thread| self.free[*thread]).expect("a run has threads");
            let now = self.free[thread];
            let mut next = u64::MAX;
            for &island in &self.turns[thread] {
                if !self.taken[island] {
                    if self.ready[island] <= now {
                        return (thread, island);
                    }
                    next = next.min(self.ready[island]);
                }
            }
            self.free[thread] = next;
        }
    }

    pub fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.all_finished)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When the last of some threads is done with these windows, in each of which every island goes on.
    fn elapsed(threads: usize, neighbours: &[&[usize]], windows: &[&[u64]]) -> u64 {
        let order = Order::new(neighbours.iter().map(|islands| islands.to_vec()).collect());
        let mut shares = Shares::new(threads, &order);
        for costs in windows {
            shares.add(&order, costs, &vec![true; costs.len()]);
        }
        shares.elapsed().as_nanos() as u64
    }

    #[test]
    fn islands_without_links_do_not_wait_for_each_other() {
        assert_eq!(elapsed(2, &[&[], &[]], &[&[100, 10], &[10, 100]]), 110);
    }

    #[test]
    fn an_island_waits_for_its_neighbours() {
        assert_eq!(elapsed(2, &[&[1], &[0]], &[&[100, 10], &[10, 100]]), 200);
        // The third has no link with the slow first.
        assert_eq!(elapsed(3, &[&[1], &[0], &[]], &[&[100, 10, 10], &[10, 10, 100]]), 110);
    }

    #[test]
    fn a_thread_takes_another_island_while_one_waits() {
        // The hub, 2, can go on when 0 and 1 have finished; the thread that has it takes 3 first.
        let neighbours: [&[usize]; 4] = [&[2], &[2], &[0, 1], &[]];
        assert_eq!(elapsed(2, &neighbours, &[&[50, 100, 1, 1], &[0, 0, 20, 40]]), 121);
    }

    #[test]
    fn nobody_is_two_windows_ahead() {
        let windows: [&[u64]; 4] = [&[300, 10], &[10, 10], &[10, 10], &[10, 10]];
        // The second is done with two windows by 20 and begins the third at 300.
        assert_eq!(elapsed(2, &[&[], &[]], &windows), 330);
    }

    #[test]
    fn a_window_that_follows_after_a_gap_begins_when_all_are_done() {
        let order = Order::new(vec![vec![], vec![]]);
        let mut shares = Shares::new(2, &order);
        shares.add(&order, &[100, 10], &[false, false]);
        shares.add(&order, &[10, 100], &[false, false]);
        assert_eq!(shares.elapsed(), Duration::from_nanos(200));
    }
}
