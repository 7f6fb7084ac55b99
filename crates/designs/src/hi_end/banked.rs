//! A register file of banks alone: SRAM, and STT-MRAM without additional techniques (V-A).

use strata_engine::Cycle;
use strata_engine::statistics::{Group, Statistics};
use strata_memory::WarpRows;
use strata_memory::doors::{Arrival, CollectorPort, RegisterFile, RegisterFileSite, Ticket};
use strata_warp::{ALL_LANES, LaneMask, Reg, Row, WARP_LANES};

use super::config::{Arbitration, BankedConfig, PartialWrites, WriteBacks};
use super::layout::{Layout, ROW_BITS};
use super::reads::{Destination, ReadQueues, UnderWay};
use super::statistics::BankStatistics;
use super::wear::Wear;
use crate::baseline::RegisterFileStatistics;

/// A register file of banks. A write occupies the banks of its row's group for as long as the technology
/// takes; reads of the group wait meanwhile, and so do writes.
pub struct BankedRegisterFile {
    layout: Layout,
    lanes_per_bank: u32,
    write_cycles: u64,
    arbitration: Arbitration,
    write_backs: WriteBacks,
    partial_writes: PartialWrites,
    rows: Vec<Row>,
    /// By group: the first cycle in which its banks are free.
    free_at: Vec<Cycle>,
    reads: ReadQueues,
    under_way: UnderWay<Ticket>,
    wear: Wear,
    statistics: RegisterFileStatistics,
    banks: BankStatistics,
}

impl BankedRegisterFile {
    /// A register file of undefined values.
    pub fn new(config: &BankedConfig, site: RegisterFileSite) -> BankedRegisterFile {
        let banks = &config.banks;
        let layout = Layout::new(*banks.count, *banks.bits, site.rows);
        BankedRegisterFile {
            lanes_per_bank: *banks.bits / 32,
            write_cycles: u64::from(*banks.write_cycles),
            arbitration: *config.arbitration,
            write_backs: config.write_backs.as_deref().map_or(WriteBacks::Stall, |of| *of),
            partial_writes: config.partial_writes.as_deref().map_or(PartialWrites::ActiveLanes, |of| *of),
            rows: Row::zeros(site.rows),
            free_at: vec![Cycle::ZERO; layout.groups() as usize],
            reads: ReadQueues::new(layout.groups()),
            under_way: UnderWay::new(u64::from(*banks.read_latency_cycles), site.tickets),
            wear: Wear::new(&layout),
            statistics: RegisterFileStatistics::default(),
            banks: BankStatistics::default(),
            layout,
        }
    }
}

impl RegisterFile for BankedRegisterFile {
    fn prepare(&mut self, rows: &WarpRows) {
        self.layout.prepare(rows);
    }

    fn request(&mut self, warp: u8, registers: &[Reg], first: Ticket, _rows: &mut [Row], _now: Cycle) {
        self.reads.request(&self.layout, warp, registers, first);
    }

    fn tick(&mut self, port: CollectorPort<'_>, now: Cycle) {
        let mut wanted = self.reads.wanted();
        while wanted != 0 {
            let group = wanted.trailing_zeros();
            wanted &= wanted - 1;
            if self.free_at[group as usize] > now {
                continue;
            }
            let read = self.reads.remove(group, 0);
            let Destination::Collector(ticket) = read.destination else {
                unreachable!("nothing merges here")
            };
            self.statistics.reads += 1;
            self.banks.row_reads += 1;
            self.banks.bits_read += u64::from(ROW_BITS);
            port.rows[usize::from(ticket.0)] = self.rows[read.row as usize];
            self.under_way.send(ticket, now);
        }
        self.statistics.read_conflicts += u64::from(self.reads.waiting());
        while let Some(ticket) = self.under_way.arrive(now) {
            port.arrived.push(Arrival::of(ticket));
        }
    }

    fn offer_write(&mut self, warp: u8, register: Reg, lanes: LaneMask, row: &Row, now: Cycle) -> bool {
        let id = self.layout.row(warp, register);
        let place = self.layout.place(id);
        let reads_first = self.arbitration == Arbitration::ReadsFirst && self.reads.wants(place.group);
        let free_at = &mut self.free_at[place.group as usize];
        if *free_at > now || reads_first {
            self.statistics.write_conflicts += 1;
            if self.write_backs == WriteBacks::Stall {
                return false;
            }
        } else {
            *free_at = now + self.write_cycles;
        }
        self.rows[id as usize].merge(lanes, row);
        self.statistics.writes += 1;
        self.statistics.partial_writes += u64::from(lanes != ALL_LANES);
        self.banks.row_writes += 1;
        if lanes == ALL_LANES || self.partial_writes == PartialWrites::WholeRow {
            self.banks.bits_written += u64::from(ROW_BITS);
            self.wear.wrote(place, 0, self.layout.banks_per_row());
        } else {
            self.banks.bits_written += u64::from(lanes.count_ones()) * 32;
            let share = LaneMask::MAX >> (WARP_LANES as u32 - self.lanes_per_bank);
            for bank in 0..self.layout.banks_per_row() {
                if lanes >> (bank * self.lanes_per_bank) & share != 0 {
                    self.wear.wrote(place, bank, 1);
                }
            }
        }
        true
    }

    fn peek(&self, warp: u8, register: Reg) -> Row {
        self.rows[self.layout.row(warp, register) as usize]
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        if self.reads.waiting() > 0 { now } else { self.under_way.next_event().max(now) }
    }

    fn waits(&self, report: &mut Vec<String>) {
        if self.reads.waiting() > 0 {
            report.push(format!("register file: {} rows wait for their banks", self.reads.waiting()));
        }
    }

    fn statistics(&self) -> Vec<Group> {
        let banks = BankStatistics {
            words: self.wear.words(),
            hottest_word_writes: self.wear.hottest_word(),
            hottest_bank_writes: self.wear.hottest_bank(),
            ..self.banks
        };
        let mut groups = vec![self.statistics.report(), banks.report()];
        groups.push(self.wear.report());
        groups
    }
}
