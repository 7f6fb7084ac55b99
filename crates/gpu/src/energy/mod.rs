//! Energy: event counts times energy per event, plus leakage power times time.
//!
//! All of it is computed after the simulation. Parts count events in plain integers; counters of events that
//! cost energy are marked `[energy]` where they are defined. A machine's `energy` section gives, with
//! sources, the energy of each event and the leakage. A [`Meter`] checks the section against the counters
//! when a machine is loaded, and turns counters into an [`EnergyReport`] after a launch or a run.

mod explain;
mod meter;
mod report;
mod section;
mod shares;

pub use explain::explain;
pub use meter::Meter;
pub use report::{EnergyReport, EventEnergy, StructureEnergy};
pub use section::{EnergySection, Per, StructureSection};
pub(crate) use shares::share_out;

#[cfg(test)]
mod tests;
