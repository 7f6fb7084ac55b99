//! The time that barriers take: warps arrive one after another, and those that waited learn later that all are there.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_engine::{Cited, Cycle};

use crate::barriers::Release;

/// Most cycles of each of the times.
const MOST: u32 = 1000;

/// How long the barriers of CTAs take (`bar`, `barrier`). Measured as in docs/microbenchmarks.md, family `synchronisation`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BarrierTiming {
    /// Cycles from the arrival of the last warp to the cycle after which those that waited issue again; 0 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = MOST), extend("unit" = "cycles"))]
    pub latency_cycles: Option<Cited<u32>>,
    /// Cycles from one arrival to the next, of all CTAs of the SM; 0 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = MOST), extend("unit" = "cycles"))]
    pub arrival_interval_cycles: Option<Cited<u32>>,
    /// Cycles that a barrier takes besides if it gives warps a result (`bar.red`); 0 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = MOST), extend("unit" = "cycles"))]
    pub result_cycles: Option<Cited<u32>>,
}

impl BarrierTiming {
    /// Latency, interval and result, in cycles.
    fn cycles(&self) -> [u32; 3] {
        let fields = [&self.latency_cycles, &self.arrival_interval_cycles, &self.result_cycles];
        fields.map(|field| field.as_deref().map_or(0, |cycles| *cycles))
    }

    /// Checks the ranges.
    ///
    /// # Errors
    /// Returns a sentence that names the first bad field, its value and the accepted values.
    pub fn check(&self) -> Result<(), String> {
        let [latency, interval, result] = self.cycles();
        let fields =
            [("latency_cycles", latency), ("arrival_interval_cycles", interval), ("result_cycles", result)];
        match fields.into_iter().find(|(_, cycles)| *cycles > MOST) {
            Some((name, cycles)) => Err(format!("sm.barrier_timing.{name} = {cycles}: expected 0 to {MOST}")),
            None => Ok(()),
        }
    }
}

/// The unit of an SM that its warps' arrivals pass. Without times it releases warps in the cycle of the last arrival.
#[derive(Debug, Default)]
pub(crate) struct BarrierUnit {
    latency: u64,
    interval: u64,
    result: u64,
    /// Cycle in which the unit takes the next arrival,
    free: Cycle,
    /// and in which it has taken the last one, of any CTA.
    arrived: Cycle,
    /// What is to be released, and when, in the order of completion: a result may let a later one pass.
    due: VecDeque<(Cycle, Release)>,
}

impl BarrierUnit {
    pub fn new(timing: Option<&BarrierTiming>) -> BarrierUnit {
        let [latency, interval, result] = timing.map_or([0; 3], BarrierTiming::cycles).map(u64::from);
        BarrierUnit { latency, interval, result, ..BarrierUnit::default() }
    }

    /// A warp arrives, at whichever barrier.
    pub fn arrive(&mut self, now: Cycle) {
        self.arrived = self.free.max(now);
        self.free = self.arrived + self.interval;
    }

    /// A barrier is complete in `now`, and the unit has taken whatever had arrived by then. Returns its release if the barrier takes no time; otherwise it is due later.
    pub fn complete(&mut self, release: Release, has_result: bool, now: Cycle) -> Option<Release> {
        let due = self.arrived.max(now) + self.latency + if has_result { self.result } else { 0 };
        if due == now {
            return Some(release);
        }
        self.due.push_back((due, release));
        None
    }

    /// Cycle in which the next release is due.
    #[inline]
    pub fn next(&self) -> Cycle {
        self.due.iter().map(|(due, _)| *due).min().unwrap_or(Cycle::NEVER)
    }

    /// Cycle in which a warp's release is due, if its barrier is complete.
    pub fn due(&self, warp: usize) -> Option<Cycle> {
        self.due.iter().find(|(_, release)| release.warps >> warp & 1 == 1).map(|(due, _)| *due)
    }

    /// Whether no release is due in any cycle.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.due.is_empty()
    }

    /// A release that is due by `now`; call until it returns `None`.
    pub fn take(&mut self, now: Cycle) -> Option<Release> {
        let place = self.due.iter().position(|(due, _)| *due <= now)?;
        self.due.remove(place).map(|(_, release)| release)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(latency: u32, interval: u32, result: u32) -> BarrierUnit {
        let cycles = |value| Some(Cited { value, source: "test".into() });
        BarrierUnit::new(Some(&BarrierTiming {
            latency_cycles: cycles(latency),
            arrival_interval_cycles: cycles(interval),
            result_cycles: cycles(result),
        }))
    }

    const RELEASE: Release = Release { warps: 1, ayes: 0, all: true };

    #[test]
    fn arrivals_pass_one_after_another_and_the_last_one_counts() {
        let mut unit = unit(13, 2, 24);
        // Four warps in cycles 10 and 11: their turns are 10, 12, 14 and 16.
        for now in [10, 10, 11, 11] {
            unit.arrive(Cycle(now));
        }
        assert_eq!(unit.complete(RELEASE, false, Cycle(11)), None);
        assert_eq!((unit.next(), unit.due(0), unit.due(1)), (Cycle(29), Some(Cycle(29)), None));
        assert_eq!(unit.take(Cycle(28)), None);
        assert_eq!(unit.take(Cycle(29)), Some(RELEASE));
        assert!(unit.is_idle() && unit.next() == Cycle::NEVER);
        // Later arrivals find the unit free.
        unit.arrive(Cycle(40));
        unit.complete(RELEASE, false, Cycle(40));
        assert_eq!(unit.next(), Cycle(53));
    }

    #[test]
    fn a_result_takes_longer_and_later_barriers_pass_it() {
        let mut unit = unit(13, 2, 24);
        let other = Release { warps: 2, ..RELEASE };
        unit.arrive(Cycle(0));
        unit.complete(RELEASE, true, Cycle(0));
        unit.arrive(Cycle(5));
        unit.complete(other, false, Cycle(5));
        assert_eq!((unit.next(), unit.take(Cycle(18))), (Cycle(18), Some(other)));
        assert_eq!((unit.next(), unit.take(Cycle(37))), (Cycle(37), Some(RELEASE)));
    }

    #[test]
    fn a_barrier_that_a_warps_end_completes_takes_the_latency_from_there() {
        let mut unit = unit(13, 2, 24);
        unit.arrive(Cycle(0));
        unit.complete(RELEASE, false, Cycle(100));
        assert_eq!(unit.next(), Cycle(113));
    }

    #[test]
    fn without_times_it_releases_at_once() {
        let mut unit = BarrierUnit::new(None);
        for now in [3, 3, 4] {
            unit.arrive(Cycle(now));
        }
        assert_eq!(unit.complete(RELEASE, true, Cycle(4)), Some(RELEASE));
        assert!(unit.is_idle());
    }
}
