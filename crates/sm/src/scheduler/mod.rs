//! Warp schedulers: each cycle, a scheduler picks one of its ready warps to issue. One file each.

mod any;
mod ccws;
mod greedy_then_oldest;
mod loose_round_robin;
mod policy;
mod switch_on_memory;
mod throttle;
mod two_level;

pub use any::{AnyScheduler, Scheduler, SchedulingPolicy};
pub use ccws::Ccws;
pub use greedy_then_oldest::GreedyThenOldest;
pub use loose_round_robin::LooseRoundRobin;
pub use policy::{SchedulerSite, View, WarpScheduler};
pub use switch_on_memory::SwitchOnMemory;
pub use throttle::{Moment, Throttle};
pub use two_level::TwoLevel;

strata_memory::policy_family! {
    SchedulingPolicy:
    "loose-round-robin" => LooseRoundRobin,
    "greedy-then-oldest" => GreedyThenOldest,
    "switch-on-memory" => SwitchOnMemory,
    "two-level" => TwoLevel,
    "ccws" => Ccws,
}
