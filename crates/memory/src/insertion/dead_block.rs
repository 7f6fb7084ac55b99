//! Lines that are predicted to be dead on arrival pass: the predictor learns in a few sets which instructions touch lines last.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Insertion, InsertionPolicy};
use crate::address::LineAddress;
use crate::policy::Shape;
use crate::touch::Touch;

/// Lines of instructions that are the last to touch theirs pass (Khan, Tian and Jiménez, MICRO 2010: sampler of 32 sets and 12 ways, three
/// tables of 4096 counters of 2 bits, threshold 8). ASSUMED: whole tags, the hashes; of fewer than 32 sets all are sampled.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeadBlock {}

impl InsertionPolicy for DeadBlock {
    fn build(&self, shape: &Shape) -> Option<Box<dyn Insertion>> {
        let sampled = shape.sets.min(SETS);
        Some(Box::new(Predictor {
            stride: shape.sets / sampled,
            sampler: vec![Vec::with_capacity(WAYS); sampled],
            tables: [[0; ENTRIES]; TABLES],
        }))
    }
}

const SETS: usize = 32;
const WAYS: usize = 12;
const TABLES: usize = 3;
const ENTRIES: usize = 4096;
/// The largest count of a table.
const MOST: u8 = 3;
const THRESHOLD: u8 = 8;

/// A line that the sampler remembers, and the instruction that touched it last.
#[derive(Clone, Copy, Debug)]
struct Entry {
    line: LineAddress,
    pc: u32,
}

struct Predictor {
    /// Every so many sets, one is sampled.
    stride: usize,
    /// Per sampled set the lines touched last, the oldest first.
    sampler: Vec<Vec<Entry>>,
    /// How often an instruction was the last to touch a line, by three hashes.
    tables: [[u8; ENTRIES]; TABLES],
}

/// The place of an instruction in a table.
fn place(table: usize, pc: u32) -> usize {
    const FACTORS: [u32; TABLES] = [0x9e37_79b1, 0x85eb_ca77, 0xc2b2_ae3d];
    (pc.wrapping_mul(FACTORS[table]) >> 20) as usize
}

impl Predictor {
    fn is_last(&self, pc: u32) -> bool {
        let votes = self.tables.iter().enumerate().map(|(table, counts)| counts[place(table, pc)]);
        votes.sum::<u8>() >= THRESHOLD
    }

    fn train(&mut self, pc: u32, was_last: bool) {
        for (table, counts) in self.tables.iter_mut().enumerate() {
            let count = &mut counts[place(table, pc)];
            *count = if was_last { (*count + 1).min(MOST) } else { count.saturating_sub(1) };
        }
    }

    fn see(&mut self, set: usize, touch: &Touch) {
        let number = set / self.stride;
        if !set.is_multiple_of(self.stride) || number >= self.sampler.len() {
            return;
        }
        let entries = &mut self.sampler[number];
        let known = entries.iter().position(|entry| entry.line == touch.line);
        let gone = known.or((entries.len() == WAYS).then_some(0)).map(|place| entries.remove(place));
        entries.push(Entry { line: touch.line, pc: touch.origin.pc });
        if let Some(entry) = gone {
            self.train(entry.pc, known.is_none());
        }
    }
}

impl Insertion for Predictor {
    fn keeps(&self, touch: &Touch) -> bool {
        !self.is_last(touch.origin.pc)
    }

    fn used(&mut self, set: usize, _: usize, touch: &Touch) {
        self.see(set, touch);
    }

    fn filled(&mut self, set: usize, _: usize, touch: &Touch) {
        self.see(set, touch);
    }

    fn passed(&mut self, set: usize, touch: &Touch) {
        self.see(set, touch);
    }
}
