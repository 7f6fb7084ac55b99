//! A conventional SRAM register file: each single-ported bank serves one access per cycle, writes first.

use strata_engine::statistics::{Group, Statistics};
use strata_engine::{Cycle, DelayLine};
use strata_memory::doors::{Arrival, CollectorPort, RegisterFile, RegisterFileSite, Ticket};
use strata_warp::{ALL_LANES, LaneMask, Reg, Row};

mod design;

pub use design::SramRegisterFileConfig;

strata_engine::statistics! {
    /// Counters of a register file.
    pub struct RegisterFileStatistics: "register_file" {
        /// Rows read from the banks.
        reads: "rows" [energy],
        /// Rows written into the banks.
        writes: "rows" [energy],
        /// Writes of only some lanes of a row.
        partial_writes: "rows",
        /// Cycles that reads waited because their bank served another access, summed over reads.
        read_conflicts: "row-cycles",
        /// Writes refused for a cycle because their bank had already been written in it.
        write_conflicts: "refusals",
    }
    laws {
        "partial_writes <= writes": |s| s.partial_writes <= s.writes,
    }
}

/// Most banks.
const MOST_BANKS: usize = 64;

/// Sums of a register's name and a warp slot.
const SUMS: usize = 512;

/// Rows of one request that wait for their banks, one in each.
#[derive(Clone, Copy, Debug, Default)]
struct Read {
    /// One bit per bank that has yet to grant its row.
    banks: u64,
    /// What arrives once all have.
    arrival: Arrival,
}

/// A register file of SRAM banks. Register r of warp w lies in bank `(r + w) % banks`, so that the same
/// register of neighbouring warps does not collide (Lindholm et al., US patent 7,834,881; other simulators
/// use the same rule).
///
/// A row's bytes go to its collector with the request: only when they arrive there is a matter of banks. A bank grants
/// its reads in the order of the requests, so one list of requests stands for the queues of all banks.
pub struct SramRegisterFile {
    rows: Vec<Row>,
    rows_per_warp: u32,
    /// By register and warp, added up: the bank.
    bank_of: [u8; SUMS],
    /// What waits for banks: the first `open` of these, oldest first.
    reads: Box<[Read]>,
    open: usize,
    /// Rows that wait, over all banks.
    waiting: u32,
    /// One bit per bank: it was written in cycle `written_at`.
    written: u64,
    written_at: Cycle,
    /// Operands on their way from a bank to their collectors; unused if the latency is one cycle.
    under_way: DelayLine<Arrival>,
    extra_latency: u64,
    statistics: RegisterFileStatistics,
}

impl SramRegisterFile {
    /// Makes a register file of undefined values.
    pub fn new(config: &SramRegisterFileConfig, site: RegisterFileSite) -> Self {
        SramRegisterFile {
            rows: Row::zeros(site.rows),
            rows_per_warp: 0,
            bank_of: std::array::from_fn(|sum| (sum as u32 % *config.banks) as u8),
            reads: vec![Read::default(); site.tickets].into(),
            open: 0,
            waiting: 0,
            written: 0,
            written_at: Cycle::NEVER,
            under_way: DelayLine::new(site.tickets),
            extra_latency: u64::from(*config.read_latency_cycles) - 1,
            statistics: RegisterFileStatistics::default(),
        }
    }

    #[inline]
    fn place(&self, warp: u8, register: Reg) -> (u32, usize) {
        let row = u32::from(warp) * self.rows_per_warp + u32::from(register.0);
        let bank = self.bank_of[usize::from(register.0) + usize::from(warp)];
        (row, usize::from(bank) % MOST_BANKS)
    }

    /// Adds a read of one row in each of the banks in a mask. There is room for every collector's rows.
    #[inline]
    fn add(&mut self, banks: u64, first: Ticket) {
        let arrival = Arrival { ticket: first, rows: banks.count_ones() as u8 };
        self.reads[self.open] = Read { banks, arrival };
        self.open += 1;
    }

    /// Grants rows of each read, oldest first, and keeps the reads that wait for more. `free` is the mask of the banks
    /// that can serve a read. Returns the number of rows granted.
    #[inline(always)]
    fn grant(&mut self, mut free: u64, arrived: &mut Vec<Arrival>, now: Cycle) -> u32 {
        let (mut rows, mut kept) = (0, 0);
        for at in 0..self.open {
            let read = self.reads[at];
            let granted = read.banks & free;
            free &= !granted;
            rows += granted.count_ones();
            if granted != read.banks {
                self.reads[kept] = Read { banks: read.banks & !granted, ..read };
                kept += 1;
            } else if self.extra_latency == 0 {
                arrived.push(read.arrival);
            } else {
                let due = now + self.extra_latency;
                self.under_way.push(due, read.arrival).expect("there is room for every collector's rows");
            }
        }
        self.open = kept;
        rows
    }
}

impl RegisterFile for SramRegisterFile {
    fn prepare(&mut self, rows_per_warp: u32) {
        self.rows_per_warp = rows_per_warp;
    }

    #[inline(always)]
    fn request(&mut self, warp: u8, registers: &[Reg], first: Ticket, rows: &mut [Row], _now: Cycle) {
        let mut banks = 0;
        for (to, register) in rows[usize::from(first.0)..].iter_mut().zip(registers) {
            let (row, bank) = self.place(warp, *register);
            *to = self.rows[row as usize];
            let bit = 1 << bank;
            if banks & bit != 0 {
                // One more row of the same bank: a read of its own.
                self.add(bit, first);
            }
            banks |= bit;
        }
        if banks != 0 {
            self.add(banks, first);
        }
        self.waiting += registers.len() as u32;
    }

