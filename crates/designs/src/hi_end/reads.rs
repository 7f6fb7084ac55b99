//! Reads on their way: a queue for each group of banks, and what has been read and not yet arrived.

use std::collections::VecDeque;

use strata_engine::{Cycle, DelayLine};
use strata_memory::doors::Ticket;
use strata_warp::{Reg, Row};

use super::layout::{Layout, RowId};

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
    queues: Vec<VecDeque<Read>>,
    /// Mask of groups with reads.
    wanted: u64,
    waiting: u32,
}

impl ReadQueues {
    /// Empty queues of `groups` groups. They hold at most what operand collectors and merges ask for.
    pub fn new(groups: u32) -> ReadQueues {
        ReadQueues { queues: vec![VecDeque::with_capacity(64); groups as usize], wanted: 0, waiting: 0 }
    }

    /// Appends a read to its group's queue.
    #[inline]
    pub fn push(&mut self, group: u32, read: Read) {
        self.queues[group as usize].push_back(read);
        self.wanted |= 1 << group;
        self.waiting += 1;
    }

    /// Appends the reads of one instruction; register n goes to ticket `first + n`.
    #[inline]
    pub fn request(&mut self, layout: &Layout, warp: u8, registers: &[Reg], first: Ticket) {
        for (n, register) in registers.iter().enumerate() {
            let row = layout.row(warp, *register);
            let destination = Destination::Collector(Ticket(first.0 + n as u16));
            self.push(layout.place(row).group, Read { row, warp, register: *register, destination });
        }
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

    /// Whether reads of the group wait.
    #[inline]
    pub fn wants(&self, group: u32) -> bool {
        self.wanted >> group & 1 == 1
    }

    /// A group's reads, oldest first.
    #[inline]
    pub fn of(&self, group: u32) -> &VecDeque<Read> {
        &self.queues[group as usize]
    }

    /// Removes the `place`th oldest read of a group.
    #[inline]
    pub fn remove(&mut self, group: u32, place: usize) -> Read {
        let queue = &mut self.queues[group as usize];
        let read = queue.remove(place).expect("the group has the read");
        if queue.is_empty() {
            self.wanted &= !(1 << group);
        }
        self.waiting -= 1;
        read
    }

    /// Removes all reads.
    pub fn clear(&mut self) {
        self.queues.iter_mut().for_each(VecDeque::clear);
        (self.wanted, self.waiting) = (0, 0);
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
