//! A conventional SRAM register file: each single-ported bank serves one access per cycle, writes first.

use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_memory::doors::{CollectorPort, RegisterFile, RegisterFileSite, Ticket};
use strata_memory::sub_cores::parts;
use strata_memory::{ParameterError, RegisterBanks, WarpRows};
use strata_warp::{LaneMask, Reg, Row};

mod design;

pub use design::SramRegisterFileConfig;
pub use strata_memory::register_banks::RegisterFileStatistics;

/// A register file of SRAM banks.
pub struct SramRegisterFile(RegisterBanks);

impl SramRegisterFile {
    /// Makes a register file of undefined values, whose banks are divided among the sub-cores.
    ///
    /// # Errors
    /// Returns a sentence if the sub-cores cannot have as many banks each.
    pub fn new(config: &SramRegisterFileConfig, site: RegisterFileSite) -> Result<Self, ParameterError> {
        let (banks, read_latency) = (*config.banks, *config.read_latency_cycles);
        let parts = parts(banks, site.sub_cores)
            .map_err(|expected| ParameterError::new("banks", format!("must be {expected}, found {banks}")))?;
        Ok(SramRegisterFile(RegisterBanks::new(banks, read_latency, site.rows, site.tickets).divided(parts)))
    }
}

impl RegisterFile for SramRegisterFile {
    fn prepare(&mut self, rows: &WarpRows) {
        self.0.prepare(rows);
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
        divided(read_latency, 1).unwrap()
    }

    fn divided(read_latency: u32, sub_cores: u32) -> Result<SramRegisterFile, ParameterError> {
        let cited = |value| Cited::new(value, "test");
        let config = SramRegisterFileConfig {
            banks: cited(4),
            read_latency_cycles: cited(read_latency),
            area_um2: None,
        };
        let site = RegisterFileSite {
            rows: 64,
            warps: 4,
            sub_cores,
            registers_per_thread: 16,
            tickets: TICKETS,
            seed: 0,
        };
        let mut file = SramRegisterFile::new(&config, site)?;
        file.prepare(&WarpRows::even(16));
        Ok(file)
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
    fn sub_cores_have_banks_of_their_own() {
        let (mut file, mut rows) = (divided(1, 2).unwrap(), vec![Row::ZERO; TICKETS]);
        // Banks 0 and 1 are those of warps 0 and 2. Warp 0: registers 0 and 2 in bank 0. Warp 2, the second of its sub-core:
        // register 1 in bank (1 + 1) % 2 = 0.
        file.request(0, &[Reg(0), Reg(2)], Ticket(0), &mut rows, Cycle(0));
        file.request(2, &[Reg(1)], Ticket(4), &mut rows, Cycle(0));
        // Warps 1 and 3 have banks 2 and 3. Warp 1: registers 0 and 1 in banks 2 and 3; warp 3: register 0 in bank 3.
        file.request(1, &[Reg(0), Reg(1)], Ticket(12), &mut rows, Cycle(0));
        file.request(3, &[Reg(0)], Ticket(16), &mut rows, Cycle(0));
        let arrived = arrivals(&mut file, 4);
        assert_eq!(arrived, [vec![(0, 1), (12, 2)], vec![(0, 1), (16, 1)], vec![(4, 1)], vec![]]);
        // Writes of warps 0 and 2 into bank 0 conflict, and one of warp 1 into bank 2 goes beside them.
        assert!(file.offer_write(0, Reg(0), ALL_LANES, &Row::splat(1), Cycle(5)));
        assert!(!file.offer_write(2, Reg(1), ALL_LANES, &Row::splat(2), Cycle(5)));
        assert!(file.offer_write(1, Reg(0), ALL_LANES, &Row::splat(3), Cycle(5)));
        assert_eq!(count(&file, "write_conflicts"), 1);
    }

    #[test]
    fn sub_cores_have_as_many_banks_each() {
        let refused = divided(1, 3).err().expect("4 banks cannot be divided by 3").to_string();
        assert!(refused.starts_with("banks: must be fewer than sm.schedulers (3)"), "{refused}");
        // Fewer banks than sub-cores serve them all: warps 0 and 1 meet in bank 0.
        let mut file = divided(1, 8).unwrap();
        assert!(file.offer_write(0, Reg(4), ALL_LANES, &Row::splat(1), Cycle(0)));
        assert!(!file.offer_write(1, Reg(3), ALL_LANES, &Row::splat(2), Cycle(0)));
    }

    #[test]
    fn latency_is_exact() {
        let (mut file, mut rows) = (file(3), vec![Row::ZERO; TICKETS]);
        file.request(0, &[Reg(0)], Ticket(0), &mut rows, Cycle(0));
        assert_eq!(arrivals(&mut file, 4), [vec![], vec![], vec![(0, 1)], vec![]]);
    }
}
