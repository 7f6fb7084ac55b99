//! Charging what the unit counts to instructions, CTAs and buffers, in SMs that keep a ledger.
//!
//! What is counted between the opening and the closing of an account belongs to the instruction that closes it.

use strata_engine::Cycle;
use strata_memory::doors::{Completion, L1d};

use super::Lsu;
use super::entry::{OWN, Place};

impl Lsu {
    /// What was counted until now belongs to no account that is opened now.
    pub(crate) fn open_account(&mut self) {
        if let Some(ledger) = &mut self.ledger {
            ledger.open(&self.statistics);
        }
    }

    /// Charges what was counted since to an instruction of a warp.
    pub(crate) fn close_account(&mut self, warp: u8, pc: u32) {
        if let Some(ledger) = &mut self.ledger {
            let at = ledger.at(warp.into(), pc);
            ledger.close(at, None, &self.statistics);
        }
    }

    /// Charges what was counted since to an instruction in the table.
    pub(super) fn close_account_of(&mut self, place: Option<Place>) {
        match place {
            Some(place) if place != OWN => {
                let entry = self.table.get(place);
                self.close_account(entry.warp, entry.pc);
            }
            _ => self.open_account(),
        }
    }

    /// Charges the end of an instruction, which has just been counted.
    #[cold]
    pub(super) fn charge_end(&mut self, place: Place, cycles: u64) {
        let entry = self.table.get(place);
        if let Some(ledger) = &mut self.ledger {
            let at = ledger.at(entry.warp.into(), entry.pc);
            ledger.ended(at, cycles);
        }
    }

    /// As `offer`, with the access and its refusals charged to its instruction.
    #[cold]
    #[inline(never)]
    pub(super) fn offer_charged(&mut self, l1d: &mut (impl L1d + ?Sized), now: Cycle) -> bool {
        self.open_account();
        let accepted =
            self.device.offer(true, &mut self.table, &mut self.textures, l1d, now, &mut self.statistics);
        let offered = match &accepted {
            Some(accepted) => accepted.offered,
            None => self.device.held_access(),
        };
        if let (Some(ledger), Some(offered)) = (&mut self.ledger, offered) {
            let at = ledger.at(offered.warp.into(), offered.pc);
            ledger.close(at, Some(offered.line), &self.statistics);
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
