//! How many CTAs of a kernel an SM holds together.

use strata_gpu::device::Entry;

use crate::state::State;

/// Number of a kernel's CTAs that fit on an SM together.
pub fn ctas(state: &State, entry: &Entry, threads: u32, dynamic_shared: u64) -> u32 {
    let shared = u64::from(entry.kernel.shared_bytes) + dynamic_shared;
    let shared = u32::try_from(shared).unwrap_or(u32::MAX);
    state.settings.machine.resident_ctas(&entry.kernel, threads, shared)
}

/// Maximum number of threads in a CTA that can be launched.
pub fn max_threads(state: &State, entry: &Entry) -> u32 {
    let kernel = &entry.kernel;
    let bound = kernel.launch_bounds.max_threads.unwrap_or(1024).min(1024);
    let bound = kernel.launch_bounds.required.map_or(bound, |block| block.iter().product::<u32>().min(bound));
    let fits = |threads: &u32| ctas(state, entry, *threads, 0) > 0;
    // Try whole warps, from the most downwards; the last warp may be partial.
    (1..=bound.div_ceil(32)).rev().map(|warps| (32 * warps).min(bound)).find(fits).unwrap_or(0)
}
