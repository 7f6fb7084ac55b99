//! What a stash waits for, in words, when the machine is stuck.

use std::collections::BTreeMap;

use super::port::LINE_WORDS;
use super::unit::Stash;
use crate::denovo::Flight;

/// Words of a line for which the stash waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wait {
    /// The line.
    pub line: u64,
    /// The stash-map entry of the words.
    pub map: u8,
    /// What is under way.
    pub flight: Flight,
    /// The words.
    pub words: u32,
}

impl Stash {
    /// What is under way, by line and stash-map entry.
    pub fn waits(&self) -> Vec<Wait> {
        let misses = self.misses.iter().map(|miss| (miss.map, miss.address, self.flights[miss.word]));
        let written = self.buffer.each().map(|(map, address)| (map, address, Flight::WriteBack));
        let mut lines: BTreeMap<(u64, u8, Flight), u32> = BTreeMap::new();
        for (map, address, flight) in misses.chain(written) {
            let word = address / 4;
            *lines.entry((word / LINE_WORDS, map, flight)).or_default() |= 1 << (word % LINE_WORDS);
        }
        lines.into_iter().map(|((line, map, flight), words)| Wait { line, map, flight, words }).collect()
    }
}
