//! Random replacement.

use schemars::JsonSchema;
use serde::Deserialize;
use strata_engine::seed::Stream;

use super::{Replacement, ReplacementPolicy, Shape};
use crate::touch::Touch;

/// Evicts a way drawn from the component's random stream (Belady, IBM Systems Journal 1966).
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Random {}

impl ReplacementPolicy for Random {
    fn build(&self, shape: Shape) -> Box<dyn Replacement> {
        Box::new(RandomWay(shape.stream))
    }
}

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
