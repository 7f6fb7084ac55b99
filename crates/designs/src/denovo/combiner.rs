//! Registrations that wait for others of their line, so that one request registers them all.

use std::collections::VecDeque;

use strata_engine::Cycle;

/// Words of a line to be registered.
#[derive(Clone, Copy, Debug)]
struct Held<K> {
    line: K,
    words: u32,
    /// When the request could leave if it did not wait.
    ready: Cycle,
    /// When it leaves at the latest.
    until: Cycle,
}

/// A table of lines whose registrations wait. One leaves when its time is up, when others need its place, or when all are released.
/// `K` names a line.
#[derive(Debug)]
pub struct Combiner<K> {
    /// In order of their times.
    held: VecDeque<Held<K>>,
    lines: usize,
    cycles: u64,
}

impl<K: Copy + PartialEq> Combiner<K> {
    /// An empty table of `lines` lines, each of which waits for at most `cycles`.
    pub fn new(lines: usize, cycles: u64) -> Combiner<K> {
        Combiner { held: VecDeque::new(), lines, cycles }
    }

    /// Adds words of a line, whose request could leave at `ready`. `ready` never goes back.
    pub fn add(&mut self, line: K, words: u32, ready: Cycle) {
        if let Some(held) = self.held.iter_mut().rev().find(|held| held.line == line) {
            held.words |= words;
            return;
        }
        self.held.push_back(Held { line, words, ready, until: ready + self.cycles });
        if let Some(first) = self.held.len().checked_sub(self.lines + 1) {
            // Those before it have been sent on their way already.
            self.held[first].until = self.held[first].ready;
        }
    }

    /// Nothing waits for more words.
    pub fn release(&mut self) {
        self.release_first(self.held.len());
    }

    /// A line of those that `is_it` says waits for no more words, nor do those before it.
    pub fn release_through(&mut self, is_it: impl Fn(K) -> bool) {
        let last = self.held.iter().rposition(|held| is_it(held.line));
        self.release_first(last.map_or(0, |last| last + 1));
    }

    fn release_first(&mut self, count: usize) {
        for held in self.held.iter_mut().take(count) {
            held.until = held.ready;
        }
    }

    /// The words of the line whose time is up first, and since when.
    pub fn front(&self) -> Option<(Cycle, K, u32)> {
        self.held.front().map(|held| (held.until, held.line, held.words))
    }

    /// Takes what [`Combiner::front`] gives.
    pub fn pop(&mut self) -> Option<(Cycle, K, u32)> {
        self.held.pop_front().map(|held| (held.until, held.line, held.words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_line_leave_together_when_their_time_is_up() {
        let mut combiner = Combiner::new(2, 100);
        combiner.add('a', 1, Cycle(10));
        combiner.add('b', 1, Cycle(11));
        combiner.add('a', 4, Cycle(90));
        assert_eq!(combiner.pop(), Some((Cycle(110), 'a', 5)));
        // What left waits no longer for others.
        combiner.add('a', 8, Cycle(111));
        assert_eq!(combiner.pop(), Some((Cycle(111), 'b', 1)));
        assert_eq!(combiner.pop(), Some((Cycle(211), 'a', 8)));
        assert_eq!(combiner.pop(), None);
    }

    #[test]
    fn the_oldest_line_makes_room_and_all_can_be_released() {
        let mut combiner = Combiner::new(2, 100);
        for (line, ready) in [('a', 1), ('b', 2), ('c', 3), ('d', 4)] {
            combiner.add(line, 1, Cycle(ready));
        }
        assert_eq!(combiner.pop(), Some((Cycle(1), 'a', 1)));
        assert_eq!(combiner.pop(), Some((Cycle(2), 'b', 1)));
        assert_eq!(combiner.front(), Some((Cycle(103), 'c', 1)));
        combiner.release();
        assert_eq!(combiner.pop(), Some((Cycle(3), 'c', 1)));
        assert_eq!(combiner.pop(), Some((Cycle(4), 'd', 1)));
    }

    #[test]
    fn a_line_is_released_with_those_before_it() {
        let mut combiner = Combiner::new(8, 100);
        for (line, ready) in [('a', 1), ('b', 2), ('c', 3)] {
            combiner.add(line, 1, Cycle(ready));
        }
        combiner.release_through(|line| line == 'x');
        assert_eq!(combiner.front(), Some((Cycle(101), 'a', 1)));
        combiner.release_through(|line| line == 'b');
        assert_eq!(combiner.pop(), Some((Cycle(1), 'a', 1)));
        assert_eq!(combiner.pop(), Some((Cycle(2), 'b', 1)));
        assert_eq!(combiner.pop(), Some((Cycle(103), 'c', 1)));
    }
}
