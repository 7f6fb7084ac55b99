//! Links between islands, with a latency of at least one cycle and credit-based flow control.
//!
//! An item sent at cycle t arrives at t + latency; a credit returned at t is usable at t + latency. A window
//! is never longer than the smallest latency, so nothing crosses within one: each end works on its own queue,
//! and the queues are exchanged between windows.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use crate::time::Cycle;

/// A window's number. Its parity selects which of two mailboxes the window writes; the next window reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window(pub u64);

impl Window {
    #[inline]
    const fn writes(self) -> usize {
        (self.0 & 1) as usize
    }

    #[inline]
    const fn reads(self) -> usize {
        (self.0 & 1) as usize ^ 1
    }
}

/// Tells an island that one of its mailboxes was filled. An island with a silent bell and nothing to do can
/// be skipped. A bell rung in one window is heard in the next.
#[derive(Clone, Debug, Default)]
pub struct Doorbell(Arc<[AtomicBool; 2]>);

impl Doorbell {
    fn ring(&self, window: Window) {
        self.0[window.writes()].store(true, Ordering::Release);
    }

    /// Whether the bell was rung in the previous window; resets it.
    pub fn answer(&self, window: Window) -> bool {
        let bell = &self.0[window.reads()];
        bell.load(Ordering::Acquire) && bell.swap(false, Ordering::AcqRel)
    }
}

/// One direction of a link, written in one window and read in the next.
#[derive(Debug)]
struct Mailbox<T> {
    full: [AtomicBool; 2],
    items: [Mutex<VecDeque<(Cycle, T)>>; 2],
    reader: OnceLock<Doorbell>,
}

impl<T> Mailbox<T> {
    fn new(capacity: usize) -> Self {
        Mailbox {
            full: [AtomicBool::new(false), AtomicBool::new(false)],
            items: [(); 2].map(|()| Mutex::new(VecDeque::with_capacity(capacity))),
            reader: OnceLock::new(),
        }
    }

    #[inline]
    fn put(&self, window: Window, staged: &mut VecDeque<(Cycle, T)>) -> Cycle {
        let Some((first, _)) = staged.front() else { return Cycle::NEVER };
        let first = *first;
        self.fill(window, staged);
        first
    }

    fn fill(&self, window: Window, staged: &mut VecDeque<(Cycle, T)>) {
        let side = window.writes();
        let mut items = self.items[side].lock().expect("no holder of a mailbox panics");
        debug_assert!(items.is_empty(), "a mailbox is read before it is written again");
        std::mem::swap(&mut *items, staged);
        self.full[side].store(true, Ordering::Release);
        if let Some(bell) = self.reader.get() {
            bell.ring(window);
        }
    }

    #[inline]
    fn take(&self, window: Window, into: &mut VecDeque<(Cycle, T)>) -> bool {
        let full = self.full[window.reads()].load(Ordering::Acquire);
        if full {
            self.empty(window.reads(), into);
        }
        full
    }

    fn empty(&self, side: usize, into: &mut VecDeque<(Cycle, T)>) {
        let mut items = self.items[side].lock().expect("no holder of a mailbox panics");
        if into.is_empty() {
            std::mem::swap(into, &mut *items);
        } else {
            into.append(&mut items);
        }
        self.full[side].store(false, Ordering::Release);
    }
}

#[derive(Debug)]
struct Channel<T> {
    forward: Mailbox<T>,
    credits: Mailbox<u32>,
}

/// The sending end of a link.
#[derive(Debug)]
pub struct Outlet<T> {
    latency: u64,
    credits: u32,
    staged: VecDeque<(Cycle, T)>,
    returning: VecDeque<(Cycle, u32)>,
    channel: Arc<Channel<T>>,
}

/// The receiving end of a link.
#[derive(Debug)]
pub struct Inlet<T> {
    latency: u64,
    arriving: VecDeque<(Cycle, T)>,
    /// Arrival cycle of the first item.
    next: Cycle,
    staged: VecDeque<(Cycle, u32)>,
    channel: Arc<Channel<T>>,
}

/// Creates a link with a latency of `latency` cycles, to a receiver with room for `credits` units.
///
/// # Panics
/// If the latency or the credits are zero.
pub fn link<T>(latency: u64, credits: u32) -> (Outlet<T>, Inlet<T>) {
    assert!(latency >= 1 && credits >= 1, "a link has a latency and room for something");
    let room = credits as usize;
    let channel = Arc::new(Channel { forward: Mailbox::new(room), credits: Mailbox::new(room) });
    let outlet = Outlet {
        latency,
        credits,
        staged: VecDeque::with_capacity(room),
        returning: VecDeque::with_capacity(room),
        channel: channel.clone(),
    };
    let inlet = Inlet {
        latency,
        next: Cycle::NEVER,
        arriving: VecDeque::with_capacity(room),
        staged: VecDeque::with_capacity(room),
        channel,
    };
    (outlet, inlet)
}

