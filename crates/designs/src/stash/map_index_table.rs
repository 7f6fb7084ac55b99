//! The map index table: the stash-map entries of each thread block, in the order of its AddMaps (4.1.2).

/// Entries of the stash-map, by CTA.
#[derive(Debug)]
pub struct MapIndexTable {
    /// By CTA slot of the CU.
    rows: Vec<Vec<u8>>,
    most: usize,
}

impl MapIndexTable {
    /// A table for so many CTAs with at most `most` entries each.
    pub fn new(ctas: usize, most: usize) -> MapIndexTable {
        MapIndexTable { rows: (0..ctas).map(|_| Vec::with_capacity(most)).collect(), most }
    }

    /// The entries of a CTA.
    pub fn of(&self, cta: usize) -> &[u8] {
        &self.rows[cta]
    }

    /// Whether the CTA can add another.
    pub fn has_room(&self, cta: usize) -> bool {
        self.rows[cta].len() < self.most
    }

    /// Adds an entry and returns its index.
    pub fn add(&mut self, cta: usize, map: u8) -> usize {
        self.rows[cta].push(map);
        self.rows[cta].len() - 1
    }

    /// The CTA has ended.
    pub fn clear(&mut self, cta: usize) {
        self.rows[cta].clear();
    }
}
