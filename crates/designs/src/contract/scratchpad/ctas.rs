//! The oracle: what each CTA has mapped, and what it must find there.

use std::collections::HashMap;

use strata_engine::seed::Stream;
use strata_memory::tile::{Mapping, Tile, WORD};

/// A mapping, with the words that its CTA has written privately.
#[derive(Clone, Debug)]
pub struct Map {
    pub mapping: Mapping,
    pub tile: Tile,
    pub private: HashMap<u64, u32>,
}

impl Map {
    pub fn new(mapping: Mapping) -> Map {
        let tile = Tile::new(&mapping).expect("the harness makes tiles that can be");
        Map { mapping, tile, private: HashMap::new() }
    }

    /// Words of the mapping.
    pub fn words(&self) -> u64 {
        self.tile.stash_bytes() / WORD
    }

    /// The global word that a word of the mapping is.
    pub fn global(&self, word: u64) -> u64 {
        (self.mapping.global_base + self.tile.global_offset(word * WORD)) / WORD
    }
}

/// A CTA that runs, and the global words that are its own: `region` is their first word's number.
#[derive(Debug)]
pub struct Cta {
    pub region: u64,
    pub maps: Vec<Map>,
    /// Requests that are not complete.
    pub open: u32,
    /// Requests until it ends.
    pub left: u64,
    /// Whether it makes none until its copy is done.
    pub waits: bool,
}

/// A tile of `words` words of a region, at a place in the scratchpad; its stride and its object are random.
pub fn tile(stream: &mut Stream, stash_base: u64, region: u64, room: u64, is_coherent: bool) -> Mapping {
    let field = WORD * (1 + stream.below(3));
    let object_size = field + WORD * stream.below(4);
    let row_size = 1 + stream.below(6);
    let stride_size = object_size * row_size + WORD * stream.below(5);
    let most = (room * WORD / (stride_size + 16)).clamp(1, 4);
    let num_strides = 1 + stream.below(most);
    let global_base = region * WORD + WORD * stream.below(4);
    Mapping {
        stash_base,
        global_base,
        field_size: field,
        object_size,
        row_size,
        stride_size,
        num_strides,
        is_coherent,
    }
}
