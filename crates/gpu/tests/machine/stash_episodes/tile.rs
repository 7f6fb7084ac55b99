//! Tiles, a third time: neither the machine nor the reference executor has this translation.

use strata_engine::seed::Stream;

use super::text::TILE_WORDS;

/// A tile in words of the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// The first word of the first field.
    pub first: u32,
    /// Words of a field.
    pub field: u32,
    /// Words of an object.
    pub object: u32,
    /// Objects in a row.
    pub row: u32,
    /// Words from row to row.
    pub stride: u32,
    pub rows: u32,
}

impl Tile {
    /// A tile of at most `most` words, in an array of `array` words, that spans at most `extent` of them.
    pub fn random(stream: &mut Stream, most: u32, array: u32, extent: u32) -> Tile {
        let mut below = |bound: u32| stream.below(u64::from(bound)) as u32;
        loop {
            let field = [1, 1, 1, 2, 3, 4][below(6) as usize];
            let object = field + if below(3) == 0 { 0 } else { below(8) };
            let (row, rows) = (1 + below(24), [1, 1, 2, 3, 6][below(5) as usize]);
            let stride = object * row + if below(2) == 0 { 0 } else { below(40) };
            let tile = Tile { first: 0, field, object, row, stride, rows };
            let span = tile.span();
            if field * row * rows <= most && span <= extent.min(array) {
                return Tile { first: below(array - span + 1), ..tile };
            }
        }
    }

    /// Words from the first to behind the last.
    fn span(&self) -> u32 {
        (self.rows - 1) * self.stride + (self.row - 1) * self.object + self.field
    }

    /// Its words, in their order in shared memory.
    pub fn words(&self) -> Vec<u32> {
        let mut words = Vec::new();
        for row in 0..self.rows {
            for object in 0..self.row {
                for word in 0..self.field {
                    words.push(self.first + row * self.stride + object * self.object + word);
                }
            }
        }
        words
    }
}

/// An operation on a tile in a plan.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// The mapping that it changes; `None` adds one.
    pub changes: Option<u32>,
    /// The first word in the CTA's shared memory.
    pub base: u32,
    pub tile: Tile,
    pub is_coherent: bool,
}

impl Operation {
    /// The words of the plan, for a thread of the CTA.
    pub fn encode(&self, thread: u32) -> [u32; TILE_WORDS] {
        let Tile { first, field, object, row, stride, rows } = self.tile;
        let code = if self.changes.is_some() { 2 } else { 1 };
        // A stride means nothing for a single row.
        let stride = if rows == 1 { 7 } else { 4 * stride };
        let (coherent, index) = (self.is_coherent.into(), self.changes.unwrap_or(0));
        [code, thread, 4 * self.base, 4 * first, 4 * field, 4 * object, row, stride, rows, coherent, index, 0]
    }
}
