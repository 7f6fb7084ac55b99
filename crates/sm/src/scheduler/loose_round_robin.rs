//! Loose round robin: picks the next ready warp after the one that issued last.

/// State of a loose round robin over warp slots.
#[derive(Clone, Debug, Default)]
pub struct LooseRoundRobin {
    last: usize,
}

impl LooseRoundRobin {
    /// Picks the next ready warp after the last one picked, wrapping around.
    #[inline]
    pub fn pick(&mut self, ready: u64) -> Option<usize> {
        let after = ready & (u64::MAX << self.last << 1);
        let from = if after != 0 { after } else { ready };
        if from == 0 {
            return None;
        }
        self.last = from.trailing_zeros() as usize;
        Some(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ready_warp_has_its_turn() {
        let mut scheduler = LooseRoundRobin::default();
        let ready = 1 << 63 | 0b1011;
        let turns: Vec<_> = (0..6).map(|_| scheduler.pick(ready).unwrap()).collect();
        assert_eq!(turns, [1, 3, 63, 0, 1, 3]);
        assert_eq!(scheduler.pick(0), None);
        assert_eq!(scheduler.pick(ready), Some(63), "a cycle without an issue changes nothing");
    }
}
