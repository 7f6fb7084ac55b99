//! A window of device addresses that no memory stands behind: the tables of the controllers in front of LLC slices.
//!
//! SMs that lend their storage to the last-level cache run a kernel whose warps take requests from a controller and answer
//! them by ordinary loads and stores (Morpheus, MICRO 2022, 4.1.3: the warp status table is memory-mapped). A warp has a row
//! of [`ROW_LINES`] lines; rows are dealt out to the slices in turn. The lines begin at [`WINDOW`], both in device memory and
//! in each slice, far above any memory. Accesses are strong and go past every cache.
//!
//! | line | written by the controller | written by the kernel |
//! |---|---|---|
//! | 0 | in every word the [status]: operation and block | in word 0 the [result](result::Told), which is not a status |
//! | 1 | bytes of a write or insertion; an atomic's operands, word by word | the block that was read, or was there before an atomic |
//! | 2 | of a write, ones in the bytes that change; second operands of a compare-and-swap | |
//! | 3 | of an atomic, in every word its [kind](atomic_kind), and bit 31 where the word of the block takes part | the block that was read, and with it the result that it was there |
//!
//! The controller answers the load of line 0 once the row has a request, and that of line 1 once it has one with a payload. The
//! kernel stores a victim's bytes first, then line 1, then the result, which ends the request; or line 3, which is both.

use crate::address::LineAddress;
use crate::atomic::{AtomicOp, AtomicType};

/// First line of the window: device address 2^47.
pub const WINDOW: LineAddress = LineAddress(1 << 40);

/// Lines of a row.
pub const ROW_LINES: u64 = 4;

/// Words of a line.
pub const WORDS: usize = 32;

/// Operations, bits 27 to 31 of a status. In their order a kernel tells them apart by one comparison each, the read first: it
/// alone has bit 31.
pub mod operation {
    /// Line 1 is a block, which is not there as a rule. Memory has the same bytes.
    pub const INSERT: u32 = 1;
    /// Line 1 is a block that is newer than memory.
    pub const INSERT_DIRTY: u32 = 2;
    /// Bytes of line 1 into the block.
    pub const WRITE: u32 = 3;
    /// A read-modify-write of words.
    pub const ATOMIC: u32 = 4;
    /// Dirty blocks to memory; they stay.
    pub const FLUSH: u32 = 5;
    /// The warp ends; what it holds is lost.
    pub const STOP: u32 = 6;
    /// The block into line 1.
    pub const READ: u32 = 16;
}

/// Bits of a block's number: device address / 128.
pub const BLOCK_BITS: u32 = 27;

/// The status of a row: an operation on a block.
#[inline]
pub fn status(operation: u32, block: u32) -> u32 {
    operation << BLOCK_BITS | block
}

/// Operation and block of a status.
#[inline]
pub fn asked(status: u32) -> (u32, u32) {
    (status >> BLOCK_BITS, status & ((1 << BLOCK_BITS) - 1))
}

/// Results, word 0 of a row's first line.
pub mod result {
    /// Done; the block was there. Sets in an L1D, which does not tell, always say this.
    pub const HIT: u32 = 1;
    /// Not done: an atomic that the kernel does not have.
    pub const REFUSED: u32 = 2;
    /// Done; the block was not there and is now. The kernel loaded it, unless it was an insertion.
    pub const MISSED: u32 = 3;
    /// Not done: the block is not there, and the controller is to fetch it.
    pub const ABSENT: u32 = 4;

    /// Word 0 in full: below 2^27, which tells it from a status.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Told {
        /// One of the results, bits 0 to 7.
        pub result: u32,
        /// Bits 8 to 15, for a compressed set: at most how many different blocks were used since a block of the set last
        /// was. 0 for any other set.
        pub depth: u32,
        /// Bytes in which a compressed set put the block, bits 16 to 18 times 32; 0 if it put none.
        pub bytes: u32,
    }

    /// What a result word says.
    pub fn told(word: u32) -> Told {
        Told { result: word & 0xff, depth: word >> 8 & 0xff, bytes: (word >> 16 & 7) * 32 }
    }
}

/// Most blocks of a compressed set.
pub const MOST_COMPRESSED: u32 = 127;

/// Word of the result in a row's first line.
pub const RESULT_WORD: usize = 0;

/// Whether a line belongs to the window.
#[inline]
pub fn holds(line: LineAddress) -> bool {
    line >= WINDOW
}

/// Row of a line of the window, and which of the row's lines it is.
#[inline]
pub fn row_of(line: LineAddress) -> (u64, u64) {
    let line = line.0 - WINDOW.0;
    (line / ROW_LINES, line % ROW_LINES)
}

/// Line `within` of a row.
#[inline]
pub fn line_of(row: u64, within: u64) -> LineAddress {
    LineAddress(WINDOW.0 + row * ROW_LINES + within)
}

/// Number of the rows below `rows` that slice `slice` of `slices` has.
pub fn rows_of_slice(rows: u32, slice: u16, slices: u16) -> u32 {
    rows.saturating_sub(u32::from(slice)).div_ceil(u32::from(slices))
}

/// The number of an atomic in line 3; `None` for one that kernels do not have: those of 64-bit floating point, and those of
/// single 16-bit values, of which two would share a word.
pub fn atomic_kind(op: AtomicOp, ty: AtomicType) -> Option<u32> {
    use AtomicOp::{Add, And, Cas, Dec, Exch, Inc, Max, Min, Or, Xor};
    use AtomicType::{Bf16x2, F16x2, F32, S32, S64, U32, U64};
    let kind = match (op, ty) {
        (Add, U32 | S32) => 0,
        (Min, U32) => 1,
        (Max, U32) => 2,
        (Min, S32) => 3,
        (Max, S32) => 4,
        (Inc, U32) => 5,
        (Dec, U32) => 6,
        (And, U32 | S32 | U64 | S64) => 7,
        (Or, U32 | S32 | U64 | S64) => 8,
        (Xor, U32 | S32 | U64 | S64) => 9,
        (Exch, U32 | S32 | F32 | U64 | S64) => 10,
        (Cas, U32 | S32) => 11,
        (Add, F32) => 12,
        (Add, F16x2) => 13,
        (Add, Bf16x2) => 14,
        (Add, U64 | S64) => 15,
        (Min, U64) => 16,
        (Max, U64) => 17,
        (Min, S64) => 18,
        (Max, S64) => 19,
        (Cas, U64 | S64) => 20,
        _ => return None,
    };
    Some(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_dealt_out_in_turn() {
        for (rows, slices) in [(0, 4), (3, 4), (96, 12), (97, 12), (2448, 40)] {
            let counts: Vec<u32> = (0..slices).map(|slice| rows_of_slice(rows, slice, slices)).collect();
            assert_eq!(counts.iter().sum::<u32>(), rows);
            let dealt = |slice| (0..rows).filter(|row| row % u32::from(slices) == slice).count() as u32;
            assert!(counts.iter().enumerate().all(|(slice, count)| *count == dealt(slice as u32)));
        }
    }
}
