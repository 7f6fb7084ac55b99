//! Bank-level wear levelling (IV-B4, Fig. 11): where in its group of banks a row's next value begins.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::indicator_table::IndicatorTable;
use super::layout::{Layout, RowId};

/// Where in its group of banks a row's next value begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WearLevelling {
    /// Behind its last value: at its bank point value. A row's first value begins at the bank of its entry's
    /// number, so that rows that are written once are spread too.
    BankPoint,
    /// Behind its last value; every row's first value begins at the first bank.
    BankPointFromZero,
    /// Always at the bank of its entry's number: rows of a group begin at different banks, and nothing is levelled.
    Entry,
    /// Always at the first bank.
    None,
}

impl WearLevelling {
    /// The bank at which a row's first value begins, before it is taken modulo the banks of a group.
    pub fn initial(self, entry: u32) -> u32 {
        match self {
            WearLevelling::BankPoint | WearLevelling::Entry => entry,
            WearLevelling::BankPointFromZero | WearLevelling::None => 0,
        }
    }

    /// The bank at which a row's next value begins.
    #[inline]
    pub fn next(self, row: RowId, layout: &Layout, table: &IndicatorTable) -> u32 {
        match self {
            WearLevelling::BankPoint | WearLevelling::BankPointFromZero => {
                u32::from(table.get(row).bank_point)
            }
            WearLevelling::Entry => layout.place(row).entry % layout.banks_per_row(),
            WearLevelling::None => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use strata_engine::seed::Stream;
    use strata_memory::base_delta::DeltaWidth;

    use super::super::compression::Range;
    use super::super::wear::Wear;
    use super::*;

    const RANGES: [Range; 4] = [
        Range::Deltas(DeltaWidth::Zero),
        Range::Deltas(DeltaWidth::One),
        Range::Deltas(DeltaWidth::Two),
        Range::Whole,
    ];

    /// Largest distance of a bank's writes from its group's mean, in percent of the mean, after a stream of
    /// writes.
    fn spread(levelling: WearLevelling, writes: impl Iterator<Item = (RowId, Range)>) -> f64 {
        let layout = Layout::new(64, 64, 1024);
        let mut table = IndicatorTable::new(&layout, |row| levelling.initial(layout.place(row).entry));
        let mut wear = Wear::new(&layout);
        for (row, range) in writes {
            let first = levelling.next(row, &layout, &table);
            wear.wrote(layout.place(row), first, range.banks(8));
            table.update(row, first, range);
        }
        let distance = |group: &[u64]| {
            let mean = group.iter().sum::<u64>() as f64 / group.len() as f64;
            group.iter().map(|writes| (*writes as f64 - mean).abs() / mean.max(1.0)).fold(0.0, f64::max)
        };
        100.0 * wear.banks().chunks(16).map(distance).fold(0.0, f64::max)
    }

    #[test]
    fn any_stream_is_spread_to_within_five_percent_over_the_banks_of_its_group() {
        // One row alone, a few hot rows among many, and all rows; each form alone, and mixed.
        for rows in [1u64, 12, 1024] {
            for form in 0..=RANGES.len() {
                let mut stream = Stream::new(form as u64, "writes");
                let hot = stream.below(1024);
                let writes = (0..200_000).map(|_| {
                    let row = if stream.below(4) == 0 { hot } else { (hot + stream.below(rows)) % 1024 };
                    let range = RANGES.get(form).copied().unwrap_or(RANGES[stream.below(4) as usize]);
                    (row as u32, range)
                });
                let spread = spread(WearLevelling::BankPoint, writes);
                assert!(spread < 5.0, "{rows} rows, form {form}: {spread} %");
            }
        }
    }

    #[test]
    fn rows_written_once_are_spread_too() {
        let once = |levelling| spread(levelling, (0..1024).map(|row| (row, RANGES[1])));
        assert!(once(WearLevelling::BankPoint) < 5.0);
        assert!(once(WearLevelling::BankPointFromZero) > 100.0);
    }

    #[test]
    fn by_entry_every_value_of_a_row_begins_at_the_same_bank_and_rows_begin_at_all_of_them() {
        let layout = Layout::new(64, 64, 1024);
        let mut table =
            IndicatorTable::new(&layout, |row| WearLevelling::Entry.initial(layout.place(row).entry));
        let next = |row, table: &IndicatorTable| WearLevelling::Entry.next(row, &layout, table);
        for row in 0..1024 {
            assert_eq!(next(row, &table), row / 4 % 16);
            table.update(row, next(row, &table), RANGES[2]);
            assert_eq!((table.first_bank(row), next(row, &table)), (row / 4 % 16, row / 4 % 16));
        }
    }

    #[test]
    fn without_levelling_the_first_bank_takes_every_write() {
        let worn = spread(WearLevelling::None, (0..10_000).map(|n| (n % 1024, RANGES[0])));
        assert!(worn > 1000.0, "{worn} %");
    }
}
