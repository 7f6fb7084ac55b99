//! Changes of a gauge that lie ahead.

use crate::time::Cycle;

/// Changes in the order of their cycles.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    changes: Vec<(Cycle, u64)>,
    /// How many of them were taken.
    taken: usize,
    last: Cycle,
}

impl Ahead {
    #[inline]
    pub fn push(&mut self, entries: u64, at: Cycle) {
        debug_assert!(self.last <= at, "{at:?} after {:?}", self.last);
        self.changes.push((at, entries));
        self.last = at;
    }

    pub fn len(&self) -> usize {
        self.changes.len()
    }

    /// The cycle of the last that was ever there.
    pub fn last(&self) -> Cycle {
        self.last
    }

    /// The cycle of the next.
    #[inline(always)]
    pub fn next(&self) -> Cycle {
        self.changes.get(self.taken).map_or(Cycle::NEVER, |(at, _)| *at)
    }

    /// Takes the changes of a cycle. Returns their sum.
    #[inline(always)]
    pub fn take(&mut self, at: Cycle) -> u64 {
        let mut entries = 0;
        while let Some((_, more)) = self.changes.get(self.taken).filter(|change| change.0 == at) {
            entries += more;
            self.taken += 1;
        }
        entries
    }

    pub fn forget_taken(&mut self) {
        self.changes.drain(..self.taken);
        self.taken = 0;
    }
}
