//! Layouts, formats and weights by themselves. Whole fetches are tested on both executors, `gpu/tests/machine/textures`.

use std::collections::BTreeSet;

use super::*;
use crate::isa::{Detail, Geometry, TextureFetch, Ty};

const F32: Format = Format { channel: Channel::F32, channels: 1 };

fn image(geometry: Geometry, [width, height, depth]: [u32; 3], layout: Layout) -> Image {
    Image { base: 0x1000, format: F32, geometry, width, height, depth, layout }
}

#[test]
fn blocks_hold_every_byte_once() {
    for sides in [[1, 1, 1], [16, 8, 1], [17, 9, 3], [50, 33, 2]] {
        let blocks = image(Geometry::D3, sides, Layout::Blocks);
        blocks.check().unwrap();
        let mut seen = BTreeSet::new();
        for z in 0..sides[2] {
            for y in 0..sides[1] {
                for x in 0..blocks.row_bytes() {
                    let at = blocks.address(x, y, z);
                    assert!((blocks.base..blocks.base + blocks.bytes()).contains(&at));
                    assert!(seen.insert(at), "({x}, {y}, {z}) of {sides:?}");
                    assert_eq!(at - at % 16, blocks.address(x - x % 16, y, z), "16 bytes lie together");
                }
            }
        }
    }
}

#[test]
fn a_line_of_a_block_is_a_rectangle() {
    // 8 by 4 texels of 32 bits.
    let blocks = image(Geometry::D2, [64, 64, 1], Layout::Blocks);
    for (x, y) in [(0, 0), (8, 4), (40, 20)] {
        let lines: BTreeSet<u64> =
            (0..32).map(|n| blocks.address(4 * (x + n % 8), (y + n / 8) as u32, 0) / 128).collect();
        assert_eq!(lines.len(), 1);
    }
    // From the manual: the second column of 16 bytes, the second row, the second half, the next GOB.
    let offset = |x: u64, y: u32| blocks.address(x, y, 0) - blocks.base;
    assert_eq!([offset(16, 0), offset(0, 1), offset(0, 2), offset(32, 0)], [32, 16, 64, 256]);
    assert_eq!([offset(64, 0), offset(0, 8)], [512, 4 * 512]);
}

#[test]
fn channels_as_integers_and_numbers() {
    let texel = |bytes: &[u8]| {
        let mut texel = [0; MAX_TEXEL_BYTES];
        texel[..bytes.len()].copy_from_slice(bytes);
        texel
    };
    let of = |channel, channels| Format { channel, channels };
    let bytes = texel(&[0x80, 0x7f, 0xff, 0x01]);
    assert_eq!([0, 1, 2, 3].map(|n| of(Channel::U8, 4).element(&bytes, n)), [0x80, 0x7f, 0xff, 1]);
    assert_eq!(of(Channel::S8, 4).element(&bytes, 0), -128i32 as u32);
    assert_eq!([0, 1].map(|n| of(Channel::S8, 2).number(&bytes, n)), [-1.0, 1.0]);
    assert_eq!(of(Channel::U8, 4).number(&bytes, 0), 128.0 / 255.0);
    assert_eq!(
        [2, 3].map(|n| of(Channel::S8, 2).number(&bytes, n)),
        [0.0, 0.0],
        "channels that are not there"
    );
    assert_eq!(of(Channel::U16, 1).number(&texel(&[0xff, 0xff]), 0), 1.0);
    assert_eq!(of(Channel::S16, 1).number(&texel(&[0, 0x80]), 0), -1.0);
    assert_eq!(of(Channel::F16, 1).number(&texel(&[0, 0x3c]), 0), 1.0);
    assert_eq!(of(Channel::U32, 1).element(&texel(&[1, 2, 3, 4]), 0), 0x0403_0201);
    // What a format lacks is nothing, the fourth channel too.
    assert_eq!(of(Channel::F32, 1).element(&texel(&[0; 4]), 3), 0);
    assert_eq!(of(Channel::U8, 2).number(&texel(&[255; 4]), 3), 0.0);
    // A border has the texels' format.
    assert_eq!(
        [0, 1, 2, 3].map(|n| of(Channel::U8, 2).border([0.25, 2.0, 1.0, 1.0], n)),
        [64.0 / 255.0, 1.0, 0.0, 0.0]
    );
}

