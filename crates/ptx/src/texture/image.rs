//! Where texels lie in memory.

use super::format::Format;
use crate::isa::Geometry;

/// Bytes of a row of a block.
const BLOCK_ROW_BYTES: u64 = 64;
/// Rows of a block.
const BLOCK_ROWS: u64 = 8;
/// Bytes of a block.
const BLOCK_BYTES: u64 = BLOCK_ROW_BYTES * BLOCK_ROWS;

/// Alignment of a level of detail and, where levels have rows, of each. CUDA Driver API,
/// `CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT`.
const LEVEL_ALIGN: u64 = 512;

/// Most texels along an axis, but of linear memory. CUDA C++ Programming Guide, "Technical Specifications": the widest
/// texture bound to an array of compute capability 8.0.
const MAX_SIDE: u32 = 131_072;
/// Most texels of linear memory (same table).
const MAX_LINEAR: u32 = 1 << 28;
/// Most layers of an array (same table), and faces of cubes.
const MAX_LAYERS: u32 = 2048 * 6;

/// How texels are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// One row of linear memory: a fetch beyond its end reads zeros, whatever the addressing mode.
    Linear,
    /// Rows so many bytes apart.
    Rows {
        /// From the beginning of a row to that of the next.
        pitch: u64,
    },
    /// Blocks of 64 bytes by 8 rows, in the order of rows. A block holds 16 bytes by two rows one after the other: NVIDIA's
    /// block-linear layout with blocks one GOB high (Tegra X1 Technical Reference Manual, "Block Linear").
    Blocks,
}

/// Texels in memory: what textures and surfaces are made on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Image {
    /// Address of the first byte, a multiple of 16.
    pub base: u64,
    /// The texels.
    pub format: Format,
    /// How they are addressed.
    pub geometry: Geometry,
    /// Texels of a row.
    pub width: u32,
    /// Rows; 1 where there is one axis.
    pub height: u32,
    /// Slices of a volume, layers of an array, faces of cubes; 1 elsewhere.
    pub depth: u32,
    /// Where they are.
    pub layout: Layout,
}

impl Image {
    /// Bytes of a row's texels.
    pub fn row_bytes(&self) -> u64 {
        u64::from(self.width) * self.format.bytes() as u64
    }

    /// Bytes of a slice, all padding included.
    fn slice_bytes(&self) -> u64 {
        match self.layout {
            Layout::Linear => self.row_bytes(),
            Layout::Rows { pitch } => pitch * u64::from(self.height),
            Layout::Blocks => {
                self.blocks_across() * u64::from(self.height).div_ceil(BLOCK_ROWS) * BLOCK_BYTES
            }
        }
    }

    /// Level `n` of detail of an array that has several: half as many texels along each axis of what it has as the level before,
    /// and one at least, in memory behind that one. Layers and faces are those of the first.
    pub fn level(&self, n: u32) -> Image {
        let mut level = *self;
        for _ in 0..n {
            level.base += level.bytes().next_multiple_of(LEVEL_ALIGN);
            level.width = (level.width / 2).max(1);
            level.height = (level.height / 2).max(1);
            if self.geometry == Geometry::D3 {
                level.depth = (level.depth / 2).max(1);
            }
            if let Layout::Rows { pitch } = &mut level.layout {
                *pitch = (u64::from(level.width) * self.format.bytes() as u64).next_multiple_of(LEVEL_ALIGN);
            }
        }
        level
    }

    /// Most levels of detail that it can have: until one texel is left along every axis.
    pub fn most_levels(&self) -> u32 {
        let depth = if self.geometry == Geometry::D3 { self.depth } else { 1 };
        u32::BITS - self.width.max(self.height).max(depth).leading_zeros()
    }

    fn blocks_across(&self) -> u64 {
        self.row_bytes().div_ceil(BLOCK_ROW_BYTES)
    }

    /// Bytes from the base to the end of the last texel.
    pub fn bytes(&self) -> u64 {
        match self.layout {
            // The last row need not be there to its pitch's end.
            Layout::Rows { pitch } => {
                let rows = u64::from(self.height).saturating_mul(u64::from(self.depth));
                rows.saturating_sub(1).saturating_mul(pitch).saturating_add(self.row_bytes())
            }
            _ => self.slice_bytes() * u64::from(self.depth),
        }
    }

    /// Address of a byte of a row. It and the bytes up to the next multiple of 16 lie together.
    ///
    /// The coordinates lie inside; else the address means nothing.
    #[inline]
    pub fn address(&self, x_bytes: u64, y: u32, z: u32) -> u64 {
        let (y, z) = (u64::from(y), u64::from(z));
        self.base
            + match self.layout {
                Layout::Linear => x_bytes,
                Layout::Rows { pitch } => (z * u64::from(self.height) + y) * pitch + x_bytes,
                Layout::Blocks => {
                    let block = y / BLOCK_ROWS * self.blocks_across() + x_bytes / BLOCK_ROW_BYTES;
                    let (x, y) = (x_bytes % BLOCK_ROW_BYTES, y % BLOCK_ROWS);
                    // Of a GOB's nine bits those of x are 8, 5 and 3 to 0, those of y are 7, 6 and 4.
                    let inside = x / 32 * 256 + y / 2 * 64 + x / 16 % 2 * 32 + y % 2 * 16 + x % 16;
                    z * self.slice_bytes() + block * BLOCK_BYTES + inside
                }
            }
    }

    /// Whether there can be such an image; a sentence says why not.
    ///
    /// # Errors
    /// The side or alignment that is wrong, what was found and what was expected.
    pub fn check(&self) -> Result<(), String> {
        let Image { width, height, depth, geometry, format, base, .. } = *self;
        let within = |name: &str, value: u32, most: u32| match (1..=most).contains(&value) {
            true => Ok(()),
            false => Err(format!("{name}: found {value}, expected 1 to {most}")),
        };
        within("width", width, if self.layout == Layout::Linear { MAX_LINEAR } else { MAX_SIDE })?;
        within("height", height, if geometry.axes() == 1 { 1 } else { MAX_SIDE })?;
        let flat = matches!(geometry, Geometry::D1 | Geometry::D2);
        within("depth or layers", depth, if flat { 1 } else { MAX_LAYERS.max(MAX_SIDE) })?;
        if !matches!(format.channels, 1 | 2 | 4) {
            return Err(format!("channels: found {}, expected 1, 2 or 4", format.channels));
        }
        if geometry.is_cube() && (width != height || !depth.is_multiple_of(6)) {
            return Err(format!(
                "cube: found faces of {width} by {height} and {depth} layers, expected squares and a multiple of six"
            ));
        }
        if geometry == Geometry::Cube && depth != 6 {
            return Err(format!("cube: found {depth} layers, expected 6"));
        }
        if self.layout == Layout::Linear && geometry != Geometry::D1 {
            return Err(format!("linear memory: found geometry {}, expected 1d", geometry.word()));
        }
        if !base.is_multiple_of(16) {
            return Err(format!("address: found {base:#x}, expected a multiple of 16"));
        }
        if let Layout::Rows { pitch } = self.layout
            && (pitch < self.row_bytes() || !pitch.is_multiple_of(16) || pitch > 1 << 32)
        {
            return Err(format!(
                "pitch: found {pitch}, expected a multiple of 16 of at least {} bytes",
                self.row_bytes()
            ));
        }
        let bytes = u128::from(self.slice_bytes()) * u128::from(depth);
        if bytes > 1 << 40 || u128::from(base) + bytes > 1 << 48 {
            return Err(format!("size: found {bytes} bytes, expected at most {} bytes", 1u64 << 40));
        }
        Ok(())
    }
}
