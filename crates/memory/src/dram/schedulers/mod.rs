//! Schedulers: which request a bank serves next, and whose command is issued. One file each.

mod fcfs;
mod fr_fcfs;
mod fr_fcfs_cap;

pub use fcfs::Fcfs;
pub use fr_fcfs::FrFcfs;
pub use fr_fcfs_cap::FrFcfsCap;

use std::fmt;

use super::queue::{BankView, Queued, Slot};

/// A scheduler of a DRAM channel. Each channel has one of its own.
///
/// The controller keeps the queue, the rows and the timing rules. It asks the scheduler two things: which of its
/// requests each bank serves next ([`Scheduler::pick`]), and by what rank the banks' commands compete for the
/// command bus ([`Scheduler::rank`]). From the pick follows the bank's next command: a burst if the row is open, an
/// activate if the bank is closed, otherwise a precharge. In each DRAM cycle the controller issues, among the commands
/// that the timing rules allow in that cycle, one with the least rank.
///
/// What the controller guarantees, whatever a scheduler does:
///
/// - Accesses to a line never pass each other: for a picked request, the oldest one to its line is served.
/// - A row that was opened serves at least one request before it is closed for another, and one whose first burst has been
///   issued to its last. So no scheduler can open and close rows for ever. Only a refresh may come between.
/// - Refreshes, and rows that nobody wants, are no matter of schedulers.
///
/// What a scheduler must keep: its answers depend on nothing but what it has been asked and told. A request that is
/// never picked while others come is never served, so it is up to the scheduler that none waits for ever.
///
/// The type is also the policy's section of a machine file: its fields are the keys. The controller is compiled for
/// each scheduler, so calls of small methods cost nothing.
///
/// ```
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use strata_memory::dram::{BankView, Pick, Queued, Scheduler, SchedulerPolicy, add_scheduler};
/// use strata_memory::policy::PolicyKind;
///
/// /// Row hits first, and reads before writes until a write is the oldest of its bank.
/// #[derive(Clone, Debug, Deserialize, JsonSchema)]
/// #[serde(deny_unknown_fields)]
/// struct ReadsFirst {}
///
/// impl Scheduler for ReadsFirst {
///     fn pick(&mut self, bank: &BankView<'_>) -> Pick {
///         match bank.hits().filter(|(_, hit)| !hit.is_write()).min_by_key(|(_, hit)| hit.order()) {
///             Some((slot, _)) => Pick::Request(slot),
///             None => Pick::Oldest,
///         }
///     }
/// }
///
/// add_scheduler::<ReadsFirst>("reads-first");
/// assert_eq!(SchedulerPolicy::family().names(), ["fcfs", "fr-fcfs", "fr-fcfs-cap", "unlimited", "reads-first"]);
/// ```
pub trait Scheduler: Clone + fmt::Debug + Send + Sync + 'static {
    /// Whether bursts go before commands that open and close rows, whatever their ranks: rows are then opened and closed
    /// in the shadow of bursts.
    const BURSTS_FIRST: bool = true;

    /// Whether the command of least rank blocks all others until it may be issued.
    const IN_ORDER: bool = false;

    /// Whether a younger request changes the pick of a bank that has others only if it is the first to want the open row.
    /// The bank is then not asked about other arrivals.
    const IGNORES_YOUNGER: bool = false;

    /// Checks the parameters.
    ///
    /// # Errors
    /// What was found and what was expected.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// Learns of the channel, before anything else.
    fn start(&mut self, site: &SchedulerSite) {
        let _ = site;
    }

    /// The request that a bank serves next. It is asked whenever the bank may have changed: a request has come or left, the
    /// row has been opened or closed.
    fn pick(&mut self, bank: &BankView<'_>) -> Pick;

    /// The rank of a bank's command by the request that it is for: the least is issued first, the lower bank of two that
    /// are equal. Asked after each pick. By default its age.
    #[inline]
    fn rank(&mut self, request: &Queued) -> u64 {
        request.order()
    }

    /// Learns that the last burst of a request has been issued at a DRAM cycle. Returns whether picks or ranks of other banks
    /// may have changed by it: then all of them are asked again.
    #[inline]
    fn served(&mut self, request: &Queued, at: u64) -> bool {
        let _ = (request, at);
        false
    }
}

/// What a bank serves next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// Its oldest request.
    Oldest,
    /// The oldest of those that want the open row; its oldest request if none does.
    OldestHit,
    /// This one.
    Request(Slot),
}

/// The channel that a scheduler works for.
#[derive(Clone, Copy, Debug)]
pub struct SchedulerSite {
    /// Banks of the channel.
    pub banks: usize,
    /// Slices that send it requests.
    pub slices: usize,
    /// Entries of the queue.
    pub queue_entries: usize,
    /// The machine's `dram.starvation_bound`.
    pub starvation_bound: u32,
}
