//! A streaming multiprocessor, cycle by cycle.
//!
//! ```text
//!   dispatcher ==> CTA slots
//!                     |
//!   instruction       v              operand            units: SP, INT, DP, SFU ---+
//!   cache ----> fetch, buffers ----> collectors ------> load/store unit            |
//!                     |   issue:        ^   ^              |  |  shared memory     |
//!                     |   schedulers,   |   |              |  +- constant cache ===|==> network
//!                     |   scoreboard,   |   |              +---- L1D =============== |==> network
//!                     |   control flow  |  register file <-------- write-back <----+
//! ```
//!
//! [`Sm`] is an island: it communicates only through links. Each cycle runs the pipeline from back to front ([`sm`]),
//! so nothing passes two stages in one cycle.
//!
//! A computation that issues in cycle t and reads registers without bank conflicts has its reads granted in t + 1, is
//! dispatched in t + 2 and is written in t + 2 + p + latency, where p is `pipeline_latency_cycles`. An instruction
//! that needs the result can issue in that same cycle.
//!
//! Where an SM has sub-cores, a warp's collectors, units and register banks are those of its sub-core (`target`).

mod backend;
mod barrier_unit;
mod barriers;
mod charge;
mod clusters;
mod collector;
pub mod config;
mod control;
mod cta;
mod demands;
pub mod dispatch;
mod doors;
mod execute;
mod explain;
mod fetch;
mod follow;
mod inject;
mod issue;
pub mod launch;
mod ledger;
pub mod livelock;
pub mod lsu;
mod memories;
pub mod micro;
mod multiprocessor;
pub mod occupancy;
pub mod owners;
mod path;
pub mod print;
mod quiet;
mod record;
pub mod scheduler;
mod scoreboard;
mod slots;
pub mod sm;
pub mod statistics;
mod target;
mod token;
mod unanswered;
mod unified;
mod values_beside;
mod warps;

pub use config::SmConfig;
pub use dispatch::{Command, Dispatcher, Notice, SmLinks};
pub use doors::{Doors, Memories};
pub use launch::{Fault, FaultKind, Launch};
pub use ledger::{Account, Accounts, Key, Latencies, Ledger, ServedStatistics};
pub use multiprocessor::Multiprocessor;
pub use occupancy::Occupancy;
pub use path::{How, NONE, PathAccess, PathPacket, SmPath, Step, Wait, What};
pub use print::Print;
pub use record::{SmEvent, SmLog};
pub use sm::{Sm, SmId, SmParts};
pub use unanswered::Unanswered;

#[cfg(test)]
mod fakes;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod tests;
