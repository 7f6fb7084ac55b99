//! Planted bugs of caches and registries of which words have owners: the contract must catch each of them, most by their results.

use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_memory::doors::{Access, Completion, DramPort, L1d, Llc, Refusal};
use strata_memory::ownership::{Message, bytes_of};
use strata_memory::{Body, ByteMask, Line, LineAddress, NodeId, Packet, SliceMap};

use super::owners::{Contract, check_with_skips};
use crate::denovo::l1d::{DenovoL1d, DenovoL1dConfig};
use crate::denovo::l2::{DenovoL2, DenovoL2Config};

/// What goes wrong, where it can every fifth time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bug {
    /// An L1D keeps its copies at a flush.
    CopiesKept,
    /// Data that were asked for are lost.
    DataLost,
    /// A word of the data that an owner sends is wrong.
    DataChanged,
    /// A writeback has the data of nothing.
    WriteBackEmpty,
    /// What is returned after a recall has the data of nothing.
    ReturnEmpty,
    /// The registry tells a requester that it is the owner and nobody else.
    RegistrationGrantedTwice,
    /// What comes along with a read is taken for what is asked for.
    ExtraTaken,
    /// A recall is lost.
    RecallLost,
    /// A store of parts of words registers them without the rest.
    RestLost,
    /// A host copy does not ask the owners.
    OwnersNotAsked,
    /// The next event is later than the truth.
    SkippedTooFar,
}

const BUGS: [Bug; 11] = [
    Bug::CopiesKept,
    Bug::DataLost,
    Bug::DataChanged,
    Bug::WriteBackEmpty,
    Bug::ReturnEmpty,
    Bug::RegistrationGrantedTwice,
    Bug::ExtraTaken,
    Bug::RecallLost,
    Bug::RestLost,
    Bug::OwnersNotAsked,
    Bug::SkippedTooFar,
];

struct Planted<T> {
    inner: T,
    bug: Bug,
    count: u32,
}

impl<T> Planted<T> {
    /// Whether this bug strikes: every fifth time.
    fn strikes(&mut self, bug: Bug) -> bool {
        self.count += u32::from(self.bug == bug);
        self.bug == bug && self.count.is_multiple_of(5)
    }
}

fn message(packet: &Packet) -> Option<Message> {
    if let Body::Owned(letter, _) = &packet.body { Some(letter.message) } else { None }
}

fn tray(packet: &mut Packet) -> Option<&mut Line> {
    if let Body::Owned(_, tray) = &mut packet.body { tray.as_deref_mut() } else { None }
}

impl L1d for Planted<DenovoL1d> {
    fn offer(&mut self, mut access: Access, now: Cycle) -> Result<(), (Access, Refusal)> {
        if self.bug == Bug::RestLost && matches!(access.action, strata_memory::doors::Action::Store(_)) {
            access.bytes = bytes_of(strata_memory::ownership::words_of(access.bytes));
        }
        self.inner.offer(access, now)
    }
    fn accept(&mut self, mut packet: Packet, now: Cycle) {
        if message(&packet) == Some(Message::Data) && self.strikes(Bug::DataLost) {
            return;
        }
        if message(&packet) == Some(Message::Data) && self.strikes(Bug::ExtraTaken) {
            packet.tag = strata_memory::ownership::words_of(packet.bytes);
        }
        self.inner.accept(packet, now);
    }
    fn tick(&mut self, now: Cycle) {
        self.inner.tick(now);
    }
    fn completed(&mut self, now: Cycle) -> Option<Completion> {
        self.inner.completed(now)
    }
    fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        self.inner.outgoing(now)
    }
    fn outgoing_bytes(&self, now: Cycle) -> Option<u32> {
        self.inner.outgoing_bytes(now)
    }
    fn answer(&mut self, now: Cycle) -> Option<Packet> {
        let mut packet = self.inner.answer(now)?;
        let wrong = match message(&packet) {
            Some(Message::Data) => self.strikes(Bug::DataChanged),
            Some(Message::WriteBack) => self.strikes(Bug::WriteBackEmpty),
            Some(Message::Return) => self.strikes(Bug::ReturnEmpty),
            _ => false,
        };
        if wrong && let Some(tray) = tray(&mut packet) {
            tray.0.iter_mut().for_each(|byte| *byte ^= 0x55);
        }
        Some(packet)
    }
    fn answer_bytes(&self, now: Cycle) -> Option<u32> {
        self.inner.answer_bytes(now)
    }
    fn begin_flush(&mut self, invalidate: bool, now: Cycle) {
        self.inner.begin_flush(invalidate && self.bug != Bug::CopiesKept, now);
    }
    fn is_flushed(&self) -> bool {
        self.inner.is_flushed()
    }
    fn peek(&self, line: LineAddress, below: &mut Line) {
        if self.bug != Bug::OwnersNotAsked {
            self.inner.peek(line, below);
        }
    }
    fn poke(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        self.inner.poke(line, bytes, data);
    }
    fn outstanding(&self) -> usize {
        self.inner.outstanding()
    }
    fn next_event(&self, now: Cycle) -> Cycle {
        let is_late = self.bug == Bug::SkippedTooFar && now.0.is_multiple_of(7);
        if is_late { now.next() } else { self.inner.next_event(now) }
    }
    fn waits(&self, report: &mut Vec<String>) {
        self.inner.waits(report);
    }
    fn statistics(&self) -> Vec<Group> {
        self.inner.statistics()
    }
}

