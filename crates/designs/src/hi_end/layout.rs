//! Where rows lie: which group of banks holds a row, and at which entry (II-B).

use strata_memory::WarpRows;
use strata_warp::{Reg, WARP_LANES};

/// Bits of a warp register.
pub const ROW_BITS: u32 = WARP_LANES as u32 * 32;
/// Bytes of a warp register.
pub const ROW_BYTES: usize = WARP_LANES * 4;

/// The number of a row.
pub type RowId = u32;

/// The place of a row in the banks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Index of the group of banks across which the row lies.
    pub group: u32,
    /// Index of the entry in each of the group's banks.
    pub entry: u32,
}

/// The arrangement of rows in groups of banks. With 64 banks of 64 bits, there are four groups of 16 banks.
#[derive(Clone, Debug)]
pub struct Layout {
    groups: u32,
    banks_per_row: u32,
    entries: u32,
    rows: WarpRows,
    /// By row.
    places: Vec<Place>,
}

impl Layout {
    /// The layout of `rows` rows in `banks` banks of `bank_bits` bits. A row lies across the fewest banks that
    /// hold it.
    pub fn new(banks: u32, bank_bits: u32, rows: usize) -> Layout {
        let banks_per_row = ROW_BITS / bank_bits;
        let groups = banks / banks_per_row;
        let place = |row: u32| Place { group: rotated(row, groups), entry: row / groups };
        Layout {
            groups,
            banks_per_row,
            entries: (rows as u32).div_ceil(groups),
            rows: WarpRows::even(0),
            places: (0..rows as u32).map(place).collect(),
        }
    }

    /// Sets the rows of each warp.
    pub fn prepare(&mut self, rows: &WarpRows) {
        self.rows.clone_from(rows);
    }

    /// The row of a warp's register.
    #[inline]
    pub fn row(&self, warp: u8, register: Reg) -> RowId {
        self.rows.first(warp) + u32::from(register.0)
    }

    /// The rows of a warp.
    pub fn rows_of(&self, warp: u8) -> std::ops::Range<RowId> {
        self.rows.rows(warp)
    }

    /// Where a row lies.
    #[inline]
    pub fn place(&self, row: RowId) -> Place {
        self.places[row as usize]
    }

    /// Number of groups.
    pub fn groups(&self) -> u32 {
        self.groups
    }

    /// Number of banks across which a row lies.
    pub fn banks_per_row(&self) -> u32 {
        self.banks_per_row
    }

    /// Number of banks.
    pub fn banks(&self) -> u32 {
        self.groups * self.banks_per_row
    }

    /// Number of rows for which each group has an entry.
    pub fn entries(&self) -> u32 {
        self.entries
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.places.len()
    }
}

/// Row or set `index` modulo `groups`, rotated by the index's higher digits in base `groups`: neighbours lie in
/// different groups, and so does one register of neighbouring warps, whatever number of registers a warp has.
#[inline]
pub fn rotated(index: u32, groups: u32) -> u32 {
    if groups == 1 {
        return 0;
    }
    let (mut rest, mut sum) = (index, 0);
    while rest != 0 {
        sum += rest % groups;
        rest /= groups;
    }
    sum % groups
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_papers_file_has_four_groups_of_sixteen_banks_and_256_entries() {
        let layout = Layout::new(64, 64, 1024);
        assert_eq!((layout.groups(), layout.banks_per_row(), layout.entries()), (4, 16, 256));
    }

    #[test]
    fn every_row_has_a_place_of_its_own() {
        for (banks, bank_bits, rows) in [(64, 64, 1024), (64, 64, 2048), (16, 1024, 1000), (3, 1024, 50)] {
            let layout = Layout::new(banks, bank_bits, rows);
            let places: HashSet<(u32, u32)> = (0..rows as u32)
                .map(|row| layout.place(row))
                .map(|place| (place.group, place.entry))
                .collect();
            assert_eq!(places.len(), rows);
            assert!(
                places.iter().all(|(group, entry)| *group < layout.groups() && *entry < layout.entries())
            );
        }
    }

    #[test]
    fn a_register_of_neighbouring_warps_lies_in_different_groups() {
        for rows_per_warp in [16, 20, 21, 24, 32] {
            let mut layout = Layout::new(64, 64, 1024);
            layout.prepare(&WarpRows::even(rows_per_warp));
            for register in 0..4 {
                let groups: HashSet<u32> =
                    (0..16).map(|warp| layout.place(layout.row(warp, Reg(register))).group).collect();
                assert!(groups.len() > 2, "{rows_per_warp} rows a warp, register {register}: {groups:?}");
            }
        }
    }
}
