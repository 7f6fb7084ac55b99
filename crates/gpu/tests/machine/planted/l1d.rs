//! An L1D with a bug.

use std::collections::{BTreeMap, VecDeque};

use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_memory::doors::{Access, Action, Completion, L1d, Policy, Refusal};
use strata_memory::{Body, ByteMask, Line, LineAddress, Packet};

/// What an L1D does wrong; most bugs strike only now and then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// Nothing is wrong: the control.
    None,
    /// A write-back forgets one byte of its dirty mask.
    DirtyByteLost,
    /// A write-back carries the whole line, including bytes that others have written since.
    WholeLineWritten,
    /// The completion of a load is lost, as if an MSHR forgot a merge.
    CompletionLost,
    /// A merged load gets the data of the line's first load.
    StaleMerge,
    /// An invalidation leaves copies in place.
    CopiesKept,
    /// A flush reports completion before its writes, which are delayed, have arrived.
    FlushedEarly,
    /// Two replies exchange their trays.
    TraysSwapped,
    /// The network loses a reply.
    ReplyLost,
    /// Strong accesses are cached.
    BypassIgnored,
}

/// A correct L1D behind a faulty interface.
pub struct Planted {
    inner: Box<dyn L1d>,
    bug: Bug,
    /// The bug strikes once in this many opportunities.
    period: u32,
    chances: u32,
    /// Packets, each with the cycle from which it may leave.
    staged: VecDeque<(Cycle, Packet)>,
    ready: VecDeque<Completion>,
    /// A reply held back to exchange trays with another, and until when.
    held: Option<(Cycle, Packet)>,
    /// Tokens of loads in flight, with their lines.
    loads: Vec<(u32, LineAddress)>,
    /// The data of each line's first load.
    seen: BTreeMap<LineAddress, Line>,
}

impl Planted {
    pub fn new(inner: Box<dyn L1d>, bug: Bug, period: u32) -> Planted {
        Planted {
            inner,
            bug,
            period,
            chances: 0,
            staged: VecDeque::new(),
            ready: VecDeque::new(),
            held: None,
            loads: Vec::new(),
            seen: BTreeMap::new(),
        }
    }

    fn strikes(&mut self, bug: Bug) -> bool {
        if self.bug != bug {
            return false;
        }
        self.chances += 1;
        self.chances.is_multiple_of(self.period)
    }

    /// Every second read reply exchanges its tray with the previous one.
    fn swap(&mut self, mut reply: Packet, now: Cycle) {
        let Some((_, mut before)) = self.held.take() else {
            self.held = Some((now + 200, reply));
            return;
        };
        if let (Body::ReadReply(one), Body::ReadReply(other)) = (&mut before.body, &mut reply.body) {
            std::mem::swap(one, other);
        }
        self.inner.accept(before, now);
        self.inner.accept(reply, now);
    }

    /// Moves completed accesses to `ready`, spoilt where the bug strikes.
    fn complete(&mut self, now: Cycle) {
        while let Some(mut completion) = self.inner.completed(now) {
            let Action::Load(tray) = &mut completion.action else {
                self.ready.push_back(completion);
                continue;
            };
            let place = self.loads.iter().position(|(token, _)| *token == completion.token);
            let (_, line) = self.loads.swap_remove(place.expect("a load completes that was accepted"));
            let first = self.seen.entry(line).or_insert_with(|| (**tray).clone()).clone();
            if **tray != first && self.strikes(Bug::StaleMerge) {
                **tray = first;
            }
            if self.strikes(Bug::CompletionLost) {
                continue;
            }
            self.ready.push_back(completion);
        }
    }
}

impl L1d for Planted {
    fn offer(&mut self, mut access: Access, now: Cycle) -> Result<(), (Access, Refusal)> {
        if self.bug == Bug::BypassIgnored && !matches!(access.action, Action::Atomic(_)) {
            access.policy = Policy::Cached;
        }
        let load = matches!(access.action, Action::Load(_)).then_some((access.token, access.line));
        self.inner.offer(access, now)?;
        self.loads.extend(load);
        Ok(())
    }

    fn accept(&mut self, reply: Packet, now: Cycle) {
        if matches!(reply.body, Body::ReadReply(_)) && self.strikes(Bug::ReplyLost) {
            return;
        }
        if self.bug == Bug::TraysSwapped && matches!(reply.body, Body::ReadReply(_)) {
            return self.swap(reply, now);
        }
        self.inner.accept(reply, now);
    }

    fn tick(&mut self, now: Cycle) {
        if let Some((_, reply)) = self.held.take_if(|(until, _)| *until <= now) {
            self.inner.accept(reply, now);
        }
        self.inner.tick(now);
        while let Some(mut packet) = self.inner.outgoing(now) {
            let mut leaves = now;
            if let Body::Write(_) = packet.body {
                let lowest = ByteMask(packet.bytes.0 & packet.bytes.0.wrapping_neg());
                if self.strikes(Bug::WholeLineWritten) {
                    packet.bytes = ByteMask::ALL;
                } else if packet.bytes != lowest && self.strikes(Bug::DirtyByteLost) {
                    packet.bytes &= !lowest;
                } else if self.bug == Bug::FlushedEarly {
                    leaves = now + 3000;
                }
            }
            self.staged.push_back((leaves, packet));
        }
    }

    fn completed(&mut self, now: Cycle) -> Option<Completion> {
        if self.ready.is_empty() {
            self.complete(now);
        }
        self.ready.pop_front()
    }

    fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        let first = self.staged.iter().position(|(leaves, _)| *leaves <= now)?;
        self.staged.remove(first).map(|(_, packet)| packet)
    }

    fn outgoing_bytes(&self, now: Cycle) -> Option<u32> {
        self.staged.iter().find(|(leaves, _)| *leaves <= now).map(|(_, packet)| packet.wire_bytes())
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
        let staged = self.staged.iter().map(|(leaves, _)| *leaves);
        let own = staged.chain(self.held.iter().map(|(until, _)| *until)).min().unwrap_or(Cycle::NEVER);
        if self.ready.is_empty() { self.inner.next_event(now).min(own).max(now) } else { now }
    }

    fn waits(&self, report: &mut Vec<String>) {
        self.inner.waits(report);
    }

    fn statistics(&self) -> Vec<Group> {
        self.inner.statistics()
    }
}
