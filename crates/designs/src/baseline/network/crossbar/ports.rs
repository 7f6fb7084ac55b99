//! The inputs of the crossbar, with their queues, and its outputs.

use strata_engine::{Cycle, Inlet, Outlet};
use strata_memory::Packet;
use strata_memory::bits::Set;

/// No entry.
const NONE: u32 = u32::MAX;

/// A packet at an input.
#[derive(Debug)]
pub(super) struct Waiting {
    pub packet: Packet,
    pub flits: u32,
    pub bytes: u32,
    /// Since when.
    pub since: Cycle,
    /// The output's credit-stalled cycles then.
    pub stalled_before: u64,
}

/// Packets of one input, queued by output: lists through one store.
#[derive(Debug)]
pub(super) struct Queues {
    /// Packets with the entry behind each in its list.
    store: Vec<(Option<Waiting>, u32)>,
    /// The first of the entries without a packet, which are a list too.
    free: u32,
    /// The first and last entry of each output's list.
    ends: Vec<(u32, u32)>,
    /// Packets in all lists.
    len: usize,
}

impl Queues {
    pub fn new(outputs: usize) -> Queues {
        Queues { store: Vec::new(), free: NONE, ends: vec![(NONE, NONE); outputs], len: 0 }
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The packet at the head of an output's queue.
    #[inline]
    pub fn head(&self, output: usize) -> Option<&Waiting> {
        self.store.get(self.ends[output].0 as usize).and_then(|(waiting, _)| waiting.as_ref())
    }

    /// Adds a packet to an output's queue; says whether it is the first.
    #[inline]
    pub fn push(&mut self, output: usize, waiting: Waiting) -> bool {
        let at = self.free;
        let at = match self.store.get_mut(at as usize) {
            Some((place, next)) => {
                self.free = std::mem::replace(next, NONE);
                *place = Some(waiting);
                at
            }
            None => {
                self.store.push((Some(waiting), NONE));
                self.store.len() as u32 - 1
            }
        };
        self.len += 1;
        let (first, last) = &mut self.ends[output];
        let is_first = *first == NONE;
        if is_first {
            *first = at;
        } else {
            self.store[*last as usize].1 = at;
        }
        *last = at;
        is_first
    }

    /// Takes the packet at the head of an output's queue; says whether another one is behind it.
    #[inline]
    pub fn pop(&mut self, output: usize) -> Option<(Waiting, bool)> {
        let at = self.ends[output].0;
        let (place, next) = self.store.get_mut(at as usize)?;
        let waiting = place.take()?;
        let behind = std::mem::replace(next, self.free);
        self.free = at;
        self.len -= 1;
        self.ends[output].0 = behind;
        Some((waiting, behind != NONE))
    }

    /// The packets at the heads of queues, each with its output.
    pub fn heads(&self) -> impl Iterator<Item = (usize, &Waiting)> {
        (0..self.ends.len()).filter_map(|output| Some((output, self.head(output)?)))
    }
}

/// An input: the link to it, and its packets that have arrived.
#[derive(Debug)]
pub(super) struct Input {
    pub inlet: Inlet<Packet>,
    pub queues: Queues,
    /// The last flit of the packet before has left by then.
    pub free_at: Cycle,
}

/// An output and the link behind it.
#[derive(Debug)]
pub(super) struct Output {
    pub outlet: Outlet<Packet>,
    /// Inputs with a packet for it.
    pub waiting: Set,
    pub free_at: Cycle,
    /// The input that round robin looks at first.
    pub turn: usize,
    /// Since when it is free and wanted, but without credit ([`Cycle::NEVER`]: it is not).
    pub stalled_since: Cycle,
    pub stalled_cycles: u64,
}

impl Output {
    pub fn new(outlet: Outlet<Packet>, inputs: usize) -> Output {
        Output {
            outlet,
            waiting: Set::new(inputs),
            free_at: Cycle::ZERO,
            turn: 0,
            stalled_since: Cycle::NEVER,
            stalled_cycles: 0,
        }
    }

    /// The free input whose turn it is.
    #[inline]
    pub fn winner(&self, free: &Set) -> Option<usize> {
        self.waiting.next_common(free, self.turn).or_else(|| self.waiting.next_common(free, 0))
    }

    /// Cycles it was stalled without credit before `now`.
    #[inline]
    pub fn stalled_until(&self, now: Cycle) -> u64 {
        self.stalled_cycles + now.since(self.stalled_since)
    }
}
