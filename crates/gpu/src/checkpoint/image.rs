//! Device memory in a checkpoint: its buffers, and those of their bytes that are not zero.

use strata_ptx::reference::{Allocation, GlobalMemory};

/// Bytes of a piece.
pub const PIECE_BYTES: usize = 1 << 16;

/// Device memory: its buffers, and pieces of those that hold more than zeros.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// Address and size of each buffer, in the order of addresses.
    pub buffers: Vec<(u64, u64)>,
    /// Address and bytes of each piece, in the order of addresses. A piece lies in one buffer.
    pub pieces: Vec<(u64, Vec<u8>)>,
}

impl Image {
    /// The image of a memory.
    #[must_use]
    pub fn of(memory: &GlobalMemory) -> Image {
        let mut image = Image::default();
        for Allocation { base, bytes } in memory.allocations() {
            image.buffers.push((*base, bytes.len() as u64));
            let pieces = (*base..).step_by(PIECE_BYTES).zip(bytes.chunks(PIECE_BYTES));
            let pieces = pieces.filter(|(_, piece)| piece.iter().any(|byte| *byte != 0));
            image.pieces.extend(pieces.map(|(at, piece)| (at, piece.to_vec())));
        }
        image
    }

    /// The memory that it is of; `None` if buffers overlap or a piece lies in none.
    #[must_use]
    pub fn memory(&self) -> Option<GlobalMemory> {
        let mut memory = GlobalMemory::new();
        for (start, bytes) in &self.buffers {
            if !memory.insert(*start, vec![0; usize::try_from(*bytes).ok()?]) {
                return None;
            }
        }
        for (at, piece) in &self.pieces {
            memory.bytes_mut(*at, piece.len())?.copy_from_slice(piece);
        }
        Some(memory)
    }
}
