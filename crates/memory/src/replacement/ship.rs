//! Signature-based hit prediction (SHiP): whether the lines of an instruction are used again decides how new ones begin.

use schemars::JsonSchema;
use serde::Deserialize;

use super::rrip::{DISTANT, LONG, Predictions};
use super::{Replacement, ReplacementPolicy, Shape};
use crate::touch::Touch;

/// Signature-based hit prediction: srrip, but a line of an instruction whose lines were not used again is evicted first (Wu
/// et al., MICRO 2011: SHiP-PC, 16 K counters of 3 bits; ASSUMED: each counter begins at 1).
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ship {}

impl ReplacementPolicy for Ship {
    fn build(&self, shape: Shape) -> Box<dyn Replacement> {
        Box::new(Signatures {
            predictions: Predictions::new(&shape),
            lines: vec![Line::default(); shape.sets * shape.ways],
            ways: shape.ways,
            counters: vec![1; SIGNATURES],
        })
    }
}

/// Counters, each of one signature.
const SIGNATURES: usize = 1 << 14;
/// The largest count.
const MOST: u8 = 7;

/// What is known of the line in a way.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    signature: u16,
    /// Whether a request brought it; a way without a line teaches nothing.
    is_here: bool,
    was_used: bool,
}

struct Signatures {
    predictions: Predictions,
    lines: Vec<Line>,
    ways: usize,
    /// How often lines of a signature were used again.
    counters: Vec<u8>,
}

/// A program counter in 14 bits. ASSUMED: folded by XOR.
fn signature(touch: &Touch) -> u16 {
    let pc = touch.origin.pc;
    ((pc ^ pc >> 14 ^ pc >> 28) & (SIGNATURES as u32 - 1)) as u16
}

impl Replacement for Signatures {
    fn used(&mut self, set: usize, way: usize, _: &Touch) {
        let line = &mut self.lines[set * self.ways + way];
        line.was_used = true;
        let counter = &mut self.counters[usize::from(line.signature)];
        *counter = (*counter + 1).min(MOST);
        self.predictions.set(set, way, 0);
    }

    fn filled(&mut self, set: usize, way: usize, touch: &Touch) {
        let line = &mut self.lines[set * self.ways + way];
        if line.is_here && !line.was_used {
            let counter = &mut self.counters[usize::from(line.signature)];
            *counter = counter.saturating_sub(1);
        }
        *line = Line { signature: signature(touch), is_here: true, was_used: false };
        let is_dead = self.counters[usize::from(line.signature)] == 0;
        self.predictions.set(set, way, if is_dead { DISTANT } else { LONG });
    }

    fn victim(&mut self, set: usize, eligible: u64) -> usize {
        self.predictions.victim(set, eligible)
    }
}
