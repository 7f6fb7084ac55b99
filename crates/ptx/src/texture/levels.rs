//! Levels of detail: which one a fetch reads, or which two it blends.
//!
//! The CUDA guide says what the settings of a texture's levels mean (CUDA Driver API, `CUDA_TEXTURE_DESC`): a bias is added to the
//! level, what results is clamped, and the nearest level is read or the two around it are blended. How derivatives make a level is
//! that of OpenGL (4.6, "Scale Factor and Level-of-Detail"), which CUDA shares the hardware with: the logarithm of the longer of
//! the two vectors of derivatives, in texels of the first level.

use super::cube::face_derivative;
use super::description::{Filter, Texture};
use crate::isa::{Detail, TextureFetch};

/// Most sources of a fetch that choose its level: the derivatives of three coordinates in two directions.
pub const MAX_DETAILS: usize = 6;

/// The level that is read, and the weight of the next in 256ths; it is not read where that is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chosen {
    pub first: u32,
    pub blend: u8,
}

/// The levels that a fetch reads.
pub(super) fn choose(
    texture: &Texture,
    fetch: &TextureFetch,
    coordinates: [u32; 4],
    details: [u32; MAX_DETAILS],
) -> Chosen {
    let levels = &texture.levels;
    let wanted = match fetch.detail {
        // PTX ISA, "tex": without a level, the first.
        Detail::Base => return Chosen { first: 0, blend: 0 },
        Detail::Level if fetch.integer => f64::from(details[0] as i32),
        Detail::Level => f64::from(f32::from_bits(details[0])),
        Detail::Gradients => of_gradients(texture, fetch, coordinates, details),
    };
    let biased = wanted + f64::from(levels.bias);
    let biased = if biased.is_nan() { 0.0 } else { biased };
    let clamped = biased.max(levels.least.into()).min(levels.most.into());
    let level = clamped.clamp(0.0, f64::from(levels.count - 1));
    match levels.filter {
        // ASSUMED: half-way between two levels, the higher; the weight of a level has 8 bits, as that of a texel.
        Filter::Point => Chosen { first: (level + 0.5).floor() as u32, blend: 0 },
        Filter::Linear => {
            let fixed = (level * 256.0).round() as u32;
            Chosen { first: fixed >> 8, blend: fixed as u8 }
        }
    }
}

/// The level of two vectors of derivatives.
fn of_gradients(
    texture: &Texture,
    fetch: &TextureFetch,
    coordinates: [u32; 4],
    details: [u32; MAX_DETAILS],
) -> f64 {
    let geometry = fetch.geometry;
    let count = geometry.derivatives();
    let sides = [texture.image.width, texture.image.height, texture.image.depth].map(f64::from);
    let squared = |of: &[u32]| -> f64 {
        let number = |n: usize| of.get(n).map_or(0.0, |bits| f32::from_bits(*bits));
        let derivative = [0, 1, 2].map(number);
        let along = if geometry.is_cube() {
            let first = usize::from(geometry.is_layered());
            let direction = std::array::from_fn(|n| coordinates[first + n]);
            let [s, t] = face_derivative(direction, derivative);
            [s, t, 0.0]
        } else {
            derivative.map(f64::from)
        };
        along.iter().zip(sides).map(|(along, side)| (along * side).powi(2)).sum()
    };
    let longer = squared(&details[..count]).max(squared(&details[count..2 * count]));
    longer.log2() / 2.0
}
