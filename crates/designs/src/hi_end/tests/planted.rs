//! Bugs planted in the hierarchical register file: the contract must catch each of them.
//!
//! The design itself contains no bug. [`Planted`] looks into its structures after every step, and changes what
//! they hold to what it would be with the bug.

use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_memory::WarpRows;
use strata_memory::doors::{CollectorPort, RegisterFile, RegisterFileSite, Ticket};
use strata_warp::{ALL_LANES, LaneMask, Reg, Row};

use super::*;
use crate::contract::register_file::{Contract, check_with_skips};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bug {
    /// None: the wrapper itself is sound.
    Sound,
    /// Reads do not look into the delay buffer: between eviction and write they get the old row of the banks.
    BufferNotLookedUp,
    /// A write's bank point value is one too high.
    BankPointOffByOne,
    /// A row is noted as compressed to narrower deltas than it has.
    WrongRange,
    /// A divergent write overwrites all lanes.
    DivergentOverwrites,
    /// A divergent write does not fetch the other lanes.
    DivergentNotMerged,
    /// A row in the delay buffer is lost before its write begins.
    EntryLost,
    /// Wear levelling moves the bank point value, but not the data.
    LevelledWithoutData,
    /// A row that is evicted again is written before its older value.
    WrittenOutOfOrder,
    /// The registers of an ended warp stay, and come back with the next one's.
    NothingReleased,
}

const BUGS: [Bug; 8] = [
    Bug::BufferNotLookedUp,
    Bug::BankPointOffByOne,
    Bug::WrongRange,
    Bug::DivergentOverwrites,
    Bug::DivergentNotMerged,
    Bug::EntryLost,
    Bug::LevelledWithoutData,
    Bug::WrittenOutOfOrder,
];

struct Planted {
    inner: HierarchicalRegisterFile,
    bug: Bug,
    /// The bank point value of each row after the last step.
    bank_points: Vec<u8>,
}

impl Planted {
    fn new(inner: HierarchicalRegisterFile, bug: Bug) -> Planted {
        let mut planted = Planted { inner, bug, bank_points: Vec::new() };
        planted.bank_points = planted.points();
        planted
    }

    fn points(&mut self) -> Vec<u8> {
        let rows = self.inner.layout.rows() as u32;
        let table = self.inner.banks.table();
        (0..rows).map(|row| table.get(row).bank_point).collect()
    }

    /// Changes what the last step left.
    fn strike(&mut self) {
        let inner = &mut self.inner;
        match self.bug {
            Bug::BufferNotLookedUp => inner.buffer.newest.fill(u8::MAX),
            Bug::EntryLost if inner.buffer.waiting.len() > 1 => {
                let slot = inner.buffer.waiting[1];
                let row = inner.buffer.slots[usize::from(slot)].row;
                inner.buffer.forget(row);
            }
            Bug::WrittenOutOfOrder => inner.buffer.waiting.reverse(),
            Bug::BankPointOffByOne | Bug::LevelledWithoutData | Bug::WrongRange => self.change_table(),
            _ => {}
        }
    }

    /// Changes the table's entries of rows whose write has just ended.
    fn change_table(&mut self) {
        let now = self.points();
        let changed =
            now.iter().zip(&self.bank_points).enumerate().filter(|(_, (now, before))| now != before);
        let changed: Vec<usize> = changed.map(|(row, _)| row).collect();
        for row in changed {
            let entry = self.inner.banks.table().entry(row as u32);
            match self.bug {
                Bug::BankPointOffByOne => entry.bank_point = (entry.bank_point + 1) % 16,
                Bug::LevelledWithoutData => entry.bank_point = (entry.bank_point + 5) % 16,
                _ => {
                    use super::super::compression::Range;
                    if entry.range == Some(Range::Deltas(strata_memory::base_delta::DeltaWidth::Two)) {
                        entry.range = Some(Range::Deltas(strata_memory::base_delta::DeltaWidth::One));
                    }
                }
            }
        }
        self.bank_points = self.points();
    }
}

impl RegisterFile for Planted {
    fn prepare(&mut self, rows: &WarpRows) {
        self.inner.prepare(rows);
    }

    fn request(&mut self, warp: u8, registers: &[Reg], first: Ticket, rows: &mut [Row], now: Cycle) {
        self.inner.request(warp, registers, first, rows, now);
    }

    fn tick(&mut self, port: CollectorPort<'_>, now: Cycle) {
        self.inner.tick(port, now);
        self.strike();
    }

    fn offer_write(&mut self, warp: u8, register: Reg, lanes: LaneMask, row: &Row, now: Cycle) -> bool {
        let known = if self.bug == Bug::DivergentOverwrites { ALL_LANES } else { lanes };
        let taken = self.inner.offer_write(warp, register, known, row, now);
        if taken && self.bug == Bug::DivergentNotMerged {
            let row = self.inner.layout.row(warp, register);
            let cache = self.inner.cache.as_mut().expect("it has one");
            let line = cache.line(warp, register, row);
            if let Some(held) = cache.find(line, row).copied() {
                cache.fill(line, held.merge, &Row::ZERO);
            }
        }
        self.strike();
        taken
    }

    fn release(&mut self, warp: u8) {
        if self.bug != Bug::NothingReleased {
            self.inner.release(warp);
        }
    }

    fn peek(&self, warp: u8, register: Reg) -> Row {
        self.inner.peek(warp, register)
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

fn run(bug: Bug) -> Result<(), String> {
    let make = |site: RegisterFileSite| -> Box<dyn RegisterFile> {
        Box::new(Planted::new(HierarchicalRegisterFile::new(&small(16, 8), site), bug))
    };
    check_with_skips(&Contract::dense(3), &mut { make }).map(|_| ())
}

#[test]
fn every_planted_bug_is_caught_and_the_sound_one_passes() {
    run(Bug::Sound).unwrap();
    // Values of ended warps are undefined: whoever keeps them breaks nothing.
    run(Bug::NothingReleased).unwrap();
    for bug in BUGS {
        let caught = run(bug);
        assert!(caught.is_err(), "{bug:?} was not caught");
        println!("{bug:?}: {}", caught.unwrap_err());
    }
}
