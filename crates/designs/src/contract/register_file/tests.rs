//! The conventional register file under the contract, and planted bugs that it must catch.

use std::collections::VecDeque;

use strata_engine::Cited;
use strata_engine::statistics::Group;
use strata_warp::{ALL_LANES, LaneMask};

use super::*;
use crate::baseline::{SramRegisterFile, SramRegisterFileConfig};

fn sram(banks: u32, read_latency_cycles: u32, site: RegisterFileSite) -> Box<dyn RegisterFile> {
    let cited = |value| Cited::new(value, "test");
    let config = SramRegisterFileConfig {
        banks: cited(banks),
        read_latency_cycles: cited(read_latency_cycles),
        area_um2: None,
    };
    Box::new(SramRegisterFile::new(&config, site).unwrap())
}

#[test]
fn the_contract_holds_for_the_sram_register_file() {
    let files = [
        (1, 1, 1),
        (4, 1, 1),
        (16, 1, 1),
        (32, 1, 1),
        (1, 7, 1),
        (5, 2, 1),
        (16, 3, 1),
        (32, 40, 1),
        (8, 1, 4),
        (12, 2, 4),
        (2, 1, 2),
        (64, 3, 8),
    ];
    for (seed, (banks, latency, sub_cores)) in files.into_iter().enumerate() {
        let seed = seed as u64;
        for contract in [
            Contract::dense(seed),
            Contract { launches: 2, instructions: 500, ..Contract::wide(seed) },
            Contract { collectors: 1, operands: 1, willing: 100, delay: 1, ..Contract::dense(seed) },
        ] {
            let outcome = check_with_skips(&contract, &mut |site| {
                sram(banks, latency, RegisterFileSite { sub_cores, ..site })
            });
            if let Err(fault) = outcome {
                panic!("{banks} banks, {latency} cycles, {sub_cores} sub-cores: {fault}\n{contract:?}");
            }
        }
    }
}

#[test]
fn a_check_puts_every_bank_under_pressure() {
    let outcome = check(&Contract::dense(1), &mut |site| sram(4, 2, site)).unwrap();
    let group = &outcome.statistics[0][0];
    for (definition, value) in group.definitions.iter().zip(&group.values) {
        assert!(*value > 100, "{} is {value}", definition.name);
    }
}

/// What the wrapped register file does wrong, most of them every seventh time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bug {
    /// None: the wrapper itself is sound.
    Sound,
    TicketLost,
    TicketTwice,
    /// The rows of an instruction go to its tickets in reverse.
    TicketsReversed,
    /// Two rows that arrive in a cycle are exchanged.
    RowsSwapped,
    /// A row of another ticket is written too.
    RowScribbled,
    /// All lanes are written.
    LanesIgnored,
    WriteLost,
    /// A write is refused, but its bytes are there.
    RefusedButWritten,
    /// Nothing is ever taken again after a while.
    RefusedForever,
    /// A write counts only three cycles after it was taken.
    WriteLate,
    PeekStale,
    /// The first launch's rows of a warp hold for all.
    PrepareIgnored,
    SkippedTooFar,
    WaitsForever,
    LawBroken,
}

const BUGS: [Bug; 15] = [
    Bug::TicketLost,
    Bug::TicketTwice,
    Bug::TicketsReversed,
    Bug::RowsSwapped,
    Bug::RowScribbled,
    Bug::LanesIgnored,
    Bug::WriteLost,
    Bug::RefusedButWritten,
    Bug::RefusedForever,
    Bug::WriteLate,
    Bug::PeekStale,
    Bug::PrepareIgnored,
    Bug::SkippedTooFar,
    Bug::WaitsForever,
    Bug::LawBroken,
];

struct Planted {
    inner: Box<dyn RegisterFile>,
    bug: Bug,
    count: u32,
    prepared: bool,
    late: VecDeque<(Cycle, u8, Reg, LaneMask, Row)>,
}

impl Planted {
    /// Whether the bug strikes: every seventh time.
    fn strikes(&mut self, bug: Bug) -> bool {
        if self.bug != bug {
            return false;
        }
        self.count += 1;
        self.count.is_multiple_of(7)
    }
}

