//! Random replacement.

use strata_engine::seed::Stream;

use super::{Make, Replacement};
use crate::cache::policy::Entry;
use crate::touch::Touch;

pub(super) const RANDOM: Entry<Make> = Entry {
    name: "random",
    meaning: "Evicts a way drawn from the component's random stream",
    source: "Belady, IBM Systems Journal 1966",
    make: |shape| Ok(Box::new(RandomWay(shape.stream))),
};

/// The stream from which ways are drawn.
#[derive(Clone, Debug)]
pub struct RandomWay(pub(super) Stream);

impl RandomWay {
    #[inline]
    pub(super) fn draw(&mut self, eligible: u64) -> usize {
        let mut left = eligible;
        for _ in 0..self.0.below(u64::from(eligible.count_ones())) {
            left &= left - 1;
        }
        left.trailing_zeros() as usize
    }
}

impl Replacement for RandomWay {
    fn used(&mut self, _: usize, _: usize, _: &Touch) {}

    fn filled(&mut self, _: usize, _: usize, _: &Touch) {}

    fn victim(&mut self, _: usize, eligible: u64) -> usize {
        self.draw(eligible)
    }
}
