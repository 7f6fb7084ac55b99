//! Round robin that changes warps at memory instructions.

use schemars::JsonSchema;
use serde::Deserialize;

use super::loose_round_robin::LooseRoundRobin;
use super::policy::{View, WarpScheduler};

/// Round robin that keeps issuing from one warp until it issues a memory instruction or is not ready (tinyCache, section 4: "a
/// simple round-robin, single-level mechanism, and we switch warps at memory operation boundaries").
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchOnMemory {
    #[serde(skip)]
    order: LooseRoundRobin,
    /// Mask of the warp that issued last, unless that was a memory instruction.
    #[serde(skip)]
    stays: u64,
}

impl WarpScheduler for SwitchOnMemory {
    /// Picks the warp that issued last, if it is ready and has not issued a memory instruction, else the next ready
    /// warp after it.
    #[inline]
    fn pick(&mut self, View { ready, .. }: View) -> Option<usize> {
        let staying = ready & self.stays;
        let warp = self.order.next(if staying != 0 { staying } else { ready })?;
        self.stays = 1 << warp;
        Some(warp)
    }

    #[inline]
    fn issued_memory(&mut self) {
        self.stays = 0;
    }

    fn remove(&mut self, warp: usize) {
        self.stays &= !(1 << warp);
    }
}

#[cfg(test)]
mod tests {
    use super::super::policy::ready;
    use super::*;

    #[test]
    fn a_warp_keeps_its_turn_until_a_memory_instruction_or_a_wait() {
        let mut scheduler = SwitchOnMemory::default();
        let all = ready(&[2, 5, 9]);
        assert_eq!([scheduler.pick(all), scheduler.pick(all)], [Some(2), Some(2)]);
        scheduler.issued_memory();
        assert_eq!([scheduler.pick(all), scheduler.pick(all)], [Some(5), Some(5)]);
        assert_eq!(scheduler.pick(ready(&[2, 9])), Some(9), "warp 5 waits");
        assert_eq!(scheduler.pick(ready(&[])), None);
        scheduler.issued_memory();
        assert_eq!(scheduler.pick(all), Some(2), "around");
        scheduler.remove(2);
        assert_eq!(scheduler.pick(all), Some(5), "the slot has another warp");
    }
}
