//! Planted bugs: the contract must catch each of them.

use std::collections::VecDeque;

use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_memory::doors::{Access, Action, Completion, Hint, Hinted, L1d, Refusal};
use strata_memory::{Body, ByteMask, Packet};

use super::l1d::{Contract, check_with_skips};
use crate::baseline::{SramL1d, SramL1dConfig};

/// What the wrapped L1D does wrong, every seventh time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bug {
    /// A write carries the whole line: bytes that others wrote are overwritten.
    WholeLineWritten,
    /// A write loses its first byte.
    DirtyByteLost,
    /// A load that waited in an MSHR is forgotten.
    MergeLost,
    /// A completion comes twice.
    CompletedTwice,
    /// A write leaves after the next request.
    WriteOvertaken,
    /// A flush does not drop copies.
    CopiesKept,
    /// A flush reports immediately that it is done.
    FlushedEarly,
    /// A store is lost, though its completion comes.
    StoreLost,
    /// A load's tray is another load's.
    TraysSwapped,
    /// The next event is later than the truth.
    SkippedTooFar,
    /// A hint waits for an MSHR.
    HintHeld,
    /// A hint is said to be taken whatever stands against it.
    HintTakenAnyway,
}

struct Planted {
    inner: Box<dyn L1d>,
    bug: Bug,
    count: u32,
    staged: VecDeque<Packet>,
    completion: Option<Completion>,
}

impl Planted {
    /// Whether the bug strikes: every seventh time.
    fn strikes(&mut self) -> bool {
        self.count += 1;
        self.count.is_multiple_of(7)
    }
}

impl L1d for Planted {
    fn offer(&mut self, mut access: Access, now: Cycle) -> Result<(), (Access, Refusal)> {
        if self.bug == Bug::StoreLost && matches!(access.action, Action::Store(_)) && self.strikes() {
            access.bytes = ByteMask(access.bytes.0 & access.bytes.0.wrapping_sub(1));
        }
        self.inner.offer(access, now)
    }

    fn hint(&mut self, hint: &Hint, now: Cycle) -> Result<Hinted, Refusal> {
        match (self.bug, self.inner.hint(hint, now)) {
            (Bug::HintHeld, _) if self.strikes() => Err(Refusal::Mshr),
            (Bug::HintTakenAnyway, Err(_)) => Ok(Hinted::Taken),
            (_, hinted) => hinted,
        }
    }

    fn accept(&mut self, reply: Packet, now: Cycle) {
        self.inner.accept(reply, now);
    }

    fn tick(&mut self, now: Cycle) {
        self.inner.tick(now);
        while let Some(mut packet) = self.inner.outgoing(now) {
            if let Body::Write(_) = packet.body {
                let lowest = ByteMask(packet.bytes.0 & packet.bytes.0.wrapping_neg());
                if self.bug == Bug::WholeLineWritten {
                    packet.bytes = ByteMask::ALL;
                } else if self.bug == Bug::DirtyByteLost && packet.bytes != lowest && self.strikes() {
                    packet.bytes &= !lowest;
                }
            }
            self.staged.push_back(packet);
            if self.bug == Bug::WriteOvertaken
                && let [.., last_but_one, _] = self.staged.make_contiguous()
                && matches!(last_but_one.body, Body::Write(_))
            {
                let last = self.staged.len() - 1;
                self.staged.swap(last - 1, last);
            }
        }
    }

    fn completed(&mut self, now: Cycle) -> Option<Completion> {
        if let Some(completion) = self.completion.take() {
            return Some(completion);
        }
        let mut completion = self.inner.completed(now)?;
        match (self.bug, &mut completion.action) {
            (Bug::MergeLost, Action::Load(_)) if self.strikes() => return None,
            (Bug::CompletedTwice, _) if self.strikes() => self.completion = Some(completion.clone()),
            (Bug::TraysSwapped, Action::Load(tray)) => {
                let mut second = self.inner.completed(now);
                if let Some(Completion { action: Action::Load(other), .. }) = &mut second {
                    std::mem::swap(tray, other);
                }
                self.completion = second;
            }
            _ => {}
        }
        Some(completion)
    }

    fn outgoing(&mut self, _now: Cycle) -> Option<Packet> {
        self.staged.pop_front()
    }

    fn outgoing_bytes(&self, _now: Cycle) -> Option<u32> {
        self.staged.front().map(|packet| packet.wire_bytes())
    }

    fn begin_flush(&mut self, invalidate: bool, now: Cycle) {
        self.inner.begin_flush(invalidate && self.bug != Bug::CopiesKept, now);
    }

    fn is_flushed(&self) -> bool {
        self.bug == Bug::FlushedEarly || self.inner.is_flushed()
    }

    fn outstanding(&self) -> usize {
        self.inner.outstanding() + self.staged.len()
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        if self.completion.is_some() || !self.staged.is_empty() {
            return now;
        }
        match self.inner.next_event(now) {
            next if self.bug == Bug::SkippedTooFar && next != Cycle::NEVER => next + 1,
            next => next,
        }
    }

    fn waits(&self, report: &mut Vec<String>) {
        self.inner.waits(report);
    }

    fn statistics(&self) -> Vec<Group> {
        self.inner.statistics()
    }
}

fn run(bug: Bug, contract: &Contract) -> Result<(), String> {
    let mut config = SramL1dConfig::example();
    config.sets.value = 4;
    check_with_skips(contract, &mut |node, slices| {
        let inner = Box::new(SramL1d::new(&config, node, slices, 7).unwrap());
        Box::new(Planted { inner, bug, count: 0, staged: VecDeque::new(), completion: None })
    })
    .map(|_| ())
}

#[test]
fn every_planted_bug_is_caught() {
    for (bug, contract) in [
        (Bug::WholeLineWritten, Contract::shared(1)),
        (Bug::DirtyByteLost, Contract::alone(1)),
        (Bug::MergeLost, Contract::alone(1)),
        (Bug::CompletedTwice, Contract::alone(1)),
        (Bug::WriteOvertaken, Contract { special: 20, ..Contract::alone(1) }),
        (Bug::CopiesKept, Contract::shared(1)),
        (Bug::FlushedEarly, Contract::alone(1)),
        (Bug::StoreLost, Contract::alone(1)),
        (Bug::TraysSwapped, Contract::alone(1)),
        (Bug::SkippedTooFar, Contract::alone(1)),
        (Bug::HintHeld, Contract::alone(1)),
        (Bug::HintTakenAnyway, Contract::alone(1)),
    ] {
        let caught = run(bug, &contract);
        assert!(caught.is_err(), "{bug:?} was not caught");
        println!("{bug:?}: {}", caught.unwrap_err());
    }
}
