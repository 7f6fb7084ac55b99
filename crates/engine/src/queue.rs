//! Bounded first-in first-out queues, with and without a latency.

use std::collections::VecDeque;

use crate::time::Cycle;

/// A FIFO of fixed capacity.
///
/// The oldest item stands apart from the others, so a queue that holds one item at most times is short work.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    first: Option<T>,
    /// Those behind the first; none if there is no first.
    rest: VecDeque<T>,
    capacity: usize,
}

impl<T> Ring<T> {
    /// An empty queue for `capacity` items. Allocates all of its memory up front.
    pub fn new(capacity: usize) -> Self {
        Ring { first: None, rest: VecDeque::with_capacity(capacity.saturating_sub(1)), capacity }
    }

    /// An empty queue for `capacity` items that rarely fills. Allocates room for a few items and grows on demand.
    pub fn growing(capacity: usize) -> Self {
        Ring { first: None, rest: VecDeque::with_capacity(capacity.min(128)), capacity }
    }

    /// Appends an item.
    ///
    /// # Errors
    /// The item, if the queue is full.
    #[inline]
    pub fn push(&mut self, item: T) -> Result<(), T> {
        if self.is_full() {
            return Err(item);
        }
        if self.first.is_none() {
            self.first = Some(item);
        } else {
            self.rest.push_back(item);
        }
        Ok(())
    }

    /// Removes and returns the oldest item.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let next = if self.rest.is_empty() { None } else { self.rest.pop_front() };
        std::mem::replace(&mut self.first, next)
    }

    /// The oldest item, without removing it.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        self.first.as_ref()
    }

    /// The oldest item, mutable, without removing it.
    #[inline]
    pub fn front_mut(&mut self) -> Option<&mut T> {
        self.first.as_mut()
    }

    /// Whether [`Ring::push`] would refuse an item.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.len() == self.capacity
    }

    /// Whether the queue holds no items.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Number of items in the queue.
    #[inline]
    pub fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.rest.len()
    }

    /// Number of items that still fit.
    #[inline]
    pub fn free(&self) -> usize {
        self.capacity - self.len()
    }

    /// Iterates from the oldest item to the newest.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(&self.rest)
    }
}

/// A FIFO of fixed capacity whose items become visible at a given cycle. Ready cycles must not decrease.
#[derive(Clone, Debug)]
pub struct DelayLine<T> {
    items: VecDeque<(Cycle, T)>,
    capacity: usize,
    /// When the oldest item is ready. Caching it makes the common check, that nothing is due, cheap.
    next: Cycle,
}

impl<T> DelayLine<T> {
    /// An empty line for `capacity` items. Allocates all of its memory up front.
    pub fn new(capacity: usize) -> Self {
        DelayLine { items: VecDeque::with_capacity(capacity), capacity, next: Cycle::NEVER }
    }

    /// An empty line for `capacity` items that grows on demand, like [`Ring::growing`].
    pub fn growing(capacity: usize) -> Self {
        DelayLine { capacity, ..DelayLine::new(capacity.min(128)) }
    }

    /// When the newest item is ready.
    pub fn last_ready(&self) -> Option<Cycle> {
        self.items.back().map(|(ready, _)| *ready)
    }

    /// Appends an item that can be taken from cycle `ready` on.
    ///
    /// # Errors
    /// The item, if the line is full.
    #[inline]
    pub fn push(&mut self, ready: Cycle, item: T) -> Result<(), T> {
        debug_assert!(self.items.back().is_none_or(|last| last.0 <= ready), "items stay in order");
        if self.is_full() {
            return Err(item);
        }
        self.items.push_back((ready, item));
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
        let (_, item) = self.items.pop_front()?;
        self.next = self.items.front().map_or(Cycle::NEVER, |(ready, _)| *ready);
        Some(item)
    }

    /// The oldest item if it is ready at `now`, without removing it.
    #[inline]
    pub fn front(&self, now: Cycle) -> Option<&T> {
        if self.next > now {
            return None;
        }
        self.items.front().map(|(_, item)| item)
    }

    /// The cycle at which the oldest item becomes ready; [`Cycle::NEVER`] if the line is empty.
    #[inline]
    pub fn next_ready(&self) -> Cycle {
        self.next
    }

    /// Whether [`DelayLine::push`] would refuse an item.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.items.len() == self.capacity
    }

    /// Whether the line holds no items.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Number of items in the line, ready or not.
    #[inline]
    pub fn len(&self) -> usize {
        self.items.len()
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
    fn items_behind_the_first_follow_in_order() {
        let mut ring = Ring::new(3);
        (0..3).for_each(|item| ring.push(item).unwrap());
        for item in 3..20 {
            assert_eq!(ring.iter().copied().collect::<Vec<_>>(), [item - 3, item - 2, item - 1]);
            assert_eq!((ring.push(item), ring.free(), ring.is_empty()), (Err(item), 0, false));
            assert_eq!(ring.front(), Some(&(item - 3)));
            assert_eq!(ring.pop(), Some(item - 3));
            ring.push(item).unwrap();
        }
        assert_eq!([ring.pop(), ring.pop(), ring.pop(), ring.pop()], [Some(17), Some(18), Some(19), None]);
        assert_eq!((ring.len(), ring.is_empty(), ring.front()), (0, true, None));
        assert_eq!(Ring::new(0).push(1), Err(1));
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
