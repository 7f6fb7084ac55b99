//! The accesses of a word a lane that make up an instruction.

use strata_memory::doors::{ScratchpadAction, ScratchpadRequest};
use strata_warp::{LaneMask, WARP_LANES, lanes_of};

use crate::stash::port::Access;

/// Indices that an address can name, and one for none (Stash 3.2: four bits).
const NAMES: usize = 16;
/// Bits of a token that say which word of each lane a piece has.
const WORD_BITS: u32 = 3;

/// One word of the lanes that name one mapping.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Which word of each lane's.
    pub word: usize,
    /// The access, without a token.
    pub access: Access,
}

/// The numbers that the pieces of a request may have.
pub fn numbers(request: &ScratchpadRequest) -> std::ops::Range<usize> {
    0..usize::from(request.width).div_ceil(4) * NAMES
}

/// The piece of a number, if there is one: those of the first word of each lane come first. Bytes without a mapping
/// move in the banks: their pieces only make room.
pub fn piece(request: &ScratchpadRequest, number: usize) -> Option<Piece> {
    let (word, name) = (number / NAMES, (number % NAMES) as u8);
    let lanes = lanes_of(request.lanes).filter(|lane| request.maps[*lane] == name);
    let lanes: LaneMask = lanes.fold(0, |mask, lane| mask | 1 << lane);
    if lanes == 0 {
        return None;
    }
    let mut addresses = [0; WARP_LANES];
    for lane in lanes_of(lanes) {
        addresses[lane] = (request.addresses[lane] & !3) + 4 * word as u32;
    }
    let map = name.checked_sub(1);
    let is_store = map.is_some() && request.action == ScratchpadAction::Store;
    let (cta, words) = (request.cta, request.words[word].0);
    Some(Piece { word, access: Access { token: 0, cta, map, is_store, lanes, addresses, words } })
}

/// The token of a piece.
pub fn token(slot: u32, word: usize) -> u32 {
    slot << WORD_BITS | word as u32
}

/// The request and the word of a token.
pub fn word_of(token: u32) -> (u32, usize) {
    (token >> WORD_BITS, (token & ((1 << WORD_BITS) - 1)) as usize)
}
