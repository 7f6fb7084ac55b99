//! Which texels a fetch reads, and with which weights.

use super::cube::face;
use super::description::{Addressing, Filter, Texture};
use super::image::Image;
use super::levels::{Chosen, MAX_DETAILS, choose};
use crate::isa::{Geometry, TextureFetch};

/// Most texels of a fetch: a linear filter in three dimensions, in two levels of detail.
pub const MAX_TEXELS: usize = 16;

/// The texels that a lane's fetch reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// Texels: of each level 1, or 2, 4, 8. Bits 0, 1 and 2 of a texel's number say whether it is the second along x, y and z.
    /// Those of a second level stand behind those of the first.
    pub texels: u8,
    /// Levels that are blended: 1 or 2.
    pub levels: u8,
    /// The weight of the second in 256ths, 1 to 255.
    pub blend: u8,
    /// Bytes of a texel.
    pub bytes: u8,
    /// Bit n: texel n lies inside and is read; others are of the border's colour.
    pub inside: u16,
    /// Of each level along each axis, the weight of the second texel in 256ths, 0 to 255.
    pub weights: [[u8; 3]; 2],
    /// Addresses of the texels inside.
    pub addresses: [u64; MAX_TEXELS],
}

impl Footprint {
    /// Nothing read.
    pub const EMPTY: Footprint = Footprint {
        texels: 0,
        levels: 1,
        blend: 0,
        bytes: 0,
        inside: 0,
        weights: [[0; 3]; 2],
        addresses: [0; MAX_TEXELS],
    };

    /// Texels of each level.
    pub fn of_each(&self) -> usize {
        usize::from(self.texels / self.levels)
    }
}

/// Two neighbours along an axis: none where the border is.
#[derive(Clone, Copy, Default)]
struct Pair {
    texels: [Option<u32>; 2],
    weight: u8,
}

/// Places beyond this are all alike: further than any texture reaches, and exact in what follows.
const FAR: f64 = (1u64 << 40) as f64;

/// Where one coordinate points along an axis of `size` texels.
///
/// CUDA C++ Programming Guide, "Linear Filtering": the neighbours of x are those of x - 1/2, and the weight of the second
/// is its fraction in a fixed-point number with 8 bits of fraction, rounded to the nearest as on a GPU. Integer coordinates
/// beyond the edge read nothing there.
fn along(bits: u32, size: u32, beyond: Addressing, texture: &Texture, fetch: &TextureFetch) -> Pair {
    let one = |texel: i64| Pair { texels: [place(texel, size, beyond), None], weight: 0 };
    if fetch.integer {
        let texel = place((bits as i32).into(), size, Addressing::Border);
        return Pair { texels: [texel, None], weight: 0 };
    }
    let x = f64::from(f32::from_bits(bits));
    let x = if x.is_nan() { 0.0 } else { x.clamp(-FAR, FAR) };
    let x = match beyond {
        Addressing::Wrap => x - x.floor(),
        Addressing::Mirror if x.floor().rem_euclid(2.0) == 0.0 => x - x.floor(),
        Addressing::Mirror => 1.0 - (x - x.floor()),
        Addressing::Clamp | Addressing::Border => x,
    };
    let x = if texture.normalized { x * f64::from(size) } else { x };
    if texture.filter == Filter::Point && fetch.gather.is_none() {
        return one(x.floor() as i64);
    }
    let fixed = ((x - 0.5) * 256.0 + 0.5).floor() as i64;
    let first = fixed >> 8;
    Pair { texels: [place(first, size, beyond), place(first + 1, size, beyond)], weight: fixed as u8 }
}

/// The texel of a number along an axis; none on the border.
fn place(texel: i64, size: u32, beyond: Addressing) -> Option<u32> {
    let size = i64::from(size);
    Some(match beyond {
        Addressing::Wrap => texel.rem_euclid(size),
        // A mirrored coordinate lies between 0 and the size; what is half a texel outside is its own mirror image.
        Addressing::Clamp | Addressing::Mirror => texel.clamp(0, size - 1),
        Addressing::Border => (0..size).contains(&texel).then_some(texel)?,
    } as u32)
}

