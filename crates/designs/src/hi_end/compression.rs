//! The compression and the decompression unit (IV-B3, Fig. 10): base-delta compression of a warp register.

use strata_memory::base_delta::{self, DeltaWidth};
use strata_warp::Row;

use super::layout::ROW_BYTES;

/// How the banks hold a row: the compression range of IV-B4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    /// As a base and deltas.
    Deltas(DeltaWidth),
    /// As it is.
    Whole,
}

impl Range {
    /// How a row is held that is compressed as far as it goes.
    #[inline]
    pub fn of(row: &Row) -> Range {
        base_delta::narrowest(&row.0).map_or(Range::Whole, Range::Deltas)
    }

    /// Bytes that the row takes.
    #[inline]
    pub const fn bytes(self) -> usize {
        match self {
            Range::Deltas(width) => width.block_bytes(ROW_BYTES / 4),
            Range::Whole => ROW_BYTES,
        }
    }

    /// Banks that the row takes, of `bank_bytes` bytes each.
    #[inline]
    pub const fn banks(self, bank_bytes: usize) -> u32 {
        self.bytes().div_ceil(bank_bytes) as u32
    }
}

/// The bytes of a row as the banks take them; those behind [`Range::bytes`] mean nothing.
pub type Stored = [u8; ROW_BYTES];

/// Compresses a row into the range.
pub fn compress(row: &Row, range: Range) -> Stored {
    let mut bytes = [0; ROW_BYTES];
    match range {
        Range::Deltas(width) => {
            base_delta::compress(&row.0, width, &mut bytes);
        }
        Range::Whole => bytes.copy_from_slice(bytemuck::bytes_of(&row.0)),
    }
    bytes
}

/// Restores the row that [`compress`] took.
pub fn decompress(bytes: &Stored, range: Range) -> Row {
    let mut row = Row::ZERO;
    match range {
        Range::Deltas(width) => base_delta::decompress(bytes, width, &mut row.0),
        Range::Whole => bytemuck::bytes_of_mut(&mut row.0).copy_from_slice(bytes),
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_banks_of_eight_bytes_hold_the_four_forms() {
        let widths = DeltaWidth::ALL.map(|width| Range::Deltas(width).banks(8));
        assert_eq!(widths, [1, 5, 9]);
        assert_eq!(Range::Whole.banks(8), 16);
    }

    #[test]
    fn every_form_comes_back() {
        for row in [
            Row::splat(0xdead_beef),
            Row(std::array::from_fn(|lane| 1000 + 3 * lane as u32)),
            Row(std::array::from_fn(|lane| 0x8000_0000 - 900 * lane as u32)),
            Row(std::array::from_fn(|lane| 0x9e37_79b9u32.wrapping_mul(lane as u32 + 1))),
        ] {
            assert_eq!(decompress(&compress(&row, Range::of(&row)), Range::of(&row)), row);
            assert_eq!(decompress(&compress(&row, Range::Whole), Range::Whole), row);
        }
    }
}
