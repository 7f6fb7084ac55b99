//! One DRAM channel: banks, timing rules as data, policies by name, and the bytes themselves.
//!
//! The channel runs on its own clock within the L2 cycles of its island. The controller sees a request
//! offered in L2 cycle c from the first DRAM cycle that begins after c, and issues at most one command per
//! DRAM cycle. A read finishes when its last burst has crossed the data bus and the fixed controller latency
//! has passed; a write finishes with its last burst. Accesses to a line never pass each other.
//!
//! | policy | decides | key |
//! |---|---|---|
//! | [`Scheduler`] | which request a bank serves next, whose command is issued | `dram.scheduler` |
//! | [`PagePolicy`] | when a row that no queued request wants is closed | `dram.page` |
//! | [`RefreshPolicy`] | when which banks are refreshed | `dram.refresh.policy` |
//!
//! With the scheduler [`Unlimited`], an ideal, a channel has neither banks nor a bus, and no controller but one that passes requests on.
//!
//! Each policy is a file in [`schedulers`], [`pages`] or [`refreshes`] and a line of its [family](crate::policy).
//! While the queue is empty, what falls due is done when the next request comes, as of the cycles in which it was due.
//!
//! Not modelled: command-bus cycles of two-cycle commands, ranks, power states.

mod atoms;
mod channel;
mod controller;
pub mod pages;
mod parameters;
mod pattern;
mod queue;
pub mod refreshes;
mod registry;
mod requests;
mod rules;
pub mod schedulers;
mod statistics;
mod storage;
#[cfg(test)]
mod tests;
mod timing;
mod unlimited;
mod upkeep;
mod wishes;

pub use channel::{Channel, Port};
pub use pages::PagePolicy;
pub use parameters::{DramParameters, DramTiming, Refresh};
pub use pattern::{AddressPattern, Place};
pub use queue::{BankView, Queued, Slot};
pub use refreshes::{RefreshPolicy, RefreshTarget};
pub use registry::{SchedulerPolicy, add_scheduler};
pub use schedulers::{Pick, Scheduler, SchedulerSite};
pub use statistics::DramStatistics;
pub use storage::Storage;
pub use timing::{Command, Constraint, Level};
pub use unlimited::Unlimited;
