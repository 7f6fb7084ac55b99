//! A register file without banks: so many rows can be read, and so many written, in each cycle.

use schemars::JsonSchema;
use serde::Deserialize;
use strata_engine::statistics::{Definition, Group, Mark, Statistics, array_group};
use strata_engine::{Cited, Cycle, Ring};
use strata_memory::doors::{
    Arrival, CollectorPort, Design, RegisterFile, RegisterFileDesign, RegisterFileSite, Ticket,
};
use strata_memory::{ParameterError, WarpRows};
use strata_warp::{LaneMask, Reg, Row};

/// Its section of a machine file: `[sm.register_file.NAME]`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Rows read in a cycle.
    #[schemars(range(min = 1, max = 64), extend("unit" = "rows"))]
    pub read_ports: Cited<u32>,
    /// Rows written in a cycle.
    #[schemars(range(min = 1, max = 64), extend("unit" = "rows"))]
    pub write_ports: Cited<u32>,
}

impl Design for Config {
    fn check(&self) -> Result<(), ParameterError> {
        for (field, ports) in [("read_ports", *self.read_ports), ("write_ports", *self.write_ports)] {
            if !(1..=64).contains(&ports) {
                return Err(ParameterError::new(field, format!("must be 1 to 64, found {ports}")));
            }
        }
        Ok(())
    }

    fn outline(&self) -> String {
        format!("{} read ports, {} write ports", *self.read_ports, *self.write_ports)
    }

    fn host_bytes(&self) -> u64 {
        // A queue of tickets: rows are counted with the SM's registers.
        64 << 10
    }
}

impl RegisterFileDesign for Config {
    fn build(&self, site: RegisterFileSite) -> Result<Box<dyn RegisterFile>, ParameterError> {
        self.check()?;
        Ok(Box::new(PortedRegisters {
            rows: Row::zeros(site.rows),
            first_rows: WarpRows::even(0),
            write_ports: *self.write_ports,
            reads: Ring::new(site.tickets),
            writes: (Cycle::ZERO, 0),
            statistics: PortedStatistics::default(),
            port_reads: vec![0; *self.read_ports as usize],
            port_writes: vec![0; *self.write_ports as usize],
        }))
    }
}

strata_engine::statistics! {
    /// What it counts.
    pub struct PortedStatistics: "ported_registers" {
        /// Rows read.
        reads: "rows" [energy],
        /// Rows written.
        writes: "rows" [energy],
        /// Cycles that reads waited for a port.
        read_waits: "row-cycles",
        /// Writes put off by a cycle for want of a port.
        write_waits: "refusals",
    }
    laws {}
}

/// Arrays of counters, one counter for each port.
const PORT_READS: Definition =
    Definition { name: "read", unit: "rows", meaning: "Rows read through the port.", mark: Mark::Plain };
const PORT_WRITES: Definition =
    Definition { name: "write", unit: "rows", meaning: "Rows written through the port.", mark: Mark::Plain };

struct PortedRegisters {
    rows: Vec<Row>,
    first_rows: WarpRows,
    write_ports: u32,
    /// Places of rows asked for, and their tickets.
    reads: Ring<(usize, Ticket)>,
    /// Writes of a cycle.
    writes: (Cycle, u32),
    statistics: PortedStatistics,
    port_reads: Vec<u64>,
    port_writes: Vec<u64>,
}

impl PortedRegisters {
    fn place(&self, warp: u8, register: Reg) -> usize {
        self.first_rows.first(warp) as usize + usize::from(register.0)
    }
}

impl RegisterFile for PortedRegisters {
    fn prepare(&mut self, rows: &WarpRows) {
        self.first_rows.clone_from(rows);
    }

    fn request(&mut self, warp: u8, registers: &[Reg], first: Ticket, _rows: &mut [Row], _now: Cycle) {
        for (n, register) in registers.iter().enumerate() {
            let read = (self.place(warp, *register), Ticket(first.0 + n as u16));
            self.reads.push(read).expect("there is room for every ticket");
        }
    }

    fn tick(&mut self, port: CollectorPort<'_>, _now: Cycle) {
        for port_reads in &mut self.port_reads {
            let Some((place, ticket)) = self.reads.pop() else { break };
            *port_reads += 1;
            port.rows[usize::from(ticket.0)] = self.rows[place];
            port.arrived.push(Arrival::of(ticket));
            self.statistics.reads += 1;
        }
        self.statistics.read_waits += self.reads.len() as u64;
    }

    fn offer_write(&mut self, warp: u8, register: Reg, lanes: LaneMask, row: &Row, now: Cycle) -> bool {
        if self.writes.0 != now {
            self.writes = (now, 0);
        }
        if self.writes.1 == self.write_ports {
            self.statistics.write_waits += 1;
            return false;
        }
        self.port_writes[self.writes.1 as usize] += 1;
        self.writes.1 += 1;
        self.statistics.writes += 1;
        let place = self.place(warp, register);
        self.rows[place].merge(lanes, row);
        true
    }

    fn peek(&self, warp: u8, register: Reg) -> Row {
        self.rows[self.place(warp, register)]
    }

    fn next_event(&self, now: Cycle) -> Cycle {
        if self.reads.is_empty() { Cycle::NEVER } else { now }
    }

    fn waits(&self, report: &mut Vec<String>) {
        if !self.reads.is_empty() {
            report.push(format!("register file: {} rows wait for a port", self.reads.len()));
        }
    }

    fn statistics(&self) -> Vec<Group> {
        let ports = [(PORT_READS, &self.port_reads[..]), (PORT_WRITES, &self.port_writes[..])];
        vec![self.statistics.report(), array_group("register_ports", &ports)]
    }
}
