//! From the bytes of texels to the results of a fetch.

use half::f16;

use super::description::Texture;
use super::format::MAX_TEXEL_BYTES;
use super::sample::{Footprint, MAX_TEXELS};
use crate::isa::{TextureFetch, Ty};

/// The order of `tld4`'s results: counter-clockwise from the lower left, y growing downwards.
const GATHERED: [usize; 4] = [0b10, 0b11, 0b01, 0b00];

/// The results of a lane's fetch, as its registers hold them; `texels[n]` are the bytes of texel n where it lies inside.
///
/// Filtering is the sum of the Programming Guide with weights of 256ths, computed in f64 (each product is exact) and
/// rounded once to f32.
pub fn resolve(
    texture: &Texture,
    fetch: &TextureFetch,
    footprint: &Footprint,
    texels: &[[u8; MAX_TEXEL_BYTES]; MAX_TEXELS],
) -> [u32; 4] {
    let format = texture.image.format;
    let inside = |texel: usize| footprint.inside >> texel & 1 == 1;
    let number = |texel: usize, channel: usize| match inside(texel) {
        true => format.number(&texels[texel], channel),
        false => texture.border[channel],
    };
    let floats = texture.gives_floats();
    let value = |texel: usize, channel: usize| match (floats, inside(texel)) {
        (true, _) => number(texel, channel).to_bits(),
        (false, true) => format.element(&texels[texel], channel),
        (false, false) => 0,
    };
    let results: [u32; 4] = if let Some(channel) = fetch.gather {
        GATHERED.map(|texel| value(texel, channel.into()))
    } else if footprint.texels == 1 {
        std::array::from_fn(|channel| value(0, channel))
    } else {
        std::array::from_fn(|channel| {
            let sum: f64 = (0..usize::from(footprint.texels))
                .map(|texel| weight(footprint, texel) * f64::from(number(texel, channel)))
                .sum();
            (sum as f32).to_bits()
        })
    };
    let half = |n: usize| {
        let bits = results[n];
        if floats { f16::from_f32(f32::from_bits(bits)).to_bits().into() } else { bits & 0xffff }
    };
    match fetch.result {
        Ty::F16 => std::array::from_fn(half),
        Ty::F16x2 => [half(1) << 16 | half(0), half(3) << 16 | half(2), 0, 0],
        _ => results,
    }
}

/// The weight of a texel: its level's, times the product over the axes along which the footprint has two.
fn weight(footprint: &Footprint, texel: usize) -> f64 {
    let each = footprint.of_each();
    let (level, texel) = (texel / each, texel % each);
    let of_two = |weight: u8, is_second: bool| {
        let second = f64::from(weight) / 256.0;
        if is_second { second } else { 1.0 - second }
    };
    let axes = each.trailing_zeros() as usize;
    let within: f64 =
        (0..axes).map(|axis| of_two(footprint.weights[level][axis], texel >> axis & 1 == 1)).product();
    within * of_two(footprint.blend, level == 1)
}
