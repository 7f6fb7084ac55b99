//! A timing wheel: events at known cycles, taken in the order in which they were set.

use crate::time::Cycle;

/// Slots of the wheel; events further ahead wait in a separate list. Most latencies are shorter, and so few
/// slots stay in the host's L1 cache.
const SLOTS: u64 = 64;

/// A timing wheel of events of type `T`. A cycle without events costs almost nothing.
///
/// Call [`Wheel::take`] in every cycle in which an event is set or due, before setting anything.
#[derive(Clone, Debug)]
pub struct Wheel<T> {
    slots: Vec<Vec<T>>,
    /// Bit n is set if slot n holds an event.
    occupied: u64,
    /// Events too far ahead for the wheel, earliest first; within a cycle, in the order set.
    late: Vec<(Cycle, T)>,
}

impl<T> Wheel<T> {
    /// An empty wheel. Each slot has room for `per_slot` events before it grows.
    pub fn new(per_slot: usize) -> Self {
        Wheel {
            slots: (0..SLOTS).map(|_| Vec::with_capacity(per_slot)).collect(),
            occupied: 0,
            late: Vec::with_capacity(SLOTS as usize),
        }
    }

    /// Schedules an event at cycle `at`.
    ///
    /// # Panics
    /// If `at` is not later than `now`.
    #[inline]
    pub fn set(&mut self, now: Cycle, at: Cycle, event: T) {
        assert!(at > now, "an event lies in the future");
        if at - now < SLOTS {
            self.put(at, event);
        } else {
            let place = self.late.partition_point(|(other, _)| *other <= at);
            self.late.insert(place, (at, event));
        }
    }

    #[inline]
    fn put(&mut self, at: Cycle, event: T) {
        let slot = at.0 % SLOTS;
        self.slots[slot as usize].push(event);
        self.occupied |= 1 << slot;
    }

    /// Clears `out`, then moves the events of cycle `now` into it, oldest first.
    #[inline(always)]
    pub fn take(&mut self, now: Cycle, out: &mut Vec<T>) {
        out.clear();
        if !self.late.is_empty() {
            self.move_near(now);
        }
        let slot = now.0 % SLOTS;
        if self.occupied >> slot & 1 == 1 {
            std::mem::swap(out, &mut self.slots[slot as usize]);
            self.occupied &= !(1 << slot);
        }
    }

    /// Gives those far ahead a slot that are near by now, before anything is set directly for their cycles: they were set
    /// earlier.
    #[cold]
    fn move_near(&mut self, now: Cycle) {
        let near = self.late.partition_point(|(at, _)| at.since(now) < SLOTS);
        for (at, event) in self.late.drain(..near) {
            let slot = at.0 % SLOTS;
            self.slots[slot as usize].push(event);
            self.occupied |= 1 << slot;
        }
    }

    /// The cycle of the earliest event after `now`; [`Cycle::NEVER`] if there is none.
    #[inline]
    pub fn next(&self, now: Cycle) -> Cycle {
        let late = self.late.first().map_or(Cycle::NEVER, |(at, _)| *at);
        if self.occupied == 0 {
            return late;
        }
        let ahead = self.occupied.rotate_right((now.next().0 % SLOTS) as u32).trailing_zeros();
        late.min(now.next() + u64::from(ahead))
    }

    /// Whether no event is scheduled.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.occupied == 0 && self.late.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_at_their_cycle_in_the_order_they_were_set() {
        let mut wheel = Wheel::new(2);
        let mut out = Vec::new();
        for start in [0, 63, 100, 127, 1000] {
            let now = Cycle(start);
            wheel.set(now, now + 5, 'a');
            wheel.set(now, now + 50, 'c');
            wheel.set(now, now + 5, 'b');
            assert_eq!(wheel.next(now), now + 5);
            wheel.take(now + 4, &mut out);
            assert!(out.is_empty());
            wheel.take(now + 5, &mut out);
            assert_eq!(out, ['a', 'b']);
            assert_eq!(wheel.next(now + 5), now + 50);
            wheel.take(now + 50, &mut out);
            assert_eq!(out, ['c']);
            assert_eq!(wheel.next(now + 50), Cycle::NEVER);
            assert!(wheel.is_empty());
        }
    }

    #[test]
    fn an_event_far_ahead_keeps_its_place_in_the_order() {
        let mut wheel = Wheel::new(2);
        let mut out = Vec::new();
        wheel.set(Cycle(0), Cycle(330), 'b');
        wheel.set(Cycle(0), Cycle(64), 'a');
        wheel.set(Cycle(1), Cycle(330), 'c');
        assert_eq!(wheel.next(Cycle(1)), Cycle(64));
        wheel.take(Cycle(64), &mut out);
        assert_eq!(out, ['a']);
        wheel.take(Cycle(300), &mut out);
        wheel.set(Cycle(300), Cycle(330), 'd');
        assert_eq!(wheel.next(Cycle(300)), Cycle(330));
        wheel.take(Cycle(329), &mut out);
        assert!(out.is_empty());
        wheel.take(Cycle(330), &mut out);
        assert_eq!(out, ['b', 'c', 'd']);
        assert!(wheel.is_empty());
    }
}