impl<T> Outlet<T> {
    /// Registers `bell` to ring when credits come back.
    ///
    /// # Panics
    /// If a different bell is already registered: each end of a link belongs to one island.
    pub fn hang(&self, bell: &Doorbell) {
        self.channel.credits.reader.set(bell.clone()).expect("an end of a link belongs to one island");
    }

    /// Cycles from sending an item to its arrival.
    pub fn latency(&self) -> u64 {
        self.latency
    }

    /// Units that can be sent at `now`.
    #[inline]
    pub fn credits(&mut self, now: Cycle) -> u32 {
        while let Some(&(at, units)) = self.returning.front() {
            if at > now {
                break;
            }
            self.credits += units;
            self.returning.pop_front();
        }
        self.credits
    }

    /// Sends an item that takes up `units` of the receiver's room.
    ///
    /// # Errors
    /// The item, if credits are short.
    #[inline]
    pub fn send(&mut self, item: T, units: u32, now: Cycle) -> Result<(), T> {
        if self.credits(now) < units {
            return Err(item);
        }
        self.credits -= units;
        self.staged.push_back((now + self.latency, item));
        Ok(())
    }

    /// The cycle at which the next credit comes back, as far as this end knows.
    pub fn next_credit(&self) -> Cycle {
        self.returning.front().map_or(Cycle::NEVER, |(at, _)| *at)
    }

    /// Takes the credits delivered in the previous window.
    #[inline]
    pub fn collect(&mut self, window: Window) {
        self.channel.credits.take(window, &mut self.returning);
    }

    /// Hands over what was sent in this window. Returns the arrival cycle of the first item.
    #[inline]
    pub fn flush(&mut self, window: Window) -> Cycle {
        self.channel.forward.put(window, &mut self.staged)
    }
}

impl<T> Inlet<T> {
    /// Registers `bell` to ring when items arrive.
    ///
    /// # Panics
    /// If a different bell is already registered: each end of a link belongs to one island.
    pub fn hang(&self, bell: &Doorbell) {
        self.channel.forward.reader.set(bell.clone()).expect("an end of a link belongs to one island");
    }

    /// Takes the next item that has arrived. Call [`Inlet::release`] to give its room back.
    #[inline]
    pub fn receive(&mut self, now: Cycle) -> Option<T> {
        if self.next > now {
            return None;
        }
        let (_, item) = self.arriving.pop_front()?;
        self.next = self.arriving.front().map_or(Cycle::NEVER, |(at, _)| *at);
        Some(item)
    }

    /// The next item that has arrived, without taking it.
    #[inline]
    pub fn front(&self, now: Cycle) -> Option<&T> {
        if self.next > now { None } else { self.arriving.front().map(|(_, item)| item) }
    }

    /// Returns `units` of room to the sender.
    #[inline]
    pub fn release(&mut self, units: u32, now: Cycle) {
        let at = now + self.latency;
        match self.staged.back_mut() {
            Some((last, together)) if *last == at => *together += units,
            _ => self.staged.push_back((at, units)),
        }
    }

    /// Arrival cycle of the next item, as far as this end knows.
    #[inline]
    pub fn next_arrival(&self) -> Cycle {
        self.next
    }

    /// Number of items handed over and not yet taken.
    pub fn waiting(&self) -> usize {
        self.arriving.len()
    }

    /// Takes the items sent in the previous window.
    #[inline]
    pub fn collect(&mut self, window: Window) {
        if self.channel.forward.take(window, &mut self.arriving) {
            self.next = self.arriving.front().map_or(Cycle::NEVER, |(at, _)| *at);
        }
    }

    /// Hands the released credits over. Returns the cycle at which the first of them is usable.
    #[inline]
    pub fn flush(&mut self, window: Window) -> Cycle {
        self.channel.credits.put(window, &mut self.staged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_arrives_exactly_after_the_latency() {
        let (mut outlet, mut inlet) = link::<u8>(4, 2);
        outlet.send(9, 1, Cycle(1)).unwrap();
        assert_eq!(outlet.flush(Window(0)), Cycle(5));
        inlet.collect(Window(1));
        assert_eq!(inlet.receive(Cycle(4)), None);
        assert_eq!(inlet.receive(Cycle(5)), Some(9));
    }

    #[test]
    fn a_credit_is_back_exactly_after_the_latency() {
        let (mut outlet, mut inlet) = link::<u8>(4, 1);
        outlet.send(1, 1, Cycle(0)).unwrap();
        assert_eq!(outlet.send(2, 1, Cycle(0)), Err(2), "no credit is left");
        outlet.flush(Window(0));
        inlet.collect(Window(1));
        assert_eq!(inlet.receive(Cycle(4)), Some(1));
        inlet.release(1, Cycle(5));
        assert_eq!(inlet.flush(Window(1)), Cycle(9));
        outlet.collect(Window(2));
        assert_eq!(outlet.send(2, 1, Cycle(8)), Err(2));
        assert_eq!(outlet.send(2, 1, Cycle(9)), Ok(()));
    }
}
