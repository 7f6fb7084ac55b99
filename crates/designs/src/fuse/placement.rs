//! What is known about a line in the cache besides its bytes: its prediction, and whether that came true.

use super::predictor::{ReadLevel, Signature};
use super::statistics::FuseStatistics;

/// The record of a line, kept with its frame and moved with the line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Placement {
    /// Signature of the instruction that brought the line.
    pub signature: Signature,
    /// What was predicted at that time; `None` without a predictor.
    pub predicted: Option<ReadLevel>,
    /// Number of fills and stores since then.
    writes: u8,
}

impl Placement {
    /// Makes the record of a new line.
    pub fn new(signature: Signature, predicted: Option<ReadLevel>) -> Placement {
        Placement { signature, predicted, writes: 0 }
    }

    /// Notes that the line was filled or stored to.
    #[inline]
    pub fn written(&mut self) {
        self.writes = self.writes.saturating_add(1);
    }

    /// Judges the prediction when the line leaves. V-A: write-multiple is right after several writes, the
    /// other classes after a single one.
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
