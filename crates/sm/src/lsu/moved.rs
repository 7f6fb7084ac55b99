//! The counters that each kind of event moves, by kind.

use super::statistics::LsuStatistics;

/// Counters that some kind of event moves.
pub(crate) trait Moved<const N: usize>:
    Copy + for<'a> Fn(&'a mut LsuStatistics) -> [&'a mut u64; N]
{
}

impl<const N: usize, F: Copy + for<'a> Fn(&'a mut LsuStatistics) -> [&'a mut u64; N]> Moved<N> for F {}

/// Those that the issue of an instruction moves.
#[inline(always)]
pub(crate) fn issue(s: &mut LsuStatistics) -> [&mut u64; 16] {
    [
        &mut s.instructions,
        &mut s.loads,
        &mut s.stores,
        &mut s.atomics,
        &mut s.reductions,
        &mut s.copies,
        &mut s.copy_controls,
        &mut s.textures,
        &mut s.prefetches,
        &mut s.empty,
        &mut s.global_instructions,
        &mut s.local_instructions,
        &mut s.shared_instructions,
        &mut s.constant_instructions,
        &mut s.surface_instructions,
        &mut s.split_instructions,
    ]
}

/// Those that an offer to the L1D moves.
#[inline(always)]
pub(super) fn offer(s: &mut LsuStatistics) -> [&mut u64; 14] {
    [
        &mut s.accesses,
        &mut s.lane_addresses,
        &mut s.bytes_requested,
        &mut s.bytes_accessed,
        &mut s.path_accesses,
        &mut s.path_bytes,
        &mut s.full_cycles,
        &mut s.refused_port,
        &mut s.refused_mshr,
        &mut s.refused_merge,
        &mut s.refused_ways,
        &mut s.refused_network,
        &mut s.refused_bank,
        &mut s.refused_flush,
    ]
}

/// Those that passes through the banks of shared memory move.
#[inline(always)]
pub(super) fn pass(s: &mut LsuStatistics) -> [&mut u64; 5] {
    [
        &mut s.shared_accesses,
        &mut s.shared_addresses,
        &mut s.shared_bytes,
        &mut s.shared_passes,
        &mut s.shared_conflict_cycles,
    ]
}

/// Those that requests to the constant cache move.
#[inline(always)]
pub(super) fn request(s: &mut LsuStatistics) -> [&mut u64; 2] {
    [&mut s.constant_lines, &mut s.constant_refused]
}

/// Those that the end of an instruction moves.
#[inline(always)]
pub(super) fn end(s: &mut LsuStatistics) -> [&mut u64; 2] {
    [&mut s.finished, &mut s.latency_cycles]
}
