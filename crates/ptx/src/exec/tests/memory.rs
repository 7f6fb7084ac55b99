//! Addresses that lie the same distance apart, against those of each lane.

use super::Slots;
use crate::exec::memory::{Progression, addresses, progression};
use crate::isa::{Op, Space};
use crate::lanes::{ALL_LANES, Row};

/// A memory instruction's address: its low word by lane, its high word, and the offset added.
fn address(low: impl Fn(u32) -> u32, high: u32, offset: i64) -> Slots {
    let mut slots = Slots::new(Op::Nop).source_lanes(0, low);
    slots.sources[0][1] = Row::splat(high);
    slots.instruction.offset = offset;
    slots
}

#[test]
fn all_lanes_at_one_distance() {
    for (stride, offset, space) in [
        (4, 0, Space::Global),
        (0, -64, Space::Global),
        (-8, 1 << 33, Space::Generic),
        (4096, 12, Space::Const),
        (1, 7, Space::Shared),
        (-4, -4, Space::Local),
    ] {
        let slots = address(|lane| (1u32 << 20).wrapping_add_signed(stride * lane as i32), 5, offset);
        let found = progression(&slots.instruction, &slots, space, ALL_LANES).expect("it is one");
        assert_eq!(found.stride, i64::from(stride));
        let expected = addresses(&slots.instruction, &slots, space);
        let mut filled = [0; 32];
        found.fill(&mut filled);
        assert_eq!(filled, expected, "stride {stride} in {space:?}");
        let (low, high, bits) = found.bounds();
        assert_eq!(Some(&low), expected.iter().min());
        assert_eq!(Some(&high), expected.iter().max());
        let all = expected.iter().fold(0, |bits, address| bits | address);
        assert_eq!(bits.trailing_zeros(), all.trailing_zeros(), "what all are multiples of");
    }
}

#[test]
fn no_progression() {
    let none = |slots: Slots, space| {
        assert_eq!(progression(&slots.instruction, &slots, space, ALL_LANES), None);
    };
    none(address(|lane| 4 * lane + u32::from(lane == 31), 0, 0), Space::Global);
    // The low words wrap around behind lane 15, or the offset takes them there.
    none(address(|lane| (4 * lane).wrapping_sub(64), 0, 0), Space::Global);
    none(address(|lane| u32::MAX - 124 + 4 * lane, 0, 4), Space::Shared);
    none(address(|lane| 4 * lane, u32::MAX, i64::MAX), Space::Global);
    let mut slots = address(|lane| 4 * lane, 0, 0);
    slots.sources[0][1].0[9] = 1;
    none(slots.clone(), Space::Global);
    assert!(progression(&slots.instruction, &slots, Space::Shared, ALL_LANES).is_some(), "no high words");
}

#[test]
fn some_lanes_with_one_address() {
    let lanes = 0b1010_0000;
    let slots = address(|lane| if lanes >> lane & 1 == 1 { 0x400 } else { lane }, 2, 16);
    let found = progression(&slots.instruction, &slots, Space::Global, lanes);
    assert_eq!(found, Some(Progression { first: 0x2_0000_0410, stride: 0 }));
    assert_eq!(progression(&slots.instruction, &slots, Space::Global, lanes | 1), None);
}
