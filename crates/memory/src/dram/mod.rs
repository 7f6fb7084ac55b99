//! One DRAM channel: banks, timing rules as data, FR-FCFS scheduling, and the bytes themselves.
//!
//! The channel runs on its own clock inside its island's core cycles. A request offered in core cycle c is
//! seen by the scheduler from the first DRAM cycle that begins after c. One command is issued per DRAM
//! cycle. A read is finished when its last burst has crossed the data bus and the fixed controller latency
//! has passed; a write when its last burst has. Requests to one row of one bank are served in the order in
//! which they were accepted, so accesses to a line never pass each other.
//!
//! Not modelled: command-bus cycles of two-cycle commands, refresh of single banks, power states.

mod channel;
mod parameters;
mod pattern;
mod scheduler;
mod statistics;
mod storage;
#[cfg(test)]
mod tests;
mod timing;

pub use channel::{Channel, Port};
pub use parameters::{DramParameters, DramTiming, Refresh};
pub use pattern::{AddressPattern, Place};
pub use statistics::DramStatistics;
pub use storage::Storage;
pub use timing::{Command, Constraint, Level};
