//! One DRAM channel: banks, timing rules as data, FR-FCFS scheduling, and the bytes themselves.
//!
//! The channel runs on its own clock within the L2 cycles of its island. The scheduler sees a request
//! offered in L2 cycle c from the first DRAM cycle that begins after c, and issues at most one command per
//! DRAM cycle. A read finishes when its last burst has crossed the data bus and the fixed controller latency
//! has passed; a write finishes with its last burst. Requests to one row of one bank are served in the order
//! in which they were accepted, so accesses to a line never pass each other.
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
