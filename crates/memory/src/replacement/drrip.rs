//! Dynamic re-reference interval prediction: sets that always run SRRIP or BRRIP decide for the others.

use schemars::JsonSchema;
use serde::Deserialize;
use strata_engine::seed::Stream;

use super::rrip::{LONG, Predictions, bimodal};
use super::{Replacement, ReplacementPolicy, Shape};
use crate::touch::Touch;

/// Dynamic re-reference interval prediction: srrip or brrip, whichever misses less in sets that are set aside (Jaleel et
/// al., ISCA 2010: 2 bits, 32 sets for each, a counter of 10 bits; ASSUMED: one set in 4 for each in caches below 128
/// sets).
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Drrip {}

impl ReplacementPolicy for Drrip {
    fn build(&self, shape: Shape) -> Box<dyn Replacement> {
        Box::new(Duel {
            predictions: Predictions::new(&shape),
            stride: (shape.sets / LEADERS).max(4),
            counter: 0,
            stream: shape.stream,
        })
    }
}

/// Sets that always run one policy.
const LEADERS: usize = 32;
/// The counter's bounds: 10 bits with a sign.
const MOST: i32 = 511;

struct Duel {
    predictions: Predictions,
    /// Every so many sets, one runs SRRIP and the one after it BRRIP.
    stride: usize,
    /// Misses of SRRIP's sets less those of BRRIP's.
    counter: i32,
    stream: Stream,
}

impl Replacement for Duel {
    fn used(&mut self, set: usize, way: usize, _: &Touch) {
        self.predictions.set(set, way, 0);
    }

    fn filled(&mut self, set: usize, way: usize, _: &Touch) {
        let is_static = match set % self.stride {
            0 => {
                self.counter = (self.counter + 1).min(MOST);
                true
            }
            1 => {
                self.counter = (self.counter - 1).max(-MOST - 1);
                false
            }
            _ => self.counter <= 0,
        };
        let prediction = if is_static { LONG } else { bimodal(&mut self.stream) };
        self.predictions.set(set, way, prediction);
    }

    fn victim(&mut self, set: usize, eligible: u64) -> usize {
        self.predictions.victim(set, eligible)
    }
}
