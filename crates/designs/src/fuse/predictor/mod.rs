//! The read-level predictor: a sampler that watches a few warps, and a table that remembers what it saw (IV-B).

mod history;
mod sampler;

use strata_memory::LineAddress;

pub(super) use history::{History, HistoryShape, ReadLevel, Signature};
use sampler::Sampler;
pub(super) use sampler::{Sampled, SamplerShape};

/// The read-level predictor: its sampler and its history table.
#[derive(Clone, Debug)]
pub(super) struct Predictor {
    sampler: Sampler,
    pub history: History,
    /// Set of the sampler for each warp slot, if it is sampled.
    sets: Vec<Option<u8>>,
    /// One line in this many is sampled: a power of two.
    line_stride: u64,
}

impl Predictor {
    /// Makes a predictor that samples the warp slots `warps`, one for each set of the sampler, and of their
    /// requests those to one line in `line_stride`.
    pub fn new(sampler: SamplerShape, history: HistoryShape, warps: &[u8], line_stride: u64) -> Predictor {
        let mut sets = vec![None; 256];
        for (set, warp) in warps.iter().enumerate() {
            sets[usize::from(*warp)] = Some(set as u8);
        }
        Predictor { sampler: Sampler::new(sampler), history: History::new(history), sets, line_stride }
    }

    /// Shows an accepted request to the sampler and returns what it found; `None` if the request is not
    /// sampled.
    #[inline]
    pub fn observe(&mut self, line: LineAddress, pc: u32, warp: u8, write: bool) -> Option<Sampled> {
        let set = self.sets[usize::from(warp)]?;
        // The upper bits of a product depend on all bits of the line.
        if line.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40 & (self.line_stride - 1) != 0 {
            return None;
        }
        let signature = self.history.signature(pc);
        let sampled = self.sampler.see(usize::from(set), line, signature);
        match sampled {
            Sampled::Hit(first) => self.history.used(first, write),
            Sampled::Unused(first) => self.history.unused(first),
            Sampled::Missed => {}
        }
        Some(sampled)
    }

    /// The read level predicted for a block that this instruction brings.
    #[inline]
    pub fn predict(&self, pc: u32) -> ReadLevel {
        self.history.predict(self.history.signature(pc))
    }
}
