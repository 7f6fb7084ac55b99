//! Reads on their way: a queue for each group of banks, and what has been read and not yet arrived.

use strata_engine::{Cycle, DelayLine, Ring};
use strata_memory::doors::Ticket;
use strata_warp::{Reg, Row};

use super::layout::RowId;

/// A read of a row.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    /// Which row.
    pub row: RowId,
    /// Its warp.
    pub warp: u8,
    /// Its register.
    pub register: Reg,
    /// Who wants it.
    pub destination: Destination,
}

/// Who wants a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// An operand collector.
    Collector(Ticket),
    /// A row above, of which only some lanes were written: its place and the number of its merge.
    Merge(u16, u32),
}

/// The reads of each group that wait for their grant, oldest first.
pub struct ReadQueues {
    queues: Vec<Ring<Read>>,
    /// Mask of groups with reads.
    wanted: u64,
    waiting: u32,
}

impl ReadQueues {
    /// Empty queues of `groups` groups, each with room for `reads`.
    pub fn new(groups: u32, reads: usize) -> ReadQueues {
        ReadQueues { queues: (0..groups).map(|_| Ring::growing(reads)).collect(), wanted: 0, waiting: 0 }
    }

    /// Appends a read to its group's queue.
    #[inline]
    pub fn push(&mut self, group: u32, read: Read) {
        self.queues[group as usize]
            .push(read)
            .expect("a group's queue has room for every collector and merge");
        self.wanted |= 1 << group;
        self.waiting += 1;
    }

    /// Mask of groups with reads.
    #[inline]
    pub fn wanted(&self) -> u64 {
        self.wanted
    }

    /// Reads that wait, over all groups.
    #[inline]
    pub fn waiting(&self) -> u32 {
        self.waiting
    }

    /// A wanted group's oldest read.
    #[inline]
    pub fn front(&self, group: u32) -> Read {
        *self.queues[group as usize].front().expect("a wanted group has a read")
    }

    /// Removes a wanted group's oldest read.
    #[inline]
    pub fn pop(&mut self, group: u32) {
        let queue = &mut self.queues[group as usize];
        queue.pop();
        if queue.is_empty() {
            self.wanted &= !(1 << group);
        }
        self.waiting -= 1;
    }

    /// Removes all reads.
    pub fn clear(&mut self) {
        while self.wanted != 0 {
            self.pop(self.wanted.trailing_zeros());
        }
    }
}

/// Rows that were read with one latency and have not arrived.
pub struct UnderWay<T> {
    latency: u64,
    line: DelayLine<T>,
}

impl<T> UnderWay<T> {
    /// Nothing under way.
    pub fn new(latency: u64, room: usize) -> UnderWay<T> {
        UnderWay { latency, line: DelayLine::growing(room) }
    }

    /// Cycles from grant to arrival, the grant's among them.
    #[inline]
    pub fn latency(&self) -> u64 {
        self.latency
    }

    /// Sends something on its way at the cycle of its grant.
    #[inline]
    pub fn send(&mut self, item: T, now: Cycle) {
        self.line.push(now + (self.latency - 1), item).ok().expect("there is room for every read");
    }

    /// Takes what arrives.
    #[inline]
    pub fn arrive(&mut self, now: Cycle) -> Option<T> {
        self.line.pop(now)
    }

    /// When something arrives next.
    #[inline]
    pub fn next_event(&self) -> Cycle {
        self.line.next_ready()
    }
}

/// A row read for a merge: the place above, the number of its merge, and the value.
pub type Merge = (u16, u32, Row);
