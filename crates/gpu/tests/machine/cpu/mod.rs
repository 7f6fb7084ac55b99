//! CPU cores: cycles by hand, values through the caches of both sides, faults, and what must change no number.

mod faults;
mod golden;
mod numbers;
mod owners;
mod programs;
mod random;

use strata_gpu::machine::Machine;

/// A system that puts CPU cores beside any GPU.
pub const CPU_CORES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/cpu-cores/cpu-cores.toml");

/// The machine of an example with CPU cores, and with values replaced.
fn with_cores(systems: &[&str], sets: &[&str]) -> Machine {
    let systems: Vec<&str> = [CPU_CORES].iter().chain(systems).copied().collect();
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Machine::load_with("gtx480", &systems, &sets).unwrap_or_else(|error| panic!("{error}"))
}

/// A crossbar has room for any number of nodes.
const CROSSBAR: &str = "network.topology=crossbar";
