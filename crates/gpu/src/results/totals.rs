//! The totals of a run's launches, launch by launch.

use strata_engine::hash::Fnv;

use super::LaunchResult;

/// What a run's launches add up to: all that the whole run's numbers need of them.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// Launches.
    pub launches: u64,
    /// Core cycles.
    pub cycles: u64,
    /// Warp instructions.
    pub warp_instructions: u64,
    /// Thread instructions.
    pub thread_instructions: u64,
    /// The launches' part of a run's hash.
    pub(super) hash: Fnv,
}

impl Totals {
    /// The totals of these launches.
    pub fn of(launches: &[LaunchResult]) -> Totals {
        let mut totals = Totals::default();
        launches.iter().for_each(|launch| totals.add(launch));
        totals
    }

    /// Adds a launch.
    pub fn add(&mut self, launch: &LaunchResult) {
        self.launches += 1;
        self.cycles += launch.cycles;
        self.warp_instructions += launch.warp_instructions;
        self.thread_instructions += launch.thread_instructions;
        self.hash.write(launch.kernel.as_bytes());
        for number in [launch.cycles, launch.warp_instructions, launch.thread_instructions] {
            self.hash.write(&number.to_le_bytes());
        }
    }
}
