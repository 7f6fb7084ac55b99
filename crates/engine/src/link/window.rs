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
    /// By parity of the window, the ends of links that have rung: [`End::bit`].
    rung: [AtomicU64; 2],
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
        End { bell: self.clone(), bit: 1 << number.min(LAST) }
    }

    /// Whether no end rang in the previous window.
    #[inline]
    pub fn is_silent(&self, window: Window) -> bool {
        self.0.rung[window.reads()].load(Ordering::Acquire) == 0
    }

    /// The ends that rang in the previous window; resets it.
    #[inline]
    pub fn answer(&self, window: Window) -> Rung {
        let bell = &self.0.rung[window.reads()];
        let rung = bell.load(Ordering::Acquire);
        Rung(if rung == 0 { 0 } else { bell.swap(0, Ordering::AcqRel) })
    }
}

/// The bit that the last of many ends share.
const LAST: u32 = u64::BITS - 1;

/// A bell as it hangs on an end of a link.
#[derive(Debug)]
pub(super) struct End {
    pub bell: Doorbell,
    bit: u64,
}

impl End {
    pub fn ring(&self, window: Window) {
        self.bell.0.rung[window.writes()].fetch_or(self.bit, Ordering::Release);
    }
}

/// The ends of links that have rung a bell, by the order in which it was hung on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rung(u64);

impl Rung {
    /// Whether there is none.
    #[inline]
    pub fn is_silent(self) -> bool {
        self.0 == 0
    }

    /// Those of `count` ends that have rung. Of many ends, the last are all there if one of them has.
    #[inline]
    pub fn ends(self, count: usize) -> impl Iterator<Item = usize> {
        let last = LAST as usize;
        let many = if self.0 >> LAST == 1 { last..count } else { 0..0 };
        let mut few = self.0 & !(1 << LAST);
        let next = move || {
            let lowest = few.trailing_zeros() as usize;
            (few != 0).then(|| {
                few &= few - 1;
                lowest
            })
        };
        std::iter::from_fn(next).chain(many)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bell_tells_which_ends_have_rung() {
        let bell = Doorbell::default();
        let ends: Vec<End> = (0..70).map(|_| bell.hang()).collect();
        assert!(bell.answer(Window(1)).is_silent());
        [3, 0, 40].iter().for_each(|end| ends[*end].ring(Window(1)));
        assert!(bell.answer(Window(1)).is_silent(), "a window hears what rang in the one before");
        let rung = bell.answer(Window(2));
        assert_eq!(rung.ends(70).collect::<Vec<_>>(), [0, 3, 40]);
        assert!(bell.answer(Window(2)).is_silent(), "it is heard once");
        [66, 5].iter().for_each(|end| ends[*end].ring(Window(2)));
        let rung: Vec<usize> = bell.answer(Window(3)).ends(70).collect();
        assert_eq!(rung, [5, 63, 64, 65, 66, 67, 68, 69], "the last share a bit");
    }
}
