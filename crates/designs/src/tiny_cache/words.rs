//! The lanes of an event, the half-words of an access, and the bytes of a lane's words.

use strata_memory::doors::{LaneEvent, LaneRequest};
use strata_warp::LaneMask;

/// The lanes whose lines an event evicts.
pub fn lanes(event: LaneEvent) -> LaneMask {
    match event {
        LaneEvent::Barrier { .. } | LaneEvent::CtaEnd { .. } => LaneMask::MAX,
        LaneEvent::Fence { lanes } => lanes,
    }
}

/// The half-words that `width` bytes at an offset touch.
#[inline]
pub fn halves(width: usize, offset: usize) -> u64 {
    ((1 << width.div_ceil(2)) - 1) << (offset / 2)
}

/// Puts bytes of a lane into a request's words, from the lane's byte `at` on.
#[inline]
pub fn put(request: &mut LaneRequest, lane: usize, at: usize, bytes: &[u8]) {
    let (words, rest) = if at.is_multiple_of(4) { bytes.as_chunks() } else { (&[][..], bytes) };
    for (n, word) in words.iter().enumerate() {
        request.words[at / 4 + n].0[lane] = u32::from_le_bytes(*word);
    }
    for (n, byte) in (at + 4 * words.len()..).zip(rest) {
        let word = &mut request.words[n / 4].0[lane];
        let shift = 8 * (n % 4);
        *word = *word & !(0xff << shift) | u32::from(*byte) << shift;
    }
}
