//! Planted bugs: the contract must catch each of them.

use std::collections::VecDeque;

use strata_engine::statistics::Group;
use strata_engine::{Cited, Cycle};
use strata_memory::doors::{
    LaneAccess, Scratchpad, ScratchpadAction, ScratchpadDesign, ScratchpadRequest, Wrong,
};
use strata_memory::ownership::Message;
use strata_memory::{Body, ByteMask, Packet, Tray};

use super::{Contract, check_with_skips};
use crate::dma::{Blocks, DmaConfig};
use crate::stash::StashConfig;

/// What the wrapped part does wrong, every fifth time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bug {
    None,
    /// A request never comes back.
    RequestLost,
    /// A request comes back twice.
    CompletedTwice,
    /// A lane loads another word.
    WrongWord,
    /// A store is taken for a load.
    StoreLost,
    /// The next event is later than the truth.
    SkippedTooFar,
    /// A packet has another size than it was announced with.
    WrongSize,
    /// A word that is written back, returned or sent on leaves with a bit changed.
    DataDamaged,
    /// A registration is lost.
    RegistrationLost,
    /// The end of a CTA is not heard of.
    EndForgotten,
    /// A kernel ends though words are being registered.
    KernelEndsEarly,
    /// An access leaves a word out.
    WordLeftOut,
    /// A byte of the banks changes that nobody writes.
    BanksTouched,
}

struct Planted {
    inner: Box<dyn Scratchpad>,
    bug: Bug,
    count: u32,
    again: VecDeque<Box<ScratchpadRequest>>,
}

impl Planted {
    /// Whether a bug strikes: every fifth time.
    fn strikes(&mut self, bug: Bug) -> bool {
        self.count += u32::from(self.bug == bug);
        self.bug == bug && self.count.is_multiple_of(5)
    }
}

impl Scratchpad for Planted {
    fn has_room(&self) -> bool {
        self.inner.has_room()
    }

    fn blocks_core(&self) -> bool {
        self.inner.blocks_core()
    }

    fn offer(&mut self, mut request: Box<ScratchpadRequest>, now: Cycle) -> Result<(), Wrong> {
        if request.action == ScratchpadAction::Store && self.strikes(Bug::StoreLost) {
            request.action = ScratchpadAction::Load;
        }
        self.inner.offer(request, now)
    }

    fn tick(&mut self, sram: &mut [u8], now: Cycle) {
        self.inner.tick(sram, now);
        if self.strikes(Bug::BanksTouched) {
            sram[1] ^= 1;
        }
    }

    fn completed(&mut self, now: Cycle) -> Option<Box<ScratchpadRequest>> {
        if let Some(request) = self.again.pop_front() {
            return Some(request);
        }
        let mut request = self.inner.completed(now)?;
        if self.strikes(Bug::RequestLost) {
            return None;
        }
        if self.strikes(Bug::CompletedTwice) {
            self.again.push_back(request.clone());
        }
        if self.strikes(Bug::WrongWord) {
            let lane = request.lanes.trailing_zeros() as usize % 32;
            request.words[0].0[lane] ^= 4;
        }
        Some(request)
    }

    fn access(&mut self, now: Cycle) -> Option<LaneAccess> {
        let mut access = self.inner.access(now)?;
        let rest = ByteMask(access.bytes.0 & !(0xf << access.bytes.0.trailing_zeros()));
        if rest != ByteMask::NONE && self.strikes(Bug::WordLeftOut) {
            access.bytes = rest;
        }
        Some(access)
    }

    fn performed(&mut self, token: u32, tray: Tray, now: Cycle) {
        self.inner.performed(token, tray, now);
    }

    fn accept(&mut self, packet: Packet, now: Cycle) {
        self.inner.accept(packet, now);
    }

    fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        let mut packet = self.inner.outgoing(now)?;
        let registers = matches!(&packet.body, Body::Owned(letter, _) if letter.message == Message::Register);
        let rest = ByteMask(packet.bytes.0 & !(0xf << packet.bytes.0.trailing_zeros()));
        if registers && rest != ByteMask::NONE && self.strikes(Bug::RegistrationLost) {
            packet.bytes = rest;
        }
        Some(packet)
    }

    fn outgoing_bytes(&self, now: Cycle) -> Option<u32> {
        self.inner.outgoing_bytes(now).map(|bytes| bytes + u32::from(self.bug == Bug::WrongSize))
    }

    fn answer(&mut self, now: Cycle) -> Option<Packet> {
        let mut packet = self.inner.answer(now)?;
        let strikes = self.strikes(Bug::DataDamaged);
        if let Body::Owned(_, tray) = &mut packet.body
            && let Some(tray) = tray.as_mut().filter(|_| strikes)
        {
            tray.0[packet.bytes.0.trailing_zeros() as usize] ^= 1;
        }
        Some(packet)
    }

    fn answer_bytes(&self, now: Cycle) -> Option<u32> {
        self.inner.answer_bytes(now)
    }

    fn end_cta(&mut self, cta: u8, now: Cycle) {
        if !self.strikes(Bug::EndForgotten) {
            self.inner.end_cta(cta, now);
        }
    }

    fn end_kernel(&mut self, now: Cycle) -> bool {
        self.inner.end_kernel(now) || self.bug == Bug::KernelEndsEarly
    }

    fn is_idle(&self) -> bool {
        self.inner.is_idle()
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        let next = self.inner.next_event(now);
        if self.bug == Bug::SkippedTooFar && !now.0.is_multiple_of(4) { next.max(now.next()) } else { next }
    }

    fn waits(&self, report: &mut Vec<String>) {
        self.inner.waits(report);
    }

    fn statistics(&self) -> Vec<Group> {
        self.inner.statistics()
    }
}

fn run(design: &dyn ScratchpadDesign, bug: Bug, contract: &Contract) -> Result<(), String> {
    let outcome = check_with_skips(contract, &mut |site| {
        let inner = design.build(site).expect("its numbers fit").expect("it stands there");
        Box::new(Planted { inner, bug, count: 0, again: VecDeque::new() })
    });
    outcome.map(|_| ())
}

#[test]
fn bugs_of_a_stash_are_caught() {
    let stash = StashConfig::paper();
    for seed in 0..6 {
        for contract in [Contract::dense(seed), Contract::wide(seed)] {
            run(&stash, Bug::None, &contract).unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
        }
    }
    for bug in [
        Bug::RequestLost,
        Bug::CompletedTwice,
        Bug::WrongWord,
        Bug::StoreLost,
        Bug::SkippedTooFar,
        Bug::WrongSize,
        Bug::DataDamaged,
        Bug::RegistrationLost,
        Bug::EndForgotten,
        Bug::KernelEndsEarly,
        Bug::BanksTouched,
    ] {
        let is_caught = (1..5).any(|seed| run(&stash, bug, &Contract::dense(seed)).is_err());
        assert!(is_caught, "{bug:?} is not caught");
    }
}

#[test]
fn bugs_of_a_dma_engine_are_caught() {
    let of = |blocks| DmaConfig {
        accesses: Cited::new(6, "test"),
        line_bytes: Cited::new(64, "test"),
        blocks: Some(Cited::new(blocks, "test")),
    };
    for (seed, blocks) in (0..6).flat_map(|seed| [(seed, Blocks::Core), (seed, Blocks::Warp)]) {
        for contract in [Contract::dense(seed), Contract::wide(seed)] {
            run(&of(blocks), Bug::None, &contract)
                .unwrap_or_else(|fault| panic!("seed {seed}, {blocks:?}: {fault}"));
        }
    }
    for bug in
        [Bug::RequestLost, Bug::CompletedTwice, Bug::SkippedTooFar, Bug::WordLeftOut, Bug::BanksTouched]
    {
        for blocks in [Blocks::Core, Blocks::Warp] {
            assert!(run(&of(blocks), bug, &Contract::dense(1)).is_err(), "{bug:?} is not caught, {blocks:?}");
        }
    }
}
