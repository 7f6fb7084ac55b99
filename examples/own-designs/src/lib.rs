//! Designs of one's own behind four doors of a Strata machine, policies of its caches, a DRAM scheduler and a warp scheduler.
//!
//! Each is small, whole and right: it has its own look-up and counters, keeps its door's contract, and stands in any
//! machine by a file of `systems/`. `docs/new-design.md` leads through [`blocking_l1d`].

pub mod blocking_l1d;
pub mod direct_mapped_llc;
pub mod evict_latest;
/// A network without switches, as `strata new --kind network` writes it.
#[path = "../../../crates/cli/src/new/network/ideal.rs"]
pub mod ideal_network;
pub mod next_pair;
/// A register file of many ports, as `strata new --kind register-file` writes it.
#[path = "../../../crates/cli/src/new/register-file/ported.rs"]
pub mod ported_registers;
pub mod reads_first;
pub mod youngest_first;

use strata_designs::registry::Registry;

/// Adds the designs and policies: one line each.
pub fn add(registry: Registry) -> Registry {
    registry
        .with_l1d::<blocking_l1d::Config>("blocking")
        .with_llc::<direct_mapped_llc::Config>("direct-mapped")
        .with_network::<ideal_network::Config>("switchless")
        .with_register_file::<ported_registers::Config>("ported")
        .with_replacement::<evict_latest::EvictLatest>("evict-latest")
        .with_prefetch::<next_pair::NextPair>("pair")
        .with_dram_scheduler::<reads_first::ReadsFirst>("reads-first")
}

/// Adds the policies of SMs, which no design knows of.
pub fn add_to_sms() {
    strata_sm::scheduler::add::<youngest_first::YoungestFirst>("youngest-first");
}
