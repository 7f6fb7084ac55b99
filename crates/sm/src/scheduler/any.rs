//! A warp scheduler of any type, as a machine file chooses it and as an SM has it.

use std::any::Any;
use std::fmt;

use super::greedy_then_oldest::GreedyThenOldest;
use super::loose_round_robin::LooseRoundRobin;
use super::policy::{self, SchedulerSite, View};
use super::switch_on_memory::SwitchOnMemory;
use super::throttle::Throttle;
use super::two_level::TwoLevel;

/// A warp scheduler with its parameters, of any type.
pub trait SchedulingPolicy: fmt::Debug + Send + Sync {
    /// Checks the parameters.
    ///
    /// # Errors
    /// The field, what was found and what was expected.
    fn check(&self) -> Result<(), String>;

    /// Whether it looks at warps in a long wait.
    fn looks_at_waiting(&self) -> bool;

    /// Whether it has to hear what becomes of the L1D's lines.
    fn hears_l1d(&self) -> bool;

    /// A scheduler of the same parameters, without warps.
    fn scheduler(&self, site: &SchedulerSite) -> Scheduler;

    /// What holds loads of the SM's warps back.
    fn throttle(&self, site: &SchedulerSite) -> Option<Box<dyn Throttle>>;
}

impl<S: policy::WarpScheduler> SchedulingPolicy for S {
    fn check(&self) -> Result<(), String> {
        policy::WarpScheduler::check(self)
    }

    fn looks_at_waiting(&self) -> bool {
        S::LOOKS_AT_WAITING
    }

    fn hears_l1d(&self) -> bool {
        S::HEARS_L1D
    }

    fn scheduler(&self, site: &SchedulerSite) -> Scheduler {
        let mut scheduler = self.clone();
        scheduler.start(site);
        Scheduler::of(scheduler)
    }

    fn throttle(&self, site: &SchedulerSite) -> Option<Box<dyn Throttle>> {
        policy::WarpScheduler::throttle(self, site)
    }
}

/// A warp scheduler of any type. Those of most machines are known by their types, so that calls of them are direct. With a tag
/// of its own, which is read faster than one hidden in the values.
#[derive(Debug)]
#[repr(u8)]
pub enum Scheduler {
    /// The next ready warp after the last.
    LooseRoundRobin(LooseRoundRobin),
    /// The same warp while it is ready.
    GreedyThenOldest(GreedyThenOldest),
    /// The same warp up to its next memory instruction.
    SwitchOnMemory(SwitchOnMemory),
    /// Round robin over an active set.
    TwoLevel(TwoLevel),
    /// Any other.
    Other(Box<dyn AnyScheduler>),
}

/// A scheduler behind a table of calls. The methods are those of [`WarpScheduler`](policy::WarpScheduler).
#[allow(missing_docs)]
pub trait AnyScheduler: fmt::Debug + Send {
    fn pick(&mut self, view: View) -> Option<usize>;
    fn issued_memory(&mut self);
    fn is_settled(&self, view: View) -> bool;
    fn add(&mut self, warp: usize);
    fn remove(&mut self, warp: usize);
}

impl<S: policy::WarpScheduler> AnyScheduler for S {
    #[inline(always)]
    fn pick(&mut self, view: View) -> Option<usize> {
        policy::WarpScheduler::pick(self, view)
    }

    #[inline(always)]
    fn issued_memory(&mut self) {
        policy::WarpScheduler::issued_memory(self);
    }

    #[inline(always)]
    fn is_settled(&self, view: View) -> bool {
        policy::WarpScheduler::is_settled(self, view)
    }

    fn add(&mut self, warp: usize) {
        policy::WarpScheduler::add(self, warp);
    }

    fn remove(&mut self, warp: usize) {
        policy::WarpScheduler::remove(self, warp);
    }
}

/// Calls a method of the scheduler behind each variant. A call through the table stands apart: it would cost the others registers.
macro_rules! each {
    ($self:expr, $scheduler:ident => $call:expr) => {
        match $self {
            Scheduler::LooseRoundRobin($scheduler) => $call,
            Scheduler::GreedyThenOldest($scheduler) => $call,
            Scheduler::SwitchOnMemory($scheduler) => $call,
            Scheduler::TwoLevel($scheduler) => $call,
            Scheduler::Other($scheduler) => apart(|| $call),
        }
    };
}

#[cold]
#[inline(never)]
fn apart<T>(call: impl FnOnce() -> T) -> T {
    call()
}

impl Scheduler {
    /// A scheduler of its own type where that is known, else behind a table.
    pub fn of<S: policy::WarpScheduler>(scheduler: S) -> Scheduler {
        let scheduler = match known(scheduler) {
            Ok(scheduler) => return Scheduler::LooseRoundRobin(scheduler),
            Err(scheduler) => scheduler,
        };
        let scheduler = match known(scheduler) {
            Ok(scheduler) => return Scheduler::GreedyThenOldest(scheduler),
            Err(scheduler) => scheduler,
        };
        let scheduler = match known(scheduler) {
            Ok(scheduler) => return Scheduler::SwitchOnMemory(scheduler),
            Err(scheduler) => scheduler,
        };
        match known(scheduler) {
            Ok(scheduler) => Scheduler::TwoLevel(scheduler),
            Err(scheduler) => Scheduler::Other(Box::new(scheduler)),
        }
    }

    /// Picks the warp that issues in this cycle. The scheduler records the pick, so the warp must issue.
    #[inline(always)]
    pub fn pick(&mut self, view: View) -> Option<usize> {
        each!(self, scheduler => scheduler.pick(view))
    }

    /// The warp that was picked issues a memory instruction.
    #[inline]
    pub fn issued_memory(&mut self) {
        each!(self, scheduler => scheduler.issued_memory());
    }

    /// Whether [`Scheduler::pick`] would leave the scheduler unchanged when nothing is ready.
    #[inline]
    pub fn is_settled(&self, view: View) -> bool {
        each!(self, scheduler => scheduler.is_settled(view))
    }

    /// Adds a warp that starts.
    pub fn add(&mut self, warp: usize) {
        each!(self, scheduler => scheduler.add(warp));
    }

    /// Removes a warp that has exited.
    pub fn remove(&mut self, warp: usize) {
        each!(self, scheduler => scheduler.remove(warp));
    }
}

/// The scheduler as a `T`, if it is one.
fn known<S: policy::WarpScheduler, T: policy::WarpScheduler>(scheduler: S) -> Result<T, S> {
    let mut scheduler = Some(scheduler);
    let as_known = (&mut scheduler as &mut dyn Any).downcast_mut::<Option<T>>();
    match as_known.and_then(Option::take) {
        Some(known) => Ok(known),
        None => Err(scheduler.expect("nobody took it")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Ccws;
    use super::*;

    #[test]
    fn the_usual_schedulers_are_known_by_their_types() {
        assert!(matches!(Scheduler::of(LooseRoundRobin::default()), Scheduler::LooseRoundRobin(_)));
        assert!(matches!(Scheduler::of(GreedyThenOldest::default()), Scheduler::GreedyThenOldest(_)));
        assert!(matches!(Scheduler::of(SwitchOnMemory::default()), Scheduler::SwitchOnMemory(_)));
        assert!(matches!(Scheduler::of(TwoLevel::of(3)), Scheduler::TwoLevel(_)));
        assert!(matches!(Scheduler::of(Ccws::default()), Scheduler::Other(_)));
    }
}
