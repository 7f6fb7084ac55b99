//! The door of the register file: what stands between operand collectors, write-back and the banks.

use std::sync::Arc;

use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_warp::{LaneMask, Reg, Row};

use super::design::{Design, Named, downcast};
use crate::parameters::ParameterError;

/// The name of one operand row on its way: the collector and the place in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticket(pub u16);

/// Where operands arrive: the collectors' rows, one for every [`Ticket`], and the tickets that are complete.
pub struct CollectorPort<'a> {
    /// The row of each ticket; the register file copies the value into it.
    pub rows: &'a mut [Row],
    /// Tickets whose row is there now.
    pub arrived: &'a mut Vec<Ticket>,
}

/// A register file, whatever its technology and organisation. It holds the values.
///
/// Order: a row is read as it was when its read was asked for, and a write counts from the call that took it,
/// wherever a design keeps its bytes until a bank has time for them. The scoreboard never lets a write to a
/// register be offered while a read of it is open, nor two instructions that write it be under way together, so
/// a design may otherwise reorder as it likes. An instruction with few active lanes writes only those.
///
/// ```
/// # use strata_designs::baseline::SramRegisterFileConfig;
/// # use strata_engine::{Cited, Cycle};
/// # use strata_memory::doors::{CollectorPort, RegisterFileDesign, RegisterFileSite, Ticket};
/// # use strata_warp::{ALL_LANES, Reg, Row};
/// let design = SramRegisterFileConfig {
///     banks: Cited::new(16, "an example"),
///     read_latency_cycles: Cited::new(1, "an example"),
/// };
/// // Two warps of 16 registers; one collector of 4 rows.
/// let mut file = design.build(RegisterFileSite { rows: 32, tickets: 4, seed: 1 })?;
/// file.prepare(16);
/// assert!(file.offer_write(1, Reg(5), ALL_LANES, &Row::splat(42), Cycle(0)));
/// file.request(1, &[Reg(5)], Ticket(2), Cycle(1));
/// let (mut rows, mut arrived) = ([Row::ZERO; 4], Vec::new());
/// file.tick(CollectorPort { rows: &mut rows, arrived: &mut arrived }, Cycle(1));
/// assert_eq!(arrived, [Ticket(2)]);
/// assert_eq!(rows[2], Row::splat(42));
/// # Ok::<(), strata_memory::ParameterError>(())
/// ```
pub trait RegisterFile: Send {
    /// Before a launch: warp slots with `rows_per_warp` rows each, row r of warp w at `w * rows_per_warp + r`.
    /// Values are undefined afterwards (as in hardware).
    fn prepare(&mut self, rows_per_warp: u32);

    /// Asks for the rows of one instruction; row n has ticket `first + n`. Always accepted: a collector's
    /// room is the request's room.
    fn request(&mut self, warp: u8, registers: &[Reg], first: Ticket, now: Cycle);

    /// One cycle: grants reads, delivers what is due.
    fn tick(&mut self, port: CollectorPort<'_>, now: Cycle);

    /// Offers the lanes of a row to be written. False when the register file cannot take it in this cycle:
    /// offer it again.
    fn offer_write(&mut self, warp: u8, register: Reg, lanes: LaneMask, row: &Row, now: Cycle) -> bool;

    /// Between launches and at faults, without time: a register's value.
    fn peek(&self, warp: u8, register: Reg) -> &Row;

    /// Earliest cycle from `now` on at which a tick could do anything.
    fn next_event(&self, now: Cycle) -> Cycle;

    /// A sentence for each thing it waits for.
    fn waits(&self, report: &mut Vec<String>);

    /// What it counted.
    fn statistics(&self) -> Vec<Group>;
}

/// Where a register file stands: what one needs to be built.
#[derive(Clone, Copy, Debug)]
pub struct RegisterFileSite {
    /// Rows of the SM: a register of a warp is one.
    pub rows: usize,
    /// Tickets that can be open: the rows of all operand collectors.
    pub tickets: usize,
    /// Seed of its random streams.
    pub seed: u64,
}

/// The numbers of a register file, read from a machine file.
pub trait RegisterFileDesign: Design {
    /// A register file of undefined values.
    ///
    /// # Errors
    /// The first number that cannot be built.
    fn build(&self, site: RegisterFileSite) -> Result<Box<dyn RegisterFile>, ParameterError>;
}

downcast! { RegisterFileDesign }

/// The register file that a machine names.
pub type RegisterFileChoice = Named<Arc<dyn RegisterFileDesign>>;
