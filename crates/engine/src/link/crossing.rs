//! Links between clocks: when what is written in cycles of one clock is there in cycles of another.

use crate::time::{ClockRatio, Cycle};

/// The clocks of a link, each by its ratio to the reference clock.
#[derive(Clone, Copy, Debug)]
pub struct LinkClocks {
    /// Clock of the sending island.
    pub sender: ClockRatio,
    /// Clock of the receiving island.
    pub receiver: ClockRatio,
    /// Clock whose cycles the latency counts.
    pub latency: ClockRatio,
}

impl LinkClocks {
    /// A link within the domain of the reference clock.
    pub const REFERENCE: LinkClocks =
        LinkClocks { sender: ClockRatio::ONE, receiver: ClockRatio::ONE, latency: ClockRatio::ONE };

    /// From the sender to the receiver, for items, with this latency.
    pub(super) fn forward(self, latency: u64) -> Transit {
        Transit::new(self.sender, (latency, self.latency), self.receiver)
    }

    /// From the receiver to the sender, for credits.
    pub(super) fn backward(self, latency: u64) -> Transit {
        Transit::new(self.receiver, (latency, self.latency), self.sender)
    }
}

/// How what is written at one end of a link comes to the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transit {
    /// What the writer adds to its cycle: the latency, at least 1, or, where the clocks differ, nothing.
    pub stamped_after: u64,
    /// Makes of the writer's cycles the reader's, where the clocks differ.
    pub crossing: Option<Crossing>,
}

/// One direction of a link between clocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossing {
    latency: u64,
    /// From the writer's cycles to those of the latency, and from these to the reader's.
    entry: ClockRatio,
    exit: ClockRatio,
    reader: ClockRatio,
}

impl Transit {
    fn new(writer: ClockRatio, (latency, counted): (u64, ClockRatio), reader: ClockRatio) -> Transit {
        if [writer, counted, reader] == [ClockRatio::ONE; 3] {
            return Transit { stamped_after: latency, crossing: None };
        }
        let crossing = Crossing { latency, entry: counted.over(writer), exit: reader.over(counted), reader };
        Transit { stamped_after: 0, crossing: Some(crossing) }
    }
}

impl Crossing {
    /// The reader's cycle in which something is there that the writer gives away in its cycle `now`: the link takes it
    /// over with its clock's next edge, and the reader with its own after the latency.
    pub fn arrival(&self, now: Cycle) -> Cycle {
        let there = Cycle(self.entry.first_from(now)) + self.latency;
        Cycle(self.exit.first_from(there))
    }

    /// The reference cycle in which the reader simulates its cycle `at`.
    pub fn reference(&self, at: Cycle) -> Cycle {
        self.reader.reference(at.0)
    }
}
