//! Round robin that changes warps at memory instructions (tinyCache, section 4: "a simple round-robin, single-level
//! mechanism, and we switch warps at memory operation boundaries").

use super::loose_round_robin::LooseRoundRobin;

/// State of a round robin that changes warps at memory instructions.
#[derive(Clone, Debug, Default)]
pub struct SwitchOnMemory {
    order: LooseRoundRobin,
    /// Mask of the warp that issued last, unless that was a memory instruction.
    stays: u64,
}

impl SwitchOnMemory {
    /// Picks the warp that issued last, if it is ready and has not issued a memory instruction, else the next ready
    /// warp after it.
    #[inline]
    pub fn pick(&mut self, ready: u64) -> Option<usize> {
        let staying = ready & self.stays;
        let warp = self.order.pick(if staying != 0 { staying } else { ready })?;
        self.stays = 1 << warp;
        Some(warp)
    }

    /// The warp that was picked last has issued a memory instruction.
    #[inline]
    pub fn issued_memory(&mut self) {
        self.stays = 0;
    }

    /// Removes a warp that has exited.
    pub fn remove(&mut self, warp: usize) {
        self.stays &= !(1 << warp);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warp_keeps_its_turn_until_a_memory_instruction_or_a_wait() {
        let mut scheduler = SwitchOnMemory::default();
        let ready = 1 << 2 | 1 << 5 | 1 << 9;
        assert_eq!([scheduler.pick(ready), scheduler.pick(ready)], [Some(2), Some(2)]);
        scheduler.issued_memory();
        assert_eq!([scheduler.pick(ready), scheduler.pick(ready)], [Some(5), Some(5)]);
        assert_eq!(scheduler.pick(1 << 2 | 1 << 9), Some(9), "warp 5 waits");
        assert_eq!(scheduler.pick(0), None);
        scheduler.issued_memory();
        assert_eq!(scheduler.pick(ready), Some(2), "around");
        scheduler.remove(2);
        assert_eq!(scheduler.pick(ready), Some(5), "the slot has another warp");
    }
}
