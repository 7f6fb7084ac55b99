//! Builds a GPU from a machine file, runs programs on it and reports the results.

pub mod area;
mod assemble;
pub mod broken_down;
pub mod catalogue;
pub mod checkpoint;
pub mod critical_path;
pub mod device;
pub mod endurance;
pub mod energy;
pub mod extended_llc;
pub mod gpu;
pub mod machine;
mod makers;
mod multiprocessor;
mod observed;
mod part;
pub mod position;
pub mod profile;
pub mod program;
mod progress;
pub mod queues;
pub mod races;
pub mod region;
mod resident;
pub mod results;
mod run;
mod save;
pub mod trace;

pub use progress::Progress;
pub use run::{Raced, RunError, RunRequest, Tracing, find_races, profile_program, run};
pub use save::{SaveRequest, save};

/// Version of the simulator: the package's version and a hash of the sources that determine numbers.
pub const SIMULATOR: &str = env!("STRATA_SIMULATOR");
