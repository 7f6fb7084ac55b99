//! Static and bimodal re-reference interval prediction (RRIP).
//!
//! Each way has a prediction of when its line is used again, from 0 (soon) to 3 (in the distant future). The first way of 3
//! is evicted; while there is none, all grow older.

use strata_engine::seed::Stream;

use super::{Make, Replacement, Shape};
use crate::bits::members;
use crate::cache::policy::Entry;
use crate::touch::Touch;

pub(super) const SRRIP: Entry<Make> = Entry {
    name: "srrip",
    meaning: "Static re-reference interval prediction: a new line is expected back late, and soon after a hit",
    source: "Jaleel et al., ISCA 2010: 2 bits, hit priority",
    make: |shape| Ok(Box::new(Srrip(Predictions::new(&shape)))),
};

pub(super) const BRRIP: Entry<Make> = Entry {
    name: "brrip",
    meaning: "Bimodal re-reference interval prediction: of new lines, one in 32 is expected back at all",
    source: "Jaleel et al., ISCA 2010: 2 bits, hit priority",
    make: |shape| Ok(Box::new(Brrip { predictions: Predictions::new(&shape), stream: shape.stream })),
};

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

struct Srrip(Predictions);

impl Replacement for Srrip {
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

struct Brrip {
    predictions: Predictions,
    stream: Stream,
}

impl Replacement for Brrip {
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
