//! The inputs and outputs of switches.

use std::collections::VecDeque;

use strata_engine::{Cycle, Inlet, Outlet};
use strata_memory::packet::Packet;

use super::parameters::{Arbitration, Shape};

/// An input of a switch: a buffer whose head packet waits for one output.
#[derive(Debug)]
pub(super) struct Input {
    /// First output of its switch.
    pub switch: u32,
    /// Its place among the switch's inputs.
    pub port: u8,
    /// Where the routes of its stage begin.
    pub routes: u32,
    /// Whether `head` waits for its output.
    pub has_head: bool,
    pub head: Head,
    /// The last flit of the packet before has left by then.
    pub free_at: Cycle,
    /// When the next head packet can be looked at.
    pub wake: Cycle,
    pub buffer: Buffer,
}

/// The packets that wait at an input.
///
/// Its kind stands in a byte of its own, as [`Body`](strata_memory::Body)'s.
#[derive(Debug)]
#[repr(u8)]
pub(super) enum Buffer {
    /// Those that a link has brought, in stage 0.
    Inlet(Inlet<Packet>),
    /// Those that an output has sent, in a later stage. None come to a terminal without a node.
    Between(Between),
}

/// A buffer between two switches.
#[derive(Debug)]
pub(super) struct Between {
    /// With arrival here and arrival in the first buffer.
    pub packets: VecDeque<(Cycle, Cycle, Packet)>,
    /// Room that the output before may count on, and room on its way back to it.
    pub credits: u32,
    pub returning: VecDeque<(Cycle, u32)>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Head {
    pub output: u32,
    pub flits: u32,
    pub bytes: u32,
    pub since: Cycle,
    /// The output's credit-stalled cycles when it came.
    pub stalled_before: u64,
    /// Arrival in the first buffer.
    pub injected: Cycle,
}

/// What an output leads to.
#[derive(Debug)]
#[repr(u8)]
pub(super) enum Behind {
    /// The buffer of an input of the next stage.
    Input(u32),
    /// A link out of the network.
    Outlet(Outlet<Packet>),
    /// No node: a terminal that is not used.
    Nothing,
}

/// Ports of a switch, at most [`MAX_RADIX`](super::parameters::MAX_RADIX).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ports([u128; 2]);

/// Ports of a word.
const WORD: usize = u128::BITS as usize;

impl Ports {
    #[inline]
    pub fn insert(&mut self, port: u8) {
        self.0[usize::from(port) / WORD] |= 1 << (usize::from(port) % WORD);
    }

    #[inline]
    pub fn remove(&mut self, port: u8) {
        self.0[usize::from(port) / WORD] &= !(1 << (usize::from(port) % WORD));
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0[0] | self.0[1] == 0
    }

    /// The first member from a port on, or else the first of all. There must be one.
    #[inline]
    pub fn next_from(&self, port: u8) -> usize {
        let [low, high] = self.0;
        let ahead = u128::MAX << (usize::from(port) % WORD);
        let ahead = if usize::from(port) < WORD { [low & ahead, high] } else { [0, high & ahead] };
        let [low, high] = if ahead == [0, 0] { self.0 } else { ahead };
        if low == 0 { WORD + high.trailing_zeros() as usize } else { low.trailing_zeros() as usize }
    }

    /// The members in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(word, mut rest)| {
            std::iter::from_fn(move || {
                let port = (rest != 0).then(|| word * WORD + rest.trailing_zeros() as usize)?;
                rest &= rest - 1;
                Some(port)
            })
        })
    }
}

/// An output of a switch.
#[derive(Debug)]
pub(super) struct Output {
    /// Ports of its switch whose head packets want it.
    pub waiting: Ports,
    /// First input of its switch, and how far apart the numbers of those inputs lie.
    pub switch: u32,
    pub stride: u32,
    pub free_at: Cycle,
    /// The port that round robin looks at first.
    pub turn: u8,
    /// Since when it is free and wanted, but without credit ([`Cycle::NEVER`]: it is not).
    pub stalled_since: Cycle,
    pub stalled_cycles: u64,
    pub behind: Behind,
}

impl Input {
    pub fn new(shape: &Shape, number: usize, outlets: usize, credits: u32) -> Input {
        let (stage, wire) = (number / shape.wires, number % shape.wires);
        let room = if stage == 0 { 0 } else { credits as usize };
        let packets = VecDeque::with_capacity(room);
        Input {
            switch: shape.switch(number) as u32,
            port: shape.digit(stage, wire) as u8,
            routes: (stage * outlets) as u32,
            has_head: false,
            head: Head::default(),
            free_at: Cycle::ZERO,
            wake: Cycle::NEVER,
            buffer: Buffer::Between(Between { packets, credits, returning: VecDeque::with_capacity(room) }),
        }
    }

    /// The buffer before it, which an output leads to.
    #[inline]
    pub fn between(&mut self) -> &mut Between {
        match &mut self.buffer {
            Buffer::Between(between) => between,
            Buffer::Inlet(_) => unreachable!("outputs lead to later stages"),
        }
    }
}

impl Between {
    #[inline]
    pub fn credits(&mut self, now: Cycle) -> u32 {
        while let Some(&(at, flits)) = self.returning.front() {
            if at > now {
                break;
            }
            self.credits += flits;
            self.returning.pop_front();
        }
        self.credits
    }
}

impl Output {
    pub fn new(shape: &Shape, number: usize) -> Output {
        let stage = number / shape.wires;
        let behind = if stage + 1 < shape.stages {
            Behind::Input((number + shape.wires) as u32)
        } else {
            Behind::Nothing
        };
        Output {
            waiting: Ports::default(),
            switch: shape.switch(number) as u32,
            stride: shape.stride(stage) as u32,
            free_at: Cycle::ZERO,
            turn: 0,
            stalled_since: Cycle::NEVER,
            stalled_cycles: 0,
            behind,
        }
    }

    /// The input that it is granted to.
    #[inline]
    pub fn winner(&self, inputs: &[Input], arbitration: Arbitration) -> usize {
        let (first, stride) = (self.switch as usize, self.stride as usize);
        match arbitration {
            Arbitration::RoundRobin => first + self.waiting.next_from(self.turn) * stride,
            Arbitration::OldestFirst => {
                let mut best = (Cycle::NEVER, 0);
                for port in self.waiting.iter() {
                    let input = first + port * stride;
                    best = best.min((inputs[input].head.since, input));
                }
                best.1
            }
        }
    }

    /// Cycles it was stalled without credit before `now`.
    #[inline]
    pub fn stalled_until(&self, now: Cycle) -> u64 {
        self.stalled_cycles + now.since(self.stalled_since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_go_round_over_both_words() {
        let mut ports = Ports::default();
        assert!(ports.is_empty());
        for port in [3, 127, 128, 131, 255] {
            ports.insert(port);
        }
        assert_eq!(ports.iter().collect::<Vec<_>>(), [3, 127, 128, 131, 255]);
        for (from, next) in [(0, 3), (3, 3), (4, 127), (128, 128), (129, 131), (132, 255), (255, 255)] {
            assert_eq!(ports.next_from(from), next, "from {from}");
        }
        ports.remove(255);
        assert_eq!(ports.next_from(132), 3, "round to the first");
        [3, 127, 128, 131].into_iter().for_each(|port| ports.remove(port));
        assert!(ports.is_empty());
    }
}
