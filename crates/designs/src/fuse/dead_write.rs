//! By-NVM's dead-write predictor: which lines are not worth a write into STT-MRAM (V, L1D configurations).
//!
//! A write is dead when nobody reads what it wrote before it is overwritten or evicted. As in the cited work
//! (DASCA), the program counter of the last write to a line is the signature, a few sets of the cache are sampled,
//! and a table of counters says which signatures' writes were dead. A dead fill is not made, and a store whose
//! write is dead (a closing write) goes below with the line's other dirty bytes.

use strata_memory::LineAddress;

use super::predictor::{History, HistoryShape, ReadLevel, Sampled, Sampler, SamplerShape, Signature};

/// What a request is to a line that is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touch {
    /// It reads.
    Read,
    /// It writes some of the bytes: the others are still to be read.
    Write,
    /// It writes all bytes: what was there before is dead if nobody read it.
    Overwrite,
}

/// Sampler and table.
#[derive(Clone, Debug)]
pub(super) struct DeadWrite {
    sampler: Sampler,
    history: History,
    /// One set in so many is sampled.
    stride: usize,
}

impl DeadWrite {
    /// Samples every `stride`th set of the cache.
    pub fn new(sampler: SamplerShape, history: HistoryShape, stride: usize) -> DeadWrite {
        DeadWrite { sampler: Sampler::new(sampler), history: History::new(history), stride }
    }

    /// A request to a line of a set of the cache was taken.
    pub fn observe(&mut self, line: LineAddress, set: usize, pc: u32, touch: Touch) {
        if !set.is_multiple_of(self.stride) {
            return;
        }
        let signature = self.history.signature(pc);
        let set = set / self.stride;
        match self.sampler.see(set, line, signature) {
            Sampled::Hit(last) => {
                match touch {
                    Touch::Read | Touch::Write => self.history.used(last, false),
                    Touch::Overwrite => self.history.unused(last),
                }
                if touch != Touch::Read {
                    self.sampler.restart(set, signature);
                }
            }
            Sampled::Unused(last) => self.history.unused(last),
            Sampled::Missed => {}
        }
    }

    /// Whether a write, by a fill or a store of this instruction, is predicted to be dead.
    #[inline]
    pub fn is_dead(&self, pc: u32) -> bool {
        let signature: Signature = self.history.signature(pc);
        self.history.predict(signature) == ReadLevel::WriteOnceReadOnce
    }
}
