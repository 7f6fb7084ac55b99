//! Translation against a naive model that lists every word.

use proptest::prelude::*;

use strata_memory::tile::TileError;

use super::super::{Mapping, Tile};

/// The global address of each byte of the stash, in order, by the words of 3.1.
fn listed(mapping: &Mapping) -> Vec<u64> {
    let mut bytes = Vec::new();
    for row in 0..mapping.num_strides {
        for object in 0..mapping.row_size {
            for byte in 0..mapping.field_size {
                bytes.push(
                    mapping.global_base + row * mapping.stride_size + object * mapping.object_size + byte,
                );
            }
        }
    }
    bytes
}

fn mappings() -> impl Strategy<Value = Mapping> {
    let scalar = (1_u64..4, 1_u64..12).prop_map(|(size, words)| (size, size, 4 * words));
    let fields =
        (1_u64..5, 0_u64..6, 1_u64..12).prop_map(|(field, rest, row)| (4 * field, 4 * (field + rest), row));
    (prop_oneof![scalar, fields], 1_u64..8, 0_u64..40, 0_u64..4000).prop_map(
        |((field_size, object_size, row_size), num_strides, gap, base)| Mapping {
            stash_base: 0,
            global_base: 4 * base,
            field_size,
            object_size,
            row_size,
            stride_size: object_size * row_size + 4 * gap,
            num_strides,
            is_coherent: true,
        },
    )
}

proptest! {
    #[test]
    fn every_byte_is_translated_both_ways(mapping in mappings()) {
        let tile = Tile::new(&mapping).expect("the mapping can be");
        let bytes = listed(&mapping);
        prop_assert_eq!(tile.stash_bytes(), bytes.len() as u64);
        for (offset, address) in bytes.iter().enumerate() {
            prop_assert_eq!(mapping.global_base + tile.global_offset(offset as u64), *address);
        }
        let last = bytes[bytes.len() - 1];
        prop_assert_eq!(tile.global_bytes(), last + 1 - mapping.global_base);
        for address in mapping.global_base..last + 100 {
            let expected = bytes.iter().position(|byte| *byte == address).map(|offset| offset as u64);
            prop_assert_eq!(tile.stash_offset(address - mapping.global_base), expected);
        }
    }

    #[test]
    fn pages_are_those_of_the_words(mapping in mappings(), shift in 7_u32..10) {
        let tile = Tile::new(&mapping).expect("the mapping can be");
        let mut expected: Vec<u64> = listed(&mapping).iter().map(|byte| byte >> shift).collect();
        expected.dedup();
        let mut pages = Vec::new();
        tile.pages(mapping.global_base, 1 << shift, |page| pages.push(page));
        prop_assert_eq!(pages, expected);
    }
}

#[test]
fn a_tile_that_cannot_be_says_why() {
    let tile = Mapping {
        stash_base: 0,
        global_base: 0,
        field_size: 4,
        object_size: 16,
        row_size: 8,
        stride_size: 128,
        num_strides: 2,
        is_coherent: true,
    };
    let why = |mapping: Mapping| Tile::new(&mapping).expect_err("it cannot be");
    assert_eq!(why(Mapping { row_size: 0, ..tile }), TileError::Zero { parameter: "rowSize" });
    assert_eq!(
        why(Mapping { field_size: 2, ..tile }),
        TileError::NotWords { parameter: "fieldSize", found: 2 }
    );
    assert_eq!(
        why(Mapping { stride_size: 130, ..tile }),
        TileError::NotWords { parameter: "strideSize", found: 130 }
    );
    assert_eq!(
        why(Mapping { field_size: 20, ..tile }),
        TileError::FieldLargerThanObject { field: 20, object: 16 }
    );
    assert_eq!(why(Mapping { stride_size: 124, ..tile }), TileError::RowsOverlap { stride: 124, row: 128 });
    assert_eq!(why(Mapping { row_size: 1 << 61, ..tile }), TileError::TooLarge);
    assert_eq!(why(Mapping { num_strides: 1 << 60, ..tile }), TileError::TooLarge);
}
