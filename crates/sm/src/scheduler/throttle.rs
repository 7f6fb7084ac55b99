//! What holds warps' loads back.

use std::fmt;

use strata_engine::Cycle;
use strata_engine::statistics::Group;
use strata_memory::doors::LineNews;

/// When something happens in an SM.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moment {
    /// The cycle.
    pub now: Cycle,
    /// Instructions that the SM has issued, in all its launches.
    pub issued: u64,
}

/// Decides which warps of an SM may issue loads, beside its schedulers. A load that is held back is not ready for its warp's
/// scheduler; all other instructions are.
///
/// What a throttle must keep: what it holds back at a moment depends on nothing but what it has been told until then, however
/// often it is asked. It holds no load back for ever, whatever other warps do: they may wait at a barrier for the one that is
/// held back, or in a loop.
pub trait Throttle: fmt::Debug + Send {
    /// A kernel begins; no warp is on the SM.
    fn begin(&mut self, at: Moment) {
        let _ = at;
    }

    /// A warp starts.
    fn add(&mut self, warp: usize, at: Moment) {
        let _ = (warp, at);
    }

    /// A warp has exited.
    fn remove(&mut self, warp: usize, at: Moment) {
        let _ = (warp, at);
    }

    /// The L1D tells of a line, if the scheduler [wants to hear](super::WarpScheduler::HEARS_L1D).
    fn hear(&mut self, news: LineNews, at: Moment) {
        let _ = (news, at);
    }

    /// Of the warps whose next instruction is a load of global, local, texture or surface memory that can issue, those that must
    /// wait: a mask. It is asked in every cycle in which there are any.
    fn hold(&mut self, loads: u64, at: Moment) -> u64;

    /// Its counters.
    fn statistics(&self) -> Vec<Group> {
        Vec::new()
    }
}
