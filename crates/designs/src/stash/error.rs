//! Mappings that cannot be.

use std::fmt;

use strata_memory::tile::TileError;

/// Where a program asks for a mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The kernel.
    pub kernel: String,
    /// Line of its text.
    pub line: u32,
}

/// A mapping that cannot be, and where a program asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappingError {
    /// Where.
    pub place: Place,
    /// Why.
    pub why: Why,
}

impl fmt::Display for MappingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel {}, line {}: {}", self.place.kernel, self.place.line, self.why)
    }
}

impl std::error::Error for MappingError {}

/// Why a mapping cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// There is no such tile.
    Tile(TileError),
    /// The tile does not begin on a chunk of the stash, or on a word of global memory.
    Misaligned {
        /// The parameter's name in Fig. 2.
        parameter: &'static str,
        /// Its value.
        found: u64,
        /// What it must be a multiple of.
        bytes: u64,
    },
    /// The tile ends behind the CTA's stash.
    OutsideStash {
        /// First byte behind the tile.
        end: u64,
        /// Bytes of the stash.
        stash: u64,
    },
    /// Part of the tile is not in memory.
    OutsideMemory {
        /// An address in a page that is not mapped.
        address: u64,
    },
    /// The CTA has no entry of the map index table left.
    TooManyMaps {
        /// Entries of a CTA.
        most: usize,
    },
    /// Another running mapping has some of the chunks.
    Overlap {
        /// First byte in the stash of the other mapping.
        start: u64,
        /// First byte behind it.
        end: u64,
    },
    /// The mapping's pages and those of the CTA's other mappings are more than the VP-map has.
    TooManyPages {
        /// Pages of the mapping and of the CTA's others.
        pages: usize,
        /// Entries of the VP-map.
        most: usize,
    },
    /// ChgMap or an access names an entry of the map index table that the CTA has not added.
    NoSuchMap {
        /// The entry.
        index: usize,
        /// Entries that the CTA has.
        maps: usize,
    },
    /// An access without a mapping is on a word that a mapping of the CTA has.
    NamesNoMap {
        /// Its address in the stash.
        address: u64,
        /// The mapping's index.
        index: usize,
    },
    /// A copy of a tile, which a stash has no engine for.
    NoEngine,
    /// An access is outside its mapping, or not of a word.
    OutsideMapping {
        /// Its address in the stash.
        address: u64,
        /// First byte of the mapping.
        start: u64,
        /// First byte behind it.
        end: u64,
    },
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Tile(error) => write!(f, "{error}"),
            Why::Misaligned { parameter, found, bytes } => {
                write!(f, "{parameter} must be a multiple of {bytes}, found {found:#x}")
            }
            Why::OutsideStash { end, stash } => {
                write!(f, "the tile must end in the {stash} bytes of the stash, found its end at {end}")
            }
            Why::OutsideMemory { address } => {
                write!(f, "the tile must lie in memory, found {address:#x}, which is not mapped")
            }
            Why::TooManyMaps { most } => write!(f, "a CTA may add {most} mappings, found one more"),
            Why::Overlap { start, end } => {
                write!(
                    f,
                    "a mapping must have chunks of its own, found bytes {start} to {end} mapped already"
                )
            }
            Why::TooManyPages { pages, most } => {
                write!(f, "the mappings of a CTA must have at most {most} pages, found {pages}")
            }
            Why::NoSuchMap { index, maps } => {
                write!(f, "expected one of the {maps} mappings that the CTA has added, found index {index}")
            }
            Why::NamesNoMap { address, index } => {
                write!(
                    f,
                    "expected an address that names mapping {index}, which has byte {address}, found one that names none"
                )
            }
            Why::NoEngine => write!(f, "a stash maps tiles and copies none; a copy takes a DMA engine"),
            Why::OutsideMapping { address, start, end } => {
                write!(f, "expected a word of the mapping's bytes {start} to {end}, found address {address}")
            }
        }
    }
}

impl From<TileError> for Why {
    fn from(error: TileError) -> Why {
        Why::Tile(error)
    }
}
