//! Static and bimodal re-reference interval prediction (RRIP).
//!
//! Each way has a prediction of when its line is used again, from 0 (soon) to 3 (in the distant future). The first way of 3
//! is evicted; while there is none, all grow older.

use schemars::JsonSchema;
use serde::Deserialize;
use strata_engine::seed::Stream;

use super::{Replacement, ReplacementPolicy, Shape};
use crate::bits::members;
use crate::touch::Touch;

/// Static re-reference interval prediction: a new line is expected back late, and soon after a hit (Jaleel et al., ISCA
/// 2010: 2 bits, hit priority).
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Srrip {}

impl ReplacementPolicy for Srrip {
    fn build(&self, shape: Shape) -> Box<dyn Replacement> {
        Box::new(Static(Predictions::new(&shape)))
    }
}

/// Bimodal re-reference interval prediction: of new lines, one in 32 is expected back at all (Jaleel et al., ISCA 2010: 2
/// bits, hit priority).
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Brrip {}

impl ReplacementPolicy for Brrip {
    fn build(&self, shape: Shape) -> Box<dyn Replacement> {
        Box::new(Bimodal { predictions: Predictions::new(&shape), stream: shape.stream })
    }
}

/// Predicts a use in the distant future: the line is evicted next.
pub(super) const DISTANT: u8 = 3;
/// Predicts a use after a long interval, as of a new line.
pub(super) const LONG: u8 = 2;

/// One new line in this many is kept longer by BRRIP.
const BIMODAL: u64 = 32;

/// The predictions of all ways.
#[derive(Clone, Debug)]
pub(super) struct Predictions {
    ways: usize,
    predictions: Vec<u8>,
}

impl Predictions {
    pub(super) fn new(shape: &Shape) -> Predictions {
        Predictions { ways: shape.ways, predictions: vec![DISTANT; shape.sets * shape.ways] }
    }

    pub(super) fn set(&mut self, set: usize, way: usize, prediction: u8) {
        self.predictions[set * self.ways + way] = prediction;
    }

    /// The first way to be used in the distant future; ages the set until there is one.
    pub(super) fn victim(&mut self, set: usize, eligible: u64) -> usize {
        let ways = &mut self.predictions[set * self.ways..][..self.ways];
        let oldest = members(eligible).map(|way| ways[way]).max().expect("some way is eligible");
        let years = DISTANT - oldest;
        ways.iter_mut().for_each(|prediction| *prediction = (*prediction + years).min(DISTANT));
        members(eligible).find(|way| ways[*way] == DISTANT).expect("the oldest has come of age")
    }
}

/// What BRRIP predicts of a new line.
pub(super) fn bimodal(stream: &mut Stream) -> u8 {
    if stream.below(BIMODAL) == 0 { LONG } else { DISTANT }
}

struct Static(Predictions);

impl Replacement for Static {
    fn used(&mut self, set: usize, way: usize, _: &Touch) {
        self.0.set(set, way, 0);
    }

    fn filled(&mut self, set: usize, way: usize, _: &Touch) {
        self.0.set(set, way, LONG);
    }

    fn victim(&mut self, set: usize, eligible: u64) -> usize {
        self.0.victim(set, eligible)
    }
}

struct Bimodal {
    predictions: Predictions,
    stream: Stream,
}

impl Replacement for Bimodal {
    fn used(&mut self, set: usize, way: usize, _: &Touch) {
        self.predictions.set(set, way, 0);
    }

    fn filled(&mut self, set: usize, way: usize, _: &Touch) {
        self.predictions.set(set, way, bimodal(&mut self.stream));
    }

    fn victim(&mut self, set: usize, eligible: u64) -> usize {
        self.predictions.victim(set, eligible)
    }
}
