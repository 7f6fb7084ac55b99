//! What a warp scheduler is.

use std::fmt;

use super::throttle::Throttle;

/// A scheduler's view of its warps, one bit per warp slot.
#[derive(Clone, Copy, Debug, Default)]
pub struct View {
    /// Warps whose next instruction can issue now.
    pub ready: u64,
    /// Warps in a long wait: memory, a barrier, a fence, copies or sleep. Left 0 for schedulers that ignore it
    /// ([`WarpScheduler::LOOKS_AT_WAITING`]).
    pub waiting: u64,
}

/// The warps that a scheduler is for.
#[derive(Clone, Copy, Debug)]
pub struct SchedulerSite {
    /// Which of the SM's schedulers it is, from 0 on.
    pub number: usize,
    /// Schedulers of the SM. Warp w belongs to scheduler w modulo this number.
    pub schedulers: usize,
    /// Warp slots of the SM.
    pub warps: usize,
}

/// A warp scheduler: each cycle it picks one of its ready warps to issue. Each scheduler of an SM has one of its own.
///
/// The SM says which warps can issue, and when warps start and exit. What it guarantees, whatever a scheduler does: a picked
/// warp issues in the same cycle, and only warps that were added and not removed are ever ready.
///
/// What a scheduler must keep: its picks depend on nothing but what it has been shown and told. It picks a ready warp. A pick
/// without a ready warp changes nothing, unless [`WarpScheduler::is_settled`] says that it would; cycles in which nothing can
/// issue are otherwise left out. A warp that is never picked while others are ready waits for ever, so it is up to the
/// scheduler that none does.
///
/// The type is also the policy's section of a machine file: its fields are the keys, and those that are state are left out with
/// `#[serde(skip)]`. Calls of the four usual schedulers are inlined in the SM, those of others go through a table.
///
/// ```
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use strata_sm::scheduler::{View, WarpScheduler};
///
/// /// The ready warp in the highest slot.
/// #[derive(Clone, Debug, Deserialize, JsonSchema)]
/// #[serde(deny_unknown_fields)]
/// struct HighestFirst {}
///
/// impl WarpScheduler for HighestFirst {
///     fn pick(&mut self, view: View) -> Option<usize> {
///         view.ready.checked_ilog2().map(|warp| warp as usize)
///     }
/// }
/// ```
pub trait WarpScheduler: Clone + fmt::Debug + Send + Sync + 'static {
    /// Whether it uses [`View::waiting`].
    const LOOKS_AT_WAITING: bool = false;

    /// Whether its [throttle](WarpScheduler::throttle) has to hear what becomes of the L1D's lines. A machine whose L1D does not
    /// tell is refused.
    const HEARS_L1D: bool = false;

    /// Checks the parameters.
    ///
    /// # Errors
    /// The field, what was found and what was expected.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// Learns of its warps, before anything else.
    fn start(&mut self, site: &SchedulerSite) {
        let _ = site;
    }

    /// Picks the warp that issues in this cycle. It must issue, so the scheduler may note the pick.
    fn pick(&mut self, view: View) -> Option<usize>;

    /// The warp that was picked has issued a memory instruction.
    #[inline]
    fn issued_memory(&mut self) {}

    /// Whether [`WarpScheduler::pick`] would leave the scheduler unchanged when nothing is ready.
    #[inline]
    fn is_settled(&self, view: View) -> bool {
        let _ = view;
        true
    }

    /// Adds a warp that starts.
    fn add(&mut self, warp: usize) {
        let _ = warp;
    }

    /// Removes a warp that has exited.
    fn remove(&mut self, warp: usize) {
        let _ = warp;
    }

    /// What holds loads of the SM's warps back, whichever scheduler they belong to; an SM has one. `site` is that of its first
    /// scheduler.
    fn throttle(&self, site: &SchedulerSite) -> Option<Box<dyn Throttle>> {
        let _ = site;
        None
    }
}

/// What unit tests of schedulers need.
#[cfg(test)]
pub(super) fn ready(warps: &[u32]) -> View {
    View { ready: warps.iter().fold(0, |mask, warp| mask | 1 << warp), waiting: 0 }
}