impl RegisterFile for Planted {
    fn prepare(&mut self, rows: &WarpRows) {
        if self.bug != Bug::PrepareIgnored || !self.prepared {
            self.inner.prepare(rows);
        }
        self.prepared = true;
    }

    fn request(&mut self, warp: u8, registers: &[Reg], first: Ticket, rows: &mut [Row], now: Cycle) {
        if self.strikes(Bug::TicketsReversed) {
            let reversed: Vec<Reg> = registers.iter().rev().copied().collect();
            return self.inner.request(warp, &reversed, first, rows, now);
        }
        self.inner.request(warp, registers, first, rows, now);
    }

    fn tick(&mut self, port: CollectorPort<'_>, now: Cycle) {
        while let Some((due, warp, register, lanes, row)) = self.late.front().copied()
            && due <= now
            && self.inner.offer_write(warp, register, lanes, &row, now)
        {
            self.late.pop_front();
        }
        let CollectorPort { rows, arrived } = port;
        self.inner.tick(CollectorPort { rows: &mut *rows, arrived: &mut *arrived }, now);
        if let [.., first, second] = arrived[..]
            && self.strikes(Bug::RowsSwapped)
        {
            rows.swap(usize::from(first.ticket.0), usize::from(second.ticket.0));
        }
        let Some(&last) = arrived.last() else { return };
        if self.strikes(Bug::TicketLost) {
            arrived.pop();
        } else if self.strikes(Bug::TicketTwice) {
            arrived.push(last);
        } else if self.strikes(Bug::RowScribbled) {
            let other = (usize::from(last.ticket.0) + rows.len() / 2) % rows.len();
            rows[other] = rows[usize::from(last.ticket.0)];
        }
    }

    fn offer_write(&mut self, warp: u8, register: Reg, lanes: LaneMask, row: &Row, now: Cycle) -> bool {
        if self.strikes(Bug::WriteLost) {
            return true;
        }
        match self.bug {
            Bug::LanesIgnored => self.inner.offer_write(warp, register, ALL_LANES, row, now),
            Bug::RefusedForever if now >= Cycle(500) => false,
            Bug::RefusedButWritten => {
                self.inner.offer_write(warp, register, lanes, row, now)
                    && !self.strikes(Bug::RefusedButWritten)
            }
            Bug::WriteLate => {
                self.late.push_back((now + 3, warp, register, lanes, *row));
                true
            }
            _ => self.inner.offer_write(warp, register, lanes, row, now),
        }
    }

    fn peek(&self, warp: u8, register: Reg) -> Row {
        match self.bug {
            Bug::PeekStale if register.0 == 1 => Row::ZERO,
            _ => self.inner.peek(warp, register),
        }
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        let next = self.inner.next_event(now).min(self.late.front().map_or(Cycle::NEVER, |(due, ..)| *due));
        match next {
            Cycle::NEVER => next,
            next if self.bug == Bug::SkippedTooFar => next + 1,
            next => next.max(now),
        }
    }

    fn waits(&self, report: &mut Vec<String>) {
        self.inner.waits(report);
        if self.bug == Bug::WaitsForever {
            report.push("for nothing".to_owned());
        }
    }

    fn statistics(&self) -> Vec<Group> {
        let mut groups = self.inner.statistics();
        if self.bug == Bug::LawBroken {
            groups[0].broken = Some("reads = writes");
        }
        groups
    }
}

fn run(bug: Bug) -> Result<Outcome, String> {
    let contract = Contract { instructions: 400, ..Contract::dense(3) };
    check_with_skips(&contract, &mut |site| {
        let inner = sram(4, 2, site);
        Box::new(Planted { inner, bug, count: 0, prepared: false, late: VecDeque::new() })
    })
}

#[test]
fn every_planted_bug_is_caught_and_the_sound_one_passes() {
    run(Bug::Sound).unwrap();
    for bug in BUGS {
        let caught = run(bug);
        assert!(caught.is_err(), "{bug:?} was not caught");
        println!("{bug:?}: {}", caught.unwrap_err());
    }
}
