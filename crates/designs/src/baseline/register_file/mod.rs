//! A conventional SRAM register file: each single-ported bank serves one access per cycle, writes first.

use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_memory::RegisterBanks;
use strata_memory::doors::{CollectorPort, RegisterFile, RegisterFileSite, Ticket};
use strata_warp::{LaneMask, Reg, Row};

mod design;

pub use design::SramRegisterFileConfig;
pub use strata_memory::register_banks::RegisterFileStatistics;

/// A register file of SRAM banks.
pub struct SramRegisterFile(RegisterBanks);

impl SramRegisterFile {
    /// Makes a register file of undefined values.
    pub fn new(config: &SramRegisterFileConfig, site: RegisterFileSite) -> Self {
        let (banks, read_latency) = (*config.banks, *config.read_latency_cycles);
        SramRegisterFile(RegisterBanks::new(banks, read_latency, site.rows, site.tickets))
    }
}

impl RegisterFile for SramRegisterFile {
    fn prepare(&mut self, rows_per_warp: u32) {
        self.0.prepare(rows_per_warp);
    }

    #[inline(always)]
    fn request(&mut self, warp: u8, registers: &[Reg], first: Ticket, rows: &mut [Row], _now: Cycle) {
        self.0.request(warp, registers, first, rows);
    }

    #[inline(always)]
    fn tick(&mut self, port: CollectorPort<'_>, now: Cycle) {
        self.0.serve(now, |arrival| port.arrived.push(arrival));
    }

    #[inline(always)]
    fn offer_write(&mut self, warp: u8, register: Reg, lanes: LaneMask, row: &Row, now: Cycle) -> bool {
        self.0.offer_write(warp, register, lanes, row, now)
    }

    #[inline(always)]
    fn banks(&mut self) -> Option<&mut RegisterBanks> {
        Some(&mut self.0)
    }

    fn peek(&self, warp: u8, register: Reg) -> Row {
        self.0.peek(warp, register)
    }

    #[inline(always)]
    fn next_event(&self, now: Cycle) -> Cycle {
        self.0.next_event(now)
    }

    fn waits(&self, report: &mut Vec<String>) {
        self.0.waits(report);
    }

    fn statistics(&self) -> Vec<Group> {
        self.0.statistics()
    }
}

#[cfg(test)]
mod tests {
    use strata_engine::Cited;
    use strata_memory::doors::Arrival;
    use strata_warp::ALL_LANES;

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

    fn count(file: &SramRegisterFile, counter: &str) -> u64 {
        file.statistics()[0].get(counter).unwrap()
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
        // Of the first request a row of each bank in cycle 0, and the second of bank 0 in cycle 1.
        assert_eq!(arrivals(&mut file, 4), [vec![(0, 2)], vec![(0, 1)], vec![(12, 1)], vec![]]);
        // Two rows waited in cycle 0 and one in cycle 1.
        assert_eq!(count(&file, "read_conflicts"), 3);
        assert_eq!(count(&file, "reads"), 4);
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
        assert_eq!((count(&file, "writes"), count(&file, "partial_writes")), (2, 1));
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
