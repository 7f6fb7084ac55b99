//! Charging what the unit counts to instructions, CTAs and buffers, in SMs that keep a ledger.
//!
//! What an event moves of the counters is charged to the instruction behind it. What no kind of event moves ([`moved`](super::moved)), or is counted
//! at another time, belongs to no instruction.

use strata_engine::Cycle;
use strata_memory::LineAddress;
use strata_ptx::isa::Pc;

use super::Lsu;
use super::device::Accepted;
use super::entry::{OWN, Place};
use super::moved::{self, Moved};
use crate::launch::Launch;
use crate::ledger::{Accounts, Ledger};
use crate::path::PathRecorder;
use crate::record::SmEvent;

/// The values of counters before an event.
pub(crate) struct Before<C, const N: usize> {
    counters: C,
    values: [u64; N],
}

impl Lsu {
    /// The unit of an SM that keeps a ledger.
    #[must_use]
    pub fn with_ledger(self, ledger: Ledger) -> Lsu {
        Lsu { ledger: Some(Box::new(ledger)), ..self }
    }

    /// Whether the SM keeps a ledger.
    #[inline]
    pub(crate) fn has_ledger(&self) -> bool {
        self.ledger.is_some()
    }

    /// Whether the SM records its events.
    pub(crate) fn records(&self) -> bool {
        self.ledger.as_ref().is_some_and(|ledger| ledger.records())
    }

    /// What the SM keeps its accounts in.
    #[inline]
    pub(crate) fn ledger(&mut self) -> Option<&mut Ledger> {
        self.ledger.as_deref_mut()
    }

    /// Whether the SM remembers steps for the critical path.
    #[inline]
    pub(crate) fn follows(&self) -> bool {
        self.ledger.as_ref().is_some_and(|ledger| ledger.follows())
    }

    /// What the SM remembers for the critical path, where that is asked for.
    #[inline]
    pub(crate) fn path(&mut self) -> Option<&mut PathRecorder> {
        self.ledger.as_deref_mut()?.path()
    }

    /// Takes the accounts of the launch.
    pub fn take_accounts(&mut self) -> Vec<Accounts> {
        self.ledger.as_mut().map_or_else(Vec::new, |ledger| ledger.take(&self.statistics))
    }

    /// Begins the accounts of a launch, with nothing in them.
    pub fn begin_accounts(&mut self, launch: &Launch) {
        self.ledger = self.ledger.take().or(self.resting.take());
        if let Some(ledger) = &mut self.ledger {
            ledger.begin(launch, &self.statistics);
        }
    }

    /// Lays the ledger aside until the next launch, if nothing concerns it from this cycle on.
    #[inline]
    pub(crate) fn rest_ledger(&mut self, now: Cycle) {
        if self.ledger.as_ref().is_some_and(|ledger| ledger.is_over(now)) {
            self.resting = self.ledger.take();
        }
    }

    /// What counters are before an event that may move them; `None` if no ledger is kept.
    #[inline(always)]
    pub(crate) fn before<C: Moved<N>, const N: usize>(&mut self, counters: C) -> Option<Before<C, N>> {
        self.ledger.is_some().then(|| Before { counters, values: self.values(counters) })
    }

    /// Charges what has moved since to an instruction of a warp.
    #[inline(always)]
    pub(crate) fn charge<C: Moved<N>, const N: usize>(
        &mut self,
        before: Option<Before<C, N>>,
        warp: u8,
        pc: u32,
    ) {
        if let Some(before) = before {
            self.charge_to(&before, (warp, pc), None);
        }
    }

    /// Charges what has moved since to an instruction in the table.
    #[inline]
    pub(super) fn charge_place<C: Moved<N>, const N: usize>(
        &mut self,
        before: Option<Before<C, N>>,
        place: Option<Place>,
    ) {
        if before.is_some()
            && let Some(place) = place
            && place != OWN
        {
            let entry = self.table.get(place);
            self.charge(before, entry.warp, entry.pc);
        }
    }

    /// Charges what has moved since to an instruction of a warp, and to the buffer of a line.
    #[inline(always)]
    fn charge_to<C: Moved<N>, const N: usize>(
        &mut self,
        before: &Before<C, N>,
        (warp, pc): (u8, Pc),
        line: Option<LineAddress>,
    ) {
        let Before { counters, values } = before;
        let after = self.values(*counters);
        if let Some(ledger) = &mut self.ledger {
            let at = ledger.at(warp.into(), pc);
            let moved = std::array::from_fn(|place| after[place] - values[place]);
            ledger.add((at, line), *counters, &moved);
        }
    }

    #[inline(always)]
    fn values<C: Moved<N>, const N: usize>(&mut self, counters: C) -> [u64; N] {
        counters(&mut self.statistics).map(|counter| *counter)
    }

    /// Charges the end of an instruction, which has just been counted.
    #[cold]
    pub(super) fn charge_end(&mut self, place: Place, cycles: u64) {
        let entry = self.table.get(place);
        if let Some(ledger) = &mut self.ledger {
            let at = ledger.at(entry.warp.into(), entry.pc);
            ledger.add((at, None), moved::end, &[1, cycles]);
            let (warp, pc, issued) = (entry.warp, entry.pc, entry.issued);
            let now = issued + cycles;
            ledger.record(now, SmEvent::Ended { warp, pc, issued, written: now + self.writeback_latency });
            if let Some(path) = ledger.path() {
                path.performed(warp, pc, issued, now);
            }
        }
    }

    /// Charges an offer to the L1D, or the cycles in which it refused one, to the access's instruction.
    #[cold]
    #[inline(never)]
    pub(super) fn charge_offer<C: Moved<N>, const N: usize>(
        &mut self,
        before: &Before<C, N>,
        accepted: &Option<Accepted>,
        now: Cycle,
    ) {
        let offered = match accepted {
            Some(accepted) => accepted.offered,
            None => self.device.held_access(),
        };
        let Some(offered) = offered else { return };
        self.charge_to(before, (offered.warp, offered.pc), Some(offered.line));
        let Some(ledger) = &mut self.ledger else { return };
        if let Some(Accepted { entry: place, .. }) = *accepted {
            let issued = if place == OWN { now } else { self.table.get(place).issued };
            ledger.accepted(offered, issued, now);
            if let Some(path) = ledger.path() {
                path.accepted(&offered, issued, now);
            }
        } else if let (Some(path), Some(why)) = (ledger.path(), self.device.why_held()) {
            path.refused(why, now);
        }
    }

    /// Charges the completion of an access to its instruction.
    #[cold]
    #[inline(never)]
    pub(super) fn charge_completion(&mut self, token: u32, now: Cycle) {
        if let Some(ledger) = &mut self.ledger {
            ledger.completed(token, now);
            if let Some(path) = ledger.path() {
                path.completed(token, now);
            }
        }
    }
}
