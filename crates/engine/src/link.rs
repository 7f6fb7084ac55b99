//! Links between islands, with a latency of at least one cycle and credit-based flow control.
//!
//! An item sent at cycle t arrives at t + latency; a credit returned at t is usable at t + latency. A window
//! is never longer than the smallest latency, so nothing crosses within one: what each end hands over in a
//! window, the other end takes in the next.
//!
//! The islands at the ends may have clocks of their own ([`link_between`]): each end counts its island's cycles.

mod credits;
mod crossing;
mod mailbox;
mod window;

use std::sync::Arc;

use self::credits::{Giver, Returns, Taker};
pub use self::crossing::LinkClocks;
use self::mailbox::Mailbox;
pub use self::window::{Doorbell, Rung, Window};
use crate::gauge::Gauge;
use crate::time::Cycle;

/// The sending end of a link.
#[derive(Debug)]
pub struct Outlet<T> {
    latency: u64,
    stamped_after: u64,
    credits: u32,
    returning: Taker,
    staged: Vec<(Cycle, T)>,
    mailbox: Arc<Mailbox<T>>,
}

/// The receiving end of a link.
#[derive(Debug)]
pub struct Inlet<T> {
    /// Items of an earlier window, the first to arrive last: it is taken off the end.
    arriving: Vec<(Cycle, T)>,
    /// Those of the windows since in the order of arrival; there are none if there are none of the earlier one. Apart from
    /// those, so that a window's items can be taken over whole.
    later: Vec<(Cycle, T)>,
    /// Arrival cycle of the first item.
    next: Cycle,
    mailbox: Arc<Mailbox<T>>,
    released: Giver,
}

/// Creates a link with a latency of `latency` cycles, to a receiver with room for `credits` units.
///
/// # Panics
/// If the latency or the credits are zero.
pub fn link<T>(latency: u64, credits: u32) -> (Outlet<T>, Inlet<T>) {
    link_between(latency, credits, LinkClocks::REFERENCE)
}

/// Creates a link between islands with these clocks, with a latency of `latency` cycles of its own clock, to a receiver
/// with room for `credits` units.
///
/// What an island sends in its cycle s enters the link in the link's first cycle n that begins no earlier, and
/// arrives in the receiver's first cycle that begins no earlier than cycle n + latency. Credits go back in the same way.
///
/// # Panics
/// If the latency is less than a reference cycle, or the credits are zero.
pub fn link_between<T>(latency: u64, credits: u32, clocks: LinkClocks) -> (Outlet<T>, Inlet<T>) {
    let whole = clocks.latency.whole_reference_cycles(latency);
    assert!(whole >= 1 && credits >= 1, "a link has a latency and room for something");
    let room = credits as usize;
    let (forward, backward) = (clocks.forward(latency), clocks.backward(latency));
    let mailbox = Arc::new(Mailbox::new(room, forward.crossing));
    let returns = Returns::new(credits, backward.crossing);
    let outlet = Outlet {
        latency,
        stamped_after: forward.stamped_after,
        credits,
        returning: Taker::new(returns.clone()),
        staged: Vec::with_capacity(room),
        mailbox: mailbox.clone(),
    };
    let inlet = Inlet {
        next: Cycle::NEVER,
        arriving: Vec::with_capacity(room),
        later: Vec::with_capacity(room),
        mailbox,
        released: Giver::new(returns, backward.stamped_after),
    };
    (outlet, inlet)
}

impl<T> Outlet<T> {
    /// Registers `bell` to ring when credits come back.
    ///
    /// # Panics
    /// If a different bell is already registered: each end of a link belongs to one island.
    pub fn hang(&self, bell: &Doorbell) {
        self.returning.returns.reader.set(bell.hang()).expect("an end of a link belongs to one island");
        if let Some(other) = self.mailbox.reader.get() {
            bell.meet(&other.bell);
        }
    }

    /// Counts from now on the units in use: from when an item is sent until the sender can use its room again. Nothing is in use yet.
    pub fn watch(&mut self, gauge: Arc<Gauge>) {
        self.returning.gauge = Some(gauge);
    }

    /// Cycles of the link's clock from sending an item to its arrival.
    pub fn latency(&self) -> u64 {
        self.latency
    }

    /// Units that can be sent at `now`.
    #[inline]
    pub fn credits(&mut self, now: Cycle) -> u32 {
        self.credits += self.returning.take(now);
        self.credits
    }

    /// Whether `units` can be sent at `now`. Cheaper than counting all that can be.
    #[inline]
    pub fn has_credit(&mut self, units: u32, now: Cycle) -> bool {
        self.credits >= units || self.credits(now) >= units
    }

    /// Sends an item that takes up `units` of the receiver's room.
    ///
    /// # Errors
    /// The item, if credits are short.
    #[inline]
    pub fn send(&mut self, item: T, units: u32, now: Cycle) -> Result<(), T> {
        if !self.has_credit(units, now) {
            return Err(item);
        }
        self.credits -= units;
        if self.returning.gauge.is_some() {
            self.returning.count_sent(units, now);
        }
        self.staged.push((now + self.stamped_after, item));
        Ok(())
    }

