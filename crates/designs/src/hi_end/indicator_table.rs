//! The compression indicator table (IV-B4): for each row its compression range and its bank point value.

use super::compression::Range;
use super::layout::{Layout, RowId};

/// What the table says of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Indication {
    /// How the banks hold the row; `None` if they hold no value of it.
    pub range: Option<Range>,
    /// The bank point value: the bank of the row's group behind the one that was last written.
    pub bank_point: u8,
}

/// The compression indicator table.
#[derive(Debug)]
pub struct IndicatorTable {
    banks_per_row: u32,
    bank_bytes: usize,
    /// By row.
    rows: Vec<Indication>,
}

impl IndicatorTable {
    /// A table whose rows hold nothing. Their bank point values begin with `first`.
    pub fn new(layout: &Layout, first: impl Fn(RowId) -> u32) -> IndicatorTable {
        let banks_per_row = layout.banks_per_row();
        let indication = |row| Indication { range: None, bank_point: (first(row) % banks_per_row) as u8 };
        IndicatorTable {
            banks_per_row,
            bank_bytes: super::layout::ROW_BYTES / banks_per_row as usize,
            rows: (0..layout.rows() as u32).map(indication).collect(),
        }
    }

    /// What the table says of a row.
    #[inline]
    pub fn get(&self, row: RowId) -> Indication {
        self.rows[row as usize]
    }

    /// The bank of the row's group at which its value begins: the bank point value less the banks that the
    /// value takes.
    #[inline]
    pub fn first_bank(&self, row: RowId) -> u32 {
        let Indication { range, bank_point } = self.get(row);
        let banks = range.map_or(0, |range| range.banks(self.bank_bytes));
        (u32::from(bank_point) + self.banks_per_row - banks) % self.banks_per_row
    }

    /// Notes that a row was written from bank `first` of its group on.
    #[inline]
    pub fn update(&mut self, row: RowId, first: u32, range: Range) {
        let behind = (first + range.banks(self.bank_bytes)) % self.banks_per_row;
        self.rows[row as usize] = Indication { range: Some(range), bank_point: behind as u8 };
    }

    /// Forgets a row's value, and keeps its bank point value.
    #[inline]
    pub fn forget(&mut self, row: RowId) {
        self.rows[row as usize].range = None;
    }

    /// Forgets all values.
    pub fn clear(&mut self) {
        self.rows.iter_mut().for_each(|row| row.range = None);
    }

    /// The entry of a row, for planted bugs.
    #[cfg(test)]
    pub fn entry(&mut self, row: RowId) -> &mut Indication {
        &mut self.rows[row as usize]
    }
}

#[cfg(test)]
mod tests {
    use strata_memory::base_delta::DeltaWidth;

    use super::*;

    #[test]
    fn a_value_begins_where_the_bank_point_value_less_its_banks_points() {
        let mut table = IndicatorTable::new(&Layout::new(64, 64, 1024), |_| 0);
        assert_eq!(table.get(3), Indication { range: None, bank_point: 0 });
        table.update(3, 14, Range::Deltas(DeltaWidth::One));
        assert_eq!((table.get(3).bank_point, table.first_bank(3)), (3, 14));
        table.update(3, 3, Range::Whole);
        assert_eq!((table.get(3).bank_point, table.first_bank(3)), (3, 3));
        table.forget(3);
        assert_eq!(table.get(3), Indication { range: None, bank_point: 3 });
    }
}
