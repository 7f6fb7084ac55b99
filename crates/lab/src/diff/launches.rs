//! The launches of two runs, one beside the other.

use super::cycles::{Attribution, Slots, attribute};
use super::side::{LaunchSide, Side};

/// The launches of the same number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchChange {
    /// Place among the launches that were measured, from 0.
    pub place: usize,
    /// The kernels' names; `None` where a run has no such launch.
    pub kernels: [Option<String>; 2],
    /// Their cycles.
    pub cycles: [u64; 2],
    /// What their cycles went to, where both runs were broken down by launch.
    pub attribution: Option<Attribution>,
}

impl LaunchChange {
    /// By how many cycles it has become more.
    #[must_use]
    pub fn change(&self) -> i128 {
        i128::from(self.cycles[1]) - i128::from(self.cycles[0])
    }
}

/// The launches, that with the greatest change of cycles first.
#[must_use]
pub fn launches(left: &Side, right: &Side) -> Vec<LaunchChange> {
    let count = left.launches.len().max(right.launches.len());
    let slots_a_cycle = [left, right].map(|side| Slots::of(side).ok().map(|slots| slots.a_cycle));
    let change = |place: usize| {
        let both = [left, right].map(|side| side.launches.get(place));
        let slots = |side: usize| slots(both[side]?, slots_a_cycle[side]?);
        LaunchChange {
            place,
            kernels: both.map(|launch| launch.map(|launch| launch.kernel.clone())),
            cycles: both.map(|launch| launch.map_or(0, |launch| launch.cycles)),
            attribution: slots(0).zip(slots(1)).map(|(left, right)| attribute(left, right)),
        }
    };
    let mut changes: Vec<LaunchChange> = (0..count).map(change).collect();
    changes.sort_by_key(|change| std::cmp::Reverse(change.change().abs()));
    changes
}

fn slots(launch: &LaunchSide, a_cycle: u64) -> Option<Slots<'_>> {
    let counters = launch.counters.as_ref()?;
    Some(Slots { counters, cycles: launch.cycles, host_cycles: 0, a_cycle })
}
