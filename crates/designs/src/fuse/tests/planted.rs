//! Bugs planted around the design: the contract must catch each of them.
//!
//! The design itself contains no bug. [`Planted`] watches its banks and queues, and changes what comes out of the
//! door to what it would be with the bug.

use std::collections::BTreeMap;

use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_memory::cache::FrameId;
use strata_memory::doors::{Access, Action, Completion, L1d, Refusal};
use strata_memory::{Body, ByteMask, Line, LineAddress, Packet};

use super::super::FuseL1d;
use super::super::lines::Bank;
use super::super::tag_queue::TagQueue;
use super::small;
use crate::contract::l1d::{Contract, check_with_skips};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bug {
    /// A load does not find its line in the swap buffer: it gets the bytes of the last-level cache.
    SwapBufferNotLookedUp,
    /// A line that migrates to SRAM leaves a copy in STT-MRAM, in which later loads hit.
    StaleCopyLeft,
    /// A write does not wait for the loads of its line in the tag queue: they see its bytes.
    TagQueueNotFlushed,
    /// A flush does not wait for the tag queue and the swap buffer: it reports that it is done while they hold work.
    QueuesNotEmptied,
    /// A line that leaves SRAM for the swap buffer loses its dirty mask.
    DirtyMaskLost,
}

/// A load that was accepted, and the bytes that the bug gives it in place of the right ones.
struct Load {
    token: u32,
    line: LineAddress,
    wrong: Vec<(ByteMask, Line)>,
}

struct Planted {
    inner: FuseL1d,
    bug: Option<Bug>,
    loads: Vec<Load>,
    /// The bytes of each line in the last-level cache, as far as packets have shown them.
    below: BTreeMap<LineAddress, (ByteMask, Line)>,
    /// Copies left in STT-MRAM: the valid bytes of lines that migrated to SRAM and are still there.
    copies: BTreeMap<LineAddress, (ByteMask, Line)>,
    /// The line in each frame, and the frame's valid bytes, after the last step.
    frames: Vec<(Option<LineAddress>, ByteMask)>,
}

impl Planted {
    fn new(inner: FuseL1d, bug: Option<Bug>) -> Planted {
        Planted {
            inner,
            bug,
            loads: Vec::new(),
            below: BTreeMap::new(),
            copies: BTreeMap::new(),
            frames: Vec::new(),
        }
    }

    fn bank(&self, line: LineAddress) -> Option<Bank> {
        let store = &self.inner.chassis.cache.store;
        store.find(line).map(|frame| store.bank(frame))
    }

    /// Looks at what a step of the inner L1D has moved between the banks.
    fn watch(&mut self) {
        if !matches!(self.bug, Some(Bug::StaleCopyLeft | Bug::DirtyMaskLost)) {
            return;
        }
        for (number, (line, valid)) in std::mem::take(&mut self.frames).into_iter().enumerate() {
            let Some(line) = line else { continue };
            let store = &mut self.inner.chassis.cache.store;
            let from = FrameId(number as u32);
            let Some(to) = store.find(line).filter(|to| *to != from) else { continue };
            match (self.bug, store.bank(from), store.bank(to)) {
                // The array keeps the bytes of a line that has left.
                (Some(Bug::StaleCopyLeft), Bank::Stt, Bank::Sram) => {
                    self.copies.insert(line, (valid, store.frames.data(from).clone()));
                }
                (Some(Bug::DirtyMaskLost), Bank::Sram, Bank::Swap) => store.frames.clean(to),
                _ => {}
            }
        }
        let store = &self.inner.chassis.cache.store;
        self.copies.retain(|line, _| store.find(*line).is_some_and(|frame| store.bank(frame) == Bank::Sram));
        self.frames.extend((0..store.frames.count() as u32).map(|frame| {
            let frame = FrameId(frame);
            (store.frames.line(frame), store.frames.valid(frame))
        }));
    }

    /// What a load that is offered now would find with the bug.
    fn wrong(&self, line: LineAddress) -> Option<(ByteMask, Line)> {
        match self.bug {
            Some(Bug::SwapBufferNotLookedUp) if self.bank(line) == Some(Bank::Swap) => {
                self.below.get(&line).cloned()
            }
            Some(Bug::StaleCopyLeft) => self.copies.get(&line).cloned(),
            _ => None,
        }
    }

