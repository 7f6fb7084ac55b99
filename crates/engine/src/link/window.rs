//! Windows, and the bells that tell an island of one what reached it in the last.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
pub struct Doorbell(Arc<[AtomicBool; 2]>);

impl Doorbell {
    pub(super) fn ring(&self, window: Window) {
        self.0[window.writes()].store(true, Ordering::Release);
    }

    /// Whether the bell was rung in the previous window; resets it.
    pub fn answer(&self, window: Window) -> bool {
        let bell = &self.0[window.reads()];
        bell.load(Ordering::Acquire) && bell.swap(false, Ordering::AcqRel)
    }
}
