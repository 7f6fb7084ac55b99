//! The read-level predictor: a sampler that watches a few warps, and a table that remembers what it saw (IV-B).

mod history;
mod sampler;

use super::config::SampledRequests;
use super::seen::{Seen, Touch};

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
    requests: SampledRequests,
}

impl Predictor {
    /// Makes a predictor that samples the warp slots `warps`, one for each set of the sampler, and of their
    /// requests those that `requests` says.
    pub fn new(
        sampler: SamplerShape,
        history: HistoryShape,
        warps: &[u8],
        requests: SampledRequests,
    ) -> Predictor {
        let mut sets = vec![None; 256];
        for (set, warp) in warps.iter().enumerate() {
            sets[usize::from(*warp)] = Some(set as u8);
        }
        Predictor { sampler: Sampler::new(sampler), history: History::new(history), sets, requests }
    }

    /// Shows an accepted request to the sampler and returns what it found; `None` if the request is not
    /// sampled.
    #[inline]
    pub fn observe(&mut self, seen: &Seen) -> Option<Sampled> {
        let Seen { line, pc, warp, leads, touch } = *seen;
        let set = self.sets[usize::from(warp)]?;
        if !leads && self.requests == SampledRequests::FirstOfInstruction {
            return None;
        }
        let signature = self.history.signature(pc);
        let sampled = self.sampler.see(usize::from(set), line, signature);
        match sampled {
            Sampled::Hit(first) => self.history.used(first, touch != Touch::Read),
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

#[cfg(test)]
mod tests {
    use strata_memory::LineAddress;

    use super::*;

    const HISTORY: HistoryShape =
        HistoryShape { entries: 512, limit: 15, initial: 8, unused_threshold: 14, used_threshold: 1 };

    /// What the sampler finds as a warp runs an instruction that touches twelve lines, twice.
    fn twice(warp: u8, requests: SampledRequests) -> Vec<Option<Sampled>> {
        let sampler = SamplerShape { sets: 4, ways: 8, tag_bits: 15 };
        let mut predictor = Predictor::new(sampler, HISTORY, &[0, 12, 24, 36], requests);
        let lines = (0..12).map(|line| (line, line == 0));
        let touches = lines.clone().chain(lines);
        let see = |(line, leads)| {
            predictor.observe(&Seen { line: LineAddress(line), pc: 7, warp, leads, touch: Touch::Read })
        };
        touches.map(see).collect()
    }

    #[test]
    fn twelve_lines_evict_one_another_from_eight_ways_and_the_first_ones_alone_do_not() {
        let by = History::new(HISTORY).signature(7);
        let found = twice(12, SampledRequests::All);
        assert_eq!(found[..8], [Some(Sampled::Missed); 8]);
        assert_eq!(found[8..], [Some(Sampled::Unused(by)); 16], "none is left when it comes again");
        let found = twice(12, SampledRequests::FirstOfInstruction);
        assert_eq!((found[0], found[12]), (Some(Sampled::Missed), Some(Sampled::Hit(by))));
        assert_eq!(found.iter().flatten().count(), 2, "of each instruction one request");
        assert_eq!(twice(13, SampledRequests::All), [None; 24], "another warp");
    }
}
