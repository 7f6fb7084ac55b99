//! From the bytes of texels to the results of a fetch.

use half::f16;

use super::description::{Addressing, Texture};
use super::format::MAX_TEXEL_BYTES;
use super::sample::{Footprint, MAX_TEXELS};
use crate::isa::{TextureFetch, Ty};

/// The order of `tld4`'s results: counter-clockwise from the lower left, y growing downwards.
const GATHERED: [usize; 4] = [0b10, 0b11, 0b01, 0b00];

/// The results of a lane's fetch, as its registers hold them; `texels[n]` are the bytes of texel n where it lies inside.
///
/// Filtering is the sum of the Programming Guide with weights of 256ths, rounded as a GPU rounds them, computed in f64 (each
/// product is exact) and rounded once to f32.
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
        // Beyond the edge integer coordinates have a colour only where there is a border.
        false if fetch.integer && !texture.addressing.contains(&Addressing::Border) => 0.0,
        false => format.border(texture.border, channel),
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
        let weights = weights(footprint);
        std::array::from_fn(|channel| {
            let sum: f64 = (0..usize::from(footprint.texels))
                .map(|texel| weights[texel] * f64::from(number(texel, channel)))
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

/// The weights of a footprint's texels: their level's, times those within it.
fn weights(footprint: &Footprint) -> [f64; MAX_TEXELS] {
    let each = footprint.of_each();
    let mut weights = [0.0; MAX_TEXELS];
    for level in 0..usize::from(footprint.levels) {
        let blend = f64::from(footprint.blend) / 256.0;
        let blend = if level == 1 { blend } else { 1.0 - blend };
        let within = weights_within(footprint.weights[level], each);
        for (weight, within) in weights[level * each..].iter_mut().zip(within).take(each) {
            *weight = blend * f64::from(within) / 256.0;
        }
    }
    weights
}

/// The weights in 256ths of 2, 4 or 8 texels around a place, whose second texels have `fractions` along x, y and z. A GPU
/// shares 256 out along z, the shares along x and those along y, each time in whole 256ths; which of two is rounded, and leaves
/// the other the rest, was found from what a GPU filters.
fn weights_within(fractions: [u8; 3], texels: usize) -> [u32; 8] {
    let [x, y, z] = fractions.map(u32::from);
    let part = |whole: u32, fraction: u32| (whole * fraction + 128) >> 8;
    let mut weights = [0; 8];
    let along_z = if texels == 8 { [256 - z, z] } else { [256, 0] };
    for (weights, whole) in weights.chunks_exact_mut(4).zip(along_z) {
        let second = part(whole, x);
        let first = whole - second;
        if texels == 2 {
            (weights[0], weights[1]) = (first, second);
            continue;
        }
        weights[0] = part(first, 256 - y);
        weights[2] = first - weights[0];
        weights[3] = part(second, y);
        weights[1] = second - weights[3];
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::weights_within;

    #[test]
    fn weights_are_those_that_a_gpu_was_seen_to_use() {
        // Solved for from four channels of a fetch.
        for (fractions, weights) in [
            ([145, 164, 183], [12, 15, 20, 26, 28, 37, 51, 67]),
            ([120, 196, 240], [2, 2, 6, 6, 30, 26, 97, 87]),
            ([217, 101, 128], [12, 66, 7, 43, 12, 66, 7, 43]),
            ([247, 128, 54], [4, 97, 3, 98, 1, 26, 1, 26]),
            ([225, 176, 189], [3, 18, 5, 41, 7, 52, 16, 114]),
            ([3, 205, 57], [39, 0, 158, 2, 11, 0, 45, 1]),
        ] {
            assert_eq!(weights_within(fractions, 8), weights, "{fractions:?}");
        }
        for (fractions, weights) in [
            ([14, 64, 0], [182, 10, 60, 4]),
            ([4, 221, 0], [34, 1, 218, 3]),
            ([117, 27, 0], [124, 105, 15, 12]),
            ([129, 57, 0], [99, 100, 28, 29]),
        ] {
            assert_eq!(weights_within(fractions, 4)[..4], weights, "{fractions:?}");
        }
        assert_eq!(weights_within([77, 0, 0], 2)[..2], [179, 77]);
    }

    #[test]
    fn weights_share_out_the_whole() {
        for fractions in (0..=255).flat_map(|x| [0, 1, 100, 128, 255].map(|y| [x, y, x ^ y])) {
            for texels in [2, 4, 8] {
                let sum: u32 = weights_within(fractions, texels).iter().sum();
                assert_eq!(sum, 256, "{fractions:?}");
            }
        }
    }
}
