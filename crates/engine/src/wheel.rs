//! A timing wheel: events at known cycles in the near future, taken in the order they were set.

use crate::time::Cycle;

/// Events of type `T` at most `horizon - 1` cycles ahead. Taking the events of a cycle costs nothing when
/// there are none.
#[derive(Clone, Debug)]
pub struct Wheel<T> {
    slots: Vec<Vec<T>>,
    /// Bit n of word w: slot 64 w + n holds an event.
    occupied: Vec<u64>,
    len: usize,
}

impl<T> Wheel<T> {
    /// An empty wheel; `horizon` is rounded up to a power of two of at least 64 slots, each with room for
    /// `per_slot` events before it grows.
    pub fn new(horizon: usize, per_slot: usize) -> Self {
        let slots = horizon.next_power_of_two().max(64);
        Wheel {
            slots: (0..slots).map(|_| Vec::with_capacity(per_slot)).collect(),
            occupied: vec![0; slots / 64],
            len: 0,
        }
    }

    /// Sets an event at cycle `at`, later than `now`.
    ///
    /// # Panics
    /// When `at` lies beyond the horizon or not in the future: the wheel was built for smaller latencies.
    #[inline]
    pub fn set(&mut self, now: Cycle, at: Cycle, event: T) {
        assert!(at > now && at - now < self.slots.len() as u64, "an event lies within the wheel's horizon");
        let slot = at.0 as usize & (self.slots.len() - 1);
        self.slots[slot].push(event);
        self.occupied[slot / 64] |= 1 << (slot % 64);
        self.len += 1;
    }

    /// Takes the events of cycle `now`, oldest first, into `out` (which is cleared first).
    #[inline]
    pub fn take(&mut self, now: Cycle, out: &mut Vec<T>) {
        out.clear();
        let slot = now.0 as usize & (self.slots.len() - 1);
        if self.occupied[slot / 64] >> (slot % 64) & 1 == 1 {
            std::mem::swap(out, &mut self.slots[slot]);
            self.occupied[slot / 64] &= !(1 << (slot % 64));
            self.len -= out.len();
        }
    }

    /// The cycle of the earliest event after `now` ([`Cycle::NEVER`] when there is none).
    pub fn next(&self, now: Cycle) -> Cycle {
        if self.len == 0 {
            return Cycle::NEVER;
        }
        let slots = self.slots.len();
        let start = (now.0 as usize + 1) & (slots - 1);
        let words = self.occupied.len();
        for step in 0..=words {
            let word = (start / 64 + step) % words;
            let mut bits = self.occupied[word];
            if step == 0 {
                bits &= u64::MAX << (start % 64);
            }
            if bits != 0 {
                let slot = 64 * word + bits.trailing_zeros() as usize;
                let ahead = (slot + slots - (now.0 as usize & (slots - 1)) - 1) % slots + 1;
                return now + ahead as u64;
            }
        }
        Cycle::NEVER
    }

    /// Whether nothing is set.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_at_their_cycle_in_the_order_they_were_set() {
        let mut wheel = Wheel::new(100, 2);
        let mut out = Vec::new();
        for start in [0, 63, 100, 127, 1000] {
            let now = Cycle(start);
            wheel.set(now, now + 5, 'a');
            wheel.set(now, now + 90, 'c');
            wheel.set(now, now + 5, 'b');
            assert_eq!(wheel.next(now), now + 5);
            wheel.take(now + 4, &mut out);
            assert!(out.is_empty());
            wheel.take(now + 5, &mut out);
            assert_eq!(out, ['a', 'b']);
            assert_eq!(wheel.next(now + 5), now + 90);
            wheel.take(now + 90, &mut out);
            assert_eq!(out, ['c']);
            assert_eq!(wheel.next(now + 90), Cycle::NEVER);
        }
    }
}
