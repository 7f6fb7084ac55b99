//! Windows, and the bells that tell an island of one what reached it in the last.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// A window's number. Its parity selects which of two mailboxes the window writes; the next window reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window(pub u64);

impl Window {
    #[inline]
    pub(super) const fn writes(self) -> usize {
        (self.0 & 1) as usize
    }

    #[inline]
    pub(super) const fn reads(self) -> usize {
        (self.0 & 1) as usize ^ 1
    }
}

/// Tells an island that one of its mailboxes was filled. An island with a silent bell and nothing to do can
/// be skipped. A bell rung in one window is heard in the next.
#[derive(Clone, Debug, Default)]
pub struct Doorbell(Arc<Bell>);

#[derive(Debug, Default)]
struct Bell {
    /// By parity of the window, the ends of links that have rung, each with a bit of a word ([`End`]).
    rung: [[AtomicU64; WORDS]; 2],
    /// Ends on which it hangs.
    ends: AtomicU32,
    island: usize,
    /// The islands at the other ends of the links that the bell hangs on.
    neighbours: Mutex<Vec<usize>>,
}

impl Doorbell {
    /// The bell of an island, by its number.
    pub(crate) fn of(island: usize) -> Doorbell {
        Doorbell(Arc::new(Bell { island, ..Bell::default() }))
    }

    /// Takes note of a link between the islands of two bells.
    pub(super) fn meet(&self, other: &Doorbell) {
        for (bell, island) in [(self, other.0.island), (other, self.0.island)] {
            let mut known = bell.0.neighbours.lock().expect("no holder of a bell panics");
            if island != bell.0.island && !known.contains(&island) {
                known.push(island);
            }
        }
    }

    /// The islands that its island has links with.
    pub(crate) fn neighbours(&self) -> Vec<usize> {
        self.0.neighbours.lock().expect("no holder of a bell panics").clone()
    }

    /// Hangs it on one more end of a link.
    pub(super) fn hang(&self) -> End {
        let number = self.0.ends.fetch_add(1, Ordering::Relaxed);
        let place = (number + u32::from(number >= MORE)).min(LAST);
        End { bell: self.clone(), word: (place / u64::BITS) as usize, bit: 1 << (place % u64::BITS) }
    }

    /// Whether no end rang in the previous window.
    #[inline]
    pub fn is_silent(&self, window: Window) -> bool {
        self.0.rung[window.reads()][0].load(Ordering::Acquire) == 0
    }

    /// The ends that rang in the previous window; resets it.
    #[inline]
    pub fn answer(&self, window: Window) -> Rung {
        let [first, more @ ..] = &self.0.rung[window.reads()];
        let mut rung = Rung([0; WORDS]);
        if first.load(Ordering::Acquire) != 0 {
            rung.0[0] = first.swap(0, Ordering::AcqRel);
            if rung.0[0] >> MORE == 1 {
                let words = rung.0[1..].iter_mut().zip(more);
                words.for_each(|(rung, bell)| *rung = bell.swap(0, Ordering::AcqRel));
            }
        }
        rung
    }
}

/// Words of bits, one for each end of a link: more than a network of 84 SMs and 64 slices needs.
const WORDS: usize = 4;

/// The bit of the first word which says that there are any in the others, so that who hears nothing looks at one word.
const MORE: u32 = u64::BITS - 1;

/// The bit that the last of many ends share.
const LAST: u32 = WORDS as u32 * u64::BITS - 1;

/// A bell as it hangs on an end of a link.
#[derive(Debug)]
pub(super) struct End {
    pub bell: Doorbell,
    word: usize,
    bit: u64,
}

impl End {
    pub fn ring(&self, window: Window) {
        let rung = &self.bell.0.rung[window.writes()];
        rung[self.word].fetch_or(self.bit, Ordering::Release);
        if self.word > 0 {
            rung[0].fetch_or(1 << MORE, Ordering::Release);
        }
    }
}

/// The ends of links that have rung a bell, by the order in which it was hung on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rung([u64; WORDS]);

impl Rung {
    /// Whether there is none.
    #[inline]
    pub fn is_silent(self) -> bool {
        self.0[0] == 0
    }

    /// Those of `count` ends that have rung. Of many ends, the last are all there if one of them has.
    #[inline]
    pub fn ends(self, count: usize) -> impl Iterator<Item = usize> {
        let Rung(words) = self;
        let rung = if words[0] >> MORE == 1 { WORDS } else { 1 };
        // The end of the last bit, and those that share it.
        let last = LAST as usize - 1;
        let shared = if words[WORDS - 1] >> (LAST % u64::BITS) == 1 { last + 1..count } else { 0..0 };
        let (mut word, mut bits) = (0, words[0] & !(1 << MORE));
        let next = move || {
            while bits == 0 {
                if word + 1 == rung {
                    return None;
                }
                word += 1;
                bits = words[word];
            }
            let place = 64 * word + bits.trailing_zeros() as usize;
            bits &= bits - 1;
            Some(place - usize::from(word > 0))
        };
        std::iter::from_fn(next).chain(shared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bell_tells_which_ends_have_rung() {
        let bell = Doorbell::default();
        let ends: Vec<End> = (0..258).map(|_| bell.hang()).collect();
        assert!(bell.answer(Window(1)).is_silent());
        [3, 0, 40, 63, 62, 200].iter().for_each(|end| ends[*end].ring(Window(1)));
        assert!(bell.answer(Window(1)).is_silent(), "a window hears what rang in the one before");
        let rung = bell.answer(Window(2));
        assert_eq!(rung.ends(258).collect::<Vec<_>>(), [0, 3, 40, 62, 63, 200]);
        assert!(bell.answer(Window(2)).is_silent(), "it is heard once");
        [256, 5].iter().for_each(|end| ends[*end].ring(Window(2)));
        let rung: Vec<usize> = bell.answer(Window(3)).ends(258).collect();
        assert_eq!(rung, [5, 254, 255, 256, 257], "the last share a bit");
    }
}
