//! How often each bank, and each word of a bank, is written: the wear of its cells.

use strata_engine::statistics::{Definition, Group, Mark, array_group};

use super::layout::{Layout, Place};

/// Writes of every bank and word.
pub struct Wear {
    banks_per_row: u32,
    entries: u32,
    /// Writes by word: a bank's share of a row. A group's words of one entry lie together.
    words: Vec<u32>,
    /// Writes by bank.
    banks: Vec<u64>,
    /// Writes of each bank's most written word.
    hottest: Vec<u32>,
}

impl Wear {
    /// Unworn banks.
    pub fn new(layout: &Layout) -> Wear {
        let banks = layout.banks() as usize;
        Wear {
            banks_per_row: layout.banks_per_row(),
            entries: layout.entries(),
            words: vec![0; banks * layout.entries() as usize],
            banks: vec![0; banks],
            hottest: vec![0; banks],
        }
    }

    /// Counts a write of one entry in `count` neighbouring banks of a group, from bank `first` of the group on;
    /// the last bank's neighbour is the first.
    #[inline]
    pub fn wrote(&mut self, place: Place, first: u32, count: u32) {
        let group = (place.group * self.banks_per_row) as usize;
        let row = group * self.entries as usize + (place.entry * self.banks_per_row) as usize;
        let last = first + count;
        self.count(group, row, first as usize..last.min(self.banks_per_row) as usize);
        if last > self.banks_per_row {
            self.count(group, row, 0..(last - self.banks_per_row) as usize);
        }
    }

    #[inline]
    fn count(&mut self, group: usize, row: usize, banks: std::ops::Range<usize>) {
        let of = |base: usize| base + banks.start..base + banks.end;
        let words = &mut self.words[of(row)];
        let hottest = &mut self.hottest[of(group)];
        for (word, hottest) in words.iter_mut().zip(hottest) {
            *word += 1;
            *hottest = (*hottest).max(*word);
        }
        self.banks[of(group)].iter_mut().for_each(|bank| *bank += 1);
    }

    /// Writes of the most written bank.
    pub fn hottest_bank(&self) -> u64 {
        self.banks.iter().copied().max().unwrap_or(0)
    }

    /// Writes of the most written word.
    pub fn hottest_word(&self) -> u64 {
        self.hottest.iter().copied().max().map_or(0, u64::from)
    }

    /// Number of words.
    pub fn words(&self) -> u64 {
        self.words.len() as u64
    }

    /// Writes by bank.
    #[cfg(test)]
    pub fn banks(&self) -> &[u64] {
        &self.banks
    }

    /// The counts of all banks, group after group.
    pub fn report(&self) -> Group {
        const UNIT: &str = "writes";
        let bank = Definition { name: "bank", unit: UNIT, meaning: "Writes of the bank.", mark: Mark::Plain };
        let meaning = "Writes of the bank's most written word.";
        let word = Definition { name: "word", unit: UNIT, meaning, mark: Mark::Maximum };
        let hottest: Vec<u64> = self.hottest.iter().copied().map(u64::from).collect();
        array_group("register_wear", &[(bank, &self.banks), (word, &hottest)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_wears_the_banks_it_names_and_wraps_around_its_group() {
        let mut wear = Wear::new(&Layout::new(64, 64, 1024));
        wear.wrote(Place { group: 1, entry: 7 }, 14, 5);
        wear.wrote(Place { group: 1, entry: 7 }, 0, 1);
        wear.wrote(Place { group: 1, entry: 8 }, 0, 1);
        let written: Vec<(usize, u64)> =
            wear.banks.iter().copied().enumerate().filter(|(_, writes)| *writes > 0).collect();
        assert_eq!(written, [(16, 3), (17, 1), (18, 1), (30, 1), (31, 1)]);
        assert_eq!((wear.hottest_bank(), wear.hottest_word()), (3, 2));
    }
}
