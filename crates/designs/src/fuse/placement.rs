//! What is known of a line in the cache beside its bytes: what was predicted of it, and what became of that.

use super::predictor::{ReadLevel, Signature};
use super::statistics::FuseStatistics;

/// Kept with a frame, and moved with its line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Placement {
    /// Of the instruction that brought the line.
    pub signature: Signature,
    /// What was predicted then; none without a predictor.
    pub predicted: Option<ReadLevel>,
    /// Fills and stores since.
    writes: u8,
}

impl Placement {
    /// A line that comes.
    pub fn new(signature: Signature, predicted: Option<ReadLevel>) -> Placement {
        Placement { signature, predicted, writes: 0 }
    }

    /// The line was filled or stored to.
    #[inline]
    pub fn written(&mut self) {
        self.writes = self.writes.saturating_add(1);
    }

    /// The line leaves: was the prediction right? V-A: write-multiple is right with several writes, the other
    /// classes with a single one.
    #[inline]
    pub fn judge(&self, statistics: &mut FuseStatistics) {
        let several = self.writes > 1;
        let right = match self.predicted {
            None => return,
            Some(ReadLevel::Neutral) => {
                statistics.accuracy_neutral += 1;
                return;
            }
            Some(ReadLevel::WriteMultiple) => several,
            Some(ReadLevel::WriteOnceReadMultiple | ReadLevel::WriteOnceReadOnce) => !several,
        };
        *if right { &mut statistics.accuracy_true } else { &mut statistics.accuracy_false } += 1;
    }
}
