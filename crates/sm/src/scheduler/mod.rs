//! Warp schedulers: each cycle, which of the ready warps issues.

mod greedy_then_oldest;
mod loose_round_robin;
mod two_level;

use greedy_then_oldest::GreedyThenOldest;
use loose_round_robin::LooseRoundRobin;
use two_level::TwoLevel;

use crate::config::Scheduling;

/// What a scheduler sees of its warps, one bit a warp slot.
#[derive(Clone, Copy, Debug, Default)]
pub struct View {
    /// Warps whose next instruction can issue now.
    pub ready: u64,
    /// Warps that wait for something long: memory, a barrier, a fence. Left out for a scheduler that does not look at it.
    pub waiting: u64,
}

/// One warp scheduler.
#[derive(Clone, Debug)]
pub enum Scheduler {
    /// Loose round robin.
    LooseRoundRobin(LooseRoundRobin),
    /// Greedy then oldest.
    GreedyThenOldest(GreedyThenOldest),
    /// Two-level.
    TwoLevel(TwoLevel),
}

impl Scheduler {
    /// A scheduler without warps.
    pub fn new(scheduling: Scheduling) -> Self {
        match scheduling {
            Scheduling::LooseRoundRobin => Scheduler::LooseRoundRobin(LooseRoundRobin::default()),
            Scheduling::GreedyThenOldest => Scheduler::GreedyThenOldest(GreedyThenOldest::default()),
            Scheduling::TwoLevel { active } => Scheduler::TwoLevel(TwoLevel::new(active as usize)),
        }
    }

    /// The warp that issues in this cycle. It does issue: the scheduler remembers it.
    #[inline]
    pub fn pick(&mut self, view: View) -> Option<usize> {
        match self {
            Scheduler::LooseRoundRobin(scheduler) => scheduler.pick(view.ready),
            Scheduler::GreedyThenOldest(scheduler) => scheduler.pick(view.ready),
            Scheduler::TwoLevel(scheduler) => scheduler.pick(view),
        }
    }

    /// Whether [`View::waiting`] makes a difference.
    #[inline]
    pub fn looks_at_waiting(&self) -> bool {
        matches!(self, Scheduler::TwoLevel(_))
    }

    /// Whether [`Scheduler::pick`] with nothing ready would leave it as it is.
    #[inline]
    pub fn is_settled(&self, view: View) -> bool {
        match self {
            Scheduler::LooseRoundRobin(_) | Scheduler::GreedyThenOldest(_) => true,
            Scheduler::TwoLevel(scheduler) => scheduler.is_settled(view),
        }
    }

    /// A warp starts.
    pub fn add(&mut self, warp: usize) {
        match self {
            Scheduler::LooseRoundRobin(_) => {}
            Scheduler::GreedyThenOldest(scheduler) => scheduler.add(warp),
            Scheduler::TwoLevel(scheduler) => scheduler.add(warp),
        }
    }

    /// A warp has ended.
    pub fn remove(&mut self, warp: usize) {
        match self {
            Scheduler::LooseRoundRobin(_) => {}
            Scheduler::GreedyThenOldest(scheduler) => scheduler.remove(warp),
            Scheduler::TwoLevel(scheduler) => scheduler.remove(warp),
        }
    }
}
