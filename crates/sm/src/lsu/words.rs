//! Moves lanes' bytes between cache lines and register words.
//!
//! A lane reads or writes 1, 2, 4, 8, 16 or 32 bytes. In between they are held as an [`Image`], whose word n has
//! bytes 4n to 4n + 3 of every lane. For elements of at least 4 bytes these words are the register rows; smaller
//! elements are packed on the way out and extended on the way in.

use strata_memory::{LINE_BYTES, Line};
use strata_ptx::exec::memory::{self, Image};
use strata_ptx::isa::Ty;
use strata_ptx::lanes::{LaneMask, Row, WARP_LANES, lanes_of};

use super::coalesce::Shape;

/// Expands the words of a load into its destination rows, in place.
#[inline]
pub fn extend(ty: Ty, vector: u8, image: &mut Image) {
    let bytes = ty.bytes();
    if bytes >= 4 {
        return;
    }
    let packed = [image.words[0], image.words[1]];
    for element in 0..usize::from(vector) {
        let (word, shift) = (element * bytes / 4, 8 * (element * bytes % 4));
        image.words[element] = Row(packed[word].0.map(|value| memory::extend(ty, value >> shift)));
    }
}

/// The part of an instruction that one access carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Lanes whose bytes the access carries.
    pub lanes: LaneMask,
    /// Index of the first word of each lane.
    pub first: u8,
    /// Number of bytes per lane.
    pub width: u8,
    /// Address pattern across the instruction's lanes.
    pub shape: Shape,
}

/// Byte offset of an address within its line.
#[inline(always)]
fn offset(address: u64) -> usize {
    address as usize % LINE_BYTES
}

#[inline(always)]
fn word(line: &Line, at: usize) -> u32 {
    u32::from_le_bytes(*line.0[at..].first_chunk().expect("an aligned word lies in one line"))
}

#[inline(always)]
fn put_word(line: &mut Line, at: usize, word: u32) {
    *line.0[at..].first_chunk_mut().expect("an aligned word lies in one line") = word.to_le_bytes();
}

/// Copies a piece's bytes from its line into the lanes' words.
#[inline(always)]
pub fn scatter(line: &Line, addresses: &[u64; WARP_LANES], piece: Piece, words: &mut [Row; 8]) {
    let first = usize::from(piece.first);
    if piece.shape == Shape::Consecutive && piece.width == 4 {
        if piece.lanes == LaneMask::MAX {
            // The whole line, which is the most common access of all.
            words[first] = Row(std::array::from_fn(|lane| word(line, 4 * lane)));
            return;
        }
        let lane = piece.lanes.trailing_zeros() as usize;
        let count = piece.lanes.count_ones() as usize;
        let start = offset(addresses[lane]);
        let bytes = line.0[start..start + 4 * count].chunks_exact(4);
        for (to, from) in words[first].0[lane..lane + count].iter_mut().zip(bytes) {
            *to = u32::from_le_bytes([from[0], from[1], from[2], from[3]]);
        }
        return;
    }
    if piece.shape == Shape::Uniform {
        let at = offset(addresses[0]);
        if piece.width < 4 {
            let mut bytes = [0; 4];
            let width = usize::from(piece.width);
            bytes[..width].copy_from_slice(&line.0[at..at + width]);
            words[first] = Row::splat(u32::from_le_bytes(bytes));
        }
        for n in 0..usize::from(piece.width) / 4 {
            words[first + n] = Row::splat(word(line, at + 4 * n));
        }
        return;
    }
    match piece.width {
        1 => {
            for lane in lanes_of(piece.lanes) {
                words[first].0[lane] = u32::from(line.0[offset(addresses[lane])]);
            }
        }
        2 => {
            for lane in lanes_of(piece.lanes) {
                let at = offset(addresses[lane]);
                words[first].0[lane] = u32::from(u16::from_le_bytes([line.0[at], line.0[at + 1]]));
            }
        }
        4 => {
            let row = &mut words[first];
            for lane in lanes_of(piece.lanes) {
                row.0[lane] = word(line, offset(addresses[lane]));
            }
        }
        width => {
            for lane in lanes_of(piece.lanes) {
                let at = offset(addresses[lane]);
                for n in 0..usize::from(width) / 4 {
                    words[first + n].0[lane] = word(line, at + 4 * n);
                }
            }
        }
    }
}

/// Copies the lanes' words of a piece into its line. Where lanes overlap, the highest lane wins.
#[inline]
pub fn gather(line: &mut Line, addresses: &[u64; WARP_LANES], piece: Piece, words: &[Row; 8]) {
    let first = usize::from(piece.first);
    if piece.shape == Shape::Consecutive && piece.width == 4 {
        if piece.lanes == LaneMask::MAX {
            for (to, from) in line.0.as_chunks_mut().0.iter_mut().zip(words[first].0) {
                *to = from.to_le_bytes();
            }
            return;
        }
        let lane = piece.lanes.trailing_zeros() as usize;
        let count = piece.lanes.count_ones() as usize;
        let start = offset(addresses[lane]);
        let bytes = line.0[start..start + 4 * count].chunks_exact_mut(4);
        for (from, to) in words[first].0[lane..lane + count].iter().zip(bytes) {
            to.copy_from_slice(&from.to_le_bytes());
        }
        return;
    }
    match usize::from(piece.width) {
        width @ 1..4 => {
            for lane in lanes_of(piece.lanes) {
                let at = offset(addresses[lane]);
                line.0[at..at + width].copy_from_slice(&words[first].0[lane].to_le_bytes()[..width]);
            }
        }
        4 => {
            let row = &words[first];
            for lane in lanes_of(piece.lanes) {
                put_word(line, offset(addresses[lane]), row.0[lane]);
            }
        }
        width => {
            for lane in lanes_of(piece.lanes) {
                let at = offset(addresses[lane]);
                for n in 0..width / 4 {
                    put_word(line, at + 4 * n, words[first + n].0[lane]);
                }
            }
        }
    }
}
