//! Boxes of tensors against element-by-element walks, and maps against their bytes.

use super::*;
use crate::isa::{AtomicOp, Ty};

/// A tensor of two-byte elements in three dimensions.
fn map(sizes: [u64; 3], extent: [u32; 3], steps: [u32; 3], swizzle: Swizzle) -> TensorMap {
    let pitch = (sizes[0] * 2).next_multiple_of(16);
    TensorMap {
        element: Element::F16,
        rank: 3,
        base: 4096,
        sizes: [sizes[0], sizes[1], sizes[2], 1, 1],
        strides: [0, pitch, pitch * sizes[1], 0, 0],
        extent: [extent[0], extent[1], extent[2], 1, 1],
        steps: [steps[0], steps[1], steps[2], 1, 1],
        swizzle,
        fill: Fill::Zero,
    }
}

/// Where each byte of shared memory comes from: by the element's place in the box, chunks of 16 bytes exchanged by the
/// number of their line of 128 bytes.
fn by_elements(map: &TensorMap, at: [i32; 3]) -> Vec<(u32, Option<u64>)> {
    let counts = [map.extent[0], map.extent[1].div_ceil(map.steps[1]), map.extent[2].div_ceil(map.steps[2])];
    let mut bytes = Vec::new();
    for z in 0..counts[2] {
        for y in 0..counts[1] {
            for x in 0..counts[0] {
                let place = [
                    i64::from(at[0]) + i64::from(x),
                    i64::from(at[1]) + i64::from(y * map.steps[1]),
                    i64::from(at[2]) + i64::from(z * map.steps[2]),
                ];
                let inside = (0..3).all(|n| place[n] >= 0 && place[n] < map.sizes[n] as i64);
                let address = map.base as i64
                    + place[0] * 2
                    + place[1] * map.strides[1] as i64
                    + place[2] * map.strides[2] as i64;
                let plain = ((z * counts[1] + y) * counts[0] + x) * 2;
                let (line, chunk, rest) = (plain / 128, plain % 128 / 16, plain % 16);
                let chunk = match map.swizzle {
                    Swizzle::None => chunk,
                    Swizzle::Of32 => chunk ^ (line % 2),
                    Swizzle::Of64 => chunk ^ (line % 4),
                    Swizzle::Of128 => chunk ^ (line % 8),
                };
                for byte in 0..2 {
                    let shared = line * 128 + chunk * 16 + rest + byte;
                    bytes.push((shared, inside.then_some(address as u64 + u64::from(byte))));
                }
            }
        }
    }
    bytes.sort_unstable();
    bytes
}

fn by_pieces(pieces: Vec<Piece>) -> Vec<(u32, Option<u64>)> {
    let mut bytes: Vec<_> = pieces
        .into_iter()
        .flat_map(|piece| {
            (0..piece.bytes).map(move |n| (piece.shared + n, piece.global.map(|at| at + u64::from(n))))
        })
        .collect();
    bytes.sort_unstable();
    bytes
}

#[test]
fn boxes_inside_across_and_outside_of_a_tensor() {
    let swizzles = [Swizzle::None, Swizzle::Of32, Swizzle::Of64, Swizzle::Of128];
    for (swizzle, inner) in swizzles.into_iter().zip([24, 16, 32, 64]) {
        for steps in [[1, 1, 1], [1, 2, 3]] {
            let map = map([70, 9, 5], [inner, 6, 4], steps, swizzle);
            map.check().unwrap();
            for at in [[0, 0, 0], [8, 1, 1], [-3, -2, -1], [60, 5, 3], [69, 8, 4], [70, 0, 0], [-64, 2, 2]] {
                let wanted = by_elements(&map, at);
                let mut pieces = Vec::new();
                tile(&map, at_5(at), 0, &mut pieces);
                assert_eq!(by_pieces(pieces.clone()), wanted, "{map:?} at {at:?}");
                let width = uniform(&mut pieces);
                assert!(pieces.iter().all(|piece| piece.bytes == width && piece.shared % width == 0));
                assert_eq!(by_pieces(pieces), wanted, "{map:?} at {at:?}, cut");
            }
        }
    }
}

