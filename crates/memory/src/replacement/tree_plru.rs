//! Pseudo-LRU by a binary tree of bits.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Replacement, ReplacementPolicy, Shape};
use crate::touch::Touch;

/// Evicts by a binary tree of bits that point away from recent uses; ways are a power of two (So and Rechtschaffen, ICCD
/// 1986).
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TreePlru {}

impl ReplacementPolicy for TreePlru {
    fn check(&self, ways: usize) -> Result<(), String> {
        let fault = || format!("tree-plru needs a power of two, found {ways}");
        ways.is_power_of_two().then_some(()).ok_or_else(fault)
    }

    fn build(&self, shape: Shape) -> Box<dyn Replacement> {
        Box::new(Trees::new(&shape))
    }
}

/// A tree for each set, in heap order: bit n is node n, the root is node 1; a bit set points to the upper half.
#[derive(Clone, Debug)]
pub struct Trees {
    ways: usize,
    trees: Vec<u64>,
}

impl Trees {
    pub(super) fn new(shape: &Shape) -> Trees {
        Trees { ways: shape.ways, trees: vec![0; shape.sets] }
    }

    /// Makes every node above `way` point to the half without it.
    #[inline]
    pub(super) fn point_away(&mut self, set: usize, way: usize) {
        let tree = &mut self.trees[set];
        let mut node = self.ways + way;
        while node > 1 {
            let upper = node & 1;
            node >>= 1;
            *tree = *tree & !(1 << node) | ((upper as u64 ^ 1) << node);
        }
    }

    /// Follows the bits to a way, entering no half without an eligible way.
    #[inline]
    pub(super) fn follow(&self, set: usize, eligible: u64) -> usize {
        let (mut node, mut first, mut width) = (1, 0, self.ways);
        while width > 1 {
            width /= 2;
            let half = ((1_u64 << width) - 1) << (first + width);
            let upper = match (eligible & half != 0, eligible & half >> width != 0) {
                (true, true) => self.trees[set] >> node & 1 == 1,
                (upper, _) => upper,
            };
            node = 2 * node + usize::from(upper);
            first += width * usize::from(upper);
        }
        first
    }
}

impl Replacement for Trees {
    fn used(&mut self, set: usize, way: usize, _: &Touch) {
        self.point_away(set, way);
    }

    fn filled(&mut self, set: usize, way: usize, _: &Touch) {
        self.point_away(set, way);
    }

    fn victim(&mut self, set: usize, eligible: u64) -> usize {
        self.follow(set, eligible)
    }
}
