//! Warp schedulers: each cycle, a scheduler picks one of its ready warps to issue.

mod greedy_then_oldest;
mod loose_round_robin;
mod switch_on_memory;
mod two_level;

use greedy_then_oldest::GreedyThenOldest;
use loose_round_robin::LooseRoundRobin;
use switch_on_memory::SwitchOnMemory;
use two_level::TwoLevel;

use crate::config::Scheduling;

/// A scheduler's view of its warps, one bit per warp slot.
#[derive(Clone, Copy, Debug, Default)]
pub struct View {
    /// Warps whose next instruction can issue now.
    pub ready: u64,
    /// Warps in a long wait: memory, a barrier, a fence, copies or sleep. Left 0 for schedulers that ignore it
    /// ([`Scheduler::looks_at_waiting`]).
    pub waiting: u64,
}

/// A warp scheduler of one of the supported policies. With a tag of its own, which is read faster than one hidden in the
/// values.
#[derive(Clone, Debug)]
#[repr(u8)]
pub enum Scheduler {
    /// The next ready warp after the last; see [`Scheduling::LooseRoundRobin`].
    LooseRoundRobin(LooseRoundRobin),
    /// The same warp while it is ready; see [`Scheduling::GreedyThenOldest`].
    GreedyThenOldest(GreedyThenOldest),
    /// The same warp up to its next memory instruction; see [`Scheduling::SwitchOnMemory`].
    SwitchOnMemory(SwitchOnMemory),
    /// Round robin over an active set; see [`Scheduling::TwoLevel`].
    TwoLevel(TwoLevel),
}

impl Scheduler {
    /// A scheduler that follows this policy and has no warps yet.
    pub fn new(scheduling: Scheduling) -> Self {
        match scheduling {
            Scheduling::LooseRoundRobin => Scheduler::LooseRoundRobin(LooseRoundRobin::default()),
            Scheduling::GreedyThenOldest => Scheduler::GreedyThenOldest(GreedyThenOldest::default()),
            Scheduling::SwitchOnMemory => Scheduler::SwitchOnMemory(SwitchOnMemory::default()),
            Scheduling::TwoLevel { active } => Scheduler::TwoLevel(TwoLevel::new(active as usize)),
        }
    }

    /// Picks the warp that issues in this cycle. The scheduler records the pick, so the warp must issue.
    #[inline(always)]
    pub fn pick(&mut self, view: View) -> Option<usize> {
        match self {
            Scheduler::LooseRoundRobin(scheduler) => scheduler.pick(view.ready),
            Scheduler::GreedyThenOldest(scheduler) => scheduler.pick(view.ready),
            Scheduler::SwitchOnMemory(scheduler) => scheduler.pick(view.ready),
            Scheduler::TwoLevel(scheduler) => scheduler.pick(view),
        }
    }

    /// The warp that was picked issues a memory instruction.
    #[inline]
    pub fn issued_memory(&mut self) {
        if let Scheduler::SwitchOnMemory(scheduler) = self {
            scheduler.issued_memory();
        }
    }

    /// Whether the policy uses [`View::waiting`].
    #[inline]
    pub fn looks_at_waiting(&self) -> bool {
        matches!(self, Scheduler::TwoLevel(_))
    }

    /// Whether [`Scheduler::pick`] would leave the scheduler unchanged when nothing is ready.
    #[inline]
    pub fn is_settled(&self, view: View) -> bool {
        match self {
            Scheduler::LooseRoundRobin(_) | Scheduler::GreedyThenOldest(_) | Scheduler::SwitchOnMemory(_) => {
                true
            }
            Scheduler::TwoLevel(scheduler) => scheduler.is_settled(view),
        }
    }

    /// Adds a warp that starts.
    pub fn add(&mut self, warp: usize) {
        match self {
            Scheduler::LooseRoundRobin(_) | Scheduler::SwitchOnMemory(_) => {}
            Scheduler::GreedyThenOldest(scheduler) => scheduler.add(warp),
            Scheduler::TwoLevel(scheduler) => scheduler.add(warp),
        }
    }

    /// Removes a warp that has exited.
    pub fn remove(&mut self, warp: usize) {
        match self {
            Scheduler::LooseRoundRobin(_) => {}
            Scheduler::GreedyThenOldest(scheduler) => scheduler.remove(warp),
            Scheduler::SwitchOnMemory(scheduler) => scheduler.remove(warp),
            Scheduler::TwoLevel(scheduler) => scheduler.remove(warp),
        }
    }
}
