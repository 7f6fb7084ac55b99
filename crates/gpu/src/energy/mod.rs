//! Energy: what was counted, times what one costs, and power times time.
//!
//! Nothing here runs while a machine runs. Parts count events in plain integers; the counters that cost energy are
//! marked `[energy]` where they are defined. A machine's `energy` section says what each costs and what leaks, with
//! sources; a [`Meter`] holds both against each other when a machine is loaded, and turns counters into a
//! [`EnergyReport`] after a launch or a run.

mod explain;
mod meter;
mod report;
mod section;

pub use explain::explain;
pub use meter::Meter;
pub use report::{EnergyReport, EventEnergy, StructureEnergy};
pub use section::{EnergySection, Per, StructureSection};

#[cfg(test)]
mod tests;
