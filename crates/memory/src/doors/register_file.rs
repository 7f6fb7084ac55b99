//! The door of the register file: operand collectors read rows through it, and write-back writes them.

use std::any::Any;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_warp::{LaneMask, Reg, Row};

use super::design::{Design, Named, downcast};
use crate::parameters::ParameterError;
use crate::register_banks::{Arrival, RegisterBanks, Ticket};
use crate::warp_rows::WarpRows;

/// Where operands arrive: the collectors' rows, one for each [`Ticket`], and how many have arrived.
pub struct CollectorPort<'a> {
    /// The row of each ticket, into which the register file copies the value.
    pub rows: &'a mut [Row],
    /// What has arrived; the register file appends to it.
    pub arrived: &'a mut Vec<Arrival>,
}

/// A register file of any technology and organisation. It holds the register values.
///
/// Order: a read returns the row as it was when the read was requested. The collectors' rows of a request are the register
/// file's to write from the request on, until all of them have arrived; only then are they read. A write takes effect with the call
/// that accepts it, wherever the design keeps the bytes until a bank can store them. The scoreboard never
/// offers a write to a register with an open read, and never lets two instructions that write the same
/// register be in flight together; within these bounds a design may reorder freely. A write changes only the
/// active lanes.
///
/// ```
/// # use strata_designs::baseline::SramRegisterFileConfig;
/// # use strata_engine::{Cited, Cycle};
/// # use strata_memory::WarpRows;
/// # use strata_memory::doors::{Arrival, CollectorPort, RegisterFileDesign, RegisterFileSite, Ticket};
/// # use strata_warp::{ALL_LANES, Reg, Row};
/// let design = SramRegisterFileConfig {
///     banks: Cited::new(16, "an example"),
///     read_latency_cycles: Cited::new(1, "an example"),
///     area_um2: None,
/// };
/// // Two warps of 16 registers; one collector of 4 rows.
/// let site = RegisterFileSite { rows: 32, warps: 2, sub_cores: 1, registers_per_thread: 16, tickets: 4, seed: 1 };
/// let mut file = design.build(site)?;
/// file.prepare(&WarpRows::even(16));
/// assert!(file.offer_write(1, Reg(5), ALL_LANES, &Row::splat(42), Cycle(0)));
/// let (mut rows, mut arrived) = ([Row::ZERO; 4], Vec::new());
/// file.request(1, &[Reg(5)], Ticket(2), &mut rows, Cycle(1));
/// file.tick(CollectorPort { rows: &mut rows, arrived: &mut arrived }, Cycle(1));
/// assert_eq!(arrived, [Arrival { ticket: Ticket(2), rows: 1 }]);
/// assert_eq!(rows[2], Row::splat(42));
/// # Ok::<(), strata_memory::ParameterError>(())
/// ```
pub trait RegisterFile: Any + Send {
    /// Lays out the rows before a launch: those of each warp follow those of the one before. Values are undefined afterwards, as in
    /// hardware.
    fn prepare(&mut self, rows: &WarpRows);

    /// Requests rows of one instruction; row n has ticket `first + n`. They are all rows of the instruction, unless
    /// it reads a register whose number it has to read first: that one is requested when the others have arrived,
    /// with the ticket behind theirs. A request cannot be refused: the collector provides the room. `rows` has the
    /// row of each ticket: those of the request may be filled in at once, since no write of their registers is
    /// accepted before they have arrived.
    fn request(&mut self, warp: u8, registers: &[Reg], first: Ticket, rows: &mut [Row], now: Cycle);

    /// Performs one cycle: grants reads, and tells of the rows that arrive.
    fn tick(&mut self, port: CollectorPort<'_>, now: Cycle);

    /// Offers a write of the given lanes of a row. Returns false if the register file cannot take it in this
    /// cycle; the caller then offers it again.
    fn offer_write(&mut self, warp: u8, register: Reg, lanes: LaneMask, row: &Row, now: Cycle) -> bool;

    /// The banks that it consists of, if it is nothing else. An SM then knows at issue when they will serve an instruction. It lets
    /// instructions that only compute read and write their rows in place as they issue, and asks for the banks' time. The
    /// scoreboard keeps others from these rows until that time has passed, so nobody sees a value early.
    fn banks(&mut self) -> Option<&mut RegisterBanks> {
        None
    }

    /// Tells that a warp has ended: its registers are undefined until they are written again, and nothing of them
    /// need be kept. Nothing of the warp is in flight.
    fn release(&mut self, _warp: u8) {}

    /// A register's value, for use between launches, at faults, and where an instruction issues whose lanes a register names: nothing
    /// that was written to it is under way. Takes no simulated time.
    fn peek(&self, warp: u8, register: Reg) -> Row;

    /// Earliest cycle, not before `now`, at which a tick would do work.
    fn next_event(&self, now: Cycle) -> Cycle;

    /// Appends to `report` one sentence for each thing that the register file waits for.
    fn waits(&self, report: &mut Vec<String>);

    /// Its counters, one group for each set of statistics.
    fn statistics(&self) -> Vec<Group>;
}

/// The place of a register file in the machine.
#[derive(Clone, Copy, Debug)]
pub struct RegisterFileSite {
    /// Rows in the SM; each register of a warp takes one.
    pub rows: usize,
    /// Number of warp slots.
    pub warps: u32,
    /// Sub-cores of the SM, 1 without such: warp w belongs to sub-core w modulo their number. A design may give each a share
    /// of its banks ([`parts`](crate::sub_cores::parts)), or serve them all from what it has.
    pub sub_cores: u32,
    /// Most registers that a kernel uses in a thread.
    pub registers_per_thread: u32,
    /// Largest number of open tickets: the rows of all operand collectors.
    pub tickets: usize,
    /// Seed of the register file's random streams.
    pub seed: u64,
}

/// What registers the operands of an instruction access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperandAccesses {
    /// What a value of more than 32 bits accesses.
    pub wide: WideAccesses,
    /// Whether predicates that an instruction writes, or reads as operands, are accesses, numbered behind the registers. Guards
    /// are none.
    pub predicates: bool,
}

/// What a value of more than 32 bits accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WideAccesses {
    /// Each of its rows.
    #[default]
    Rows,
    /// Its first row, once.
    Once,
    /// One register, numbered as those of 32 bits are: fewer registers, without the holes that `once` leaves.
    OneNumber,
}

/// The parameters of a register file, read from a machine file.
pub trait RegisterFileDesign: Design {
    /// What registers the operands of an instruction access: each row of each, unless the design counts otherwise. Then a register's
    /// number is that of an access, and the values that instructions compute with lie in the SM: what the register file is
    /// given to write is a row of them, and what it reads goes nowhere. The scoreboard knows rows and not numbers, so a write of a
    /// number may come while a read of it is open.
    fn accesses(&self) -> OperandAccesses {
        OperandAccesses::default()
    }

    /// Builds a register file of undefined values.
    ///
    /// # Errors
    /// Names the first parameter that cannot be built.
    fn build(&self, site: RegisterFileSite) -> Result<Box<dyn RegisterFile>, ParameterError>;
}

downcast! { RegisterFileDesign }

/// The register file design that a machine file selects.
pub type RegisterFileChoice = Named<Arc<dyn RegisterFileDesign>>;