impl Llc for Planted<DenovoL2> {
    fn offer(&mut self, request: Packet, now: Cycle) -> Result<(), Packet> {
        self.inner.offer(request, now)
    }
    fn accept(&mut self, packet: Packet, now: Cycle) {
        self.inner.accept(packet, now);
    }
    fn tick(&mut self, dram: &mut dyn DramPort, now: Cycle) {
        self.inner.tick(dram, now);
    }
    fn outgoing(&mut self, now: Cycle) -> Option<Packet> {
        let mut packet = self.inner.outgoing(now)?;
        match message(&packet) {
            // The owner is asked for nothing.
            Some(Message::Recall) if self.strikes(Bug::RecallLost) => packet.bytes = ByteMask::NONE,
            // The former owner keeps the word, and the requester has it too.
            Some(Message::ForwardRegister) if self.strikes(Bug::RegistrationGrantedTwice) => {
                let Body::Owned(letter, _) = &mut packet.body else { return None };
                letter.message = Message::Granted;
                packet.destination = NodeId(letter.requester.node.into());
            }
            _ => {}
        }
        Some(packet)
    }
    fn outgoing_bytes(&self, now: Cycle) -> Option<u32> {
        self.inner.outgoing_bytes(now)
    }
    fn next_outgoing(&self) -> Cycle {
        self.inner.next_outgoing()
    }
    fn next_event(&self, now: Cycle) -> Cycle {
        self.inner.next_event(now)
    }
    fn peek(&self, line: LineAddress, below: &mut Line) {
        self.inner.peek(line, below);
    }
    fn poke(&mut self, line: LineAddress, bytes: ByteMask, data: &Line) {
        self.inner.poke(line, bytes, data);
    }
    fn waits(&self, report: &mut Vec<String>) {
        self.inner.waits(report);
    }
    fn statistics(&self) -> Vec<Group> {
        self.inner.statistics()
    }
}

/// An L1D with so many sets, of lines in which each access lies.
fn l1d(node: NodeId, slices: SliceMap, sets: usize, access_bytes: usize) -> DenovoL1d {
    let mut config = DenovoL1dConfig::example();
    config.line_bytes.value = access_bytes as u32;
    (config.sets.value, config.ways.value) = (sets, 2);
    DenovoL1d::new(&config, node, slices, 1).expect("the numbers are right")
}

fn l2(number: u16, sets: usize) -> DenovoL2 {
    let mut config = DenovoL2Config::example();
    (config.sets.value, config.ways.value) = (sets, 2);
    DenovoL2::new(&config, number, 1).expect("the numbers are right")
}

/// What is run, and the sets of the caches: two, so that lines are replaced at both levels, or enough for all.
fn contracts() -> [(Contract, usize); 4] {
    let few = Contract { lines: 30, accesses: 400, episodes: 8, ..Contract::shared(7) };
    [
        (few, 2),
        (Contract { delay: 3, willing: 100, ..few }, 2),
        (Contract { seed: 9, lines: 40, special: 15, ..few }, 2),
        (Contract { seed: 3, lines: 20, ..few }, 16),
    ]
}

#[test]
fn denovo_keeps_the_contract() {
    for (contract, sets) in contracts() {
        for (l1ds, access_bytes) in [(1, 128), (3, 128), (5, 128), (1, 64), (3, 64), (5, 64)] {
            let contract = Contract { l1ds, access_bytes, ..contract };
            let outcome = check_with_skips(
                &contract,
                &mut |node, slices| Box::new(l1d(node, slices, sets, access_bytes)),
                &mut |number| Box::new(l2(number, sets)),
            );
            let outcome = outcome.unwrap_or_else(|fault| panic!("{contract:?}: {fault}"));
            let count = |group: &str, name: &str| -> u64 {
                let groups = outcome.statistics.iter().flatten().filter(|found| found.name == group);
                groups.filter_map(|group| group.get(name)).sum()
            };
            if l1ds > 1 && sets == 2 {
                for name in
                    ["supplied_words", "yielded_words", "returned_words", "written_back_words", "set_aside"]
                {
                    assert!(count("denovo", name) > 0, "{name} does not happen");
                }
                for name in ["eviction_recalls", "operation_recalls", "dropped_words"] {
                    assert!(count("registry", name) > 0, "{name} does not happen");
                }
            }
        }
    }
}

#[test]
fn every_planted_bug_is_caught() {
    for bug in BUGS {
        let found = contracts().into_iter().find_map(|(contract, sets)| {
            let plant = std::panic::catch_unwind(|| {
                check_with_skips(
                    &contract,
                    &mut |node, slices| {
                        Box::new(Planted {
                            inner: l1d(node, slices, sets, contract.access_bytes),
                            bug,
                            count: 0,
                        })
                    },
                    &mut |number| Box::new(Planted { inner: l2(number, sets), bug, count: 0 }),
                )
            });
            // The tables refuse what cannot happen.
            plant.unwrap_or_else(|_| Err("the tables have no line".to_owned())).err()
        });
        let fault = found.unwrap_or_else(|| panic!("{bug:?} is not caught"));
        println!("{bug:?}: {}", fault.chars().take(160).collect::<String>());
    }
}
