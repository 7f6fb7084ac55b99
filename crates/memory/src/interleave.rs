//! Hashes of addresses that spread chunks over slices, so that no stride meets one slice alone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::address::LINE_BYTES;
use crate::ipoly;
use crate::parameters::ParameterError;

/// How the slice of a chunk depends on higher bits of the address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum InterleaveHash {
    /// Chunks go round over the slices.
    None,
    /// Each bit of the slice's number is XORed with bits of the address above those that select a slice.
    Xor {
        /// For each bit of the number, lowest first, the bits of the address.
        bits: Vec<Vec<u32>>,
    },
    /// The remainder of a division of polynomials (Rau, ISCA 1991). Of a number of slices that is no power of two, the bits of its
    /// largest factor that is one are hashed: of 80 slices, 16 that stand side by side change places.
    Ipoly,
}

/// Most bits of a hashed slice number.
const MAX_BITS: usize = 8;

/// A hash for a number of slices: for each bit of the slice's number, those of a chunk's quotient that are XORed into it. The
/// quotient is the chunk's number over the number of slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SliceHash {
    bits: u32,
    masks: [u64; MAX_BITS],
}

impl SliceHash {
    /// Makes the hash of chunks of `chunk_lines` lines (a power of two) over some slices; `None` if there is none.
    pub fn new(
        hash: &InterleaveHash,
        slices: u16,
        chunk_lines: u64,
    ) -> Result<Option<SliceHash>, ParameterError> {
        if *hash == InterleaveHash::None {
            return Ok(None);
        }
        let bits = slices.trailing_zeros();
        let refuse = |message: String| Err(ParameterError::new("interleave_hash", message));
        if !slices.is_multiple_of(2) || bits as usize > MAX_BITS {
            let most = 1 << MAX_BITS;
            return refuse(format!(
                "found {slices} slices, expected an even number whose largest power of two is at most {most}"
            ));
        }
        let mut masks = [0; MAX_BITS];
        // The lowest bit of the quotient in an address.
        let lowest = (LINE_BYTES as u64 * chunk_lines).trailing_zeros() + bits;
        match hash {
            InterleaveHash::None => {}
            InterleaveHash::Ipoly => {
                for bit in 0..u64::BITS - lowest {
                    let remainder = ipoly::remainder(1 << (bit + bits), bits);
                    crate::bits::members(remainder).for_each(|of| masks[of] |= 1 << bit);
                }
            }
            InterleaveHash::Xor { bits: lists } => {
                if lists.len() != bits as usize {
                    return refuse(format!(
                        "found {} lists of bits, expected {bits}, one for each bit of {slices} slices",
                        lists.len()
                    ));
                }
                for (mask, list) in masks.iter_mut().zip(lists) {
                    for bit in list {
                        if !(lowest..u64::BITS).contains(bit) {
                            return refuse(format!("found bit {bit}, expected {lowest} to 63"));
                        }
                        if *mask >> (bit - lowest) & 1 != 0 {
                            return refuse(format!(
                                "found bit {bit} twice for a bit of the slice, expected once"
                            ));
                        }
                        *mask |= 1 << (bit - lowest);
                    }
                }
            }
        }
        Ok(Some(SliceHash { bits, masks }))
    }

    /// What is XORed into the number of the slice. Out of line, so that maps without a hash stay small.
    #[inline(never)]
    pub fn of(&self, quotient: u64) -> u64 {
        let parity = |mask: &u64| u64::from((quotient & mask).count_ones() & 1);
        self.masks.iter().take(self.bits as usize).rev().fold(0, |hash, mask| hash << 1 | parity(mask))
    }
}
