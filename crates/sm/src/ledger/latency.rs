//! How long accesses take, by the level that serves them.

use strata_engine::statistics::{Definition, Group, Mark, Statistics, array_group};

use super::served::{ServedStatistics, Source};

/// Ranges of latencies that are told apart.
pub const RANGES: usize = 20;

strata_engine::statistics! {
    /// Accesses of loads, atomics and texture fetches that one level served.
    pub struct LevelStatistics: "served" {
        /// Accesses.
        accesses: "accesses",
        /// Their bytes.
        bytes: "bytes",
        /// Cycles from the L1D taking them to their completion.
        cycles: "cycles",
    }
    laws {
        "accesses have bytes": |s| s.accesses <= s.bytes,
    }
}

/// Accesses by latency.
const LATENCY: Definition = Definition {
    name: "below",
    unit: "accesses",
    meaning: "Accesses that took fewer cycles than two to the power of the place, and not fewer than half of that; the last has all that took longer.",
    mark: Mark::Plain,
};

/// Accesses of each level by latency.
#[derive(Clone, Debug, Default)]
pub struct Latencies([[u64; RANGES]; Source::ALL.len()]);

impl Latencies {
    pub(super) fn count(&mut self, source: Source, cycles: u64) {
        let range = (u64::BITS - cycles.leading_zeros()) as usize;
        self.0[source.place()][range.min(RANGES - 1)] += 1;
    }

    /// Adds those of another SM.
    pub fn merge(&mut self, other: &Latencies) {
        let both = self.0.iter_mut().flatten().zip(other.0.iter().flatten());
        both.for_each(|(mine, theirs)| *mine += theirs);
    }

    /// Each level, with what it served in all and by latency.
    pub fn levels(&self, served: &ServedStatistics) -> Vec<(&'static str, Vec<Group>)> {
        let level = |source: Source| {
            let (accesses, bytes, cycles) = served.of(source);
            let all = LevelStatistics { accesses, bytes, cycles }.report();
            let by_latency = array_group("latency", &[(LATENCY, &self.0[source.place()])]);
            (source.name(), vec![all, by_latency])
        };
        Source::ALL.into_iter().map(level).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_latency_is_counted_in_the_range_it_lies_in() {
        let mut latencies = Latencies::default();
        for cycles in [0, 1, 2, 3, 4, 63, 64, 1 << 40] {
            latencies.count(Source::L1d, cycles);
        }
        let levels = latencies.levels(&ServedStatistics::default());
        let (name, groups) = &levels[0];
        assert_eq!((*name, groups[1].name), ("L1D", "latency"));
        let counted: Vec<usize> = (0..RANGES).filter(|range| groups[1].values[*range] > 0).collect();
        assert_eq!(counted, [0, 1, 2, 3, 6, 7, RANGES - 1]);
        assert_eq!(groups[1].get("below_02"), Some(2), "two and three cycles are below four");
        assert_eq!(levels[1].1[1].values, [0; RANGES]);
    }
}
