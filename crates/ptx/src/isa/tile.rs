//! Tiles of global memory that a CTA maps to its shared memory, or copies there and back (Komuravelli et al., "Stash",
//! ISCA 2015, 3.1 and 5.3). [PTX](../../../../docs/ptx.md) has the functions that programs call.

use super::operands::{Width, Widths};

/// Mappings that a CTA may add (Stash 4.1.2).
pub const MAPS_PER_CTA: usize = 4;
/// Bytes of a chunk: a mapping begins on one, and shares none with another (Stash 4.2 and its footnote 4).
pub const CHUNK_BYTES: u32 = 64;
/// Where a shared address names its mapping, as 1 + its index; 0 names none (Stash 3.2, the first encoding).
pub const MAP_SHIFT: u32 = 28;
/// The first address of shared memory that names a mapping.
pub const MAPPED: u64 = 1 << MAP_SHIFT;

/// An operation of a CTA on a tile. The operands of the first active lane count: src0 is the tile's first byte in shared
/// memory, src1 (64 bits) in global memory, src2 to src6 the bytes of field and object, objects of a row, bytes from row to
/// row, rows. Mappings add src7 (whether others see what is written), [`TileOp::ChgMap`] src8 (which mapping).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TileOp {
    /// Adds the CTA's next mapping.
    AddMap,
    /// Changes one.
    ChgMap,
    /// Copies the tile to shared memory.
    DmaLoad,
    /// Copies it back.
    DmaStore,
}

impl TileOp {
    /// All of them.
    pub const ALL: [TileOp; 4] = [TileOp::AddMap, TileOp::ChgMap, TileOp::DmaLoad, TileOp::DmaStore];

    /// The function by which programs call it.
    pub const fn function(self) -> &'static str {
        match self {
            TileOp::AddMap => "stash_add_map",
            TileOp::ChgMap => "stash_chg_map",
            TileOp::DmaLoad => "dma_load",
            TileOp::DmaStore => "dma_store",
        }
    }

    /// The operation that a function stands for.
    pub fn of_function(name: &str) -> Option<TileOp> {
        TileOp::ALL.into_iter().find(|op| op.function() == name)
    }

    /// Whether it is a mapping.
    pub const fn maps(self) -> bool {
        matches!(self, TileOp::AddMap | TileOp::ChgMap)
    }

    /// The widths of its sources.
    pub const fn sources(self) -> Widths {
        let numbers = match self {
            TileOp::AddMap => 6,
            TileOp::ChgMap => 7,
            TileOp::DmaLoad | TileOp::DmaStore => 5,
        };
        Widths::of(Width::Rows(1), 1).then(Width::Rows(2), 1).then(Width::Rows(1), numbers)
    }

    /// Bytes of the function's parameters in order. `stash_chg_map` takes the index first.
    pub fn parameters(self) -> Vec<u64> {
        let sources = self.sources();
        let mut bytes: Vec<u64> =
            (0..sources.count()).map(|slot| 4 * sources.width(slot).rows() as u64).collect();
        if self == TileOp::ChgMap {
            bytes.rotate_right(1);
        }
        bytes
    }
}

/// The operands of an operation on a tile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TileOperands {
    /// First byte in the CTA's shared memory.
    pub shared_base: u32,
    /// First byte in global memory: that of the field in the tile's first object.
    pub global_base: u64,
    /// Bytes of the field.
    pub field: u32,
    /// Bytes of the object.
    pub object: u32,
    /// Objects in a row.
    pub row: u32,
    /// Bytes from the beginning of a row to that of the next.
    pub stride: u32,
    /// Rows.
    pub rows: u32,
    /// Whether others see what is written, for a mapping.
    pub is_coherent: bool,
    /// Of [`TileOp::ChgMap`]: the mapping.
    pub index: u32,
}

impl TileOperands {
    /// From the value of each source; `value(slot, half)` gives its words.
    pub fn of(op: TileOp, mut value: impl FnMut(usize, usize) -> u32) -> TileOperands {
        TileOperands {
            shared_base: value(0, 0),
            global_base: u64::from(value(1, 1)) << 32 | u64::from(value(1, 0)),
            field: value(2, 0),
            object: value(3, 0),
            row: value(4, 0),
            stride: value(5, 0),
            rows: value(6, 0),
            is_coherent: op.maps() && value(7, 0) != 0,
            index: if op == TileOp::ChgMap { value(8, 0) } else { 0 },
        }
    }
}
