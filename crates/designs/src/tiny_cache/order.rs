//! The order between write-backs and the events that wait for them.

use std::collections::VecDeque;

/// Write-backs are numbered by how many events came before them. An event is complete when no write-back of its number
/// or a lower one is under way.
#[derive(Debug)]
pub struct Order {
    /// The lowest number for which anything is kept.
    first: u64,
    /// By number: write-backs under way, and the event that ended the number, but for the last.
    numbers: VecDeque<(u32, Option<u32>)>,
}

impl Order {
    /// No events and no write-backs.
    pub fn new() -> Order {
        Order { first: 0, numbers: VecDeque::from([(0, None)]) }
    }

    /// Adds a write-back and returns its number.
    pub fn begin(&mut self) -> u64 {
        self.numbers.back_mut().expect("there is always a current number").0 += 1;
        self.first + self.numbers.len() as u64 - 1
    }

    /// Adds an event after all write-backs so far.
    pub fn event(&mut self, token: u32) {
        self.numbers.back_mut().expect("there is always a current number").1 = Some(token);
        self.numbers.push_back((0, None));
    }

    /// A write-back of this number has been performed.
    pub fn performed(&mut self, number: u64) {
        self.numbers[(number - self.first) as usize].0 -= 1;
    }

    /// The next event that is complete.
    pub fn completed(&mut self) -> Option<u32> {
        let (0, Some(token)) = *self.numbers.front()? else { return None };
        self.numbers.pop_front();
        self.first += 1;
        Some(token)
    }

    /// Whether no write-back is under way and no event waits.
    pub fn is_idle(&self) -> bool {
        self.numbers.len() == 1 && self.numbers[0].0 == 0
    }

    /// Number of events that wait.
    pub fn waiting(&self) -> usize {
        self.numbers.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_waits_for_the_write_backs_before_it() {
        let mut order = Order::new();
        let before = order.begin();
        order.event(7);
        let after = order.begin();
        order.event(8);
        order.event(9);
        assert_eq!(order.completed(), None);
        order.performed(after);
        assert_eq!(order.completed(), None, "events are complete in order");
        order.performed(before);
        assert_eq!([order.completed(), order.completed(), order.completed()], [Some(7), Some(8), Some(9)]);
        assert_eq!(order.completed(), None);
        assert!(order.is_idle());
    }
}
