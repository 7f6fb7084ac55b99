//! Values of registers beside a register file whose accesses are not those of rows
//! ([`RegisterFileDesign::accesses`](strata_memory::doors::RegisterFileDesign::accesses)): it has the time, the energy and the wear
//! of the accesses, and this has the values.

use strata_engine::Cycle;
use strata_memory::doors::{Arrival, CollectorPort, RegisterFile, Ticket};
use strata_ptx::isa::Reg;
use strata_ptx::lanes::{LaneMask, Row};

/// The values of all warps' registers.
#[derive(Debug)]
pub struct ValuesBeside {
    rows_per_warp: usize,
    rows: Vec<Row>,
    /// What the register file delivers, which nobody reads: one for each ticket.
    delivered: Vec<Row>,
}

impl ValuesBeside {
    /// Values of warps that have so many rows each, which nothing has written; the collectors have so many tickets.
    pub fn new(warps: usize, rows_per_warp: u32, tickets: usize) -> ValuesBeside {
        let rows_per_warp = rows_per_warp as usize;
        ValuesBeside {
            rows_per_warp,
            rows: Row::zeros(warps * rows_per_warp),
            delivered: Row::zeros(tickets),
        }
    }

    fn place(&self, warp: u8, register: Reg) -> usize {
        usize::from(warp) * self.rows_per_warp + usize::from(register.0)
    }

    /// A register's value.
    pub fn peek(&self, warp: u8, register: Reg) -> &Row {
        &self.rows[self.place(warp, register)]
    }

    /// Writes lanes of a row.
    pub fn write(&mut self, warp: u8, register: Reg, lanes: LaneMask, row: &Row) {
        let place = self.place(warp, register);
        self.rows[place].merge(lanes, row);
    }

    /// Copies the rows that an instruction reads.
    pub fn read(&self, warp: u8, registers: &[Reg], rows: &mut [Row]) {
        for (to, register) in rows.iter_mut().zip(registers) {
            *to = *self.peek(warp, *register);
        }
    }

    /// Requests accesses of the register file.
    pub fn request(
        &mut self,
        registers: &mut (impl RegisterFile + ?Sized),
        (warp, numbers, first): (u8, &[Reg], Ticket),
        now: Cycle,
    ) {
        if !numbers.is_empty() {
            registers.request(warp, numbers, first, &mut self.delivered, now);
        }
    }

    /// The port on which the register file delivers.
    pub fn port<'a>(&'a mut self, arrived: &'a mut Vec<Arrival>) -> CollectorPort<'a> {
        CollectorPort { rows: &mut self.delivered, arrived }
    }
}

/// The row that stands for a predicate in the register file: 1 where it holds.
pub fn row_of_predicate(value: LaneMask) -> Row {
    Row(std::array::from_fn(|lane| value >> lane & 1))
}
