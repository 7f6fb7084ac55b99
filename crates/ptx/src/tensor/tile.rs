//! Which bytes of global memory a copy moves, and where they are in shared memory.

use super::map::{Fill, MapError, TensorMap};

/// Most bytes of a piece.
pub const PIECE_BYTES: u32 = 16;

/// Neighbouring bytes in both memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// In global memory; nothing outside of a tensor.
    pub global: Option<u64>,
    /// In shared memory.
    pub shared: u32,
    /// 1 to 16.
    pub bytes: u32,
}

/// The pieces of a copy that knows no tensor, of `bytes` bytes.
pub fn linear(global: u64, shared: u32, bytes: u32) -> impl Iterator<Item = Piece> {
    (0..bytes).step_by(PIECE_BYTES as usize).map(move |at| Piece {
        global: Some(global.wrapping_add(at.into())),
        shared: shared.wrapping_add(at),
        bytes: PIECE_BYTES.min(bytes - at),
    })
}

/// Adds the pieces of the box that begins at these coordinates, by rows. In shared memory it begins at `shared`.
pub fn tile(map: &TensorMap, coordinates: [i32; 5], shared: u32, pieces: &mut Vec<Piece>) {
    let line = map.line_bytes();
    let counts: [u32; 5] = std::array::from_fn(|n| if n < map.rank as usize { map.count(n) } else { 1 });
    let rows: u32 = counts[1..].iter().product();
    for row in 0..rows {
        let mut left = row;
        let mut start = Some(map.base);
        for n in 1..map.rank as usize {
            let at = i64::from(coordinates[n]) + i64::from(left % counts[n] * map.steps[n]);
            left /= counts[n];
            let inside = (0..map.sizes[n] as i64).contains(&at);
            start = start.filter(|_| inside).map(|start| start.wrapping_add(at as u64 * map.strides[n]));
        }
        row_of(map, coordinates[0].into(), start, shared + row * line, pieces);
    }
}

/// Pieces of a row of a box: chunks of 16 bytes of shared memory, cut where the tensor begins and ends.
fn row_of(map: &TensorMap, first: i64, start: Option<u64>, shared: u32, pieces: &mut Vec<Piece>) {
    let size = map.element.bytes();
    let each = i64::from(PIECE_BYTES / size);
    let inner = i64::from(map.extent[0]);
    let end = map.sizes[0] as i64;
    for chunk in (0..inner).step_by(each as usize) {
        let stop = (chunk + each).min(inner);
        // Element numbers within the row where the tensor begins and ends.
        let cuts = [chunk, (-first).clamp(chunk, stop), (end - first).clamp(chunk, stop), stop];
        for cut in cuts.windows(2) {
            let (from, to) = (cut[0], cut[1]);
            if from >= to {
                continue;
            }
            let is_inside = (0..end).contains(&(first + from));
            let global = start.filter(|_| is_inside);
            pieces.push(Piece {
                global: global.map(|start| start.wrapping_add((first + from) as u64 * u64::from(size))),
                shared: map.swizzle.apply(shared + from as u32 * size),
                bytes: (to - from) as u32 * size,
            });
        }
    }
}

impl TensorMap {
    /// Checks where a box begins. A plain store begins in the tensor or beyond its far end: GPUs do not take one from before it.
    ///
    /// # Errors
    /// When its rows begin off the 16 bytes that a copy moves at a time, or a store before the tensor.
    pub fn check_start(&self, coordinates: [i32; 5], stores: bool) -> Result<(), MapError> {
        let at = i64::from(coordinates[0]) * i64::from(self.element.bytes());
        if at % i64::from(PIECE_BYTES) != 0 {
            let first = coordinates[0];
            return Err(MapError(format!(
                "the box begins at innermost coordinate {first}, byte {at} of a row, expected a multiple of {PIECE_BYTES} \
                 bytes"
            )));
        }
        match coordinates.iter().take(self.rank as usize).position(|at| *at < 0) {
            Some(n) if stores => Err(MapError(format!(
                "the box that is stored begins at {} in dimension {n}, expected 0 or more",
                coordinates[n]
            ))),
            _ => Ok(()),
        }
    }

    /// Bytes of an element outside of the tensor, from the low end.
    pub fn outside(&self) -> u64 {
        let bits = 8 * self.element.bytes();
        match self.fill {
            Fill::Zero => 0,
            // What a GPU puts there, whatever the type.
            Fill::Nan => 0x7ff7_7ff7_7ff7_7ff7 & u64::MAX >> (64 - bits),
        }
    }
}

/// Cuts pieces so that all have one length, a power of two that divides their addresses; returns it.
pub fn uniform(pieces: &mut Vec<Piece>) -> u32 {
    let bits = pieces.iter().fold(PIECE_BYTES, |bits, piece| {
        bits | piece.bytes | piece.shared | piece.global.map_or(0, |address| address as u32)
    });
    let width = 1 << bits.trailing_zeros();
    cut(pieces, width);
    width
}

/// Cuts each piece into pieces of `width` bytes, which divide it.
pub fn cut(pieces: &mut Vec<Piece>, width: u32) {
    let parts = |piece: &Piece| piece.bytes.div_ceil(width);
    let (mut from, mut to) = (pieces.len(), pieces.iter().map(parts).sum::<u32>() as usize);
    pieces.resize(to, Piece { global: None, shared: 0, bytes: 0 });
    // From the last on, so that none is overwritten before it is cut.
    while from > 0 {
        from -= 1;
        let piece = pieces[from];
        for at in (0..parts(&piece)).rev().map(|n| n * width) {
            to -= 1;
            let global = piece.global.map(|address| address.wrapping_add(at.into()));
            pieces[to] = Piece { global, shared: piece.shared + at, bytes: width };
        }
    }
}
