//! The filters: Figure 12's example, and no false negative whatever is inserted and removed.

use std::collections::BTreeMap;

use strata_engine::seed::Stream;
use strata_memory::LineAddress;

use super::super::approximation::Approximation;
use super::super::nvm_cbf::{CbfShape, NvmCbf};

fn positives(filters: &NvmCbf, line: u64) -> Vec<usize> {
    let mut found = Vec::new();
    filters.test(LineAddress(line), |word, bits| {
        found.extend((0..64).filter(|bit| bits >> bit & 1 == 1).map(|bit| 64 * word + bit));
    });
    found
}

#[test]
fn increment_decrement_and_test_of_figure_12() {
    let mut filters = NvmCbf::new(CbfShape { filters: 128, slots: 16, hashes: 3, limit: 3 });
    assert!(positives(&filters, 7).is_empty());
    filters.increment(5, LineAddress(7));
    filters.increment(127, LineAddress(7));
    assert_eq!(positives(&filters, 7), [5, 127], "all filters answer at once");
    // Other lines that share all keys with what is there are found as well: false positives.
    let wrong = (8..2000).filter(|line| !positives(&filters, *line).is_empty()).count();
    assert!((1..200).contains(&wrong), "{wrong} false positives of 1992 with 3 of 16 counters above zero");
    filters.decrement(5, LineAddress(7));
    assert_eq!(positives(&filters, 7), [127]);
}

/// Filters that count right, or, with the bug, decrement a counter that has lost count.
struct Planted {
    filters: NvmCbf,
    /// With the bug: the only counter of each filter, which saturates at [`SATURATED`].
    counters: Option<Vec<u8>>,
}

/// The value at which the counters of the bug saturate; those of the filters behind them go on.
const SATURATED: u8 = 3;

impl Planted {
    fn insert(&mut self, filter: usize, line: LineAddress) {
        match &mut self.counters {
            Some(counters) if counters[filter] == SATURATED => return,
            Some(counters) => counters[filter] += 1,
            None => {}
        }
        self.filters.increment(filter, line);
    }

    fn remove(&mut self, filter: usize, line: LineAddress) {
        match &mut self.counters {
            Some(counters) if counters[filter] == 0 => return,
            Some(counters) => counters[filter] -= 1,
            None => {}
        }
        self.filters.decrement(filter, line);
    }
}

/// Random increments, decrements and tests; the number of false negatives.
fn false_negatives(seed: u64, steps: u32, shape: CbfShape, bug: bool) -> u32 {
    let mut stream = Stream::new(seed, "filters");
    let mut planted = Planted { filters: NvmCbf::new(shape), counters: bug.then(|| vec![0; shape.filters]) };
    // Which lines are in which filter: a line once, as in a cache.
    let mut held = BTreeMap::new();
    let mut missed = 0;
    for _ in 0..steps {
        let line = stream.below(300);
        match held.remove(&line) {
            Some(filter) => planted.remove(filter, LineAddress(line)),
            None => {
                let filter = stream.below(shape.filters as u64) as usize;
                held.insert(line, filter);
                planted.insert(filter, LineAddress(line));
            }
        }
        let line = stream.below(300);
        if let Some(filter) = held.get(&line) {
            missed += u32::from(!positives(&planted.filters, line).contains(filter));
        }
    }
    missed
}

#[test]
fn a_million_steps_without_a_false_negative() {
    for (seed, filters, slots, hashes, limit) in
        [(1, 128, 16, 3, 3), (2, 4, 16, 3, 3), (3, 70, 3, 5, 1), (4, 1, 64, 8, 255), (5, 9, 1, 1, 3)]
    {
        assert_eq!(false_negatives(seed, 200_000, CbfShape { filters, slots, hashes, limit }, false), 0);
    }
}

#[test]
fn decrementing_a_saturated_counter_is_caught() {
    // One counter a filter, so that all lines share it.
    let shape = CbfShape { filters: 4, slots: 1, hashes: 1, limit: 255 };
    assert_eq!(false_negatives(1, 20_000, shape, false), 0);
    assert!(false_negatives(1, 20_000, shape, true) > 0);
}

#[test]
fn a_search_polls_the_positive_rows_up_to_the_line() {
    let mut filters = NvmCbf::new(CbfShape { filters: 128, slots: 16, hashes: 3, limit: 3 });
    for filter in [3, 70, 100] {
        filters.increment(filter, LineAddress(7));
    }
    let approximation = Approximation::new(filters, 4, 1, false);
    for (place, polls, wrong) in
        [(Some(4 * 3 + 1), 1, 2), (Some(4 * 70), 2, 2), (Some(4 * 100 + 3), 3, 2), (None, 3, 3)]
    {
        let search = approximation.search(LineAddress(7), place);
        assert_eq!((search.polls, search.positives, search.false_positives), (polls, 3, wrong), "{place:?}");
    }
    assert_eq!(approximation.search(LineAddress(9999), None).polls, 0, "all negative: no polling");
}

#[test]
fn rows_that_share_a_filter_are_polled_one_after_the_other() {
    let mut filters = NvmCbf::new(CbfShape { filters: 2, slots: 16, hashes: 3, limit: 3 });
    filters.increment(0, LineAddress(7));
    filters.increment(1, LineAddress(7));
    // Two filters, four rows of two tags each.
    let approximation = Approximation::new(filters, 2, 4, false);
    for (place, polls) in [(Some(0), 1), (Some(7), 4), (Some(8), 5), (Some(15), 8), (None, 8)] {
        assert_eq!(approximation.search(LineAddress(7), place).polls, polls, "{place:?}");
    }
}
