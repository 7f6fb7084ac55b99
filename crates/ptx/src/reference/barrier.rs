//! The named barriers of a CTA.
//!
//! A barrier counts threads in whole warps (PTX ISA, "bar"): a warp that arrives adds 32, whatever the number
//! of its live threads, and a barrier without a count waits for every warp that has not ended.

use crate::lanes::WARP_LANES;

/// Barriers that a CTA has.
pub const BARRIERS: usize = 16;

/// What a completed barrier hands to the warps that waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// Which barrier.
    pub barrier: u32,
    /// The warps to wake, one bit a warp.
    pub warps: u64,
    /// Threads whose predicate was true.
    pub count: u32,
    /// Whether all were true.
    pub all: bool,
    /// Whether any was true.
    pub any: bool,
}

/// One warp's arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Which barrier.
    pub barrier: u32,
    /// Threads that complete it; 0: all of the CTA.
    pub threads: u32,
    /// The warp, when it waits; none for `bar.arrive`.
    pub waiter: Option<u32>,
    /// Threads whose predicate is true (`bar.red`).
    pub ayes: u32,
    /// Threads that voted.
    pub voters: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// Warps that arrived, waiting or not.
    arrived: u32,
    /// As in [`Arrival::threads`], from the first arrival.
    threads: u32,
    waiting: u64,
    ayes: u32,
    voters: u32,
}

/// The barriers of one CTA.
#[derive(Clone, Debug, Default)]
pub struct Barriers {
    slots: [Slot; BARRIERS],
}

impl Barriers {
    /// Counts an arrival; the release when it completes the barrier. `live_warps` have not ended.
    ///
    /// # Errors
    /// A barrier that does not exist, a count that is not a number of whole warps, or one that contradicts the
    /// warps that arrived before: the text says which.
    pub fn arrive(&mut self, arrival: Arrival, live_warps: u32) -> Result<Option<Release>, String> {
        let Arrival { barrier, threads, waiter, ayes, voters } = arrival;
        let Some(slot) = self.slots.get_mut(barrier as usize) else {
            return Err(format!("barrier {barrier} does not exist: there are {BARRIERS}"));
        };
        if !threads.is_multiple_of(WARP_LANES as u32) {
            return Err(format!(
                "barrier {barrier} counts {threads} threads, not a multiple of {WARP_LANES}"
            ));
        }
        if slot.arrived > 0 && slot.threads != threads {
            let count = |threads| if threads == 0 { "all".to_string() } else { format!("{threads}") };
            return Err(format!(
                "barrier {barrier} is to count {} threads, but warps wait there for {}",
                count(threads),
                count(slot.threads)
            ));
        }
        slot.threads = threads;
        slot.arrived += 1;
        slot.ayes += ayes;
        slot.voters += voters;
        if let Some(warp) = waiter {
            slot.waiting |= 1 << warp;
        }
        Ok(slot.release_if_complete(barrier, live_warps))
    }

    /// After a warp has ended: the release of a barrier that waited for it only. To be asked until none is left.
    pub fn after_exit(&mut self, live_warps: u32) -> Option<Release> {
        let slots = (0..).zip(&mut self.slots);
        slots
            .filter(|(_, slot)| slot.threads == 0)
            .find_map(|(n, slot)| slot.release_if_complete(n, live_warps))
    }

    /// The barrier where a warp waits.
    pub fn waits_at(&self, warp: u32) -> Option<u32> {
        (0..BARRIERS as u32).find(|barrier| self.slots[*barrier as usize].waiting >> warp & 1 == 1)
    }
}

impl Slot {
    fn release_if_complete(&mut self, barrier: u32, live_warps: u32) -> Option<Release> {
        let wanted = if self.threads == 0 { live_warps } else { self.threads / WARP_LANES as u32 };
        if self.arrived == 0 || self.arrived < wanted {
            return None;
        }
        let Slot { waiting, ayes, voters, .. } = std::mem::take(self);
        Some(Release { barrier, warps: waiting, count: ayes, all: ayes == voters, any: ayes != 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sync(barrier: u32, threads: u32, warp: u32) -> Arrival {
        Arrival { barrier, threads, waiter: Some(warp), ayes: 0, voters: 0 }
    }

    #[test]
    fn a_barrier_without_count_waits_for_the_live_warps() {
        let mut barriers = Barriers::default();
        assert_eq!(barriers.arrive(sync(0, 0, 0), 3), Ok(None));
        assert_eq!(barriers.waits_at(0), Some(0));
        assert_eq!(barriers.arrive(sync(0, 0, 2), 3), Ok(None));
        assert_eq!(barriers.after_exit(2).map(|release| release.warps), Some(0b101));
        assert_eq!(barriers.after_exit(2), None);
    }

    #[test]
    fn arrivals_count_and_do_not_wait() {
        let mut barriers = Barriers::default();
        let arrive = Arrival { waiter: None, ..sync(3, 64, 0) };
        assert_eq!(barriers.arrive(arrive, 4), Ok(None));
        assert_eq!(barriers.after_exit(1), None, "an explicit count does not shrink");
        let release = barriers.arrive(sync(3, 64, 1), 4).unwrap().unwrap();
        assert_eq!(release.warps, 0b10);
    }

    #[test]
    fn votes_are_counted() {
        let mut barriers = Barriers::default();
        assert_eq!(barriers.arrive(Arrival { ayes: 5, voters: 32, ..sync(1, 0, 0) }, 2), Ok(None));
        let release = barriers.arrive(Arrival { ayes: 32, voters: 32, ..sync(1, 0, 1) }, 2).unwrap().unwrap();
        assert_eq!((release.count, release.all, release.any), (37, false, true));
    }

    #[test]
    fn contradictions_are_named() {
        let mut barriers = Barriers::default();
        assert!(barriers.arrive(sync(16, 0, 0), 2).unwrap_err().contains("does not exist"));
        assert!(barriers.arrive(sync(0, 33, 0), 2).unwrap_err().contains("multiple of 32"));
        assert_eq!(barriers.arrive(sync(0, 64, 0), 3), Ok(None));
        assert!(barriers.arrive(sync(0, 0, 1), 3).unwrap_err().contains("wait there for 64"));
    }
}
