//! Where a surface access goes.

use super::image::Image;
use crate::isa::{Geometry, Outside, SurfaceMode};

/// Why a surface access goes nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// Beyond the edge, and the instruction says that this stops the kernel.
    Trap,
    /// The byte in the row is not a multiple of the access's size.
    Misaligned {
        /// The byte.
        byte: u64,
    },
}

/// Address of a lane's access; none where it is left out. `coordinates` are the instruction's, a layer's number first.
///
/// # Errors
/// Why the kernel stops.
pub fn place(image: &Image, mode: &SurfaceMode, coordinates: [u32; 4]) -> Result<Option<u64>, Beyond> {
    let [a, b, c, _] = coordinates;
    let signed = |word: u32| i64::from(word as i32);
    let (x, y, z) = match mode.geometry {
        Geometry::D1 => (signed(a), 0, 0),
        Geometry::D2 => (signed(a), signed(b), 0),
        Geometry::D3 => (signed(a), signed(b), signed(c)),
        Geometry::Layers1 => (signed(b), 0, i64::from(a)),
        Geometry::Layers2 | Geometry::Cube | Geometry::Cubes => (signed(b), signed(c), i64::from(a)),
    };
    let bytes = mode.bytes() as i64;
    let (row, height, depth) = (image.row_bytes() as i64, i64::from(image.height), i64::from(image.depth));
    let inside = x >= 0 && x + bytes <= row && (0..height).contains(&y) && (0..depth).contains(&z);
    let (x, y, z) = match mode.outside {
        _ if inside => (x, y, z),
        Outside::Trap => return Err(Beyond::Trap),
        Outside::Zero => return Ok(None),
        // A row narrower than the access has no place for it.
        Outside::Clamp if row < bytes => return Err(Beyond::Trap),
        Outside::Clamp => {
            let last = (row - bytes) / bytes * bytes;
            (x.clamp(0, last), y.clamp(0, height - 1), z.clamp(0, depth - 1))
        }
    };
    if x % bytes != 0 {
        return Err(Beyond::Misaligned { byte: x as u64 });
    }
    Ok(Some(image.address(x as u64, y as u32, z as u32)))
}