#[test]
fn a_row_that_is_shorter_than_the_swizzle_has_a_line_of_its_own() {
    // As a GPU lays out 8 of two bytes in lines of 32, and 40 of them in lines of 128.
    for (swizzle, inner, line, mask) in [(Swizzle::Of32, 8, 32, 1), (Swizzle::Of128, 40, 128, 7)] {
        let map = map([100, 40, 1], [inner, 24, 1], [1, 1, 1], swizzle);
        assert_eq!((map.line_bytes(), map.shared_bytes()), (line, 23 * line + 2 * inner));
        let wanted: Vec<_> = (0..24)
            .flat_map(|row| (0..2 * inner).map(move |byte| (row, byte)))
            .map(|(row, byte)| {
                let plain = row * line + byte;
                let shared = plain ^ (((plain / 128) & mask) * 16);
                (shared, Some(4096 + u64::from(3 + row) * 208 + 16 + u64::from(byte)))
            })
            .collect();
        let mut pieces = Vec::new();
        tile(&map, [8, 3, 0, 0, 0], 0, &mut pieces);
        let mut found = by_pieces(pieces);
        found.sort_unstable_by_key(|(_, global)| *global);
        assert_eq!(found, wanted, "{swizzle:?}");
    }
}

#[test]
fn boxes_begin_at_multiples_of_16_bytes() {
    let map = map([100, 40, 1], [64, 24, 1], [1, 1, 1], Swizzle::None);
    for first in [-16, -8, 0, 8, 96, 200] {
        assert_eq!(map.check_start([first, -5, 1, 0, 0], false), Ok(()));
    }
    for first in [-3, 1, 4, 12] {
        let why = map.check_start([first, 0, 0, 0, 0], false).unwrap_err().0;
        assert!(why.contains(&format!("innermost coordinate {first}, byte {} of a row", 2 * first)), "{why}");
    }
}

#[test]
fn a_store_does_not_begin_before_the_tensor() {
    let map = map([100, 40, 1], [64, 24, 1], [1, 1, 1], Swizzle::None);
    for at in [[0, 0, 0, 0, 0], [200, 0, 0, 0, 0], [8, 200, 0, 0, 0], [8, 0, 0, -1, -1]] {
        assert_eq!(map.check_start(at, true), Ok(()));
    }
    assert!(map.check_start([-8, 0, 0, 0, 0], true).unwrap_err().0.contains("-8 in dimension 0"));
    assert!(map.check_start([8, 2, -1, 0, 0], true).unwrap_err().0.contains("-1 in dimension 2"));
}

#[test]
fn signed_64_bit_elements_have_neither_sums_nor_logic() {
    let signed = TensorMap { element: Element::S64, ..map([64, 9, 5], [8, 6, 4], [1, 1, 1], Swizzle::None) };
    for op in [AtomicOp::Add, AtomicOp::And, AtomicOp::Or, AtomicOp::Xor] {
        assert!(signed.reduced_as(op).unwrap_err().0.contains("S64"), "{op:?}");
    }
    assert_eq!(signed.reduced_as(AtomicOp::Min), Ok(Ty::S64));
    assert_eq!(TensorMap { element: Element::U64, ..signed }.reduced_as(AtomicOp::Xor), Ok(Ty::U64));
}

fn at_5([x, y, z]: [i32; 3]) -> [i32; 5] {
    [x, y, z, 0, 0]
}

#[test]
fn a_map_is_its_bytes() {
    let whole = map([1 << 32, 9, 5], [64, 256, 4], [1, 8, 3], Swizzle::Of128);
    let whole = TensorMap { fill: Fill::Nan, ..whole };
    assert_eq!(TensorMap::decode(&whole.encode()), Ok(whole));
    assert_eq!(whole.outside(), 0x7ff7);
    assert!(TensorMap::decode(&[0; MAP_BYTES]).is_err());
    // No bytes behind the magic are believed.
    for at in 8..MAP_BYTES {
        for value in [0, 1, 0x7f, 0xff] {
            let mut bytes = whole.encode();
            bytes[at] = value;
            if let Ok(map) = TensorMap::decode(&bytes) {
                assert_eq!(map.check(), Ok(()));
            }
        }
    }
}

#[test]
fn maps_that_the_interface_refuses() {
    let good = map([70, 9, 5], [64, 6, 4], [1, 1, 1], Swizzle::Of128);
    let with = |change: &dyn Fn(&mut TensorMap)| {
        let mut map = good;
        change(&mut map);
        map.check().unwrap_err().0
    };
    assert!(with(&|map| map.base = 4104).contains("address"));
    assert!(with(&|map| map.strides[1] = 24).contains("stride 1"));
    assert!(with(&|map| map.extent[0] = 72).contains("at most 128"));
    assert!(with(&|map| map.extent[0] = 60).contains("multiple of 16"));
    assert!(with(&|map| map.extent[1] = 257).contains("box"));
    assert!(with(&|map| map.steps[2] = 9).contains("element stride"));
    assert!(with(&|map| map.sizes[2] = 0).contains("size 2"));
    assert!(with(&|map| map.rank = 6).contains("rank"));
    assert!(with(&|map| (map.element, map.fill) = (Element::U16, Fill::Nan)).contains("integers"));
}
