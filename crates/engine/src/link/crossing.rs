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

    /// From the sender to the receiver, for items; `None` if all clocks are the reference clock.
    pub(super) fn forward(self) -> Option<Crossing> {
        Crossing::new(self.sender, self.latency, self.receiver)
    }

    /// From the receiver to the sender, for credits.
    pub(super) fn backward(self) -> Option<Crossing> {
        Crossing::new(self.receiver, self.latency, self.sender)
    }
}

/// One direction of a link between clocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossing {
    /// From the writer's cycles to those of the latency, and from these to the reader's.
    entry: ClockRatio,
    exit: ClockRatio,
    reader: ClockRatio,
}

impl Crossing {
    fn new(writer: ClockRatio, latency: ClockRatio, reader: ClockRatio) -> Option<Crossing> {
        let all = [writer, latency, reader];
        all.iter().any(|clock| *clock != ClockRatio::ONE).then(|| Crossing {
            entry: latency.over(writer),
            exit: reader.over(latency),
            reader,
        })
    }

    /// The reader's cycle in which something is there that the writer gives away in its cycle `now`: the link takes it
    /// over with its clock's next edge, and the reader with its own after `latency` cycles of the link.
    #[inline(never)]
    pub fn arrival(&self, now: Cycle, latency: u64) -> Cycle {
        let there = Cycle(self.entry.first_from(now)) + latency;
        Cycle(self.exit.first_from(there))
    }

    /// The reference cycle in which the reader simulates its cycle `at`.
    pub fn reference(&self, at: Cycle) -> Cycle {
        self.reader.reference(at.0)
    }
}
