//! The STT-MRAM banks and their arbiter: values lie compressed in as few banks as hold them.

use strata_engine::Cycle;
use strata_warp::Row;

use super::compression::{Range, compress, decompress};
use super::indicator_table::IndicatorTable;
use super::layout::{Layout, ROW_BYTES, RowId};
use super::statistics::{BankStatistics, CompressionStatistics};
use super::wear::Wear;
use super::wear_levelling::WearLevelling;

/// How long the banks and the compression unit take.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Cycles that the compression of a row takes.
    pub compression: u64,
    /// Cycles that a write occupies its banks, once the row is compressed.
    pub write: u64,
}

/// A write process under way: compression, then the banks.
#[derive(Clone, Copy, Debug)]
struct Write {
    row: RowId,
    value: Row,
    range: Range,
    first: u32,
    group: u32,
    /// Banks of the group that take part.
    banks: u64,
    /// The banks are occupied from this cycle on,
    from: Cycle,
    /// and until this one, in which they hold the value.
    until: Cycle,
    /// Whether the row's value was given up meanwhile.
    forgotten: bool,
}

/// Banks that hold compressed rows.
pub struct Banks {
    timing: Timing,
    bank_bytes: usize,
    banks_per_row: u32,
    levelling: WearLevelling,
    /// By row, the bytes of the banks of its group, bank after bank.
    cells: Vec<[u8; ROW_BYTES]>,
    table: IndicatorTable,
    /// In the order in which they began, which is that of their ends.
    writes: Vec<Write>,
    wear: Wear,
    statistics: BankStatistics,
    units: CompressionStatistics,
}

impl Banks {
    /// Empty banks.
    pub fn new(layout: &Layout, timing: Timing, levelling: WearLevelling) -> Banks {
        let banks_per_row = layout.banks_per_row();
        Banks {
            timing,
            bank_bytes: ROW_BYTES / banks_per_row as usize,
            banks_per_row,
            levelling,
            cells: bytemuck::zeroed_vec(layout.rows()),
            table: IndicatorTable::new(layout, |row| levelling.initial(layout.place(row).entry)),
            writes: Vec::new(),
            wear: Wear::new(layout),
            statistics: BankStatistics::default(),
            units: CompressionStatistics::default(),
        }
    }

    /// Gives up all values.
    pub fn clear(&mut self) {
        self.table.clear();
        self.writes.clear();
    }

    /// Gives up a row's value.
    pub fn forget(&mut self, row: RowId) {
        self.table.forget(row);
        self.writes.iter_mut().filter(|write| write.row == row).for_each(|write| write.forgotten = true);
    }

    /// Whether the banks hold a value of the row.
    #[inline]
    pub fn holds(&self, row: RowId) -> bool {
        self.table.get(row).range.is_some()
    }

    /// Begins to write a row, if its banks are free when it is compressed and no earlier write of it is under
    /// way. Returns whether it does.
    pub fn begin(&mut self, layout: &Layout, row: RowId, value: &Row, range: Range, now: Cycle) -> bool {
        let place = layout.place(row);
        let first = self.levelling.next(row, layout, &self.table);
        let count = range.banks(self.bank_bytes);
        let banks = self.mask(first, count);
        let from = now + self.timing.compression;
        let is_free = |write: &Write| {
            write.row != row
                && (write.group != place.group || write.banks & banks == 0 || write.until <= from)
        };
        if !self.writes.iter().all(is_free) {
            return false;
        }
        let until = from + self.timing.write;
        let (value, group) = (*value, place.group);
        self.writes.push(Write { row, value, range, first, group, banks, from, until, forgotten: false });
        self.wear.wrote(place, first, count);
        self.statistics.row_writes += 1;
        self.statistics.bits_written += self.bits(count);
        self.units.table_accesses += 1;
        self.units.count(range);
        true
    }

    /// Ends the writes that are due, and tells their rows.
    #[inline]
    pub fn settle(&mut self, now: Cycle, mut ended: impl FnMut(RowId)) {
        while let Some(write) = self.writes.first()
            && write.until <= now
        {
            let write = self.writes.remove(0);
            self.store(&write);
            ended(write.row);
        }
    }

    fn store(&mut self, write: &Write) {
        let bytes = compress(&write.value, write.range);
        let cells = &mut self.cells[write.row as usize];
        let (start, length) = (write.first as usize * self.bank_bytes, write.range.bytes());
        let (head, tail) = bytes[..length].split_at(length.min(ROW_BYTES - start));
        cells[start..start + head.len()].copy_from_slice(head);
        cells[..tail.len()].copy_from_slice(tail);
        self.table.update(write.row, write.first, write.range);
        if write.forgotten {
            self.table.forget(write.row);
        }
    }

    /// Whether the banks that hold a row are free to be read.
    #[inline]
    pub fn can_read(&self, layout: &Layout, row: RowId, now: Cycle) -> bool {
        if self.writes.is_empty() {
            return true;
        }
        let Some(range) = self.table.get(row).range else { return true };
        let banks = self.mask(self.table.first_bank(row), range.banks(self.bank_bytes));
        let group = layout.place(row).group;
        let is_free = |write: &Write| write.group != group || write.banks & banks == 0 || now < write.from;
        self.writes.iter().all(is_free)
    }

    /// Reads and decompresses a row; one that holds nothing is zero and activates no bank.
    pub fn read(&mut self, row: RowId) -> Row {
        self.units.table_accesses += 1;
        if let Some(range) = self.table.get(row).range {
            self.statistics.row_reads += 1;
            self.statistics.bits_read += self.bits(range.banks(self.bank_bytes));
            self.units.decompressions += u64::from(range != Range::Whole);
        }
        self.peek(row)
    }

    /// A row's value, without an access.
    pub fn peek(&self, row: RowId) -> Row {
        let Some(range) = self.table.get(row).range else { return Row::ZERO };
        let cells = &self.cells[row as usize];
        let start = self.table.first_bank(row) as usize * self.bank_bytes;
        let mut bytes = *cells;
        bytes.rotate_left(start);
        decompress(&bytes, range)
    }

    /// When the next write under way ends.
    pub fn next_event(&self) -> Cycle {
        self.writes.first().map_or(Cycle::NEVER, |write| write.until)
    }

    /// Counters of the banks and of their wear.
    pub fn statistics(&self) -> BankStatistics {
        BankStatistics {
            words: self.wear.words(),
            hottest_word_writes: self.wear.hottest_word(),
            hottest_bank_writes: self.wear.hottest_bank(),
            ..self.statistics
        }
    }

    /// Counters of the compression and decompression units.
    pub fn units(&self) -> CompressionStatistics {
        self.units
    }

    /// Writes by bank.
    pub fn wear(&self) -> &Wear {
        &self.wear
    }

    fn bits(&self, banks: u32) -> u64 {
        u64::from(banks) * self.bank_bytes as u64 * 8
    }

    /// The `count` banks of a group from `first` on.
    #[inline]
    fn mask(&self, first: u32, count: u32) -> u64 {
        let banks = self.banks_per_row;
        let all = u64::MAX >> (64 - banks);
        let run = if count == 0 { 0 } else { u64::MAX >> (64 - count) };
        (run << first | run >> (banks - first).min(63)) & all
    }

    /// The table, for planted bugs.
    #[cfg(test)]
    pub fn table(&mut self) -> &mut IndicatorTable {
        &mut self.table
    }
}
