//! Bounded first-in first-out queues, with and without a latency.

use std::collections::VecDeque;

use crate::time::Cycle;

/// A FIFO of fixed capacity.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    items: VecDeque<T>,
    capacity: usize,
}

impl<T> Ring<T> {
    /// An empty queue for `capacity` items. Allocates all of its memory up front.
    pub fn new(capacity: usize) -> Self {
        Ring { items: VecDeque::with_capacity(capacity), capacity }
    }

    /// An empty queue for `capacity` items that rarely fills. Allocates room for a few items and grows on demand.
    pub fn growing(capacity: usize) -> Self {
        Ring { items: VecDeque::with_capacity(capacity.min(128)), capacity }
    }

    /// Appends an item.
    ///
    /// # Errors
    /// The item, if the queue is full.
    #[inline]
    pub fn push(&mut self, item: T) -> Result<(), T> {
        if self.items.len() == self.capacity {
            return Err(item);
        }
        self.items.push_back(item);
        Ok(())
    }

    /// Removes and returns the oldest item.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        self.items.pop_front()
    }

    /// The oldest item, without removing it.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        self.items.front()
    }

    /// The oldest item, mutable, without removing it.
    #[inline]
    pub fn front_mut(&mut self) -> Option<&mut T> {
        self.items.front_mut()
    }

    /// Whether [`Ring::push`] would refuse an item.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.items.len() == self.capacity
    }

    /// Whether the queue holds no items.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Number of items in the queue.
    #[inline]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Number of items that still fit.
    #[inline]
    pub fn free(&self) -> usize {
        self.capacity - self.items.len()
    }

    /// Iterates from the oldest item to the newest.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter()
    }
}

/// A FIFO of fixed capacity whose items become visible at a given cycle. Ready cycles must not decrease.
#[derive(Clone, Debug)]
pub struct DelayLine<T> {
    ring: Ring<(Cycle, T)>,
    /// When the oldest item is ready. Caching it makes the common check, that nothing is due, cheap.
    next: Cycle,
}

impl<T> DelayLine<T> {
    /// An empty line for `capacity` items.
    pub fn new(capacity: usize) -> Self {
        DelayLine { ring: Ring::new(capacity), next: Cycle::NEVER }
    }

    /// An empty line for `capacity` items that grows on demand, like [`Ring::growing`].
    pub fn growing(capacity: usize) -> Self {
        DelayLine { ring: Ring::growing(capacity), next: Cycle::NEVER }
    }

    /// Appends an item that can be taken from cycle `ready` on.
    ///
    /// # Errors
    /// The item, if the line is full.
    #[inline]
    pub fn push(&mut self, ready: Cycle, item: T) -> Result<(), T> {
        debug_assert!(self.ring.items.back().is_none_or(|last| last.0 <= ready), "items stay in order");
        self.ring.push((ready, item)).map_err(|(_, item)| item)?;
        // Items stay in order, so this is never later than the oldest item's ready cycle.
        self.next = self.next.min(ready);
        Ok(())
    }

    /// Removes and returns the oldest item if it is ready at `now`.
    #[inline]
    pub fn pop(&mut self, now: Cycle) -> Option<T> {
        if self.next > now {
            return None;
        }
        let (_, item) = self.ring.pop()?;
        self.next = self.ring.front().map_or(Cycle::NEVER, |(ready, _)| *ready);
        Some(item)
    }

    /// The oldest item if it is ready at `now`, without removing it.
    #[inline]
    pub fn front(&self, now: Cycle) -> Option<&T> {
        if self.next > now {
            return None;
        }
        self.ring.front().map(|(_, item)| item)
    }

    /// The cycle at which the oldest item becomes ready; [`Cycle::NEVER`] if the line is empty.
    #[inline]
    pub fn next_ready(&self) -> Cycle {
        self.next
    }

    /// Whether [`DelayLine::push`] would refuse an item.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.ring.is_full()
    }

    /// Whether the line holds no items.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// Number of items in the line, ready or not.
    #[inline]
    pub fn len(&self) -> usize {
        self.ring.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_ring_hands_the_item_back() {
        let mut ring = Ring::new(2);
        assert_eq!((ring.push(1), ring.push(2), ring.push(3)), (Ok(()), Ok(()), Err(3)));
        assert_eq!((ring.pop(), ring.free()), (Some(1), 1));
    }

    #[test]
    fn an_item_is_illegal_one_cycle_early_and_legal_on_time() {
        let mut line = DelayLine::new(4);
        line.push(Cycle(7), 'a').unwrap();
        assert_eq!(line.pop(Cycle(6)), None);
        assert_eq!(line.next_ready(), Cycle(7));
        assert_eq!(line.pop(Cycle(7)), Some('a'));
        assert_eq!(line.next_ready(), Cycle::NEVER);
    }
}
