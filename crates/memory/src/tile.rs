//! Tiles of global memory that lie densely in a scratchpad: what a program says of one, and translation between offsets in
//! the scratchpad and in global memory (Komuravelli et al., "Stash", ISCA 2015, 3.1, Fig. 2, 4.1.3).
//!
//! Readings, where the paper is silent: `rowSize` counts objects, all other sizes are bytes, and `strideSize` means nothing
//! for a single row. A field is a number of words; arrays of smaller scalars are words if a row is a number of words. The six
//! operations of a translation (details in its reference 24) are two divisions, two products and two sums, with both gaps
//! precomputed.

use std::fmt;

/// Bytes of a word.
pub const WORD: u64 = 4;

/// What a program says of a tile (Fig. 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// First byte in the scratchpad.
    pub stash_base: u64,
    /// First byte in global memory: that of the field in the tile's first object.
    pub global_base: u64,
    /// Bytes of the field.
    pub field_size: u64,
    /// Bytes of the object. Equal to the field's for arrays of scalars.
    pub object_size: u64,
    /// Objects in a row of the tile.
    pub row_size: u64,
    /// Bytes from the beginning of a row to that of the next one. Means nothing for a single row.
    pub stride_size: u64,
    /// Rows of the tile.
    pub num_strides: u64,
    /// Whether others see what is written. Means nothing for a copy.
    pub is_coherent: bool,
}

/// Why there cannot be a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TileError {
    /// A parameter that must not be zero is.
    Zero {
        /// The parameter's name in Fig. 2.
        parameter: &'static str,
    },
    /// A size or stride is not a number of words.
    NotWords {
        /// The parameter's name in Fig. 2.
        parameter: &'static str,
        /// Its value in bytes.
        found: u64,
    },
    /// The field does not fit into its object.
    FieldLargerThanObject {
        /// Bytes of the field.
        field: u64,
        /// Bytes of the object.
        object: u64,
    },
    /// A row begins before the one before has ended.
    RowsOverlap {
        /// Bytes from row to row.
        stride: u64,
        /// Bytes of a row.
        row: u64,
    },
    /// The tile has more bytes than addresses can count.
    TooLarge,
}

impl fmt::Display for TileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TileError::Zero { parameter } => write!(f, "{parameter} must be at least 1, found 0"),
            TileError::NotWords { parameter, found } => {
                write!(f, "{parameter} must be a multiple of 4 bytes, found {found}")
            }
            TileError::FieldLargerThanObject { field, object } => {
                write!(f, "fieldSize must be at most objectSize ({object}), found {field}")
            }
            TileError::RowsOverlap { stride, row } => {
                write!(f, "strideSize must be at least a row of objects ({row} bytes), found {stride}")
            }
            TileError::TooLarge => write!(f, "the tile must have fewer than 2^62 bytes"),
        }
    }
}

impl std::error::Error for TileError {}

/// A tile of global memory, with everything that translation needs precomputed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Bytes of the field.
    field: u64,
    /// Bytes of the object.
    object: u64,
    /// Bytes of a row in the scratchpad.
    row: u64,
    /// Bytes of a row in global memory that belong to no field: added for each object before.
    object_gap: u64,
    /// Bytes from the end of a row's last object to the next row. Rows may not overlap, so it is not negative.
    row_gap: u64,
    /// Bytes from the beginning of a row to that of the next one.
    stride: u64,
    /// Rows.
    rows: u64,
}

