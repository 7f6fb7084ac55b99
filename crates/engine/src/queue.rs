//! Bounded first-in first-out queues: plain, and with a latency.

use std::collections::VecDeque;

use crate::time::Cycle;

/// A FIFO of fixed capacity. Full hands the item back.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    items: VecDeque<T>,
    capacity: usize,
}

impl<T> Ring<T> {
    /// An empty queue for `capacity` items, all of its memory taken now.
    pub fn new(capacity: usize) -> Self {
        Ring { items: VecDeque::with_capacity(capacity), capacity }
    }

    /// An empty queue for `capacity` items that are rarely there: memory is taken for a few, and for the most that ever
    /// wait when they do.
    pub fn growing(capacity: usize) -> Self {
        Ring { items: VecDeque::with_capacity(capacity.min(128)), capacity }
    }

    /// Appends, or hands the item back when full.
    #[inline]
    pub fn push(&mut self, item: T) -> Result<(), T> {
        if self.items.len() == self.capacity {
            return Err(item);
        }
        self.items.push_back(item);
        Ok(())
    }

    /// Takes the oldest item.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        self.items.pop_front()
    }

    /// Looks at the oldest item.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        self.items.front()
    }

    /// Looks at the oldest item, to change it.
    #[inline]
    pub fn front_mut(&mut self) -> Option<&mut T> {
        self.items.front_mut()
    }

    /// Whether an item would be handed back.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.items.len() == self.capacity
    }

    /// Whether nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Items waiting.
    #[inline]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Room left, in items.
    #[inline]
    pub fn free(&self) -> usize {
        self.capacity - self.items.len()
    }

    /// Oldest to newest.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter()
    }
}

/// A FIFO whose items become visible at a stated cycle. Ready cycles must not decrease.
#[derive(Clone, Debug)]
pub struct DelayLine<T> {
    ring: Ring<(Cycle, T)>,
    /// When the oldest item may be taken: most looks at a line find that nothing is due, and need no more.
    next: Cycle,
}

impl<T> DelayLine<T> {
    /// An empty line for `capacity` items.
    pub fn new(capacity: usize) -> Self {
        DelayLine { ring: Ring::new(capacity), next: Cycle::NEVER }
    }

    /// As [`Ring::growing`].
    pub fn growing(capacity: usize) -> Self {
        DelayLine { ring: Ring::growing(capacity), next: Cycle::NEVER }
    }

    /// Appends an item that may be taken from cycle `ready` on; handed back when full.
    #[inline]
    pub fn push(&mut self, ready: Cycle, item: T) -> Result<(), T> {
        debug_assert!(self.ring.items.back().is_none_or(|last| last.0 <= ready), "items stay in order");
        self.ring.push((ready, item)).map_err(|(_, item)| item)?;
        // Never later than the oldest item's, because items stay in order.
        self.next = self.next.min(ready);
        Ok(())
    }

    /// Takes the oldest item if its time has come.
    #[inline]
    pub fn pop(&mut self, now: Cycle) -> Option<T> {
        if self.next > now {
            return None;
        }
        let (_, item) = self.ring.pop()?;
        self.next = self.ring.front().map_or(Cycle::NEVER, |(ready, _)| *ready);
        Some(item)
    }

    /// Looks at the oldest item if its time has come.
    #[inline]
    pub fn front(&self, now: Cycle) -> Option<&T> {
        if self.next > now {
            return None;
        }
        self.ring.front().map(|(_, item)| item)
    }

    /// When the oldest item may be taken.
    #[inline]
    pub fn next_ready(&self) -> Cycle {
        self.next
    }

    /// Whether an item would be handed back.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.ring.is_full()
    }

    /// Whether nothing is under way.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// Items under way.
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
