//! Where the elements of a sparse A stand in their rows (`mma.sp`).
//!
//! A row of A is cut into chunks: four elements, of which A has two; two of tf32, of which it has one; or eight of four bits, of
//! which it has two of the four pairs. Four bits of metadata say which: two numbers of two bits, the first in the low ones. They
//! are places of elements or of pairs; an element of tf32 counts as two of 16 bits (PTX ISA, "Sparse matrix storage").
//!
//! The ISA shows in figures which lane has the metadata of which chunks. What is here is the order in which CUTLASS reorders
//! metadata for these instructions (`tools/util/include/cutlass/util/host_reorder.h`).

use crate::isa::{Element, Mma};
use crate::lanes::Row;

/// The column of element `at` of those that A has of a row.
pub(super) fn column(mma: &Mma, metadata: &Row, row: usize, at: usize) -> usize {
    match mma.a {
        Element::Tf32 => 2 * at + usize::from(index(mma, metadata, row, 2 * at) >= 2),
        Element::S4 | Element::U4 => {
            8 * (at / 4) + 2 * usize::from(index(mma, metadata, row, at / 2)) + at % 2
        }
        _ => 4 * (at / 2) + usize::from(index(mma, metadata, row, at)),
    }
}

/// Number n, of two bits, of those for a row.
fn index(mma: &Mma, metadata: &Row, row: usize, n: usize) -> u8 {
    let selector = mma.sparse.map_or(0, |sparse| usize::from(sparse.selector));
    let (bits, bit) = (mma.metadata_bits(), 2 * n);
    let (group, lower) = (4 * (row % 8), row / 8);
    let (lane, shift) = match (bits, mma.a) {
        // A lane has 16 bits for its group's row and 16 for the row eight further.
        (16, _) => (selector, 16 * lower + bit),
        (_, Element::F16 | Element::Bf16 | Element::Tf32) => (2 * selector + bit / 16, 16 * lower + bit % 16),
        // A lane has 32 bits for one row.
        (32, _) => (2 * selector + lower, bit),
        _ => (2 * (bit / 32) + lower, bit % 32),
    };
    (metadata.0[group + lane] >> shift & 3) as u8
}