    /// Notes the bytes of a line that came from below or went there.
    fn learn(&mut self, packet: &Packet) {
        if let Body::ReadReply(tray) | Body::Write(tray) = &packet.body {
            let (known, line) = self.below.entry(packet.line).or_insert((ByteMask::NONE, Line::ZERO));
            *known |= packet.bytes;
            line.merge(packet.bytes, tray);
        }
    }
}

impl L1d for Planted {
    fn offer(&mut self, access: Access, now: Cycle) -> Result<(), (Access, Refusal)> {
        let (line, token, bytes) = (access.line, access.token, access.bytes);
        let load = matches!(access.action, Action::Load(_));
        let stored = match &access.action {
            Action::Store(tray) if self.bug == Some(Bug::TagQueueNotFlushed) => Some((**tray).clone()),
            _ => None,
        };
        let wrong = self.wrong(line);
        let waited = self.inner.queue.as_ref().is_some_and(|queue: &TagQueue| queue.names(line));
        self.inner.offer(access, now)?;
        if load {
            self.loads.push(Load { token, line, wrong: wrong.into_iter().collect() });
        }
        if let Some(stored) = stored.filter(|_| waited) {
            for load in self.loads.iter_mut().filter(|load| load.line == line) {
                load.wrong.push((bytes, stored.clone()));
            }
        }
        self.watch();
        Ok(())
    }

    fn changes(&self, cause: Refusal, now: Cycle) -> u64 {
        self.inner.changes(cause, now)
    }

    fn accept(&mut self, reply: Packet, now: Cycle) {
        self.learn(&reply);
        self.inner.accept(reply, now);
    }

    fn tick(&mut self, now: Cycle) {
        self.inner.tick(now);
        self.watch();
    }

    fn completed(&mut self, now: Cycle) -> Option<Completion> {
        let mut completion = self.inner.completed(now)?;
        if let Action::Load(tray) = &mut completion.action {
            let at = self.loads.iter().position(|load| load.token == completion.token);
            for (bytes, line) in self.loads.swap_remove(at.expect("a load that was accepted")).wrong {
                tray.merge(bytes, &line);
            }
        }
        Some(completion)
    }

    fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        let packet = self.inner.outgoing(now)?;
        self.learn(&packet);
        Some(packet)
    }

    fn outgoing_bytes(&self, now: Cycle) -> Option<u32> {
        self.inner.outgoing_bytes(now)
    }

    fn begin_flush(&mut self, invalidate: bool, now: Cycle) {
        self.inner.begin_flush(invalidate, now);
    }

    fn is_flushed(&self) -> bool {
        let early = self.bug == Some(Bug::QueuesNotEmptied) && self.inner.has_work_inside();
        early || self.inner.is_flushed()
    }

    fn outstanding(&self) -> usize {
        self.inner.outstanding()
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        self.inner.next_event(now)
    }

    fn waits(&self, report: &mut Vec<String>) {
        self.inner.waits(report);
    }

    fn statistics(&self) -> Vec<Group> {
        self.inner.statistics()
    }
}

/// What the contract says of runs of the system with the bug; `None` if it finds nothing.
fn caught(system: &str, bug: Option<Bug>) -> Option<String> {
    let config = small(system);
    (0..8).find_map(|seed| {
        // Many flushes, so that some begin while a line is between the banks.
        let contract = Contract { episodes: 60, accesses: 100, ..Contract::alone(seed) };
        let outcome = check_with_skips(&contract, &mut |node, slices| {
            Box::new(Planted::new(FuseL1d::new(&config, node, slices).unwrap(), bug))
        });
        outcome.err()
    })
}

#[test]
fn every_planted_bug_is_caught() {
    for system in ["base-fuse", "fa-fuse", "dy-fuse"] {
        assert_eq!(caught(system, None), None, "{system} is right without a bug");
        for bug in [
            Bug::SwapBufferNotLookedUp,
            Bug::StaleCopyLeft,
            Bug::TagQueueNotFlushed,
            Bug::QueuesNotEmptied,
            Bug::DirtyMaskLost,
        ] {
            let fault = caught(system, Some(bug));
            println!(
                "{system}, {bug:?}: {}",
                fault.unwrap_or_else(|| panic!("{bug:?} in {system} was not caught"))
            );
        }
    }
}
