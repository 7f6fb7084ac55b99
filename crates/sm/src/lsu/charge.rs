//! Charging what the unit counts to instructions, CTAs and buffers, in SMs that keep a ledger.
//!
//! What an event moves of the counters is charged to the instruction behind it. Each kind of event has a list of the counters that it moves; what is in
//! no list, or is counted at another time, belongs to no instruction.

use strata_engine::Cycle;
use strata_memory::doors::{Completion, L1d};

use super::entry::{OWN, Place};
use super::{Lsu, LsuStatistics};

/// Counters that some kind of event moves.
pub(crate) type Moved<const N: usize> = fn(&mut LsuStatistics) -> [&mut u64; N];

/// Those that the issue of an instruction moves.
pub(crate) const ISSUE: Moved<16> = |s| {
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
};

/// Those that an offer to the L1D moves.
const OFFER: Moved<14> = |s| {
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
};

/// Those that passes through the banks of shared memory move.
pub(super) const PASS: Moved<5> = |s| {
    [
        &mut s.shared_accesses,
        &mut s.shared_addresses,
        &mut s.shared_bytes,
        &mut s.shared_passes,
        &mut s.shared_conflict_cycles,
    ]
};

/// Those that requests to the constant cache move.
pub(super) const REQUEST: Moved<2> = |s| [&mut s.constant_lines, &mut s.constant_refused];

/// The values of counters before an event.
pub(crate) struct Before<const N: usize> {
    counters: Moved<N>,
    values: [u64; N],
}

impl Lsu {
    /// What counters are before an event that may move them; `None` if no ledger is kept.
    #[inline]
    pub(crate) fn before<const N: usize>(&mut self, counters: Moved<N>) -> Option<Before<N>> {
        self.ledger.is_some().then(|| Before { counters, values: self.values(counters) })
    }

    /// Charges what has moved since to an instruction of a warp.
    #[inline]
    pub(crate) fn charge<const N: usize>(&mut self, before: Option<Before<N>>, warp: u8, pc: u32) {
        let Some(Before { counters, values }) = before else { return };
        let after = self.values(counters);
        if let Some(ledger) = &mut self.ledger {
            let at = ledger.at(warp.into(), pc);
            ledger.add((at, None), counters, &std::array::from_fn(|place| after[place] - values[place]));
        }
    }

    /// Charges what has moved since to an instruction in the table.
    #[inline]
    pub(super) fn charge_place<const N: usize>(&mut self, before: Option<Before<N>>, place: Option<Place>) {
        if before.is_some()
            && let Some(place) = place
            && place != OWN
        {
            let entry = self.table.get(place);
            self.charge(before, entry.warp, entry.pc);
        }
    }

    fn values<const N: usize>(&mut self, counters: Moved<N>) -> [u64; N] {
        counters(&mut self.statistics).map(|counter| *counter)
    }

    /// Charges the end of an instruction, which has just been counted.
    #[cold]
    pub(super) fn charge_end(&mut self, place: Place, cycles: u64) {
        let entry = self.table.get(place);
        if let Some(ledger) = &mut self.ledger {
            let at = ledger.at(entry.warp.into(), entry.pc);
            ledger.add((at, None), |s| [&mut s.finished, &mut s.latency_cycles], &[1, cycles]);
        }
    }

    /// As `offer`, with the access and its refusals charged to its instruction.
    #[cold]
    #[inline(never)]
    pub(super) fn offer_charged(&mut self, l1d: &mut (impl L1d + ?Sized), now: Cycle) -> bool {
        let before = self.values(OFFER);
        let accepted =
            self.device.offer(true, &mut self.table, &mut self.textures, l1d, now, &mut self.statistics);
        let offered = match &accepted {
            Some(accepted) => accepted.offered,
            None => self.device.held_access(),
        };
        let after = self.values(OFFER);
        if let (Some(ledger), Some(offered)) = (&mut self.ledger, offered) {
            let at = ledger.at(offered.warp.into(), offered.pc);
            let moved = std::array::from_fn(|place| after[place] - before[place]);
            ledger.add((at, Some(offered.line)), OFFER, &moved);
            if accepted.is_some() {
                ledger.accepted(offered, now);
            }
        }
        self.take_accepted(accepted, now)
    }

    /// As `complete_access`, charged to its instruction.
    #[cold]
    #[inline(never)]
    pub(super) fn complete_charged(&mut self, completion: Completion, now: Cycle) {
        if let Some(ledger) = &mut self.ledger {
            ledger.completed(completion.token, now);
        }
        self.complete_access(completion, now);
    }
}
