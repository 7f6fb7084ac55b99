//! Associativity approximation: a few comparators poll the tag rows that the filters select (III-B, Fig. 7a).

use strata_memory::LineAddress;

use super::nvm_cbf::NvmCbf;

/// The filters in front of the tag rows, and the polling logic behind them.
#[derive(Clone, Debug)]
pub(super) struct Approximation {
    pub filters: NvmCbf,
    /// Number of tags compared at once; they form a row.
    comparators: usize,
    /// Number of rows that share a filter.
    rows_per_filter: usize,
    /// Whether a filter is recomputed from its tags when a line leaves through a saturated counter.
    pub recounts: bool,
    /// Rows whose tags were read for recounts and not yet charged to the polling logic.
    pub rows_recounted: u64,
}

/// The cost of a search of the tags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Search {
    /// Whether the filters were asked.
    pub tested: bool,
    /// Cycles of polling, one for each row that is compared.
    pub polls: u64,
    /// Filters that said the line may be there.
    pub positives: u64,
    /// Positive filters whose rows do not hold the line.
    pub false_positives: u64,
}

impl Approximation {
    pub fn new(filters: NvmCbf, comparators: usize, rows_per_filter: usize, recounts: bool) -> Approximation {
        Approximation { filters, comparators, rows_per_filter, recounts, rows_recounted: 0 }
    }

    /// Number of rows that share a filter.
    pub fn rows_per_filter(&self) -> u64 {
        self.rows_per_filter as u64
    }

    /// The filter that covers a place of the bank.
    #[inline]
    pub fn filter_of(&self, place: usize) -> usize {
        place / self.comparators / self.rows_per_filter
    }

    /// The places that share a filter.
    pub fn places_of(&self, filter: usize) -> std::ops::Range<usize> {
        let places = self.comparators * self.rows_per_filter;
        filter * places..(filter + 1) * places
    }

    /// Tests all filters and polls the rows of the positive ones, lowest first, until the line is found at
    /// `place`; `None` means that the bank does not hold it.
    #[inline]
    pub fn search(&self, line: LineAddress, place: Option<usize>) -> Search {
        let target = place.map(|place| self.filter_of(place));
        let (mut before, mut positives, mut found) = (0, 0, false);
        self.filters.test(line, |word, bits| {
            positives += u64::from(bits.count_ones());
            match target {
                Some(filter) if filter / 64 == word => {
                    found = bits >> (filter % 64) & 1 == 1;
                    before += u64::from((bits & ((1 << (filter % 64)) - 1)).count_ones());
                }
                Some(filter) if filter / 64 < word => {}
                _ => before += u64::from(bits.count_ones()),
            }
        });
        assert!(found == target.is_some(), "a filter never denies a line that is there");
        let rows = self.rows_per_filter as u64;
        let last = place.map_or(0, |place| (place / self.comparators) as u64 % rows + 1);
        Search {
            tested: true,
            polls: before * rows + last,
            positives,
            false_positives: positives - u64::from(found),
        }
    }
}