/// The texels that a fetch reads. `coordinates` are the instruction's, a layer's number first, and `details` what chooses its
/// level.
///
/// The texture has the fetch's geometry.
pub fn footprint(
    texture: &Texture,
    fetch: &TextureFetch,
    coordinates: [u32; 4],
    details: [u32; MAX_DETAILS],
) -> Footprint {
    let mut found = Footprint { bytes: texture.image.format.bytes() as u8, ..Footprint::EMPTY };
    if texture.levels.count == 1 {
        in_level(texture, &texture.image, fetch, coordinates, &mut found, 0);
        return found;
    }
    let Chosen { first, blend } = choose(texture, fetch, coordinates, details);
    in_level(texture, &texture.image.level(first), fetch, coordinates, &mut found, 0);
    if blend != 0 {
        (found.levels, found.blend) = (2, blend);
        in_level(texture, &texture.image.level(first + 1), fetch, coordinates, &mut found, 1);
    }
    found
}

/// Adds the texels of a level, which is the first or the second.
fn in_level(
    texture: &Texture,
    image: &Image,
    fetch: &TextureFetch,
    coordinates: [u32; 4],
    found: &mut Footprint,
    second: usize,
) {
    let Image { width, height, depth, geometry, .. } = *image;
    let [a, b, c, d] = coordinates;
    let (x, y, z, layer) = match geometry {
        Geometry::D1 => (a, 0, 0, 0),
        Geometry::D2 => (a, b, 0, 0),
        Geometry::D3 => (a, b, c, 0),
        // The number of a layer is clamped (CUDA C++ Programming Guide, "Layered Textures").
        Geometry::Layers1 => (b, 0, 0, a.min(depth - 1)),
        Geometry::Layers2 => (b, c, 0, a.min(depth - 1)),
        Geometry::Cube => {
            let (face, [s, t]) = face([a, b, c]);
            (s, t, 0, face)
        }
        Geometry::Cubes => {
            let (face, [s, t]) = face([b, c, d]);
            (s, t, 0, 6 * a.min(depth / 6 - 1) + face)
        }
    };
    let whole = |n: u32| Pair { texels: [Some(n), None], weight: 0 };
    let layers = if geometry == Geometry::Cubes { depth / 6 } else { depth };
    let is_layered = matches!(geometry, Geometry::Layers1 | Geometry::Layers2 | Geometry::Cubes);
    // With integer coordinates a layer is not clamped.
    let exists = !(fetch.integer && is_layered && a >= layers);
    let axes = geometry.axes();
    let pair = |axis: usize, bits: u32, size: u32| {
        along(bits, size, texture.beyond(axis, fetch.integer), texture, fetch)
    };
    let x = pair(0, x, width);
    let y = if axes > 1 { pair(1, y, height) } else { whole(0) };
    let z = if axes > 2 { pair(2, z, depth) } else { whole(layer) };
    let blends = !fetch.integer && (texture.filter == Filter::Linear || fetch.gather.is_some());
    let bytes = u64::from(found.bytes);
    let texels = if blends { 1 << axes } else { 1 };
    let before = second * texels;
    found.texels = (before + texels) as u8;
    found.weights[second] = [x.weight, y.weight, z.weight];
    for texel in 0..texels {
        let side = |pair: Pair, axis: usize| pair.texels[texel >> axis & 1];
        if let (true, Some(x), Some(y), Some(z)) = (exists, side(x, 0), side(y, 1), side(z, 2)) {
            found.inside |= 1 << (before + texel);
            found.addresses[before + texel] = image.address(u64::from(x) * bytes, y, z);
        }
    }
}