#[test]
fn weights_are_256ths_and_far_coordinates_stay_sane() {
    let fetch = TextureFetch {
        geometry: Geometry::D1,
        integer: false,
        result: Ty::F32,
        gather: None,
        detail: Detail::Base,
    };
    let texture = |addressing, normalized| Texture {
        image: image(Geometry::D1, [8, 1, 1], Layout::Rows { pitch: 512 }),
        addressing: [addressing; 3],
        filter: Filter::Linear,
        read: Read::Element,
        normalized,
        border: [0.0; 4],
        levels: Levels::ONE,
    };
    let at = |x: f32, addressing, normalized| {
        let found = footprint(&texture(addressing, normalized), &fetch, [x.to_bits(), 0, 0, 0], [0; 6]);
        let texel = |n: usize| (found.inside >> n & 1 == 1).then(|| (found.addresses[n] - 0x1000) / 4);
        (texel(0), texel(1), found.weights[0][0])
    };
    use Addressing::*;
    assert_eq!(at(3.0, Clamp, false), (Some(2), Some(3), 128));
    assert_eq!(at(3.5 + 1.0 / 256.0, Clamp, false), (Some(3), Some(4), 1));
    assert_eq!(at(3.5 + 1.0 / 1024.0, Clamp, false), (Some(3), Some(4), 0), "less than half a 256th");
    assert_eq!(
        at(3.5 - 1.0 / 1024.0, Clamp, false),
        (Some(3), Some(4), 0),
        "nearly the next texel is the next"
    );
    assert_eq!(at(0.0, Clamp, false), (Some(0), Some(0), 128));
    assert_eq!(at(0.0, Border, false), (None, Some(0), 128));
    assert_eq!(at(0.0, Wrap, true), (Some(7), Some(0), 128));
    assert_eq!(at(1.0, Mirror, true), (Some(7), Some(7), 128));
    assert_eq!(at(0.0, Wrap, false), (Some(0), Some(0), 128), "only normalized coordinates wrap");
    for addressing in [Wrap, Clamp, Mirror, Border] {
        for normalized in [false, true] {
            for x in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, -1e-40] {
                let (first, second, _) = at(x, addressing, normalized);
                assert!(first.is_none_or(|n| n < 8) && second.is_none_or(|n| n < 8), "{x} {addressing:?}");
            }
        }
    }
}

#[test]
fn handles_of_nothing_stay_nothing() {
    let mut headers = Headers::default();
    let surface = Header::Surface(image(Geometry::D2, [4, 4, 1], Layout::Blocks));
    headers.set(1, surface);
    assert_eq!(headers.get(1), None, "it was never reserved");
    let (first, second) = (headers.reserve(), headers.reserve());
    assert_ne!(first, 0);
    headers.set(second, surface);
    assert!(headers.any(first).is_err() && headers.any(0).is_err());
    assert_eq!(headers.surface(second, Geometry::D2), Ok(0));
    assert!(headers.surface(second, Geometry::D1).is_err() && headers.texture(second, Geometry::D2).is_err());
    assert_eq!(headers.clear(second), Some(surface));
    assert_eq!(headers.clear(second), None);
    assert_ne!(headers.reserve(), second);
}

#[test]
fn images_that_cannot_be_are_refused() {
    let good = image(Geometry::D2, [100, 10, 1], Layout::Rows { pitch: 400 });
    good.check().unwrap();
    for wrong in [
        Image { width: 0, ..good },
        Image { height: u32::MAX, ..good },
        Image { depth: 2, ..good },
        Image { base: 0x1008, ..good },
        Image { layout: Layout::Rows { pitch: 384 }, ..good },
        Image { layout: Layout::Rows { pitch: 404 }, ..good },
        Image { layout: Layout::Linear, ..good },
        Image { geometry: Geometry::Cube, depth: 6, ..good },
        Image { geometry: Geometry::Layers2, depth: 0, ..good },
        Image {
            geometry: Geometry::D3,
            width: 131_072,
            height: 131_072,
            depth: 131_072,
            layout: Layout::Blocks,
            ..good
        },
    ] {
        assert!(wrong.check().is_err(), "{wrong:?}");
    }
}
