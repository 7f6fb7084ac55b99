//! Windows, and the bells that tell an island of one what reached it in the last.

use std::sync::atomic::{AtomicBool, Ordering};
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
    rung: [AtomicBool; 2],
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

    pub(super) fn ring(&self, window: Window) {
        self.0.rung[window.writes()].store(true, Ordering::Release);
    }

    /// Whether the bell was rung in the previous window; resets it.
    pub fn answer(&self, window: Window) -> bool {
        let bell = &self.0.rung[window.reads()];
        bell.load(Ordering::Acquire) && bell.swap(false, Ordering::AcqRel)
    }
}