    #[inline(always)]
    fn tick(&mut self, port: CollectorPort<'_>, now: Cycle) {
        let busy = if self.written_at == now { self.written } else { 0 };
        let granted = self.grant(!busy, port.arrived, now);
        self.waiting -= granted;
        self.statistics.reads += u64::from(granted);
        self.statistics.read_conflicts += u64::from(self.waiting);
        while let Some(arrival) = self.under_way.pop(now) {
            port.arrived.push(arrival);
        }
    }

    #[inline(always)]
    fn offer_write(&mut self, warp: u8, register: Reg, lanes: LaneMask, row: &Row, now: Cycle) -> bool {
        let (place, bank) = self.place(warp, register);
        if self.written_at != now {
            self.written_at = now;
            self.written = 0;
        }
        if self.written >> bank & 1 == 1 {
            self.statistics.write_conflicts += 1;
            return false;
        }
        self.written |= 1 << bank;
        self.statistics.writes += 1;
        self.statistics.partial_writes += u64::from(lanes != ALL_LANES);
        self.rows[place as usize].merge(lanes, row);
        true
    }

    fn peek(&self, warp: u8, register: Reg) -> Row {
        self.rows[self.place(warp, register).0 as usize]
    }

    #[inline(always)]
    fn next_event(&self, now: Cycle) -> Cycle {
        if self.waiting != 0 { now } else { self.under_way.next_ready().max(now) }
    }

    fn waits(&self, report: &mut Vec<String>) {
        if self.waiting > 0 {
            report.push(format!("register file: {} rows wait for their banks", self.waiting));
        }
    }

    fn statistics(&self) -> Vec<Group> {
        vec![self.statistics.report()]
    }
}

#[cfg(test)]
mod tests {
    use strata_engine::Cited;

    use super::*;

    /// Two collectors of twelve rows.
    const TICKETS: usize = 24;

    fn file(read_latency: u32) -> SramRegisterFile {
        let cited = |value| Cited::new(value, "test");
        let config = SramRegisterFileConfig {
            banks: cited(4),
            read_latency_cycles: cited(read_latency),
            area_um2: None,
        };
        let site =
            RegisterFileSite { rows: 64, warps: 4, registers_per_thread: 16, tickets: TICKETS, seed: 0 };
        let mut file = SramRegisterFile::new(&config, site);
        file.prepare(16);
        file
    }

    /// What arrives in each of the cycles `0..cycles`: tickets, and numbers of rows.
    fn arrivals(file: &mut SramRegisterFile, cycles: u64) -> Vec<Vec<(u16, u8)>> {
        let mut rows = vec![Row::ZERO; TICKETS];
        (0..cycles)
            .map(|cycle| {
                let mut arrived = Vec::new();
                file.tick(CollectorPort { rows: &mut rows, arrived: &mut arrived }, Cycle(cycle));
                arrived.iter().map(|arrival: &Arrival| (arrival.ticket.0, arrival.rows)).collect()
            })
            .collect()
    }

    #[test]
    fn one_read_a_bank_and_cycle() {
        let (mut file, mut rows) = (file(1), vec![Row::ZERO; TICKETS]);
        // Warp 0: registers 0, 4 in bank 0, register 1 in bank 1. Warp 1: register 3 in bank (3 + 1) % 4 = 0.
        file.request(0, &[Reg(0), Reg(4), Reg(1)], Ticket(0), &mut rows, Cycle(0));
        file.request(1, &[Reg(3)], Ticket(12), &mut rows, Cycle(0));
        // Of the first request a row of bank 0 in cycle 0, and the two that wait for both banks in cycle 1.
        assert_eq!(arrivals(&mut file, 4), [vec![(0, 1)], vec![(0, 2)], vec![(12, 1)], vec![]]);
        // Two rows waited in cycle 0 and one in cycle 1.
        assert_eq!(file.statistics.read_conflicts, 3);
        assert_eq!(file.statistics.reads, 4);
        assert_eq!(file.next_event(Cycle(4)), Cycle::NEVER);
    }

    #[test]
    fn a_write_takes_the_banks_cycle() {
        let (mut file, mut rows) = (file(1), vec![Row::ZERO; TICKETS]);
        file.request(0, &[Reg(0)], Ticket(0), &mut rows, Cycle(0));
        assert!(file.offer_write(0, Reg(4), ALL_LANES, &Row::splat(7), Cycle(0)));
        assert!(!file.offer_write(0, Reg(8), 1, &Row::splat(8), Cycle(0)), "the bank is written already");
        assert_eq!(arrivals(&mut file, 2), [vec![], vec![(0, 1)]]);
        assert!(file.offer_write(0, Reg(8), 1, &Row::splat(8), Cycle(1)));
        assert_eq!((file.statistics.writes, file.statistics.partial_writes), (2, 1));
        assert_eq!(file.peek(0, Reg(4)), Row::splat(7));
        assert_eq!(file.peek(0, Reg(8)).0[..2], [8, 0]);
    }

    #[test]
    fn latency_is_exact() {
        let (mut file, mut rows) = (file(3), vec![Row::ZERO; TICKETS]);
        file.request(0, &[Reg(0)], Ticket(0), &mut rows, Cycle(0));
        assert_eq!(arrivals(&mut file, 4), [vec![], vec![], vec![(0, 1)], vec![]]);
    }
}