impl Tile {
    /// The tile of a mapping, or why there cannot be one.
    pub fn new(mapping: &Mapping) -> Result<Tile, TileError> {
        let Mapping { mut field_size, mut object_size, mut row_size, stride_size, num_strides, .. } =
            *mapping;
        for (name, value) in [
            ("fieldSize", field_size),
            ("objectSize", object_size),
            ("rowSize", row_size),
            ("numStrides", num_strides),
        ] {
            if value == 0 {
                return Err(TileError::Zero { parameter: name });
            }
        }
        let span = object_size.checked_mul(row_size).ok_or(TileError::TooLarge)?;
        // Scalars of less than a word: the same bytes as an array of words.
        if field_size == object_size && span.is_multiple_of(WORD) {
            (field_size, object_size, row_size) = (WORD, WORD, span / WORD);
        }
        let stride = if num_strides == 1 { span } else { stride_size };
        for (name, value) in [("fieldSize", field_size), ("objectSize", object_size), ("strideSize", stride)]
        {
            if !value.is_multiple_of(WORD) {
                return Err(TileError::NotWords { parameter: name, found: value });
            }
        }
        if field_size > object_size {
            return Err(TileError::FieldLargerThanObject { field: field_size, object: object_size });
        }
        let row_gap = stride.checked_sub(span).ok_or(TileError::RowsOverlap { stride, row: span })?;
        let tile = Tile {
            field: field_size,
            object: object_size,
            row: field_size * row_size,
            object_gap: object_size - field_size,
            row_gap,
            stride,
            rows: num_strides,
        };
        let fits = |each: u64| each.checked_mul(num_strides).is_some_and(|bytes| bytes < 1 << 62);
        if fits(stride) { Ok(tile) } else { Err(TileError::TooLarge) }
    }

    /// Bytes in the scratchpad.
    pub const fn stash_bytes(&self) -> u64 {
        self.row * self.rows
    }

    /// Bytes of global memory from the first to the last byte of the tile.
    pub const fn global_bytes(&self) -> u64 {
        self.global_offset(self.stash_bytes() - 1) + 1
    }

    /// Scratchpad to global, for an offset below [`Tile::stash_bytes`]: six arithmetic operations (4.1.3).
    pub const fn global_offset(&self, offset: u64) -> u64 {
        let objects = offset / self.field;
        let rows = offset / self.row;
        offset + objects * self.object_gap + rows * self.row_gap
    }

    /// Global to scratchpad; `None` if the byte is in no field of the tile (4.3, "Remote requests").
    pub const fn stash_offset(&self, offset: u64) -> Option<u64> {
        // Most addresses that are looked for lie outside.
        if offset >= self.rows * self.stride {
            return None;
        }
        let row = offset / self.stride;
        let in_row = offset - row * self.stride;
        let object = in_row / self.object;
        let in_object = in_row - object * self.object;
        let in_stash = object * self.field + in_object;
        if in_object < self.field && in_stash < self.row { Some(row * self.row + in_stash) } else { None }
    }

    /// The pages that the tile has words in, in rising order: calls `visit` with each page's number once.
    pub fn pages(&self, global_base: u64, page_bytes: u64, mut visit: impl FnMut(u64)) {
        let mut last = None;
        let mut offset = 0;
        while offset < self.stash_bytes() {
            let address = global_base + self.global_offset(offset);
            let page = address / page_bytes;
            if last != Some(page) {
                visit(page);
                last = Some(page);
            }
            offset = self.first_offset_from((page + 1) * page_bytes - global_base, offset);
        }
    }

    /// Global offsets of the fields that follow each other without a gap: where each such run of bytes begins, and its
    /// length.
    pub fn runs(&self) -> impl Iterator<Item = (u64, u64)> + use<> {
        let tile = *self;
        let whole_rows = self.object_gap == 0;
        let run = if whole_rows { self.row } else { self.field };
        (0..self.stash_bytes() / run).map(move |number| (tile.global_offset(number * run), run))
    }

    /// The first stash offset after `offset` whose word lies at `global` or behind it.
    fn first_offset_from(&self, global: u64, offset: u64) -> u64 {
        let (mut low, mut high) = (offset + WORD, self.stash_bytes());
        while low < high {
            let middle = (low + high) / 2 / WORD * WORD;
            if self.global_offset(middle) < global { low = middle + WORD } else { high = middle }
        }
        low
    }
}
