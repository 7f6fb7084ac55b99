//! The forward direction of a link: items change hands between windows, all of a window's at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

use super::crossing::Crossing;
use super::window::{End, Window};
use crate::time::Cycle;

/// Items with their cycles of arrival, written in one window and read in the next.
#[derive(Debug)]
pub(super) struct Mailbox<T> {
    full: [AtomicBool; 2],
    items: [Mutex<Vec<(Cycle, T)>>; 2],
    crossing: Option<Crossing>,
    pub(super) reader: OnceLock<End>,
}

impl<T> Mailbox<T> {
    pub fn new(capacity: usize, crossing: Option<Crossing>) -> Self {
        Mailbox {
            full: [AtomicBool::new(false), AtomicBool::new(false)],
            items: [(); 2].map(|()| Mutex::new(Vec::with_capacity(capacity))),
            crossing,
            reader: OnceLock::new(),
        }
    }

    /// Hands over what was staged in this window. Returns the reference cycle in which the first item arrives.
    pub fn put(&self, window: Window, staged: &mut Vec<(Cycle, T)>) -> Cycle {
        match &self.crossing {
            None => self.put_arrivals(window, staged),
            Some(crossing) => self.put_across(crossing, window, staged),
        }
    }

    /// Hands over what was staged with the cycles of arrivals. Returns the first.
    #[inline(always)]
    fn put_arrivals(&self, window: Window, staged: &mut Vec<(Cycle, T)>) -> Cycle {
        let first = staged.first().map_or(Cycle::NEVER, |(at, _)| *at);
        let side = window.writes();
        let mut items = self.items[side].lock().expect("no holder of a mailbox panics");
        debug_assert!(items.is_empty(), "a mailbox is read before it is written again");
        std::mem::swap(&mut *items, staged);
        self.full[side].store(true, Ordering::Release);
        if let Some(reader) = self.reader.get() {
            reader.ring(window);
        }
        first
    }

    /// Hands over what was staged with the sender's cycles on a link between clocks.
    #[inline(never)]
    fn put_across(&self, crossing: &Crossing, window: Window, staged: &mut Vec<(Cycle, T)>) -> Cycle {
        staged.iter_mut().for_each(|(at, _)| *at = crossing.arrival(*at));
        crossing.reference(self.put_arrivals(window, staged))
    }

    /// Whether anything was handed over in the previous window.
    #[inline(always)]
    pub fn is_full(&self, window: Window) -> bool {
        self.full[window.reads()].load(Ordering::Acquire)
    }

    /// Appends what was handed over in the previous window to `into`.
    pub fn take(&self, window: Window, into: &mut Vec<(Cycle, T)>) {
        let side = window.reads();
        let mut items = self.items[side].lock().expect("no holder of a mailbox panics");
        if into.is_empty() {
            std::mem::swap(into, &mut *items);
        } else {
            into.append(&mut items);
        }
        self.full[side].store(false, Ordering::Release);
    }
}
