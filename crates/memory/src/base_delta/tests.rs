//! Compression against a definition written out word by word, over patterns that programs write.

use proptest::prelude::*;

use super::*;

/// The narrowest width by its definition: every difference, taken in 64 bits, wraps into the width.
fn defined(block: &[u32]) -> Option<DeltaWidth> {
    let fits = |bits: u32| {
        let half = 1i64 << (bits - 1);
        block.iter().all(|word| {
            let distance = (i64::from(*word) - i64::from(block[0])).rem_euclid(1 << 32);
            distance < half || distance >= (1 << 32) - half
        })
    };
    if block.iter().all(|word| *word == block[0]) {
        Some(DeltaWidth::Zero)
    } else if fits(8) {
        Some(DeltaWidth::One)
    } else if fits(16) {
        Some(DeltaWidth::Two)
    } else {
        None
    }
}

/// Blocks as threads of a warp write them: one value, thread numbers, strides, small noise, floats, anything.
fn blocks() -> impl Strategy<Value = Vec<u32>> {
    let words = |count: usize| {
        prop_oneof![
            any::<u32>().prop_map(move |value| vec![value; count]),
            (any::<u32>(), -300i32..300).prop_map(move |(base, stride)| {
                (0..count as u32).map(|n| base.wrapping_add(n.wrapping_mul(stride as u32))).collect()
            }),
            (any::<u32>(), prop::collection::vec(-40_000i32..40_000, count)).prop_map(|(base, noise)| {
                noise.into_iter().map(|delta| base.wrapping_add(delta as u32)).collect()
            }),
            (any::<u32>(), prop::collection::vec(-140i32..140, count)).prop_map(|(base, noise)| {
                noise.into_iter().map(|delta| base.wrapping_add(delta as u32)).collect()
            }),
            prop::collection::vec((-1e3f32..1e3).prop_map(f32::to_bits), count),
            prop::collection::vec(any::<u32>(), count),
        ]
    };
    (1usize..=64).prop_flat_map(words)
}

proptest! {
    #[test]
    fn the_width_is_the_narrowest_that_fits(block in blocks()) {
        prop_assert_eq!(narrowest(&block), defined(&block));
    }

    #[test]
    fn what_is_compressed_comes_back(block in blocks()) {
        let Some(narrowest) = narrowest(&block) else { return Ok(()) };
        for width in DeltaWidth::ALL.into_iter().filter(|width| *width >= narrowest) {
            let mut bytes = [0xa5; 260];
            let length = compress(&block, width, &mut bytes);
            prop_assert_eq!(length, width.block_bytes(block.len()));
            prop_assert!(bytes[length..].iter().all(|byte| *byte == 0xa5), "bytes behind the block changed");
            let mut back = vec![!block[0]; block.len()];
            decompress(&bytes[..length], width, &mut back);
            prop_assert_eq!(&back, &block);
        }
    }
}

#[test]
fn a_warp_register_takes_the_bytes_of_hi_end_section_iii_c() {
    let sizes = DeltaWidth::ALL.map(|width| width.block_bytes(32));
    assert_eq!(sizes, [4, 35, 66]);
}

#[test]
fn the_limits_of_each_width() {
    let pair = |delta: i64| narrowest(&[7, (7 + delta) as u32]);
    assert_eq!(pair(0), Some(DeltaWidth::Zero));
    for (delta, width) in [
        (127, Some(DeltaWidth::One)),
        (-128, Some(DeltaWidth::One)),
        (128, Some(DeltaWidth::Two)),
        (-129, Some(DeltaWidth::Two)),
        (32_767, Some(DeltaWidth::Two)),
        (-32_768, Some(DeltaWidth::Two)),
        (32_768, None),
        (-32_769, None),
    ] {
        assert_eq!(pair(delta), width, "{delta}");
    }
    assert_eq!(narrowest(&[u32::MAX, 0]), Some(DeltaWidth::One), "differences wrap");
    assert_eq!(narrowest(&[]), None);
}