    /// The cycle at which the next credit comes back, as far as this end knows. It may lie in the past unless
    /// credits were found short.
    pub fn next_credit(&self) -> Cycle {
        self.returning.next()
    }

    /// Takes the credits returned in the previous window.
    #[inline(always)]
    pub fn collect(&mut self, window: Window) {
        self.returning.learn(window);
    }

    /// Hands over what was sent in this window. Returns the reference cycle in which the first item arrives. Inline,
    /// because most links carry nothing in most windows.
    #[inline(always)]
    pub fn flush(&mut self, window: Window) -> Cycle {
        if self.staged.is_empty() { Cycle::NEVER } else { self.mailbox.put(window, &mut self.staged) }
    }
}

impl<T> Inlet<T> {
    /// Registers `bell` to ring when items arrive.
    ///
    /// # Panics
    /// If a different bell is already registered: each end of a link belongs to one island.
    pub fn hang(&self, bell: &Doorbell) {
        self.mailbox.reader.set(bell.hang()).expect("an end of a link belongs to one island");
        if let Some(other) = self.released.returns.reader.get() {
            bell.meet(&other.bell);
        }
    }

    /// Takes the next item that has arrived. Call [`Inlet::release`] to give its room back.
    #[inline]
    pub fn receive(&mut self, now: Cycle) -> Option<T> {
        if self.next > now {
            return None;
        }
        let (_, item) = self.arriving.pop()?;
        self.next = match self.arriving.last() {
            Some((at, _)) => *at,
            None if self.later.is_empty() => Cycle::NEVER,
            None => self.turn_to_later(),
        };
        Some(item)
    }

    /// Goes on with the items of later windows. Returns the arrival cycle of the first.
    #[inline(never)]
    fn turn_to_later(&mut self) -> Cycle {
        std::mem::swap(&mut self.arriving, &mut self.later);
        self.begin_arriving()
    }

    /// Turns items that were handed over in the order of arrival. Returns the arrival cycle of the first.
    #[inline]
    fn begin_arriving(&mut self) -> Cycle {
        self.arriving.reverse();
        self.arriving.last().map_or(Cycle::NEVER, |(at, _)| *at)
    }

    /// The next item that has arrived, without taking it.
    #[inline]
    pub fn front(&self, now: Cycle) -> Option<&T> {
        if self.next > now { None } else { self.arriving.last().map(|(_, item)| item) }
    }

    /// Returns `units` of room to the sender.
    #[inline]
    pub fn release(&mut self, units: u32, now: Cycle) {
        self.released.give(units, now);
    }

    /// Arrival cycle of the next item, as far as this end knows.
    #[inline]
    pub fn next_arrival(&self) -> Cycle {
        self.next
    }

    /// Number of items handed over and not yet taken.
    pub fn waiting(&self) -> usize {
        self.arriving.len() + self.later.len()
    }

    /// Takes the items sent in the previous window.
    #[inline(always)]
    pub fn collect(&mut self, window: Window) {
        if !self.mailbox.is_full(window) {
            return;
        }
        if self.arriving.is_empty() {
            self.mailbox.take(window, &mut self.arriving);
            self.next = self.begin_arriving();
        } else {
            self.mailbox.take(window, &mut self.later);
        }
    }

    /// Hands the released credits over. Returns the reference cycle at which the first of them is usable.
    #[inline(always)]
    pub fn flush(&mut self, window: Window) -> Cycle {
        self.released.publish(window)
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

    #[test]
    fn units_are_in_use_from_sending_until_the_sender_has_their_room_again() {
        let (mut outlet, mut inlet) = link::<u8>(4, 5);
        let gauge = Gauge::new();
        outlet.watch(gauge.clone());
        gauge.begin(Cycle(0));
        outlet.send(1, 2, Cycle(1)).unwrap();
        outlet.send(2, 3, Cycle(3)).unwrap();
        outlet.flush(Window(0));
        inlet.collect(Window(1));
        assert_eq!(inlet.receive(Cycle(5)), Some(1));
        inlet.release(2, Cycle(6));
        inlet.flush(Window(1));
        // The sender learns of it before it comes, whether it looks or not.
        outlet.collect(Window(2));
        let used = gauge.end(Cycle(12));
        assert_eq!(used.entry_cycles, 2 * (10 - 1) + 3 * (12 - 3));
        assert_eq!((used.most, used.cycles[0]), (5, 1));
    }

    #[test]
    fn items_and_credits_of_many_windows_stay_in_order() {
        let (mut outlet, mut inlet) = link::<u32>(4, 3);
        let (mut sent, mut received) = (0, 0);
        for cycle in 0..600 {
            let (now, window) = (Cycle(cycle), Window(cycle));
            inlet.collect(window);
            outlet.collect(window);
            if cycle % 7 < 4
                && let Some(item) = inlet.receive(now)
            {
                assert_eq!(item, received);
                received += 1;
                inlet.release(1, now);
            }
            while outlet.send(sent, 1, now).is_ok() {
                sent += 1;
            }
            assert!(sent - received <= 3, "the receiver has room for three");
            inlet.flush(window);
            outlet.flush(window);
        }
        assert!(received > 150, "{received} received");
    }
}
